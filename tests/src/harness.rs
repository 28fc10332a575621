//! A test harness that knows of ZooKeeper and other services: where one is not found, the tests that need it are shown as
//! ignored, never as passed, with one line that says why.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Trial};

use crate::zookeeper::{Missing, ZookeeperServer};

/// The tests of one program.
#[derive(Default)]
pub struct Harness {
    trials: Vec<Trial>,
    shared: Shared,
    missing: Option<Missing>,
    /// Other services that tests need and that are not here, with the reason.
    others_missing: BTreeMap<&'static str, String>,
}

/// The server that the tests of a program share, started by the first that needs it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Option<Arc<ZookeeperServer>>>>);

impl Shared {
    fn get(&self) -> Arc<ZookeeperServer> {
        let mut server = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || Arc::new(ZookeeperServer::start().expect("ZooKeeper starts"));
        server.get_or_insert_with(start).clone()
    }
}

impl Harness {
    /// A harness without tests.
    pub fn new() -> Self {
        Self { missing: ZookeeperServer::find().err(), ..Self::default() }
    }

    /// Adds a test that needs no service.
    pub fn test<F: Future<Output = ()>>(&mut self, name: impl Into<String>, test: impl FnOnce() -> F + Send + 'static) {
        self.trials.push(trial(name, test));
    }

    /// Adds a test on the server that all tests of the program share: each keeps to a namespace of its own.
    pub fn on_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<ZookeeperServer>) -> F + Send + 'static,
    ) {
        let shared = self.shared.clone();
        self.add_ignorable(name, move || test(shared.get()));
    }

    /// Adds a test on a server of its own, which it may stop, kill and freeze.
    pub fn on_own_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(ZookeeperServer) -> F + Send + 'static,
    ) {
        self.add_ignorable(name, move || test(ZookeeperServer::start().expect("ZooKeeper starts")));
    }

    /// Adds a test of a program that starts servers by itself.
    pub fn beside_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce() -> F + Send + 'static,
    ) {
        self.add_ignorable(name, test);
    }

    /// Adds a test that needs a service. `kind` is its name in lists of tests, `missing` why there is none here.
    pub fn with_service<F: Future<Output = ()>>(
        &mut self,
        kind: &'static str,
        missing: Option<String>,
        name: impl Into<String>,
        test: impl FnOnce() -> F + Send + 'static,
    ) {
        let trial = trial(name, test).with_kind(kind).with_ignored_flag(missing.is_some());
        self.trials.push(trial);
        self.others_missing.extend(missing.map(|missing| (kind, missing)));
    }

    fn add_ignorable<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce() -> F + Send + 'static,
    ) {
        let trial = trial(name, test);
        self.trials.push(trial.with_kind("zookeeper").with_ignored_flag(self.missing.is_some()));
    }

    /// Runs the tests that the command line asks for, with the options of the standard harness.
    pub fn run(self) -> ExitCode {
        let arguments = Arguments::from_args();
        if let (Some(missing), false) = (&self.missing, arguments.list) {
            eprintln!("left out, because they need ZooKeeper: {missing}");
        }
        for (kind, missing) in self.others_missing.iter().filter(|_| !arguments.list) {
            eprintln!("left out, because they need {kind}: {missing}");
        }
        let conclusion = libtest_mimic::run(&arguments, self.trials);
        // The server ends with its last reference, which must be before the process does.
        drop(self.shared);
        conclusion.exit_code()
    }
}

fn trial<F: Future<Output = ()>>(name: impl Into<String>, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        block_on(async { test().await });
        Ok(())
    })
}

fn block_on(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime starts");
    runtime.block_on(test);
}
