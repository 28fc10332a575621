//! The dump port of an application.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::memory::MemoryRegistry;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

#[elastic_job(sharding_total_count = 2, params = "0=Beijing", props = { "mail.password" = "hunter2" })]
async fn settled(_: ShardingContext) {}

#[elastic_job(sharding_total_count = 1, registry_center = "archive")]
async fn archived(_: ShardingContext) {}

fn sources(test: &str, dump: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("dump").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), format!("elasticjob:\n  dump:\n{dump}")).unwrap();
    Sources::in_folder(folder)
}

async fn started(sources: Sources) -> Result<ElasticJobApp, AppError> {
    let archive = Arc::new(MemoryRegistry::new().connect());
    ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .sources(sources)
        .registry_center("archive", archive)
        .start()
        .await
}

/// Asks without tokio, so that the runtime of the program stands still meanwhile.
fn asked(address: SocketAddr, command: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.write_all(command.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn jobs_of_all_registry_centers_are_dumped_while_the_program_is_blocked() {
    let app = started(sources("all", "    port: 0\n")).await.unwrap();
    let address = app.dump_address().unwrap();
    assert!(address.ip().is_loopback(), "{address}");
    let settled = asked(address, "dump@settled\n");
    for part in ["/settled/servers/ip1 | ENABLED\n", "/settled/instances/ip1@-@"] {
        assert!(settled.contains(part), "{settled}");
    }
    assert!(!settled.contains("hunter2"), "{settled}");
    assert!(asked(address, "dump@archived\n").contains("/archived/config | "));
    let told = asked(address, "dump@setled\n");
    assert!(told.contains("there is no job 'setled'") && told.contains("settled"), "{told}");
    app.shutdown().await;
    assert!(TcpStream::connect(address).is_err(), "the port is closed");
}

#[tokio::test]
async fn no_port_is_opened_unless_it_is_wanted() {
    let off = [
        ("none", ""),
        ("off", "    enabled: false\n    port: 0\n"),
        ("without_port", "    enabled: true\n    address: 0.0.0.0\n"),
    ];
    for (test, dump) in off {
        let app = started(sources(test, dump)).await.unwrap();
        assert_eq!(app.dump_address(), None, "{test}");
        app.shutdown().await;
    }
}

#[tokio::test]
async fn it_can_be_opened_for_other_hosts() {
    let app = started(sources("open", "    port: 0\n    address: 0.0.0.0\n")).await.unwrap();
    assert!(app.dump_address().unwrap().ip().is_unspecified());
    app.shutdown().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_with_the_place_of_the_setting() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let error = started(sources("taken", &format!("    port: {port}\n"))).await.unwrap_err().to_string();
    for part in
        ["no job was started", "application.yaml:3", "elasticjob.dump.port", &format!("port {port}"), "0 for any"]
    {
        assert!(error.contains(part), "{error}");
    }
}
