//! The newest fires of jobs as they were read before. A page reads only the runs that may have changed a fire since: those of
//! the newest fire and of fires that are not settled. A database with millions of runs is asked for some of each job then,
//! not for hundreds.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use elasticjob::ident::JobName;
use elasticjob::trace::{AnyTraceReader, FireCount, NewestRuns, ReadError, TraceReader};

/// After this time all fires of a job are read again, in milliseconds: also records that were written very late, and those
/// that were removed.
const KEPT: i64 = 120_000;

/// By how much the clocks of instances differ at most, and how long a record takes to the database, in milliseconds.
const LATE: i64 = 60_000;

/// So long after its begin a fire is settled although items of it did not run, in milliseconds.
const OVER: i64 = 600_000;

/// From so many jobs on that were not shown lately two statements read them.
const MANY: usize = 10;

/// The fires that are wanted of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) job: JobName,
    /// How many runs of items are read.
    pub(super) most: u32,
    /// How many items the job has.
    pub(super) items: u64,
}

/// The fires of the jobs that pages showed lately.
#[derive(Debug, Default)]
pub(crate) struct KeptFires {
    known: Mutex<HashMap<JobName, Known>>,
    /// Of several pages with jobs of which nothing is known one reads, and the others wait for it and show what it found.
    first: tokio::sync::Mutex<()>,
}

#[derive(Debug, Clone)]
struct Known {
    /// When all of them were read, in milliseconds since 1970.
    all_read: i64,
    /// When the newest ones were read.
    read: i64,
    /// Whole ones, the newest first.
    fires: Vec<FireCount>,
}

impl KeptFires {
    /// The newest fires of these jobs as the database has them at `now`, in milliseconds since 1970: of each job the newest
    /// first. A fire is left out where only a part of its runs is among those that may be read.
    pub(super) async fn read(
        &self,
        reader: &AnyTraceReader,
        wanted: &[Wanted],
        now: i64,
    ) -> Result<HashMap<JobName, Vec<FireCount>>, ReadError> {
        let mut before = self.known(wanted, now);
        let (mut turn, mut shared) = (None, HashMap::new());
        if before.iter().any(Option::is_none) {
            turn = self.first.try_lock().ok();
            if turn.is_none() {
                // Whatever became of it, none of those that waited reads after the others: a database that is away answers none of them.
                drop(self.first.lock().await);
                let waited = std::mem::replace(&mut before, self.known(wanted, now));
                for ((job, known), waited) in wanted.iter().zip(&before).zip(&waited) {
                    let is_new = |known: &&Known| waited.as_ref().is_none_or(|waited| waited.read < known.read);
                    let read_meanwhile = known.as_ref().filter(is_new);
                    shared.extend(read_meanwhile.map(|known| (job.job.clone(), known.fires.clone())));
                }
            }
        }
        let (wanted, before): (Vec<&Wanted>, Vec<Option<Known>>) =
            wanted.iter().zip(before).filter(|(job, _)| !shared.contains_key(&job.job)).unzip();
        if wanted.is_empty() {
            return Ok(shared);
        }
        let asked: Vec<NewestRuns> =
            wanted.iter().zip(&before).map(|(job, known)| job.newest(known.as_ref(), now)).collect();
        let mut newest = by_job(fires(reader, &asked).await?);
        let (mut found, mut changed) = (HashMap::new(), Vec::new());
        for ((job, asked), known) in wanted.into_iter().zip(&asked).zip(before) {
            let newest = newest.remove(job.job.as_str()).unwrap_or_default();
            let known = match known.zip(asked.from) {
                None => Some(Known::new(newest, job, now)),
                Some((known, from)) => known.with(newest, from, job, now),
            };
            match known {
                Some(known) => drop(found.insert(job.job.clone(), known)),
                None => changed.push(job),
            }
        }
        if !changed.is_empty() {
            let asked: Vec<NewestRuns> = changed.iter().map(|job| job.newest(None, now)).collect();
            let mut all = by_job(fires(reader, &asked).await?);
            for job in changed {
                let fires = all.remove(job.job.as_str()).unwrap_or_default();
                found.insert(job.job.clone(), Known::new(fires, job, now));
            }
        }
        let mut kept = self.lock();
        kept.retain(|_, known| known.is_kept(now));
        kept.extend(found.iter().map(|(job, known)| (job.clone(), known.clone())));
        drop((kept, turn));
        shared.extend(found.into_iter().map(|(job, known)| (job, known.fires)));
        Ok(shared)
    }

