//! The times at which instances came and went, and items moved after that, by one watch.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use elasticjob::ident::JobName;
use elasticjob::registry::layout::{ItemNode, JobPath};
use elasticjob::registry::{RegistryCenter, WatchEvent};
use tokio::task::JoinSet;

use crate::java_comparison::stage::path;
use crate::records::{now_us, pid_of};

/// Something happened to an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Its node was created.
    Came(u32),
    /// Its node was removed.
    Went(u32),
}

/// How the items of a job moved after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Move {
    /// From the change to the first owner that was removed or set.
    pub waited_us: i64,
    /// From there to the last one.
    pub moved_us: i64,
    /// When that was, in microseconds since 1970.
    pub over_us: i64,
}

/// Everything that happened to a job, until this is dropped.
#[derive(Debug)]
pub(super) struct Moves {
    job: String,
    seen: Arc<Mutex<Vec<(i64, WatchEvent)>>>,
    /// Ends the watch with this.
    _watch: JoinSet<()>,
}

impl Moves {
    /// Watches a job. One watch for all tells the order.
    pub fn watch(registry: &Arc<dyn RegistryCenter>, job: &str) -> Self {
        let (seen, mut watches) = (Arc::<Mutex<Vec<_>>>::default(), JoinSet::new());
        let (mut events, into) = (registry.watch(&path(job, JobPath::Root)), seen.clone());
        watches.spawn(async move {
            while let Some(event) = poll_fn(|cx| events.poll_next(cx)).await {
                into.lock().unwrap_or_else(PoisonError::into_inner).push((now_us(), event));
            }
        });
        Self { job: job.to_owned(), seen, _watch: watches }
    }

    /// How items moved after a change, when a resharding has ended since.
    pub fn after(&self, change: Change) -> Option<Move> {
        moved(&self.job, &self.seen.lock().unwrap_or_else(PoisonError::into_inner), change)
    }
}

/// `None` also when events may have been missed since.
fn moved(job: &str, events: &[(i64, WatchEvent)], change: Change) -> Option<Move> {
    let job = JobName::new(job).ok()?;
    let node = |path: &str| JobPath::parse(&job, path);
    let pid = |path: &str| match node(path) {
        Some(JobPath::Instance(id)) => pid_of(id.as_str()),
        _ => None,
    };
    let is_change = |event: &WatchEvent| match (event, change) {
        (WatchEvent::Created(path), Change::Came(of)) | (WatchEvent::Deleted(path), Change::Went(of)) => {
            pid(path) == Some(of)
        }
        _ => false,
    };
    let is_owner = |event: &WatchEvent| match event {
        WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path) => {
            matches!(node(path), Some(JobPath::Item(_, ItemNode::Instance)))
        }
        WatchEvent::Gap => false,
    };
    let at = events.iter().rposition(|(_, event)| is_change(event))?;
    let later = &events[at + 1..];
    let ended =
        |event: &WatchEvent| matches!(event, WatchEvent::Deleted(path) if node(path) == Some(JobPath::Necessary));
    if later.iter().any(|(_, event)| *event == WatchEvent::Gap) || !later.iter().any(|(_, event)| ended(event)) {
        return None;
    }
    let mut moves = later.iter().filter(|(_, event)| is_owner(event)).map(|(at, _)| *at);
    let first = moves.next()?;
    let last = moves.next_back().unwrap_or(first);
    Some(Move { waited_us: first - events[at].0, moved_us: last - first, over_us: last })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(path: &str) -> WatchEvent {
        WatchEvent::Created(path.to_owned())
    }

    fn deleted(path: &str) -> WatchEvent {
        WatchEvent::Deleted(path.to_owned())
    }

    #[test]
    fn a_move_is_counted_from_the_change_over_its_first_owner_to_its_last() {
        let mut events = vec![
            (1, created("/job/sharding/0/instance")),
            (2, created("/job/instances/h@-@7")),
            (5, created("/job/leader/sharding/necessary")),
        ];
        assert_eq!(moved("job", &events, Change::Came(7)), None, "it is only asked for");
        events.extend([
            (40, created("/job/leader/sharding/processing")),
            (50, deleted("/job/sharding/0/instance")),
            (70, created("/job/sharding/0/instance")),
            (80, WatchEvent::Changed("/job/sharding/1/instance".to_owned())),
        ]);
        assert_eq!(moved("job", &events, Change::Came(7)), None, "it goes on");
        events.push((81, deleted("/job/leader/sharding/necessary")));
        let whole = Some(Move { waited_us: 48, moved_us: 30, over_us: 80 });
        assert_eq!(moved("job", &events, Change::Came(7)), whole);
        assert_eq!(moved("job", &events, Change::Came(8)), None, "nobody else came");
        assert_eq!(moved("job", &events, Change::Went(7)), None, "nobody went");
        events.push((90, deleted("/job/instances/h@-@7")));
        assert_eq!(moved("job", &events, Change::Came(7)), whole);
        assert_eq!(moved("job", &events, Change::Went(7)), None, "nothing moved since");
        events.push((95, WatchEvent::Gap));
        assert_eq!(moved("job", &events, Change::Came(7)), None, "something may have been missed");
    }
}
