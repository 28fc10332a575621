use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use tokio::sync::watch;

use super::*;
use crate::registry::{
    Answer, CommitError, Committed, NodeData, RegistryError, RequestCount, SessionState, Transaction, WatchStream,
};

const SESSION_TIMEOUT: Duration = Duration::from_secs(1);

/// An embedded registry whose session is proven by answered requests alone, as that of a server is, and whose reads can
/// be made to fail while its session still looks connected.
#[derive(Debug)]
struct Remote {
    registry: Arc<dyn RegistryCenter>,
    proof: Mutex<Option<Instant>>,
    reads: AtomicU64,
    is_broken: AtomicBool,
}

impl Remote {
    fn new() -> Arc<Self> {
        let registry = Arc::new(MemoryRegistry::new().connect_with_timeout(SESSION_TIMEOUT));
        Arc::new(Self {
            registry,
            proof: Mutex::new(None),
            reads: AtomicU64::new(0),
            is_broken: AtomicBool::new(false),
        })
    }

    fn prove(&self) {
        *self.proof.lock().unwrap() = Some(Instant::now());
    }
}

impl RegistryCenter for Remote {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.is_broken.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(RegistryError::NoAnswer { why: "as planned".to_owned() })));
        }
        self.prove();
        self.registry.get(path)
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.prove();
        self.registry.children(path)
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        self.prove();
        self.registry.commit(transaction)
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.registry.watch(path)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.registry.session()
    }

    fn proof(&self) -> Option<Instant> {
        *self.proof.lock().unwrap()
    }

    fn requests(&self) -> RequestCount {
        self.registry.requests()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.registry.close()
    }
}

/// A handler whose runs end after `run` or when cancelled; tells the begin as `None`, then whether it was cancelled.
fn lasting(run: Duration) -> (ItemHandler, mpsc::UnboundedReceiver<Option<bool>>) {
    let (sender, told) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let sender = sender.clone();
        async move {
            let _ = sender.send(None);
            let cancelled = timeout(run, context.cancelled()).await.is_ok();
            let _ = sender.send(Some(cancelled));
        }
    });
    (handler, told)
}

#[tokio::test]
async fn a_run_longer_than_the_session_time_out_is_kept_by_a_few_reads() {
    let environment = environment();
    let remote = Remote::new();
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut told) = lasting(2 * SESSION_TIMEOUT);
    let _job = scheduled(&environment, &registry, each_second("kept", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(None));
    let before = remote.reads.load(Ordering::Relaxed);
    assert_eq!(soon(told.recv()).await, Some(Some(false)), "its session is proven all the time");
    let reads = remote.reads.load(Ordering::Relaxed) - before;
    // One each quarter of the time-out.
    assert!((4..=10).contains(&reads), "{reads} reads");
}

#[tokio::test]
async fn a_run_whose_session_cannot_be_proven_is_cancelled_in_time_and_the_driver_goes_on() {
    let environment = environment();
    let remote = Remote::new();
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut told) = lasting(LIMIT);
    let job = scheduled(&environment, &registry, each_second("lost", 1), handler).await;
    assert_eq!(soon(told.recv()).await, Some(None));
    let before = remote.reads.load(Ordering::Relaxed);
    remote.is_broken.store(true, Ordering::Relaxed);
    let broken = Instant::now();
    assert_eq!(soon(told.recv()).await, Some(Some(true)));
    assert!(broken.elapsed() < SESSION_TIMEOUT, "{:?}", broken.elapsed());
    let reads = remote.reads.load(Ordering::Relaxed) - before;
    // Some for each pause after a failure, not as many as there is time for.
    assert!(reads < 500, "{reads} reads that fail at once");
    let mut status = job.handle().status();
    soon(status.wait_for(|status| status.running.is_empty())).await.unwrap();
    remote.is_broken.store(false, Ordering::Relaxed);
    assert_eq!(soon(told.recv()).await, Some(None), "it runs again");
}