    fn known(&self, wanted: &[Wanted], now: i64) -> Vec<Option<Known>> {
        let known = self.lock();
        wanted.iter().map(|job| known.get(&job.job).filter(|known| known.is_kept(now)).cloned()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<JobName, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wanted {
    /// The runs to read. Those that started in one second are read together, as runs without a scheduled time are of one fire
    /// then.
    fn newest(&self, known: Option<&Known>, now: i64) -> NewestRuns {
        let from = known.and_then(|known| {
            // No run that was read may be of the future, by a clock that is wrong.
            let newest = known.fires.first()?.started.timestamp_millis().min(known.read);
            let open = known.fires.iter().filter(|fire| !self.is_settled(fire, now));
            let from = open.map(|fire| fire.started.timestamp_millis()).fold(newest, i64::min) - LATE;
            DateTime::from_timestamp(from.div_euclid(1_000), 0)
        });
        NewestRuns { job: self.job.clone(), most: self.most, from }
    }

    /// Nothing more is expected of it, unless an item runs again, which is read as a new run.
    fn is_settled(&self, fire: &FireCount, now: i64) -> bool {
        fire.no_end == 0 && (fire.items >= self.items || fire.started.timestamp_millis() + OVER < now)
    }
}

impl Known {
    fn new(fires: Vec<FireCount>, job: &Wanted, now: i64) -> Self {
        Self { all_read: now, read: now, fires: whole(fires, job.most) }
    }

    fn is_kept(&self, now: i64) -> bool {
        // A page whose time is from before its wait finds what another one read meanwhile.
        (now - self.all_read).abs() < KEPT
    }

    /// With the fires of runs that started since `from`; `None` where they say that earlier fires changed, too.
    fn with(self, newest: Vec<FireCount>, from: DateTime<Utc>, job: &Wanted, now: i64) -> Option<Self> {
        if newest.iter().map(|fire| fire.runs).sum::<u64>() >= u64::from(job.most) {
            return Some(Self::new(newest, job, now));
        }
        let (again, settled): (Vec<_>, Vec<_>) = self.fires.into_iter().partition(|fire| fire.started >= from);
        let is_read = |fire: &FireCount| newest.iter().any(|read| is_same(read, fire));
        // An item of a settled fire ran again, or records were removed.
        if settled.iter().any(is_read) || !again.iter().all(is_read) {
            return None;
        }
        let mut fires: Vec<FireCount> = newest.into_iter().chain(settled).collect();
        fires.sort_by_key(|fire| Reverse(fire.scheduled_at.unwrap_or(fire.started)));
        Some(Self { all_read: self.all_read, ..Self::new(fires, job, now) })
    }
}

/// Reads fires. Of many jobs of which nothing is known hundreds of runs each are read, one job after the other: two statements are
/// done sooner than one.
async fn fires(reader: &AnyTraceReader, asked: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
    if asked.iter().filter(|job| job.from.is_none()).count() < MANY {
        return reader.fires(asked).await;
    }
    let (some, others) = asked.split_at(asked.len() / 2);
    let (mut some, others) = tokio::try_join!(reader.fires(some), reader.fires(others))?;
    some.extend(others);
    Ok(some)
}

fn by_job(fires: Vec<FireCount>) -> HashMap<String, Vec<FireCount>> {
    let mut jobs: HashMap<String, Vec<FireCount>> = HashMap::new();
    fires.into_iter().for_each(|fire| jobs.entry(fire.job_name.clone()).or_default().push(fire));
    jobs
}

/// The fires of the newest `most` runs, without the oldest one where that may have more of them. The newest one stays.
fn whole(mut fires: Vec<FireCount>, most: u32) -> Vec<FireCount> {
    let mut read = 0;
    let fits = |fire: &&FireCount| {
        read += fire.runs;
        read < u64::from(most)
    };
    let whole = fires.iter().take_while(fits).count();
    fires.truncate(whole.max(1));
    fires
}

/// Runs without a scheduled time are of one fire when they began in the same second.
fn is_same(one: &FireCount, other: &FireCount) -> bool {
    let second = |fire: &FireCount| fire.scheduled_at.is_none().then(|| fire.started.timestamp());
    (one.scheduled_at, second(one)) == (other.scheduled_at, second(other))
}

#[cfg(test)]
mod tests;
