//! An observer: it watches a group in the registry over a connection of its own. It notes when it did not see.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use elasticjob::ident::JobName;
use elasticjob::registry::layout::{ItemNode, JobPath};
use elasticjob::registry::{RegistryCenter, SessionState, WatchEvent};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::records::{Observed, now_us};
use crate::retry_reads::answered;

/// Notes which instances are there and which of them owns an item, until it is dropped.
#[derive(Debug)]
pub struct Observer {
    seen: Seen,
    /// Ends the watches with this.
    _watches: JoinSet<()>,
}

#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Sight>>);

#[derive(Debug, Default)]
struct Sight {
    observed: Observed,
    /// How many tasks wait for a connection, or have not read again since it was lost.
    blinds: usize,
}

/// While there is one, not everything is seen.
struct Blind(Seen);

impl Seen {
    fn sight(&self) -> MutexGuard<'_, Sight> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note<T>(&self, note: impl FnOnce(&mut Observed) -> T) -> T {
        note(&mut self.sight().observed)
    }

    fn blind(&self) -> Blind {
        let mut sight = self.sight();
        sight.blinds += 1;
        sight.observed.sees(now_us(), false);
        Blind(self.clone())
    }
}

impl Drop for Blind {
    fn drop(&mut self) {
        let mut sight = self.0.sight();
        sight.blinds -= 1;
        let sees = sight.blinds == 0;
        sight.observed.sees(now_us(), sees);
    }
}

impl Observer {
    /// Watches jobs.
    pub fn start<'a>(center: &Arc<dyn RegistryCenter>, jobs: impl IntoIterator<Item = &'a str>) -> Self {
        let (seen, mut watches) = (Seen::default(), JoinSet::new());
        watches.spawn(watch_session(center.session(), seen.clone()));
        for job in jobs {
            // Two watches, so that the time at which an instance goes is not that of an answer about an owner.
            watches.spawn(watch_instances(center.clone(), job.to_owned(), seen.clone()));
            watches.spawn(watch_owners(center.clone(), job.to_owned(), seen.clone()));
        }
        Self { seen, _watches: watches }
    }

    /// What it saw so far.
    pub fn observed(&self) -> Observed {
        self.seen.note(|observed| observed.clone())
    }
}

async fn watch_session(mut session: watch::Receiver<SessionState>, seen: Seen) {
    let mut blind = None;
    loop {
        let sees = matches!(*session.borrow_and_update(), SessionState::Connected { .. });
        blind = if sees { None } else { blind.or_else(|| Some(seen.blind())) };
        if session.changed().await.is_err() {
            return;
        }
    }
}

async fn watch_instances(center: Arc<dyn RegistryCenter>, job: String, seen: Seen) {
    let name = JobName::new(job.as_str()).expect("a name for a job");
    let folder = JobPath::Instances.absolute(&name);
    let mut events = center.watch(&folder);
    let id = |path: &str| match JobPath::parse(&name, path) {
        Some(JobPath::Instance(id)) => Some(id.to_string()),
        _ => None,
    };
    while let Some(event) = poll_fn(|cx| events.poll_next(cx)).await {
        let at = now_us();
        match event {
            WatchEvent::Created(path) => id(&path).iter().for_each(|id| seen.note(|seen| seen.came(at, &job, id))),
            WatchEvent::Deleted(path) => id(&path).iter().for_each(|id| seen.note(|seen| seen.went(at, &job, id))),
            WatchEvent::Changed(_) => {}
            WatchEvent::Gap => {
                // An answer that is missing is asked for again: no other gap would tell of it.
                let _blind = seen.blind();
                let now = answered(|| center.children(&folder)).await.unwrap_or_default();
                seen.note(|seen| {
                    let known = seen.presences.iter().filter(|one| one.job == job && one.until_us.is_none());
                    let gone: Vec<String> =
                        known.filter(|one| !now.contains(&one.instance)).map(|one| one.instance.clone()).collect();
                    gone.iter().for_each(|id| seen.went(at, &job, id));
                    now.iter().for_each(|id| seen.came(at, &job, id));
                });
            }
        }
    }
}

async fn watch_owners(center: Arc<dyn RegistryCenter>, job: String, seen: Seen) {
    let name = JobName::new(job.as_str()).expect("a name for a job");
    let folder = JobPath::Sharding.absolute(&name);
    let mut events = center.watch(&folder);
    let item = |path: &str| match JobPath::parse(&name, path) {
        Some(JobPath::Item(item, ItemNode::Instance)) => Some(item),
        _ => None,
    };
    while let Some(event) = poll_fn(|cx| events.poll_next(cx)).await {
        let at = now_us();
        let (items, blind): (Vec<u32>, _) = match event {
            WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path) => {
                (item(&path).into_iter().collect(), None)
            }
            WatchEvent::Gap => {
                let blind = seen.blind();
                let items = answered(|| center.children(&folder)).await.unwrap_or_default();
                (items.iter().filter_map(|item| item.parse().ok()).collect(), Some(blind))
            }
        };
        for item in items {
            let path = JobPath::owner_of(item).absolute(&name);
            let owner = answered(|| center.get(&path)).await;
            let owner = owner.and_then(|owner| owner.data.text().map(str::to_owned)).filter(|owner| !owner.is_empty());
            seen.note(|seen| seen.owned(at, &job, item, owner));
        }
        drop(blind);
    }
}
