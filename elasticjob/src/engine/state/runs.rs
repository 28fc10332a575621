//! The runs of fires on one instance, until their ends are written.

use std::time::Duration;

use litemap::LiteMap;

use super::listener_round::{Call, Round, RoundStage, Step, Waiting};
use crate::engine::event::RoundId;
use crate::fire::{Attempt, FireState, ItemEnd, RunKey, StopReason};
use crate::ident::ShardingItem;
use crate::registry::Zxid;

/// How long an item that ended waits for others of the same run, to share the transaction that finishes it.
pub(in crate::engine) const FINISH_TOGETHER: Duration = Duration::from_millis(800);

/// The runs that began here and are not over: one of a fire that came here, and one for each fire whose lost items were
/// taken over.
#[derive(Debug, Default)]
pub(in crate::engine) struct Runs(Vec<Run>);

/// The run of a fire: its items that began here.
#[derive(Debug)]
pub(in crate::engine) struct Run {
    pub(in crate::engine) key: RunKey,
    /// Mostly few, so they are sorted in a vector without room for more: all jobs of a process may run at the same moment.
    pub(in crate::engine) items: LiteMap<ShardingItem, BegunItem>,
    /// How the items ended that are finished already.
    pub(in crate::engine) finished: Vec<(ShardingItem, FireState)>,
    /// The latest scheduled fire that fell into this run and was skipped.
    pub(in crate::engine) skipped: Option<i64>,
    /// Its fire was counted before: these are items that came here later.
    pub(in crate::engine) is_counted: bool,
    /// Its listeners. Boxed, as most jobs have none.
    pub(in crate::engine) round: Option<Box<Round>>,
    /// An earlier engine of the process began it, and it could not be stopped: the fires that come here run beside it.
    pub(in crate::engine) is_left: bool,
}

/// An item that began here, until its end is written.
#[derive(Debug)]
pub(in crate::engine) struct BegunItem {
    /// Set when execution is monitored.
    pub(in crate::engine) attempt: Option<Attempt>,
    pub(in crate::engine) stage: Stage,
}

/// Where the run of an item stands.
#[derive(Debug)]
pub(in crate::engine) enum Stage {
    /// Begun in the registry, with this token. It starts when the listeners before it were called, and is asked at once
    /// to come to an end where there was a reason for that meanwhile.
    Held { token: Option<Zxid>, wanted: Option<StopReason> },
    /// Its future lives.
    Executing,
    /// Its future lives, and was asked to come to an end.
    AskedToStop,
    /// Its token was fired; its future is dropped when the grace is over.
    Cancelled { abort_at: Duration },
    /// The engine asked to drop its future; it ends at its next await.
    Aborted,
    /// Its future is gone; the end is still to be written.
    Ended { at: Duration, end: ItemEnd },
}

