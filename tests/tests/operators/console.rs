//! `elasticjob console` of several registry centers.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::support::LIMIT;

pub async fn of_two(server: Arc<ZookeeperServer>) {
    let servers = server.connect_string();
    for namespace in ["console-one", "console-two"] {
        let config = ZookeeperConfiguration::new(&servers, namespace);
        let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects");
        center.close().await;
    }
    let folder = TemporaryFolder::new("console-of-two").expect("a folder");
    let yaml = format!(
        "elasticjob:\n  \
           reg-center: {{server-lists: '{servers}', namespace: console-one}}\n  \
           reg-centers:\n    \
             archive: {{server-lists: '{servers}', namespace: console-two}}\n  \
           console: {{anonymous: viewer}}\n"
    );
    std::fs::write(folder.path().join("application.yaml"), yaml).expect("a file");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address").to_string();
    drop(free);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let arguments = ["elasticjob", "console", "--listen", &address];
    let served = elasticjob_cli::run(arguments, Sources::in_folder(folder.path()), console);
    let asked = tokio::time::timeout(LIMIT, registries(&address));
    let told = tokio::select! {
        code = served => panic!("it ended: {code}"),
        told = asked => told.expect("it answers"),
    };
    let names: Vec<&str> = told.as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["archive", "default"], "{told}");
}

/// The registry centers of the console, once it listens.
async fn registries(address: &str) -> Value {
    let mut stream = loop {
        match TcpStream::connect(address).await {
            Ok(stream) => break stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let request = format!("GET /api/v1/registries HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}
