use std::pin::pin;

use sqlx::pool::PoolOptions;
use sqlx::{Postgres, Sqlite};
use tokio::net::TcpSocket;
use tokio::time::{Instant, advance, pause, resume, timeout};

use super::*;

mod given_up;

/// The file of an empty database, without tables.
struct Empty(std::path::PathBuf);

impl Empty {
    fn new(name: &str) -> Self {
        let file = std::env::temp_dir().join(format!("elasticjob-{name}-{}.db", std::process::id()));
        std::fs::write(&file, "").expect("the folder for temporary files can be written");
        Self(file)
    }

    /// A reader with so many connections.
    async fn reader(&self, connections: u32) -> Reader<Sqlite> {
        let url = format!("sqlite:{}", self.0.display());
        let options = PoolOptions::new().max_connections(connections).acquire_timeout(LONGEST_ACQUIRE);
        let pool = options.connect_lazy(&url).expect("the URL is right");
        Reader::prepare(pool, &"the file".into(), TimeZone::UTC).await.expect("it is there")
    }
}

impl Drop for Empty {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// How long the pool itself waits: shorter than reads wait for their turn.
const LONGEST_ACQUIRE: Duration = Duration::from_secs(2);

async fn read<DB: Dialect>(reader: &Reader<DB>) -> Result<(), ReadError>
where
    Reader<DB>: Calls,
{
    reader.executions(&ExecutionFilter::default(), &PageRequest::default()).await.map(|_| ())
}

/// The answer of a database without tables.
fn is_answer(read: &Result<(), ReadError>) -> bool {
    matches!(read, Err(ReadError::NoTable { .. }))
}

#[tokio::test]
async fn reads_wait_for_their_turn_longer_than_the_pool_waits_for_a_connection() {
    let file = Empty::new("turns");
    let reader = file.reader(2).await;
    let taken = [reader.connection().await.expect("it is free"), reader.connection().await.expect("it is free")];
    let (mut one, mut other) = (pin!(read(&reader)), pin!(read(&reader)));
    pause();
    for waiting in [one.as_mut(), other.as_mut()] {
        let early = timeout(LONGEST_ACQUIRE * 2, waiting).await;
        assert!(early.is_err(), "all connections are taken, and yet: {early:?}");
    }
    resume();
    drop(taken);
    for read in [one.await, other.await] {
        assert!(is_answer(&read), "{read:?}");
    }
}

#[tokio::test]
async fn a_read_without_a_turn_in_time_says_that_all_connections_are_taken() {
    let file = Empty::new("busy");
    let reader = file.reader(1).await;
    let taken = reader.connection().await.expect("it is free");
    pause();
    let refused = read(&reader).await.expect_err("no connection is free");
    let told = ReadError::TooManyReaders { at: "the file".into(), connections: 1, waited: LONGEST_WAIT };
    assert_eq!(refused, told);
    assert!(refused.to_string().starts_with("all connections that read the file are taken (1 at most)"), "{refused}");
    resume();
    drop(taken);
    let read = read(&reader).await;
    assert!(is_answer(&read), "{read:?}");
}

#[tokio::test]
async fn a_read_that_is_given_up_gives_its_turn_back() {
    let file = Empty::new("given-up");
    let reader = file.reader(1).await;
    let taken = reader.connection().await.expect("it is free");
    pause();
    assert!(timeout(LONGEST_WAIT / 2, read(&reader)).await.is_err(), "no connection is free");
    resume();
    drop(taken);
    let read = read(&reader).await;
    assert!(is_answer(&read), "{read:?}");
}

#[tokio::test]
async fn connections_that_the_application_has_taken_from_its_pool_are_no_database_that_is_away() {
    let file = Empty::new("of-application");
    let reader = file.reader(1).await;
    let of_application = reader.pool.acquire().await.expect("it is free");
    let mut reading = pin!(read(&reader));
    pause();
    assert!(timeout(Duration::ZERO, reading.as_mut()).await.is_err());
    advance(LONGEST_ACQUIRE).await;
    let refused = reading.await.expect_err("no connection is free");
    let told = ReadError::TooManyReaders { at: "the file".into(), connections: 1, waited: LONGEST_ACQUIRE };
    assert_eq!(refused, told);
    resume();
    drop(of_application);
    let read = read(&reader).await;
    assert!(is_answer(&read), "{read:?}");
}

/// A reader, with one connection, of a database that is away, and what keeps its port free. The pool dials so long.
async fn away(dials: Duration) -> (TcpSocket, Reader<Postgres>) {
    let options = PoolOptions::<Postgres>::new().max_connections(1).acquire_timeout(dials);
    // No program listens on the port of a socket that is bound only.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port is free");
    let port = socket.local_addr().expect("it is bound").port();
    let pool = options.connect_lazy(&format!("postgres://nobody@127.0.0.1:{port}/jobs")).expect("the URL is right");
    (socket, Reader::prepare(pool, &"the database".into(), TimeZone::UTC).await.expect("nothing is read yet"))
}

#[tokio::test]
async fn reads_that_wait_for_a_database_that_is_away_say_so_all() {
    let (_socket, reader) = away(Duration::from_millis(50)).await;
    let (one, other) = tokio::join!(read(&reader), read(&reader));
    for read in [one, other] {
        let Err(ReadError::Unavailable { why, .. }) = read else { panic!("{read:?}") };
        assert!(why.as_str().contains("it is away, or refuses"), "{why}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_that_gets_no_turn_because_those_before_it_dial_says_why_they_get_no_connection() {
    // The first read dials until then, the second one from then on, and the third one has no turn before its wait is over.
    let dials = LONGEST_WAIT * 3 / 5;
    let (_socket, reader) = away(dials).await;
    let begun = Instant::now();
    let ended = async || (read(&reader).await, begun.elapsed());
    let (first, second, third) = tokio::join!(ended(), ended(), ended());
    let [first, second, third] = [first, second, third].map(|(read, after)| match read {
        Err(ReadError::Unavailable { why, .. }) => (why, after),
        other => panic!("{other:?}"),
    });
    assert!(first.1 < LONGEST_WAIT && second.1 > LONGEST_WAIT, "{first:?}, {second:?}");
    assert!(third.1 >= LONGEST_WAIT && third.1 < second.1, "it did not dial: {third:?}");
    assert_eq!(third.0, first.0);
}
