//! The items that were stopped and have not ended: they are cancelled some time after their grace.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::ident::ShardingItem;
use elasticjob::log::warn;
use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::queue::Row;
use super::{Shared, stop};
use crate::carrier::LaunchId;

/// How long after the grace the keeper may take to end by itself.
pub(super) const AFTER_GRACE: Duration = Duration::from_secs(3);

/// The pause before what was cancelled is cancelled again.
const CANCEL_AGAIN: Duration = Duration::from_secs(15);

/// What is known of the request that a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// It was sent so long ago.
    Before(Duration),
    /// A scheduler noted that it is about to send it, and may have died before. After this time it counts as not sent.
    InDoubt(Duration),
}

/// The items that are to end, one entry for each, however often it is stopped.
#[derive(Debug, Default)]
pub(super) struct Ends {
    items: Mutex<HashMap<(LaunchId, ShardingItem), End>>,
    changed: Notify,
}

#[derive(Debug, Clone, Copy)]
struct End {
    grace: Duration,
    /// When its next step is due.
    at: Instant,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// It is asked to end, unless it turns out that it was.
    Ask,
    /// It is cancelled: its keeper was killed, or its node does not answer.
    Cancel {
        /// How long before the note it was asked, and when the note was made.
        ago: Duration,
        noted: Instant,
    },
}

impl Ends {
    /// How long ago an item was asked to end, as far as this carrier knows.
    pub(super) fn asked(&self, id: &LaunchId, item: ShardingItem) -> Option<Duration> {
        match self.lock().get(&(id.clone(), item))?.step {
            Step::Ask => None,
            Step::Cancel { ago, noted } => Some(ago + noted.elapsed()),
        }
    }

    /// Has an item ended that does not end by itself. The earliest time counts for one that is stopped several times.
    pub(super) fn note(&self, id: &LaunchId, item: ShardingItem, grace: Duration, asked: Asked) {
        let now = Instant::now();
        let (at, step) = match asked {
            Asked::Before(ago) => (now + grace.saturating_sub(ago) + AFTER_GRACE, Step::Cancel { ago, noted: now }),
            Asked::InDoubt(left) => (now + left, Step::Ask),
        };
        let mut items = self.lock();
        let known = items.entry((id.clone(), item)).or_insert(End { grace, at, step });
        if matches!(known.step, Step::Ask) || at < known.at {
            *known = End { grace, at, step };
        }
        drop(items);
        self.changed.notify_one();
    }

    /// Forgets a launch.
    pub(super) fn forget(&self, id: &LaunchId) {
        self.lock().retain(|(of, _), _| of != id);
    }

