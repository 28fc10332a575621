use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::*;
use crate::ident::JobName;
use crate::operations::dump::{DumpError, ask};
use crate::registry::memory::MemoryRegistry;
use crate::registry::{
    Answer, CommitError, Committed, CreateMode, NodeData, Proof, RequestCount, SessionState, Transaction, WatchStream,
};

/// Everything that a test waits for happens within this time, or never.
const LIMIT: Duration = Duration::from_secs(20);

/// A short limit, for tests in which a client is too slow.
const SHORT: Duration = Duration::from_millis(500);

async fn registry(nodes: &[(&str, &str)]) -> Arc<dyn RegistryCenter> {
    let registry = Arc::new(MemoryRegistry::new().connect());
    let mut transaction = Transaction::new();
    for (path, data) in nodes {
        transaction.create(*path, *data, CreateMode::Persistent);
    }
    registry.commit(transaction).await.unwrap();
    registry
}

async fn settle() -> Arc<dyn RegistryCenter> {
    registry(&[
        ("/settle", ""),
        ("/settle/config", "jobName: settle\nprops:\n  email.password: hunter2\n"),
        ("/settle/servers", ""),
        ("/settle/servers/192.0.2.7", "ENABLED"),
    ])
    .await
}

async fn connected(port: &DumpPort) -> TcpStream {
    timeout(LIMIT, TcpStream::connect(port.address())).await.unwrap().unwrap()
}

async fn everything(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    timeout(LIMIT, stream.read_to_string(&mut answer)).await.expect("an end of the answer").unwrap();
    answer
}

async fn answered(port: &DumpPort, sent: &[u8]) -> String {
    let mut stream = connected(port).await;
    stream.write_all(sent).await.unwrap();
    everything(stream).await
}

#[tokio::test]
async fn a_job_is_dumped_with_hidden_addresses_and_masked_secrets() {
    let port = DumpService::new(settle().await, 0).listen().await.unwrap();
    assert!(port.address().ip().is_loopback(), "{port:?}");
    let expected = "/settle/servers | \n/settle/servers/ip1 | ENABLED\n/settle/config | jobName: settle\nprops:\n  email.password: '***'\n\n";
    for command in ["dump@settle\n", "dump@settle\r\n", "dump@settle\ndump@settle\n"] {
        assert_eq!(answered(&port, command.as_bytes()).await, expected, "{command:?}");
    }
    let job = JobName::new("settle").unwrap();
    assert_eq!(ask(&port.address().to_string(), &job).await.unwrap(), expected);
}

#[tokio::test]
async fn a_command_may_end_with_the_connection_instead_of_the_line() {
    let port = DumpService::new(settle().await, 0).listen().await.unwrap();
    let mut stream = connected(&port).await;
    stream.write_all(b"dump@settle").await.unwrap();
    stream.shutdown().await.unwrap();
    assert!(everything(stream).await.starts_with("/settle/servers"));
}

