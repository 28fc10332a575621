//! Random operations on the embedded registry and on a real ZooKeeper: same results, versions, refusals and events.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Debug;
use std::task::{Context, Poll, Waker};

use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob::registry::{
    CommitError, Committed, CreateMode, Data, NodeData, Op, OpResult, RegistryCenter, SessionId, SessionState, Stat,
    Transaction, WatchEvent, WatchStream, Zxid,
};
use elasticjob_tests::harness::Harness;
use elasticjob_tests::zookeeper::ZookeeperServer;
use futures_util::future::join_all;
use tokio::runtime::Handle;

const STEPS: usize = 10_000;
const SESSIONS: usize = 3;

/// Another run than the usual one.
const SEED_VARIABLE: &str = "ELASTICJOB_TEST_SEED";

/// Adds the tests of this file.
pub fn add_tests(harness: &mut Harness) {
    harness.on_own_zookeeper("the_embedded_registry_does_what_zookeeper_does", |server| async move {
        let seed = env::var(SEED_VARIABLE).ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or(0x5eed);
        println!("{SEED_VARIABLE}={seed}");
        compare(seed, &server).await;
    });
}

/// SplitMix64, and what it may draw from.
struct Random {
    state: u64,
    /// Nodes created so far, gone or not: without them most operations would miss.
    known: Vec<String>,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A node that was created before, mostly.
    fn target(&mut self) -> String {
        if self.known.is_empty() || self.one_in(4) {
            return self.path();
        }
        let recent = self.known.len().min(8);
        let index = self.known.len() - 1 - self.below(recent);
        self.known[index].clone()
    }

    fn path(&mut self) -> String {
        if self.one_in(40) {
            return ["/", "/a/", "b", "/a/./b", "//", "/\u{e000}"][self.below(6)].to_owned();
        }
        (0..=self.below(3)).map(|_| ["/a", "/b", "/c", "/中 -"][self.below(4)]).collect()
    }

    fn version(&mut self) -> Option<i32> {
        [None, None, None, Some(0), Some(0), Some(1), Some(2), Some(-1)][self.below(8)]
    }

    fn data(&mut self) -> Data {
        vec![b'x'; self.below(4)].into()
    }

    fn op(&mut self) -> Op {
        let path = if self.one_in(2) { self.target() + ["/a", "/b"][self.below(2)] } else { self.path() };
        match self.below(10) {
            0 => Op::Check { path: self.target(), version: self.version() },
            1..=2 => Op::Set { path: self.target(), data: self.data(), version: self.version() },
            3..=4 => Op::Delete { path: self.target(), version: self.version() },
            5 => Op::Create { path: path + "-", data: self.data(), mode: CreateMode::EphemeralSequential },
            6 => Op::Create { path, data: self.data(), mode: CreateMode::Ephemeral },
            _ => Op::Create { path, data: self.data(), mode: CreateMode::Persistent },
        }
    }

    fn transaction(&mut self) -> Transaction {
        let mut transaction = Transaction::new();
        for _ in 0..=self.below(8).saturating_sub(5) {
            transaction.push(self.op());
        }
        transaction
    }
}

/// A client of one back end that hears everything.
struct Client {
    center: Box<dyn RegistryCenter>,
    watch: Box<dyn WatchStream>,
    id: SessionId,
}

impl Client {
    async fn new(center: impl RegistryCenter) -> Self {
        let SessionState::Connected { id, .. } = *center.session().borrow() else { panic!("not connected") };
        let mut client = Self { watch: center.watch("/"), center: Box::new(center), id };
        // What comes before the answer is there, so the gap is.
        assert_eq!(client.events().await, [WatchEvent::Gap]);
        client
    }

    /// All events of what happened up to now.
    async fn events(&mut self) -> Vec<WatchEvent> {
        self.center.get("/").await.expect("the root can be read");
        let mut cx = Context::from_waker(Waker::noop());
        let mut events = Vec::new();
        while let Poll::Ready(Some(event)) = self.watch.poll_next(&mut cx) {
            events.push(event);
        }
        events
    }
}

