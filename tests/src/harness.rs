//! A test harness that knows of ZooKeeper, Maven and other services: where one is not found, or not asked for, the tests
//! that need it are shown as ignored, never as passed, with one line that says why.

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Trial};

use crate::java_peer::JavaPeer;
#[cfg(feature = "cloud")]
use crate::kubernetes::{Cluster, network};
#[cfg(feature = "cloud")]
use crate::slurm::SlurmCluster;
use crate::tier::{Tier, Tiers};
use crate::wrong_clock::WrongClock;
use crate::zookeeper::ZookeeperServer;

/// How many tests run at a time unless a program says otherwise: they wait for sessions, fires and processes much more
/// than they compute.
const TESTS_AT_A_TIME: usize = 4;

/// The kind of tests that start a cluster of Kubernetes.
#[cfg(feature = "cloud")]
const CLUSTER: &str = "cluster";

/// The tests of one program.
pub struct Harness {
    asked: Tiers,
    at_a_time: usize,
    trials: Vec<Trial>,
    server: Shared<ZookeeperServer>,
    peer: Shared<JavaPeer>,
    #[cfg(feature = "cloud")]
    cluster: Shared<Cluster>,
    #[cfg(feature = "cloud")]
    slurm: Shared<SlurmCluster>,
    /// What tests need and what is not here, with the reason.
    missing: BTreeMap<&'static str, String>,
}

/// What the tests of a program share, made by the first that needs it.
struct Shared<T>(Arc<Mutex<Option<Arc<T>>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Shared<T> {
    fn get(&self, make: impl FnOnce() -> io::Result<T>) -> Arc<T> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(make().unwrap_or_else(|error| panic!("{error}")));
        shared.get_or_insert_with(make).clone()
    }
}

impl Default for Harness {
    fn default() -> Self {
        Self {
            asked: Tier::asked(),
            at_a_time: TESTS_AT_A_TIME,
            trials: Vec::new(),
            server: Shared::default(),
            peer: Shared::default(),
            #[cfg(feature = "cloud")]
            cluster: Shared::default(),
            #[cfg(feature = "cloud")]
            slurm: Shared::default(),
            missing: BTreeMap::new(),
        }
    }
}

impl Harness {
    /// A harness without tests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets so many tests run at a time.
    #[must_use]
    pub fn at_a_time(self, tests: usize) -> Self {
        Self { at_a_time: tests, ..self }
    }

    /// Adds a test that needs no service.
    pub fn test<F: Future<Output = ()>>(&mut self, name: impl Into<String>, test: impl FnOnce() -> F + Send + 'static) {
        if self.asked.includes(Tier::Unit) {
            self.trials.push(trial(name, test));
        }
    }