#[tokio::test]
async fn what_cannot_be_answered_is_told_with_what_would_be_right() {
    let port = DumpService::new(settle().await, 0).listen().await.unwrap();
    let long = [b"dump@".as_slice(), &[b'x'; 100_000], b"\n"].concat();
    let cases: [(&[u8], &[&str]); 7] = [
        (b"dump@setle\n", &["there is no job 'setle'", "settle"]),
        (b"dump@a@b\n", &["there is no job 'a@b'"]),
        (b"dump@\n", &["job name", "'dump@' and the name of a job"]),
        (b"dumps\n", &["unknown command 'dumps'", "'dump@' and the name of a job, or 'dump'"]),
        (b"\x1b[2Jhelp \xff\n", &["unknown command '\\u{1b}[2Jhelp \u{fffd}'"]),
        (b"\n", &["unknown command ''"]),
        (&long, &["too long"]),
    ];
    for (command, parts) in cases {
        let answer = answered(&port, command).await;
        for part in parts {
            assert!(answer.contains(part), "{answer}");
        }
        assert!(answer.ends_with('\n') && !answer.starts_with('/'), "{answer}");
    }
    let error = ask(&port.address().to_string(), &JobName::new("setle").unwrap()).await.unwrap_err();
    assert!(matches!(error, DumpError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("there is no job 'setle'"), "{error}");
}

#[tokio::test]
async fn many_clients_are_served_beside_each_other() {
    let port = DumpService::new(settle().await, 0).listen().await.unwrap();
    let mut silent = Vec::new();
    for _ in 1..CLIENTS {
        silent.push(connected(&port).await);
    }
    assert!(answered(&port, b"dump@settle\n").await.starts_with("/settle/servers"));
    for mut stream in silent {
        stream.write_all(b"dump@settle\n").await.unwrap();
        assert!(everything(stream).await.starts_with("/settle/servers"));
    }
}

#[tokio::test]
async fn a_client_that_asks_nothing_is_sent_away_and_the_next_one_served() {
    let service = DumpService::new(settle().await, 0).clients(1).patience(SHORT);
    let port = service.listen().await.unwrap();
    let silent = connected(&port).await;
    let next = answered(&port, b"dump@settle\n");
    let (told, dump) = tokio::join!(everything(silent), next);
    assert!(told.starts_with("no command came within 500ms: send one line"), "{told}");
    assert!(dump.starts_with("/settle/servers"), "{dump}");
}

#[tokio::test]
async fn one_dump_is_read_at_a_time() {
    let slow = Arc::new(Slow::new(registry(&[("/lone", ""), ("/lone/sharding", "")]).await));
    let port = DumpService::new(slow.clone(), 0).listen().await.unwrap();
    answered(&port, b"dump@lone\n").await;
    let alone = slow.most.load(Ordering::Relaxed);
    let clients = (0..20).map(|_| answered(&port, b"dump@lone\n"));
    for answer in futures_util::future::join_all(clients).await {
        assert_eq!(answer, "/lone/sharding | \n");
    }
    assert_eq!(slow.most.load(Ordering::Relaxed), alone);
}

#[tokio::test]
async fn a_client_whose_turn_does_not_come_is_sent_away() {
    let service = DumpService::new(settle().await, 0).patience(SHORT);
    let turn = service.turn.clone();
    let port = service.listen().await.unwrap();
    let taken = turn.acquire().await.unwrap();
    assert_eq!(answered(&port, b"dump@settle\n").await, "others were being answered for 500ms; ask again later\n");
    drop(taken);
    assert!(answered(&port, b"dump@settle\n").await.starts_with("/settle/servers"));
}

/// A registry center that answers slowly, and counts how many requests it has at once.
#[derive(Debug)]
struct Slow {
    registry: Arc<dyn RegistryCenter>,
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Slow {
    fn new(registry: Arc<dyn RegistryCenter>) -> Self {
        Self { registry, now: Arc::default(), most: Arc::default() }
    }

    fn slowly<T: 'static>(&self, answer: Answer<T>) -> Answer<T> {
        let (now, most) = (self.now.clone(), self.most.clone());
        Box::pin(async move {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(2)).await;
            now.fetch_sub(1, Ordering::Relaxed);
            answer.await
        })
    }
}

impl RegistryCenter for Slow {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.slowly(self.registry.get(path))
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.slowly(self.registry.children(path))
    }

    fn commit(&self, _: Transaction) -> Answer<Committed, CommitError> {
        unreachable!("a dump writes nothing")
    }

    fn watch(&self, _: &str) -> Box<dyn WatchStream> {
        unreachable!("a dump watches nothing")
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.registry.session()
    }

    fn proof(&self) -> Option<Proof> {
        self.registry.proof()
    }

    fn requests(&self) -> RequestCount {
        self.registry.requests()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.registry.close()
    }
}

