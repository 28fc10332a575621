//! An observer: it watches a group in the registry over a connection of its own, which no fault touches.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use elasticjob::ident::JobName;
use elasticjob::registry::layout::{ItemNode, JobPath};
use elasticjob::registry::{RegistryCenter, SessionState, WatchEvent};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::records::{Observed, now_us};

/// Notes which instances are there and which of them owns an item, until it is dropped.
#[derive(Debug)]
pub struct Observer {
    seen: Seen,
    /// Ends the watches with this.
    _watches: JoinSet<()>,
}

#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Observed>>);

impl Seen {
    fn lock(&self) -> MutexGuard<'_, Observed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.seen.lock().clone()
    }
}

async fn watch_session(mut session: watch::Receiver<SessionState>, seen: Seen) {
    loop {
        let sees = matches!(*session.borrow_and_update(), SessionState::Connected { .. });
        seen.lock().sees(now_us(), sees);
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
            WatchEvent::Created(path) => id(&path).iter().for_each(|id| seen.lock().came(at, &job, id)),
            WatchEvent::Deleted(path) => id(&path).iter().for_each(|id| seen.lock().went(at, &job, id)),
            WatchEvent::Changed(_) => {}
            WatchEvent::Gap => {
                // An error is followed by another gap.
                let Ok(now) = center.children(&folder).await else { continue };
                let now = now.unwrap_or_default();
                let mut seen = seen.lock();
                let known = seen.presences.iter().filter(|one| one.job == job && one.until_us.is_none());
                let gone: Vec<String> =
                    known.filter(|one| !now.contains(&one.instance)).map(|one| one.instance.clone()).collect();
                gone.iter().for_each(|id| seen.went(at, &job, id));
                now.iter().for_each(|id| seen.came(at, &job, id));
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
        let items: Vec<u32> = match event {
            WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path) => {
                item(&path).into_iter().collect()
            }
            WatchEvent::Gap => {
                let items = center.children(&folder).await.ok().flatten().unwrap_or_default();
                items.iter().filter_map(|item| item.parse().ok()).collect()
            }
        };
        for item in items {
            // An error is followed by a gap.
            if let Ok(owner) = center.get(&JobPath::owner_of(item).absolute(&name)).await {
                let owner =
                    owner.and_then(|owner| owner.data.text().map(str::to_owned)).filter(|owner| !owner.is_empty());
                seen.lock().owned(at, &job, item, owner);
            }
        }
    }
}