/// One of the two registries under comparison, and its sessions.
struct Side {
    clients: Vec<Client>,
}

impl Side {
    async fn events(&mut self) -> Vec<Vec<WatchEvent>> {
        join_all(self.clients.iter_mut().map(Client::events)).await
    }
}

/// Which transaction ids of the two sides mean the same transaction.
#[derive(Default)]
struct Zxids {
    pairs: BTreeMap<Zxid, Zxid>,
    /// ZooKeeper's id minus ours, while no session comes or goes. Opening one takes ZooKeeper more transactions.
    offset: Option<Zxid>,
}

impl Zxids {
    fn same(&mut self, memory: Zxid, zookeeper: Zxid) -> bool {
        if memory == 0 {
            return true; // the root is not made by a transaction here
        }
        match self.pairs.insert(memory, zookeeper) {
            Some(before) => before == zookeeper,
            None => *self.offset.get_or_insert(zookeeper - memory) == zookeeper - memory,
        }
    }
}

struct Comparison {
    zxids: Zxids,
    /// Ids of sessions that mean the same client.
    sessions: BTreeMap<SessionId, SessionId>,
    context: String,
}

impl Comparison {
    fn equal<T: PartialEq + Debug>(&self, what: &str, memory: &T, zookeeper: &T) {
        assert!(
            memory == zookeeper,
            "{}: {what} differs\n   memory: {memory:?}\nzookeeper: {zookeeper:?}",
            self.context
        );
    }

    fn stats(&mut self, memory: &Stat, zookeeper: &Stat) {
        self.equal("version", &memory.version, &zookeeper.version);
        let owner = memory.ephemeral_owner.map(|owner| self.sessions[&owner]);
        self.equal("owner", &owner, &zookeeper.ephemeral_owner);
        for (memory, zookeeper) in [(memory.czxid, zookeeper.czxid), (memory.mzxid, zookeeper.mzxid)] {
            assert!(
                self.zxids.same(memory, zookeeper),
                "{}: transaction {memory} is not {zookeeper} ({:?})",
                self.context,
                self.zxids.offset
            );
        }
    }

    fn nodes(&mut self, memory: Option<NodeData>, zookeeper: Option<NodeData>) {
        self.equal("data", &memory.as_ref().map(|node| &node.data), &zookeeper.as_ref().map(|node| &node.data));
        if let (Some(memory), Some(zookeeper)) = (memory, zookeeper) {
            self.stats(&memory.stat, &zookeeper.stat);
        }
    }

    fn commits(&mut self, memory: Result<Committed, CommitError>, zookeeper: Result<Committed, CommitError>) {
        let (memory, zookeeper) = match (memory, zookeeper) {
            (Ok(memory), Ok(zookeeper)) => (memory.results, zookeeper.results),
            (memory, zookeeper) => return self.equal("result", &memory, &zookeeper),
        };
        self.equal("number of results", &memory.len(), &zookeeper.len());
        for (memory, zookeeper) in memory.iter().zip(&zookeeper) {
            match (memory, zookeeper) {
                (OpResult::Set { stat: memory }, OpResult::Set { stat: zookeeper }) => self.stats(memory, zookeeper),
                (memory, zookeeper) => self.equal("result", memory, zookeeper),
            }
        }
    }
}

impl Comparison {
    /// Compares every node.
    async fn trees(&mut self, memory: &dyn RegistryCenter, zookeeper: &dyn RegistryCenter) {
        let mut paths = vec!["/".to_owned()];
        while let Some(path) = paths.pop() {
            self.nodes(memory.get(&path).await.expect("readable"), zookeeper.get(&path).await.expect("readable"));
            let children = memory.children(&path).await.expect("readable").unwrap_or_default();
            paths.extend(children.iter().map(|name| format!("{}/{name}", path.trim_end_matches('/'))));
        }
    }
}

