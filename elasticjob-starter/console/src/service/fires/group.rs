//! Runs of items, put together to the fires that they are of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use elasticjob::ident::ShardingItem;
use elasticjob::operations::JobSnapshot;
use elasticjob::trace::{ExecutionOutcome, ExecutionRecord};

use super::gaps::GRACE;
use super::id::FireId;

/// A mark of Java says when the registry center wrote it, and its trace when the instance began: two clocks.
const CLOCKS: i64 = 60_000;

/// How the run of an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    Succeeded,
    Failed,
    /// It runs now, as the registry center has it.
    Running,
    /// No end was written, and the item was run again for the same fire.
    Lost,
    /// No end was written, and it does not run.
    NoEnd,
}

impl RunState {
    /// The name for programs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Running => "RUNNING",
            Self::Lost => "LOST",
            Self::NoEnd => "NO_END",
        }
    }
}

/// A run of an item.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) record: ExecutionRecord,
    pub(crate) state: RunState,
}

/// How a fire stands as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FireOutcome {
    /// All items ended well at once.
    Succeeded,
    /// All items ended well, some of them not at their first run.
    Recovered,
    /// All items that ran ended well, and others did not run.
    Partial,
    Failed,
    Running,
    /// The end of an item is not known.
    NoEnd,
}

impl FireOutcome {
    /// The name for programs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "SUCCEEDED",
            Self::Recovered => "RECOVERED",
            Self::Partial => "PARTIAL",
            Self::Failed => "FAILED",
            Self::Running => "RUNNING",
            Self::NoEnd => "NO_END",
        }
    }
}

/// How many items of a fire stand how, by the last run of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) done: usize,
    pub(crate) failed: usize,
    pub(crate) running: usize,
    pub(crate) no_end: usize,
    /// Items without a run, where it is known how many the fire has.
    pub(crate) not_run: usize,
}

impl Tally {
    /// How a fire stands of which not all items ended well; `None` where all did.
    pub(crate) fn outcome(self) -> Option<FireOutcome> {
        match self {
            Self { failed: 1.., .. } => Some(FireOutcome::Failed),
            Self { running: 1.., .. } => Some(FireOutcome::Running),
            Self { no_end: 1.., .. } => Some(FireOutcome::NoEnd),
            Self { not_run: 1.., .. } => Some(FireOutcome::Partial),
            Self { .. } => None,
        }
    }
}

/// How many items a fire has, where that is known: of one since the configuration was written last, and only once its
/// items had the time to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Total {
    items: usize,
    since: i64,
    until: i64,
}

impl Total {
    pub(crate) fn new(items: usize, configured: i64, now: i64) -> Self {
        Self { items, since: configured, until: now - GRACE }
    }

    fn of(snapshot: &JobSnapshot, now: i64) -> Option<Self> {
        let total = snapshot.usable()?.sharding_total_count();
        Some(Self::new(usize::try_from(total).unwrap_or(usize::MAX), snapshot.configured_since()?, now))
    }

    /// How many items of a fire have no run, of which so many have one. A trigger by hand may be for some of them alone.
    pub(crate) fn not_run(self, id: FireId, ran: usize) -> usize {
        let is_known = id.scheduled().is_some_and(|at| self.since <= at && at <= self.until);
        if is_known { self.items.saturating_sub(ran) } else { 0 }
    }
}

/// A fire with the runs of its items.
#[derive(Debug, Clone)]
pub(crate) struct Fire {
    pub(crate) id: FireId,
    /// Ordered by item, then by their start.
    pub(crate) runs: Vec<Run>,
    /// Whether more records were there than are read for one page.
    pub(crate) is_cut: bool,
    pub(crate) total: Option<Total>,
}

fn start(record: &ExecutionRecord) -> i64 {
    record.start_time.timestamp_millis()
}

impl Run {
    pub(crate) fn start(&self) -> i64 {
        start(&self.record)
    }

    pub(crate) fn end(&self) -> Option<i64> {
        self.record.complete_time.map(|end| end.timestamp_millis())
    }

    pub(crate) fn took(&self) -> Option<u64> {
        u64::try_from(self.end()? - self.start()).ok()
    }

    pub(crate) fn is_failover(&self) -> bool {
        self.record.source == "FAILOVER"
    }
}

impl Fire {
    /// The last run of each item.
    pub(crate) fn last_runs(&self) -> impl Iterator<Item = &Run> {
        let followed = self.runs.iter().skip(1).map(|run| Some(run.record.sharding_item)).chain([None]);
        self.runs.iter().zip(followed).filter(|(run, next)| *next != Some(run.record.sharding_item)).map(|(run, _)| run)
    }

    pub(crate) fn began(&self) -> Option<i64> {
        self.runs.iter().map(Run::start).min()
    }

