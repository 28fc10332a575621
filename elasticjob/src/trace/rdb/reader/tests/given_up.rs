//! Reads that are given up in the middle of a statement, on a server that speaks as much of the protocol of PostgreSQL as they need.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;

/// What happens waits for a busy machine at the most this long.
const LIMIT: Duration = Duration::from_secs(20);

/// What the server saw of a connection, which has a number from 0.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Statement(usize),
    Closed(usize),
}

/// Accepts connections. A statement of the first one gets no answer; the database has no tables for the others.
async fn server() -> (u16, UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let (saw, seen) = unbounded_channel();
    tokio::spawn(async move {
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else { return };
            let saw = saw.clone();
            tokio::spawn(async move {
                // The client ends a connection as it likes.
                let _ = serve(stream, number, &saw).await;
                let _ = saw.send(Seen::Closed(number));
            });
        }
    });
    (port, seen)
}

/// A message of the server: its kind, its length with these four bytes, and what it says.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("it is short").to_be_bytes();
    [&[kind], &length[..], body].concat()
}

async fn body(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(stream.read_u32().await?).expect("it fits");
    let mut body = vec![0; length - 4];
    stream.read_exact(&mut body).await?;
    Ok(body)
}

async fn serve(mut stream: TcpStream, number: usize, saw: &UnboundedSender<Seen>) -> std::io::Result<()> {
    let ready = message(b'Z', b"I");
    let logged_in = message(b'R', &[0; 4]);
    let no_table = message(b'E', b"SERROR\0VERROR\0C42P01\0Mthere is no such table\0\0");
    body(&mut stream).await?;
    stream.write_all(&[logged_in, ready.clone()].concat()).await?;
    let mut has_statement = false;
    loop {
        let kind = stream.read_u8().await?;
        body(&mut stream).await?;
        match kind {
            b'P' => has_statement = true,
            b'S' if has_statement && number == 0 => {
                let _ = saw.send(Seen::Statement(number));
            }
            b'S' => {
                let answer = if has_statement { [no_table.clone(), ready.clone()].concat() } else { ready.clone() };
                stream.write_all(&answer).await?;
                has_statement = false;
            }
            b'X' => return Ok(()),
            _ => {}
        }
    }
}

/// Gives a read up while its statement waits for its answer, and reads again.
async fn give_up_and_read_again(read: impl AsyncFn(&Reader<Postgres>) -> Result<(), ReadError>) {
    let (port, mut seen) = server().await;
    let mut next = async || timeout(LIMIT, seen.recv()).await.expect("it happens in time").expect("the server runs");
    let options = PoolOptions::<Postgres>::new().max_connections(1).acquire_timeout(LIMIT);
    let url = format!("postgres://nobody@127.0.0.1:{port}/jobs?sslmode=disable");
    let pool = options.connect_lazy(&url).expect("the URL is right");
    let reader = Reader::prepare(pool, &"the database".into(), TimeZone::UTC).await.expect("nothing is read yet");
    {
        let mut given_up = pin!(read(&reader));
        tokio::select! {
            read = given_up.as_mut() => panic!("it has no answer, and yet: {read:?}"),
            seen = next() => assert_eq!(seen, Seen::Statement(0)),
        }
    }
    assert_eq!(next().await, Seen::Closed(0), "the answer would come to the next read");
    let again = read(&reader).await;
    assert!(is_answer(&again), "it has a connection of its own: {again:?}");
    // One that was not given up keeps the connection.
    let third = read(&reader).await;
    assert!(is_answer(&third), "{third:?}");
    reader.pool.close().await;
    assert_eq!(next().await, Seen::Closed(1));
}

#[tokio::test]
async fn a_read_that_is_given_up_while_it_asks_for_columns_closes_its_connection() {
    give_up_and_read_again(read).await;
}

#[tokio::test]
async fn a_read_that_is_given_up_while_it_asks_for_rows_closes_its_connection() {
    let filter = DecisionFilter::default();
    give_up_and_read_again(async |reader| reader.decisions(&filter, &PageRequest::default()).await.map(|_| ())).await;
}