    /// Adds a test on the server that all tests of the program share: each keeps to a namespace of its own.
    pub fn on_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<ZookeeperServer>) -> F + Send + 'static,
    ) {
        let server = self.server.clone();
        self.add_ignorable(name, move || test(server.get(ZookeeperServer::start)));
    }

    /// Adds a test on the server that all share, with a clock for processes that can be set.
    pub fn with_wrong_clock<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<ZookeeperServer>, WrongClock) -> F + Send + 'static,
    ) {
        let server = self.server.clone();
        let with_both = move || test(server.get(ZookeeperServer::start), WrongClock::find().expect("a clock"));
        self.with_service("faketime", WrongClock::find().err().or_else(no_zookeeper), name, with_both);
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
        let is_asked_for = self.asked.includes(Tier::of_service(kind));
        let missing = if is_asked_for { missing } else { Some(Tier::why_left_out(kind)) };
        let trial = trial(name, test).with_kind(kind).with_ignored_flag(missing.is_some());
        self.trials.push(trial);
        self.missing.extend(missing.map(|missing| (kind, missing)));
    }

    /// Adds a test on the server that all share, with the Java program.
    pub fn beside_java<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<ZookeeperServer>, Arc<JavaPeer>) -> F + Send + 'static,
    ) {
        let (server, peer) = (self.server.clone(), self.peer.clone());
        let with_both = move || test(server.get(ZookeeperServer::start), peer.get(JavaPeer::build));
        self.with_service("maven", no_maven().or_else(no_zookeeper), name, with_both);
    }

    /// Adds a test with the Java program alone.
    pub fn with_java<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<JavaPeer>) -> F + Send + 'static,
    ) {
        let peer = self.peer.clone();
        self.with_service("maven", no_maven(), name, move || test(peer.get(JavaPeer::build)));
    }

    /// Adds a test on the cluster of Kubernetes that all tests of the program share: each keeps to a namespace of its own.
    #[cfg(feature = "cloud")]
    pub fn on_kubernetes<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<Cluster>) -> F + Send + 'static,
    ) {
        let cluster = self.cluster.clone();
        self.with_service("kubernetes", no_kubernetes(), name, move || test(cluster.get(Cluster::start)));
    }

    /// Adds a test on that cluster that an existing one would not do for.
    #[cfg(feature = "cloud")]
    pub fn on_started_kubernetes<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<Cluster>) -> F + Send + 'static,
    ) {
        let cluster = self.cluster.clone();
        self.with_service(CLUSTER, no_started_kubernetes(), name, move || test(cluster.get(Cluster::start)));
    }

    /// Adds a test that starts a cluster by itself, whose nodes it may kill, on the ZooKeeper that all tests of the program share.
    #[cfg(feature = "cloud")]
    pub fn beside_kubernetes_on_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<ZookeeperServer>) -> F + Send + 'static,
    ) {
        let server = self.server.clone();
        let missing = no_started_kubernetes().or_else(no_zookeeper);
        self.with_service(CLUSTER, missing, name, move || test(server.get(ZookeeperServer::start)));
    }

    /// Adds a test on the cluster that an existing one would not do for, and on the ZooKeeper that all tests of the program share.
    #[cfg(feature = "cloud")]
    pub fn on_started_kubernetes_and_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<Cluster>, Arc<ZookeeperServer>) -> F + Send + 'static,
    ) {
        let (cluster, server) = (self.cluster.clone(), self.server.clone());
        let with_both = move || test(cluster.get(Cluster::start), server.get(ZookeeperServer::start));
        self.with_service(CLUSTER, no_started_kubernetes().or_else(no_zookeeper), name, with_both);
    }

    /// Adds a test on the cluster that all tests of the program share: each has a namespace of its own.
    #[cfg(feature = "cloud")]
    pub fn on_slurm<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<SlurmCluster>) -> F + Send + 'static,
    ) {
        let cluster = self.slurm.clone();
        self.with_service("slurm", no_slurm(), name, move || test(cluster.get(SlurmCluster::start)));
    }

    /// Adds a test on a cluster of its own, whose daemons it may kill.
    #[cfg(feature = "cloud")]
    pub fn on_own_slurm<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(SlurmCluster) -> F + Send + 'static,
    ) {
        self.with_service("slurm", no_slurm(), name, move || test(SlurmCluster::start().expect("Slurm starts")));
    }

    /// The same with the ZooKeeper that all tests of the program share.
    #[cfg(feature = "cloud")]
    pub fn on_own_slurm_and_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(SlurmCluster, Arc<ZookeeperServer>) -> F + Send + 'static,
    ) {
        let server = self.server.clone();
        let on_both = move || test(SlurmCluster::start().expect("Slurm starts"), server.get(ZookeeperServer::start));
        self.with_service("slurm", no_slurm().or_else(no_zookeeper), name, on_both);
    }

    /// Adds a test on the cluster and the ZooKeeper that all tests of the program share.
    #[cfg(feature = "cloud")]
    pub fn on_slurm_and_zookeeper<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce(Arc<SlurmCluster>, Arc<ZookeeperServer>) -> F + Send + 'static,
    ) {
        let (cluster, server) = (self.slurm.clone(), self.server.clone());
        let with_both = move || test(cluster.get(SlurmCluster::start), server.get(ZookeeperServer::start));
        self.with_service("slurm", no_slurm().or_else(no_zookeeper), name, with_both);
    }

    fn add_ignorable<F: Future<Output = ()>>(
        &mut self,
        name: impl Into<String>,
        test: impl FnOnce() -> F + Send + 'static,
    ) {
        self.with_service("zookeeper", no_zookeeper(), name, test);
    }

    /// Runs the tests that the command line asks for, with the options of the standard harness.
    pub fn run(self) -> ExitCode {
        let mut arguments = Arguments::from_args();
        arguments.test_threads.get_or_insert(self.at_a_time);
        #[cfg(feature = "cloud")]
        if !arguments.list && self.trials.iter().any(|trial| trial.kind() == CLUSTER && !trial.has_ignored_flag()) {
            network::enter().expect("a network of the clusters' own");
        }
        for (kind, missing) in self.missing.iter().filter(|_| !arguments.list) {
            eprintln!("left out, because they need {kind}: {missing}");
        }
        let conclusion = libtest_mimic::run(&arguments, self.trials);
        // Servers end with their last references, which must be before the process does.
        drop(self.server);
        #[cfg(feature = "cloud")]
        drop(self.cluster);
        #[cfg(feature = "cloud")]
        drop(self.slurm);
        conclusion.exit_code()
    }
}

fn trial<F: Future<Output = ()>>(name: impl Into<String>, test: impl FnOnce() -> F + Send + 'static) -> Trial {
    Trial::test(name, move || {
        block_on(async { test().await });
        Ok(())
    })
}

fn no_zookeeper() -> Option<String> {
    ZookeeperServer::find().err().map(|missing| missing.to_string())
}

#[cfg(feature = "cloud")]
fn no_kubernetes() -> Option<String> {
    Cluster::find().err().map(|missing| missing.to_string())
}

#[cfg(feature = "cloud")]
fn no_started_kubernetes() -> Option<String> {
    no_kubernetes().or_else(Cluster::why_none_is_started)
}

#[cfg(feature = "cloud")]
fn no_slurm() -> Option<String> {
    SlurmCluster::find().err().map(|missing| missing.to_string())
}

fn no_maven() -> Option<String> {
    JavaPeer::find().err().map(|missing| missing.to_string())
}

fn block_on(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime starts");
    runtime.block_on(test);
}
