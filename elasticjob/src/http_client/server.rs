//! Servers for one request.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Answers one request with this status line and body. Returns its address and, later, the request.
pub(crate) async fn answering(status: &'static str, body: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let request = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = request_of(&mut stream).await;
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).await.unwrap();
        request
    });
    (address, request)
}

/// Begins an answer, and sends one byte of it after each pause. Returns its address.
pub(crate) async fn trickling(pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        request_of(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(pause).await;
        }
    });
    address
}

/// Reads one request to its end.
pub(crate) async fn request_of(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !is_complete(&request) {
        assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0, "the client has gone away");
    }
    String::from_utf8(request).unwrap()
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let mut lengths =
        head.lines().filter_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= lengths.next().unwrap_or(0)
}