    /// When its last item ended; `None` while one runs, or where an end is not known.
    pub(crate) fn ended(&self) -> Option<i64> {
        self.last_runs().map(Run::end).collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// From the begin of the first item to the end of the last one.
    pub(crate) fn took(&self) -> Option<u64> {
        u64::try_from(self.ended()? - self.began()?).ok()
    }

    /// How much later than scheduled the first item began. Clocks of two hosts may say that it began before its time.
    pub(crate) fn lateness(&self) -> Option<i64> {
        Some((self.began()? - self.id.scheduled()?).max(0))
    }

    pub(crate) fn tally(&self) -> Tally {
        let ran = self.last_runs().count();
        let total = self.total.filter(|_| !self.is_cut && ran > 0);
        let mut tally = Tally { not_run: total.map_or(0, |total| total.not_run(self.id, ran)), ..Tally::default() };
        for run in self.last_runs() {
            match run.state {
                RunState::Succeeded => tally.done += 1,
                RunState::Failed => tally.failed += 1,
                RunState::Running => tally.running += 1,
                RunState::Lost | RunState::NoEnd => tally.no_end += 1,
            }
        }
        tally
    }

    pub(crate) fn outcome(&self) -> FireOutcome {
        let usual = if self.is_retried() { FireOutcome::Recovered } else { FireOutcome::Succeeded };
        self.tally().outcome().unwrap_or(usual)
    }

    /// Whether an item was run more than once.
    pub(crate) fn is_retried(&self) -> bool {
        self.last_runs().count() < self.runs.len()
    }

    pub(crate) fn is_failed_over(&self) -> bool {
        self.runs.iter().any(Run::is_failover)
    }

    pub(crate) fn is_misfire(&self) -> bool {
        self.runs.iter().any(|run| run.record.source == "MISFIRE")
    }

    /// Whether it was triggered by hand. A run without a scheduled time and a run id is of an instance that writes
    /// neither: its reason is not known.
    pub(crate) fn is_by_hand(&self) -> bool {
        self.id.scheduled().is_none() && self.runs.iter().all(|run| run.record.run_id.is_some())
    }

    /// Whether no record has the time that it was scheduled for.
    pub(crate) fn is_without_plan(&self) -> bool {
        self.id.scheduled().is_none() && !self.is_by_hand()
    }
}

/// What the registry center tells of the fires of a job: what runs now, and how many items a fire has.
#[derive(Debug, Default)]
pub(crate) struct Live {
    runs: BTreeMap<ShardingItem, LiveRun>,
    total: Option<Total>,
}

#[derive(Debug)]
struct LiveRun {
    /// `None` where the registry center has no record of the begin: a Java instance writes none.
    begun: Option<(i64, String)>,
    since: i64,
}

impl Live {
    pub(crate) fn of(snapshot: &JobSnapshot, now: i64) -> Self {
        let runs = snapshot.items.iter().filter(|(_, item)| snapshot.is_run_alive(item)).filter_map(|(item, nodes)| {
            let since = nodes.running.as_ref()?.since;
            let begun = nodes.record.last.as_ref().filter(|begun| begun.ended.is_none());
            Some((*item, LiveRun { begun: begun.map(|begun| (begun.at, begun.attempt.to_string())), since }))
        });
        Self { runs: runs.collect(), total: Total::of(snapshot, now) }
    }

    fn runs(&self, record: &ExecutionRecord) -> bool {
        let Some(run) = self.runs.get(&record.sharding_item) else { return false };
        match (&run.begun, &record.attempt, record.scheduled_at) {
            (Some((_, attempt)), Some(own), _) => attempt == own,
            (Some((at, _)), None, Some(scheduled)) => *at == scheduled.timestamp_millis(),
            _ => start(record) + CLOCKS >= run.since,
        }
    }
}

/// The fires of these records, the newest first.
pub(crate) fn fires(records: Vec<ExecutionRecord>, live: &Live) -> Vec<Fire> {
    let mut began: HashMap<String, i64> = HashMap::new();
    for record in records.iter().filter(|record| record.scheduled_at.is_none()) {
        if let Some(run) = &record.run_id {
            let first = began.entry(run.clone()).or_insert(i64::MAX);
            *first = (*first).min(start(record));
        }
    }
    let id = |record: &ExecutionRecord| match record.scheduled_at {
        Some(at) => FireId::Scheduled(at.timestamp_millis()),
        None => {
            let run = record.run_id.as_ref().and_then(|run| began.get(run));
            FireId::began_at(run.copied().unwrap_or_else(|| start(record)))
        }
    };
    let mut by_id: HashMap<FireId, Vec<ExecutionRecord>> = HashMap::new();
    for record in records {
        by_id.entry(id(&record)).or_default().push(record);
    }
    let mut fires: Vec<Fire> = by_id.into_iter().map(|(id, records)| fire(id, records, live)).collect();
    fires.sort_by_key(|fire| Reverse(fire.id.rank()));
    fires
}

fn fire(id: FireId, mut records: Vec<ExecutionRecord>, live: &Live) -> Fire {
    let mut seen = BTreeSet::new();
    records.sort_by(|one, other| {
        (one.sharding_item, start(one), &one.id).cmp(&(other.sharding_item, start(other), &other.id))
    });
    // From the last run of an item on: a run without an end that another one follows is lost.
    let mut runs: Vec<Run> = records
        .into_iter()
        .rev()
        .map(|record| {
            let is_last = seen.insert(record.sharding_item);
            let state = match record.outcome {
                ExecutionOutcome::Succeeded => RunState::Succeeded,
                ExecutionOutcome::Failed => RunState::Failed,
                ExecutionOutcome::NoEnd if !is_last => RunState::Lost,
                ExecutionOutcome::NoEnd if live.runs(&record) => RunState::Running,
                ExecutionOutcome::NoEnd => RunState::NoEnd,
            };
            Run { record, state }
        })
        .collect();
    runs.reverse();
    Fire { id, runs, is_cut: false, total: live.total }
}