impl Runs {
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::engine) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.0.iter()
    }

    pub(in crate::engine) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Run> {
        self.0.iter_mut()
    }

    /// The run of a fire that came here. There is one at a time; what is taken over runs beside it.
    pub(in crate::engine) fn regular(&self) -> Option<&Run> {
        self.0.iter().find(|run| run.is_regular())
    }

    pub(in crate::engine) fn regular_mut(&mut self) -> Option<&mut Run> {
        self.0.iter_mut().find(|run| run.is_regular())
    }

    /// The run of an item that began here and is not over. It is in one run only.
    pub(in crate::engine) fn of_item(&self, item: ShardingItem) -> Option<&Run> {
        self.0.iter().find(|run| run.items.contains_key(&item))
    }

    /// An item that began here and is not over.
    pub(in crate::engine) fn item(&self, item: ShardingItem) -> Option<&BegunItem> {
        self.0.iter().find_map(|run| run.items.get(&item))
    }

    pub(in crate::engine) fn item_mut(&mut self, item: ShardingItem) -> Option<&mut BegunItem> {
        self.0.iter_mut().find_map(|run| run.items.get_mut(&item))
    }

    /// All items that began here and are not over.
    pub(in crate::engine) fn items(&self) -> impl Iterator<Item = &BegunItem> {
        self.0.iter().flat_map(|run| run.items.values())
    }

    pub(in crate::engine) fn items_mut(&mut self) -> impl Iterator<Item = (ShardingItem, &mut BegunItem)> {
        self.0.iter_mut().flat_map(|run| run.items.iter_mut().map(|(item, run)| (*item, run)))
    }

    /// The items whose futures live or will start.
    pub(in crate::engine) fn executing(&self) -> impl Iterator<Item = ShardingItem> {
        self.0.iter().flat_map(Run::executing)
    }

    /// The items that are at such a stage.
    pub(in crate::engine) fn items_in(&self, is_meant: impl Fn(&Stage) -> bool) -> impl Iterator<Item = ShardingItem> {
        let items = self.0.iter().flat_map(|run| run.items.iter());
        items.filter(move |(_, run)| is_meant(&run.stage)).map(|(item, _)| *item)
    }

    /// The run with a round.
    pub(in crate::engine) fn of_round(&mut self, id: RoundId) -> Option<&mut Run> {
        self.0.iter_mut().find(|run| run.round_id() == Some(id))
    }

    /// The rounds of runs that have listeners.
    pub(in crate::engine) fn rounds(&self) -> impl Iterator<Item = &Round> {
        self.0.iter().filter_map(|run| run.round.as_deref())
    }

    /// The run of a fire that takes further items of it. A fire whose listeners are already called after its items gets
    /// another run.
    pub(in crate::engine) fn of_fire(&mut self, key: RunKey) -> &mut Run {
        let place = self.0.iter().position(|run| run.key == key && run.takes_items());
        let place = place.unwrap_or_else(|| {
            if self.0.is_empty() {
                self.0.reserve_exact(1);
            }
            self.0.push(Run::new(key));
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    /// Takes the run of an item that an earlier engine began.
    pub(in crate::engine) fn take_over(
        &mut self,
        key: RunKey,
        skipped: Option<i64>,
        item: ShardingItem,
        run: BegunItem,
    ) {
        let place = self.0.iter().position(|run| run.is_left && run.key == key);
        let place = place.unwrap_or_else(|| {
            self.0.push(Run { skipped, is_left: true, ..Run::new(key) });
            self.0.len() - 1
        });
        self.0[place].items.insert(item, run);
    }

    /// Whether an earlier engine began an item, and its end is not written.
    pub(in crate::engine) fn is_left(&self, item: ShardingItem) -> bool {
        self.0.iter().any(|run| run.is_left && run.items.contains_key(&item))
    }

    /// Takes out the runs that are over, but for one that further items are begun for.
    pub(in crate::engine) fn take_finished(&mut self, begins_more: impl Fn(RunKey) -> bool) -> Vec<Run> {
        let is_over = |run: &mut Run| {
            run.items.is_empty() && run.round.as_ref().is_none_or(|round| round.is_over()) && !begins_more(run.key)
        };
        self.0.extract_if(.., is_over).collect()
    }
}

impl Run {
    fn new(key: RunKey) -> Self {
        Self {
            key,
            items: LiteMap::with_capacity(1),
            finished: Vec::new(),
            skipped: None,
            is_counted: false,
            round: None,
            is_left: false,
        }
    }

    /// Whether items of its fire may become part of it.
    pub(in crate::engine) fn takes_items(&self) -> bool {
        !self.is_left && self.round.as_ref().is_none_or(|round| round.takes_items())
    }

    /// Whether it is the run of a fire that came here; a run that was taken over, or left by an earlier engine, goes on
    /// beside it.
    fn is_regular(&self) -> bool {
        !self.key.is_takeover() && !self.is_left
    }

    /// Its round, when it has listeners.
    pub(in crate::engine) fn round_id(&self) -> Option<RoundId> {
        self.round.as_ref().map(|round| round.id)
    }

    /// What its round waits for, if it waits.
    pub(in crate::engine) fn waiting(&self) -> Option<Waiting> {
        let round = self.round.as_ref()?;
        let RoundStage::Hooks { hook, next, step: Step::Waiting(wait) } = &round.stage else { return None };
        Some(Waiting {
            round: round.id,
            key: self.key,
            listener: round.plan[*next].type_name.clone(),
            next: *next,
            hook: *hook,
            since: wait.since,
            claim: wait.claim.clone(),
        })
    }

    /// Whether anything of it is still to be done here, apart from writing how items ended.
    pub(in crate::engine) fn is_executing(&self) -> bool {
        self.executing().next().is_some() || self.round.as_ref().is_some_and(|round| !round.is_over())
    }

    /// Whether some part of it goes on that was not cancelled.
    pub(in crate::engine) fn is_uncancelled(&self) -> bool {
        let items = self
            .items
            .values()
            .any(|item| matches!(item.stage, Stage::Held { .. } | Stage::Executing | Stage::AskedToStop));
        let round = self.round.as_ref();
        items || round.is_some_and(|round| round.waiting().is_some() || round.call() == Some(Call::Executing))
    }

    /// The items whose futures live or will start.
    pub(in crate::engine) fn executing(&self) -> impl Iterator<Item = ShardingItem> {
        self.items.iter().filter(|(_, run)| run.is_executing()).map(|(item, _)| *item)
    }

    /// When the ends have to be written: at once when nothing executes any more and nothing more is begun, else soon
    /// after the first.
    pub(in crate::engine) fn finish_at(&self, begins_more: bool) -> Option<Duration> {
        let first = self.items.values().filter_map(|run| match run.stage {
            Stage::Ended { at, .. } => Some(at),
            _ => None,
        });
        let first = first.min()?;
        Some(if self.executing().next().is_none() && !begins_more { first } else { first + FINISH_TOGETHER })
    }
}

impl BegunItem {
    /// Whether its future lives or will start.
    pub(in crate::engine) fn is_executing(&self) -> bool {
        !matches!(self.stage, Stage::Ended { .. })
    }
}