    /// Ends what does not end by itself, as long as this is polled.
    pub(super) async fn keep(shared: Arc<Shared>) {
        loop {
            let ends = &shared.ends;
            let next = ends.lock().values().map(|end| end.at).min();
            let due = async {
                match next {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = ends.changed.notified() => continue,
                () = due => {}
            }
            join_all(ends.due().into_iter().map(|(id, due)| end(&shared, id, due))).await;
        }
    }

    fn due(&self) -> BTreeMap<LaunchId, Vec<(ShardingItem, End)>> {
        let now = Instant::now();
        let mut due: BTreeMap<LaunchId, Vec<(ShardingItem, End)>> = BTreeMap::new();
        for ((id, item), end) in self.lock().iter().filter(|(_, end)| end.at <= now) {
            due.entry(id.clone()).or_default().push((*item, *end));
        }
        due
    }

    /// Has what was due come again after a pause. An item that was stopped meanwhile has its own time.
    fn put_off(&self, id: &LaunchId, due: impl IntoIterator<Item = (ShardingItem, Instant)>, pause: Duration) {
        let (mut ends, at) = (self.lock(), Instant::now() + pause);
        for (item, was) in due {
            if let Some(end) = ends.get_mut(&(id.clone(), item)).filter(|end| end.at == was) {
                end.at = at;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(LaunchId, ShardingItem), End>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does what is due of a launch.
async fn end(shared: &Shared, id: LaunchId, due: Vec<(ShardingItem, End)>) {
    let ends = &shared.ends;
    let Ok(snapshot) = shared.mirror.now().await else {
        return ends.put_off(&id, due.iter().map(|(item, end)| (*item, end.at)), AFTER_GRACE);
    };
    let name = shared.name(&id);
    let mut cancelled: Vec<String> = Vec::new();
    let mut put_off: Vec<(ShardingItem, Instant)> = Vec::new();
    let mut asked: BTreeMap<Duration, Vec<(ShardingItem, Instant)>> = BTreeMap::new();
    for (item, end) in due {
        let mut live = snapshot.rows(&name, item).iter().filter(|row| row.is_live()).map(Row::id).peekable();
        if live.peek().is_none() {
            ends.lock().remove(&(id.clone(), item));
            continue;
        }
        match end.step {
            Step::Ask => asked.entry(end.grace).or_default().push((item, end.at)),
            Step::Cancel { .. } => {
                cancelled.extend(live);
                put_off.push((item, end.at));
            }
        }
    }
    for (grace, due) in asked {
        let items: Vec<ShardingItem> = due.iter().map(|(item, _)| *item).collect();
        if stop::ask(shared, &id, &items, grace).await.is_err() {
            ends.put_off(&id, due, AFTER_GRACE);
        }
    }
    if cancelled.is_empty() {
        return;
    }
    if let Err(failed) = shared.commands.run("scancel", &cancelled).await {
        warn!("{id}: a stopped process still runs: {}", failed.why());
    }
    ends.put_off(&id, put_off, CANCEL_AGAIN);
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Fire;
    use elasticjob::ident::JobName;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn an_item_that_is_stopped_again_and_again_has_one_end_and_the_earliest() {
        let id = LaunchId { job: JobName::new("long").unwrap(), fire: Fire::Scheduled(0) };
        let (ends, now) = (Ends::default(), Instant::now());
        // After how many seconds the end is due.
        let due = || {
            let items = ends.lock();
            assert_eq!(items.len(), 1);
            items.values().map(|end| end.at.duration_since(now).as_secs()).sum::<u64>()
        };
        ends.note(&id, 0, HOUR, Asked::InDoubt(HOUR / 2));
        assert_eq!((due(), ends.asked(&id, 0)), (1_800, None));
        ends.note(&id, 0, HOUR, Asked::Before(HOUR / 4));
        assert_eq!(due(), 2_703);
        assert!(ends.asked(&id, 0).is_some_and(|ago| ago >= HOUR / 4));
        ends.note(&id, 0, 2 * HOUR, Asked::Before(Duration::ZERO));
        assert_eq!(due(), 2_703);
        ends.note(&id, 0, Duration::from_secs(60), Asked::Before(Duration::ZERO));
        assert_eq!(due(), 63);
        ends.forget(&id);
        assert!(ends.lock().is_empty());
    }

    #[test]
    fn an_item_that_is_stopped_while_a_request_fails_keeps_its_own_time() {
        let id = LaunchId { job: JobName::new("long").unwrap(), fire: Fire::Scheduled(0) };
        let ends = Ends::default();
        ends.note(&id, 0, HOUR, Asked::InDoubt(Duration::ZERO));
        let due: Vec<_> = ends.due()[&id].iter().map(|(item, end)| (*item, end.at)).collect();
        ends.note(&id, 0, HOUR, Asked::Before(Duration::ZERO));
        ends.put_off(&id, due, AFTER_GRACE);
        let left =
            |ends: &Ends| ends.lock().values().map(|end| end.at.duration_since(Instant::now()).as_secs()).sum::<u64>();
        assert!(left(&ends) > 3_500, "the request that failed was not for this step");
        let own: Vec<_> = ends.lock().iter().map(|((_, item), end)| (*item, end.at)).collect();
        ends.put_off(&id, own, AFTER_GRACE);
        assert!(left(&ends) <= 3);
    }
}
