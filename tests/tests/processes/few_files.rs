//! A program that may open few files: clients of its console that only connect do not keep it from its registry center.

use std::net::SocketAddr;

use elasticjob_tests::ports;
use elasticjob_tests::zookeeper::ZookeeperServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::broken_log::Processes;

/// What the program may open, and what connects to it.
const FILES: u32 = 60;
const CLIENTS: usize = 80;

pub async fn idle_clients(server: ZookeeperServer) {
    let address = SocketAddr::from(([127, 0, 0, 1], ports::free().expect("a free port")));
    let mut processes = Processes::new(Some((&server, "few-files")));
    processes.arguments.push(format!("--elasticjob.console.port={}", address.port()));
    let program = processes.start_with_few_files(FILES);
    processes.go_on().await;
    let mut idle = Vec::new();
    for _ in 0..CLIENTS {
        idle.push(TcpStream::connect(address).await.expect("the console listens"));
    }
    // It has to dial.
    server.restart().expect("the server starts again");
    processes.go_on().await;
    // A client of another address is still served.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).expect("an address of this host");
    let mut client = socket.connect(address).await.expect("the console listens");
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).await.expect("it takes the request");
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(idle);
    assert_eq!(processes.end(program).await.code(), Some(0));
}