async fn connect_zookeeper(server: &ZookeeperServer) -> Client {
    let mut config = ZookeeperConfiguration::new(server.connect_string(), "differential/test");
    config.session_timeout_milliseconds = 30_000;
    Client::new(ZookeeperRegistryCenter::connect(config, &Handle::current()).await.expect("it connects")).await
}

async fn compare(seed: u64, server: &ZookeeperServer) {
    let mut random = Random { state: seed, known: vec![] };
    let registry = MemoryRegistry::new();
    let (mut memory, mut zookeeper) = (Side { clients: vec![] }, Side { clients: vec![] });
    let mut comparison = Comparison { zxids: Zxids::default(), sessions: BTreeMap::new(), context: String::new() };
    for _ in 0..SESSIONS {
        memory.clients.push(Client::new(registry.connect()).await);
        zookeeper.clients.push(connect_zookeeper(server).await);
    }
    let mut counts = BTreeMap::<&str, u32>::new();
    for step in 0..STEPS {
        for (memory, zookeeper) in memory.clients.iter().zip(&zookeeper.clients) {
            comparison.sessions.insert(memory.id, zookeeper.id);
        }
        let index = random.below(SESSIONS);
        let kind = random.below(100);
        let (here, there) = (&memory.clients[index].center, &zookeeper.clients[index].center);
        let mut sort_events = false;
        match kind {
            0 => {
                comparison.context = format!("seed {seed}, step {step}: session {index} closes");
                comparison.trees(&**here, &**there).await;
                here.close().await;
                there.close().await;
                memory.clients.remove(index);
                zookeeper.clients.remove(index);
                *counts.entry("sessions closed").or_default() += 1;
                // In which order a server deletes the ephemeral nodes of a session is nowhere said.
                sort_events = true;
            }
            1..=15 => {
                let path = random.path();
                comparison.context = format!("seed {seed}, step {step}: session {index} reads {path:?}");
                match (here.get(&path).await, there.get(&path).await) {
                    (Ok(memory), Ok(zookeeper)) => comparison.nodes(memory, zookeeper),
                    (memory, zookeeper) => comparison.equal("answer", &memory.err(), &zookeeper.err()),
                }
                let mut children = [here.children(&path).await, there.children(&path).await];
                children.iter_mut().flatten().flatten().for_each(|names| names.sort());
                comparison.equal("children", &children[0], &children[1]);
            }
            _ => {
                let transaction = random.transaction();
                comparison.context = format!("seed {seed}, step {step}: session {index} commits {transaction:?}");
                let (memory, zookeeper) = (here.commit(transaction.clone()).await, there.commit(transaction).await);
                random.known.extend(memory.iter().flat_map(|committed| &committed.results).filter_map(|result| {
                    if let OpResult::Create { path } = result { Some(path.clone()) } else { None }
                }));
                let outcome = if memory.is_ok() { "committed" } else { "refused" };
                *counts.entry(outcome).or_default() += 1;
                comparison.commits(memory, zookeeper);
            }
        }
        let (mut events, mut expected) = (memory.events().await, zookeeper.events().await);
        if sort_events {
            events.iter_mut().chain(&mut expected).for_each(|events| events.sort_by_key(|event| format!("{event:?}")));
        }
        *counts.entry("events").or_default() += events.iter().map(Vec::len).sum::<usize>() as u32;
        comparison.equal("events", &events, &expected);
        if memory.clients.len() < SESSIONS {
            memory.clients.push(Client::new(registry.connect()).await);
            zookeeper.clients.push(connect_zookeeper(server).await);
            comparison.zxids.offset = None;
        }
    }
    println!("{STEPS} steps: {counts:?}");
    for what in ["sessions closed", "committed", "refused", "events"] {
        assert!(counts.get(what).is_some_and(|count| *count > 50), "the run reached too little: {counts:?}");
    }
}
