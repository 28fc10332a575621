use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::{Limits, Port};

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

const HOUR: Duration = Duration::from_secs(3600);

struct Serving {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

async fn serving(connections: usize, per_address: usize, patience: Duration) -> Serving {
    let pages = Router::new()
        .route("/", get(async |ConnectInfo(client): ConnectInfo<SocketAddr>| client.ip().to_string()))
        .route("/length", post(async |body: String| body.len().to_string()));
    let port = Port::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), "the port of a test").await.unwrap();
    let limits = Limits { connections, per_address, patience };
    let address = port.address().unwrap();
    let (end, ended) = oneshot::channel();
    let served = tokio::spawn(port.limits(limits).serve(pages, async {
        let _ = ended.await;
    }));
    Serving { address, end, served }
}

/// A connection from an address of this host.
async fn from(host: u8, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(IpAddr::from([127, 0, 0, host]), 0)).unwrap();
    socket.connect(to).await.unwrap()
}

/// What comes until the connection is closed.
async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A connection that was refused may be reset after its answer.
    let _ = timeout(LIMIT, stream.read_to_end(&mut answer)).await.expect("it is closed in time");
    String::from_utf8(answer).unwrap()
}

async fn asked(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    rest(stream).await
}

#[tokio::test]
async fn an_address_with_its_share_of_idle_connections_does_not_keep_others_out() {
    let serving = serving(4, 2, HOUR).await;
    let _idle = [from(1, serving.address).await, from(1, serving.address).await];
    let refused = rest(&mut from(1, serving.address).await).await;
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.ends_with("close some of them"), "{refused}");
    let length = refused.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    assert_eq!(length.parse(), Ok(refused.split("\r\n\r\n").nth(1).unwrap().len()));
    let answered = asked(&mut from(2, serving.address).await).await;
    assert!(answered.starts_with("HTTP/1.1 200 ") && answered.ends_with("127.0.0.2"), "{answered}");
}

#[tokio::test]
async fn more_connections_than_the_limit_wait_until_others_end() {
    let serving = serving(2, 2, HOUR).await;
    let mut idle = vec![from(1, serving.address).await, from(1, serving.address).await];
    let mut waiting = from(2, serving.address).await;
    waiting.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut byte = [0];
    assert!(timeout(Duration::from_millis(300), waiting.peek(&mut byte)).await.is_err(), "it waits");
    drop(idle.pop());
    assert!(rest(&mut waiting).await.ends_with("127.0.0.2"));
}

#[tokio::test]
async fn a_client_that_sends_its_request_slowly_is_closed() {
    let serving = serving(4, 4, Duration::from_millis(200)).await;
    let silent = from(1, serving.address).await;
    let mut half = from(1, serving.address).await;
    half.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
    let mut between = from(1, serving.address).await;
    between.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut in_body = from(1, serving.address).await;
    in_body.write_all(b"POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n12").await.unwrap();
    for (stream, expected) in [(silent, ""), (half, ""), (between, "127.0.0.1"), (in_body, "HTTP/1.1 400 ")] {
        let mut stream = stream;
        let answer = rest(&mut stream).await;
        assert!(answer.contains(expected) && answer.is_empty() == expected.is_empty(), "{expected:?}: {answer}");
    }
}

#[tokio::test]
async fn the_end_waits_for_answers_under_way_and_for_nothing_else() {
    let Serving { address, end, served } = serving(4, 4, HOUR).await;
    let _idle = from(1, address).await;
    let mut half = from(1, address).await;
    half.write_all(b"POST /length HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n")
        .await
        .unwrap();
    let mut continued = [0; 25];
    half.read_exact(&mut continued).await.unwrap();
    assert_eq!(&continued, b"HTTP/1.1 100 Continue\r\n\r\n");
    end.send(()).unwrap();
    half.write_all(b"1234").await.unwrap();
    let answer = rest(&mut half).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n4"), "{answer}");
    timeout(LIMIT, served).await.expect("idle connections do not hold it up").unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "the port is free");
}
