//! A registry center that counts its requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use elasticjob::registry::{
    Answer, CommitError, Committed, NodeData, Proof, RegistryCenter, RegistryError, RequestCount, SessionState,
    Transaction, WatchStream,
};
use prometheus_client::metrics::histogram::Histogram;
use tokio::sync::watch;

use super::locked;
use elasticjob_openmetrics::{Labels, Page};

const OPERATIONS: [&str; 3] = ["get", "children", "commit"];
const RESULTS: [&str; 4] = ["ok", "refused", "not_reached", "unknown"];

/// The upper bounds of the durations of requests, in seconds.
const DURATIONS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 10.0];

/// Requests of one operation that had one result.
struct Requests {
    count: AtomicU64,
    durations: Histogram,
}

/// What was counted of a registry center.
pub(crate) struct RegistrySeries {
    name: String,
    session: watch::Receiver<SessionState>,
    sessions: AtomicU64,
    requests: [[Requests; RESULTS.len()]; OPERATIONS.len()],
    /// How far the clock of this host is ahead, in milliseconds; `None` before the registry center told its time.
    offset: Mutex<Option<i64>>,
}

impl Requests {
    fn new() -> Self {
        Self { count: AtomicU64::default(), durations: Histogram::new(DURATIONS) }
    }
}

impl RegistrySeries {
    pub(super) fn write(all: &[Arc<Self>], page: &mut Page<'_>) -> fmt::Result {
        fn labels(one: &RegistrySeries) -> Labels<'_> {
            vec![("registry", one.name.as_str())]
        }
        let connected = all.iter().map(|one| {
            let is = matches!(*one.session.borrow(), SessionState::Connected { .. });
            (labels(one), f64::from(u8::from(is)))
        });
        page.gauges("elasticjob_registry_connected", "Whether the registry center is connected.", connected)?;
        let sessions = all.iter().map(|one| (labels(one), one.sessions.load(Ordering::Relaxed)));
        page.counters("elasticjob_registry_sessions", "Sessions with the registry center.", sessions)?;
        fn each(all: &[Arc<RegistrySeries>]) -> impl Iterator<Item = (Labels<'_>, &Requests)> {
            all.iter().flat_map(|one| {
                OPERATIONS.iter().zip(&one.requests).flat_map(move |(operation, of)| {
                    RESULTS.iter().zip(of).map(move |(result, requests)| {
                        (
                            vec![("registry", one.name.as_str()), ("operation", *operation), ("result", *result)],
                            requests,
                        )
                    })
                })
            })
        }
        let counts = each(all).map(|(labels, requests)| (labels, requests.count.load(Ordering::Relaxed)));
        page.counters("elasticjob_registry_requests", "Requests of the jobs that were answered, or failed.", counts)?;
        let durations = each(all).map(|(labels, requests)| (labels, &requests.durations));
        let help = "How long requests of the jobs took.";
        page.histograms("elasticjob_registry_request_duration_seconds", help, durations)?;
        let offsets = all.iter().filter_map(|one| {
            let offset = *locked(&one.offset);
            Some((labels(one), offset? as f64 / 1_000.0))
        });
        let help = "How far the clock of this host is ahead of that of the registry center, at the least.";
        page.gauges("elasticjob_clock_offset_seconds", help, offsets)
    }

    fn answered(&self, operation: usize, result: usize, sent: Instant) {
        let requests = &self.requests[operation][result];
        requests.count.fetch_add(1, Ordering::Relaxed);
        requests.durations.observe(sent.elapsed().as_secs_f64());
    }

    /// Notes the time of the registry center, which lies between the sending of a request and its answer where the clocks
    /// agree.
    fn told_time(&self, sent: i64, told: i64, answered: i64) {
        let offset = match told {
            _ if told < sent => sent - told,
            _ if told > answered => answered - told,
            _ => 0,
        };
        *locked(&self.offset) = Some(offset);
    }
}

