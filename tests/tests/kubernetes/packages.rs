//! Packages from a web server.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;

use elasticjob_cloud::carrier::{Carrier, Outcome};
use elasticjob_cloud::model::App;
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use serde_json::json;

use crate::support::{ended, launch_of};

/// The address of this host for its pods.
const HOST: &str = "10.123.0.1";

/// Serves these bytes to all requests.
fn serve(bytes: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request);
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len());
            let _ = stream.write_all(&bytes);
        }
    });
    port
}

pub(crate) async fn run(cluster: Arc<Cluster>) {
    let folder = TemporaryFolder::new("package").unwrap();
    let bin = folder.path().join("orders/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("start.sh"), "#!/bin/sh\necho \"settled $ELASTICJOB_SHARDING_ITEM in $(basename \"$PWD\")\"\n")
        .unwrap();
    fs::set_permissions(bin.join("start.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let tar =
        Command::new("tar").args(["-czf", "orders.tar.gz", "orders"]).current_dir(folder.path()).status().unwrap();
    assert!(tar.success());
    let archive = fs::read(folder.path().join("orders.tar.gz")).unwrap();
    let sum = Command::new("sha256sum").arg(folder.path().join("orders.tar.gz")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap().split(' ').next().unwrap().to_owned();
    let port = serve(archive);
    let app = |sum: &str| {
        let url = format!("http://{HOST}:{port}/orders.tar.gz#sha256={sum}");
        let app = json!({ "appName": "orders", "appURL": url, "image": "localhost/box:1", "bootstrapScript": "bin/start.sh",
                          "cpuCount": 0, "memoryMB": 16 });
        App::from_json(app).unwrap()
    };
    let namespace = Namespace::new(cluster);
    let carrier = namespace.connect(|_| {}).await;
    let good = launch_of(app(&sum), "good", &[3], json!({}));
    carrier.launch(good.clone()).await.unwrap();
    assert_eq!(ended(&carrier, &good.id, 3).await, Outcome::Succeeded);
    assert_eq!(carrier.log(&good.id, 3, 1_000).await, Ok(Some("settled 3 in orders\n".to_owned())));

    let other = launch_of(app(&"0".repeat(64)), "other", &[0], json!({}));
    carrier.launch(other.clone()).await.unwrap();
    match ended(&carrier, &other.id, 0).await {
        Outcome::Failed { exit: None, text } => {
            assert!(text.contains(&sum) && text.contains("it is not run"), "{text}")
        }
        outcome => panic!("{outcome:?}"),
    }
}
