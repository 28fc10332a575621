use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use serde_json::json;

use super::scratch::Scratch;
use super::{MemoryLimit, ProcessCarrier, ProcessOptions};
use crate::carrier::suite::{Ground, cases};
use crate::carrier::{Answer, Carrier};
use crate::model::App;

/// A folder that several carriers share.
struct Host {
    scratch: Scratch,
    memory: MemoryLimit,
}

impl Host {
    fn connect(&self) -> ProcessCarrier {
        let folder = self.scratch.path().join("work");
        ProcessCarrier::new(ProcessOptions { memory: self.memory, ..ProcessOptions::new(folder, "tests") }).unwrap()
    }
}

impl Ground for Host {
    fn carrier(&self) -> Answer<'_, Arc<dyn Carrier>> {
        Box::pin(async { Ok(Arc::new(self.connect()) as Arc<dyn Carrier>) })
    }

    fn app(&self, name: &str, script: &str) -> App {
        let file = self.scratch.path().join(format!("{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let url = format!("file://{}", file.display());
        let app = json!({ "appName": name, "appURL": url, "bootstrapScript": format!("./{name}.sh"), "cpuCount": 0, "memoryMB": 16 });
        App::from_json(app).unwrap()
    }

    fn tells_out_of_memory(&self) -> bool {
        self.connect().tells_out_of_memory()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_the_host_pass_the_suite() {
    for case in cases() {
        let started = std::time::Instant::now();
        (case.play)(Arc::new(Host { scratch: Scratch::new(), memory: MemoryLimit::Auto })).await;
        println!("{} ({} ms)", case.name, started.elapsed().as_millis());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_they_do_where_only_the_address_space_can_be_limited() {
    let cases = cases().into_iter().filter(|case| case.name.contains("memory") || case.name.contains("ends_well"));
    for case in cases {
        (case.play)(Arc::new(Host { scratch: Scratch::new(), memory: MemoryLimit::AddressSpace })).await;
    }
}