/// A registry center whose requests are counted.
#[derive(Debug)]
pub(crate) struct ObservedCenter {
    center: Arc<dyn RegistryCenter>,
    series: Arc<RegistrySeries>,
}

impl fmt::Debug for RegistrySeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistrySeries").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ObservedCenter {
    /// Counts the requests to a registry center, and its sessions.
    pub(crate) fn new(name: &str, center: Arc<dyn RegistryCenter>) -> (Self, Arc<RegistrySeries>) {
        let series = Arc::new(RegistrySeries {
            name: name.to_owned(),
            session: center.session(),
            sessions: AtomicU64::default(),
            requests: std::array::from_fn(|_| std::array::from_fn(|_| Requests::new())),
            offset: Mutex::default(),
        });
        tokio::spawn(count_sessions(center.session(), Arc::clone(&series)));
        (Self { center, series: Arc::clone(&series) }, series)
    }

    fn read<T: 'static>(&self, operation: usize, answer: Answer<T>) -> Answer<T> {
        let (series, sent) = (Arc::clone(&self.series), Instant::now());
        Box::pin(async move {
            let answer = answer.await;
            let result = match &answer {
                Ok(_) => 0,
                Err(RegistryError::Refused { .. }) => 1,
                Err(_) => 2,
            };
            series.answered(operation, result, sent);
            answer
        })
    }
}

async fn count_sessions(mut session: watch::Receiver<SessionState>, series: Arc<RegistrySeries>) {
    let mut last = None;
    loop {
        match *session.borrow_and_update() {
            SessionState::Connected { id, .. } if last != Some(id) => {
                last = Some(id);
                series.sessions.fetch_add(1, Ordering::Relaxed);
            }
            SessionState::Closed => return,
            _ => {}
        }
        if session.changed().await.is_err() {
            return;
        }
    }
}

fn wall() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl RegistryCenter for ObservedCenter {
    fn get(&self, path: &str) -> Answer<Option<NodeData>> {
        self.read(0, self.center.get(path))
    }

    fn children(&self, path: &str) -> Answer<Option<Vec<String>>> {
        self.read(1, self.center.children(path))
    }

    fn commit(&self, transaction: Transaction) -> Answer<Committed, CommitError> {
        let (series, sent, sent_at) = (Arc::clone(&self.series), Instant::now(), wall());
        let answer = self.center.commit(transaction);
        Box::pin(async move {
            let answer = answer.await;
            let result = match &answer {
                Ok(_) => 0,
                Err(CommitError::Refused { .. }) => 1,
                Err(CommitError::NotReached { .. }) => 2,
                Err(_) => 3,
            };
            series.answered(2, result, sent);
            if let Some(told) = answer.as_ref().ok().and_then(Committed::server_time) {
                series.told_time(sent_at, told, wall());
            }
            answer
        })
    }

    fn watch(&self, path: &str) -> Box<dyn WatchStream> {
        self.center.watch(path)
    }

    fn watch_node(&self, path: &str) -> Box<dyn WatchStream> {
        self.center.watch_node(path)
    }

    fn session(&self) -> watch::Receiver<SessionState> {
        self.center.session()
    }

    fn proof(&self) -> Option<Proof> {
        self.center.proof()
    }

    fn is_open(&self) -> bool {
        self.center.is_open()
    }

    fn requests(&self) -> RequestCount {
        self.center.requests()
    }

    fn namespace_bytes(&self) -> usize {
        self.center.namespace_bytes()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        self.center.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_clock_counts_as_off_only_by_what_the_way_of_the_request_does_not_explain() {
        let environment = elasticjob::runtime::JobEnvironment::builder().build().expect("it has an address");
        let (_, series) = ObservedCenter::new("default", environment.embedded_registry());
        for (sent, told, answered, offset) in [(100, 150, 200, 0), (100, 90, 200, 10), (100, 230, 200, -30)] {
            series.told_time(sent, told, answered);
            assert_eq!(*locked(&series.offset), Some(offset));
        }
    }
}