/// A registry center that is not reached.
#[derive(Debug)]
struct Away;

impl RegistryCenter for Away {
    fn get(&self, _: &str) -> Answer<Option<NodeData>> {
        Box::pin(pending())
    }

    fn children(&self, _: &str) -> Answer<Option<Vec<String>>> {
        Box::pin(pending())
    }

    fn commit(&self, _: Transaction) -> Answer<Committed, CommitError> {
        unreachable!("a dump writes nothing")
    }

    fn watch(&self, _: &str) -> Box<dyn WatchStream> {
        unreachable!("a dump watches nothing")
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        watch::channel(SessionState::Connecting).1
    }

    fn proof(&self) -> Option<Proof> {
        None
    }

    fn requests(&self) -> RequestCount {
        RequestCount::default()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        Box::pin(ready(()))
    }
}

#[tokio::test]
async fn a_registry_center_that_is_away_is_told() {
    let port = DumpService::new(Arc::new(Away), 0).patience(SHORT).listen().await.unwrap();
    let told = answered(&port, b"dump@settle\n").await;
    assert_eq!(told, "the registry center does not answer within 500ms; ask again later\n");
}

#[tokio::test]
async fn jobs_of_several_registry_centers_are_found() {
    let other = registry(&[("/other", ""), ("/other/sharding", "")]).await;
    let port = DumpService::new(settle().await, 0).registry(other).listen().await.unwrap();
    assert!(answered(&port, b"dump@settle\n").await.starts_with("/settle/servers"));
    assert_eq!(answered(&port, b"dump@other\n").await, "/other/sharding | \n");
    let nobody = answered(&port, b"dump@nobody\n").await;
    assert!(nobody.contains("settle") && nobody.contains("other"), "{nobody}");
}

#[tokio::test]
async fn without_a_name_all_jobs_are_given_and_an_address_has_one_name_in_all_of_them() {
    let nodes = [
        ("/other", ""),
        ("/other/servers", ""),
        ("/other/servers/192.0.2.8", "ENABLED"),
        ("/other/servers/192.0.2.7", "ENABLED"),
        ("/settle", ""),
        ("/settle/config", "of another registry center"),
    ];
    let port = DumpService::new(settle().await, 0).registry(registry(&nodes).await).listen().await.unwrap();
    let expected = "/settle/servers | \n/settle/servers/ip1 | ENABLED\n/settle/config | jobName: settle\nprops:\n  \
                    email.password: '***'\n\n/other/servers | \n/other/servers/ip2 | ENABLED\n/other/servers/ip1 | ENABLED\n";
    assert_eq!(answered(&port, b"dump\n").await, expected);
    let empty = DumpService::new(registry(&[]).await, 0).listen().await.unwrap();
    assert_eq!(answered(&empty, b"dump\n").await, "there are no jobs\n");
}

#[tokio::test]
async fn nothing_of_a_port_that_is_closed_goes_on() {
    let registry = settle().await;
    let port = DumpService::new(registry.clone(), 0).clients(201).listen().await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(connected(&port).await);
    }
    // All of them were accepted before this one.
    assert!(answered(&port, b"dump@settle\n").await.starts_with("/settle/servers"));
    port.close().await;
    assert_eq!(Arc::strong_count(&registry), 1);
}

#[tokio::test]
async fn a_port_that_is_closed_ends_its_connections_and_can_be_taken_again() {
    let registry = settle().await;
    let port = DumpService::new(registry.clone(), 0).listen().await.unwrap();
    let (address, silent) = (port.address(), connected(&port).await);
    assert!(answered(&port, b"dump@settle\n").await.starts_with("/settle/servers"), "it listens");
    let taken = DumpService::new(registry.clone(), address.port()).listen().await.unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    port.close().await;
    assert_eq!(everything(silent).await, "");
    let again = DumpService::new(registry, address.port()).listen().await.unwrap();
    assert_eq!(again.address(), address);
}
