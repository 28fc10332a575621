//! The last fires of the jobs of a list, each as one mark.

mod kept;

use std::collections::HashMap;
use std::sync::Arc;

use elasticjob::operations::JobOverview;
use elasticjob::trace::{FireCount, ReadError};

use self::kept::Wanted;
use super::fires::{FireId, FireOutcome, Total};
use super::now;
use crate::here::Here;

pub(crate) use self::kept::KeptFires;

/// How many fires are shown of a job.
pub(crate) const FIRES: usize = 24;

/// How many runs of items are read of a job: of one with many items fewer fires are shown.
const MOST_RUNS: usize = 600;

/// The clock of the registry center and that of an instance differ at most so much.
const CLOCKS: i64 = 60_000;

/// A fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) id: FireId,
    pub(crate) outcome: FireOutcome,
    /// As many as ran, where it is not known how many there are.
    pub(crate) items: u64,
    /// How many of them ended well.
    pub(crate) done: u64,
}

/// The last fires of each job by its name, the oldest first. `None` where no job was traced, or no traces are read.
pub(crate) async fn strips(
    here: &Here,
    jobs: &[Arc<JobOverview>],
) -> Result<Option<HashMap<String, Vec<Mark>>>, ReadError> {
    let Some(reader) = here.registry.trace_reader() else { return Ok(None) };
    let (wanted, now): (Vec<Wanted>, i64) = (jobs.iter().map(|job| wanted(job)).collect(), now());
    let mut fires = match here.registry.kept_fires().read(reader, &wanted, now).await {
        Ok(fires) => fires,
        Err(ReadError::NoTable { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let marks_of = |job: &Arc<JobOverview>| {
        let fires = fires.remove(&job.job).unwrap_or_default();
        (job.job.to_string(), marks(job, &fires, now))
    };
    Ok(Some(jobs.iter().map(marks_of).collect()))
}

fn wanted(job: &JobOverview) -> Wanted {
    let items = job.items.total.max(1);
    // The oldest fire is left out when it is cut, and an item that ran again has more than one run.
    let most = ((FIRES + 2) * items).min(MOST_RUNS);
    Wanted { job: job.job.clone(), most: u32::try_from(most).unwrap_or(u32::MAX), items: items as u64 }
}

/// The marks of fires, of which the newest comes first and the last comes out.
fn marks(job: &JobOverview, fires: &[FireCount], now: i64) -> Vec<Mark> {
    let newest_first = fires.iter().take(FIRES).enumerate();
    let mut marks: Vec<Mark> = newest_first.map(|(age, fire)| mark(job, fire, age == 0, now)).collect();
    marks.reverse();
    marks
}

fn mark(job: &JobOverview, fire: &FireCount, is_newest: bool, now: i64) -> Mark {
    let started = fire.started.timestamp_millis();
    let runs = || is_newest && job.running_since.is_some_and(|since| started + CLOCKS >= since);
    let id = fire.scheduled_at.map_or(FireId::began_at(started), |at| FireId::Scheduled(at.timestamp_millis()));
    let total = job.configured.map(|configured| Total::new(job.items.total, configured, now));
    let ran = usize::try_from(fire.items).unwrap_or(usize::MAX);
    let not_run = total.map_or(0, |total| total.not_run(id, ran));
    let outcome = match fire {
        FireCount { failed: 1.., .. } => FireOutcome::Failed,
        FireCount { no_end: 1.., .. } if runs() => FireOutcome::Running,
        FireCount { no_end: 1.., .. } => FireOutcome::NoEnd,
        _ if not_run > 0 => FireOutcome::Partial,
        FireCount { runs, items, .. } if runs > items => FireOutcome::Recovered,
        _ => FireOutcome::Succeeded,
    };
    Mark { id, outcome, items: fire.items + not_run as u64, done: fire.succeeded }
}
