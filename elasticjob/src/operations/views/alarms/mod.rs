//! Alarms: what is wrong now as a list, each with since when it holds. The console and the command line show them.

mod concern;
mod long_runs;

use std::sync::Arc;

use super::{JobOverview, Listed};
use crate::trace::AnyTraceReader;

pub use concern::{Concern, lateness};
pub use long_runs::UsualDurations;

/// An operator may have disabled a job for the evening: it is an alarm after a day, in milliseconds.
const DISABLED_FOR_LONG: i64 = 24 * 60 * 60 * 1_000;

/// A busy engine lets runs wait for some time: it is an alarm after five minutes, in milliseconds.
const WAITS_FOR_LONG: i64 = 5 * 60 * 1_000;

/// A kind of alarm. Later releases may have more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AlarmKind {
    /// The registry center is lost: of the jobs only the past is known.
    RegistryLost,
    /// A concern of a job; `Disabled` only once it lasts for a day, `CarriedWaits` for five minutes.
    Concern(Concern),
    /// A run takes much longer than those before it.
    RunsLong,
}

impl AlarmKind {
    /// All kinds, the most urgent first.
    pub fn all() -> impl Iterator<Item = Self> {
        // A late begin needs a look, and is no alarm: it is over with the next fire.
        let concerns = Concern::ALL.iter().copied().filter(|concern| *concern != Concern::Late).map(Self::Concern);
        std::iter::once(Self::RegistryLost).chain(concerns).chain([Self::RunsLong])
    }

    /// Its name for programs. It never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::RegistryLost => "registry-lost",
            Self::Concern(Concern::Disabled) => "disabled-for-long",
            Self::Concern(Concern::Unassigned) => "cannot-fail-over",
            Self::Concern(concern) => concern.code(),
            Self::RunsLong => "runs-long",
        }
    }
}

/// Something that is wrong now.
#[derive(Debug, Clone)]
pub struct Alarm {
    /// Its kind.
    pub kind: AlarmKind,
    /// `None` for one of the whole registry center.
    pub job: Option<Arc<JobOverview>>,
    /// Since when it holds, as far as that is known, in milliseconds since 1970; of a job that fails, the end of its last good run.
    pub since: Option<i64>,
    /// The usual duration of its runs, in milliseconds, for a job that runs long: 95 of 100 take no longer.
    pub usual: Option<u64>,
}

impl Alarm {
    /// Its place in the order of the list, as a text that is compared as such: the most urgent first, then the oldest.
    pub fn place(&self) -> String {
        let kind = AlarmKind::all().position(|kind| kind == self.kind).unwrap_or_default();
        let job = self.job.as_ref().map_or("", |job| job.job.as_str());
        format!("{kind:02}-{:020}-{job}", self.since.unwrap_or_default())
    }
}

/// The alarm of a job, apart from runs that take long.
fn of_job(job: &Arc<JobOverview>, now: i64) -> Option<Alarm> {
    let concern = Concern::of(job).filter(|concern| *concern != Concern::Late)?;
    let since = concern.since(job);
    let least = match concern {
        Concern::Disabled => DISABLED_FOR_LONG,
        Concern::CarriedWaits => WAITS_FOR_LONG,
        _ => 0,
    };
    let lasts = since.is_none_or(|since| now - since >= least);
    lasts.then(|| Alarm { kind: AlarmKind::Concern(concern), job: Some(job.clone()), since, usual: None })
}

/// The alarms of these jobs at a time in milliseconds since 1970, in the order of their places. Without a reader of traces,
/// which runs take long is not known.
pub async fn alarms(listed: &Listed, reader: Option<&AnyTraceReader>, usual: &UsualDurations, now: i64) -> Vec<Alarm> {
    let lost = listed.lost_since;
    let lost = lost.map(|_| Alarm { kind: AlarmKind::RegistryLost, job: None, since: lost, usual: None });
    let of_jobs = listed.jobs.iter().filter_map(|job| of_job(job, now));
    let mut alarms: Vec<Alarm> = lost.into_iter().chain(of_jobs).collect();
    if let Some(reader) = reader {
        let long = long_runs::running(&listed.jobs, reader, usual, now).await;
        alarms.extend(long.into_iter().map(|(job, usual)| Alarm {
            kind: AlarmKind::RunsLong,
            since: job.running_since,
            job: Some(job),
            usual: Some(usual),
        }));
    }
    alarms.sort_by_cached_key(Alarm::place);
    alarms
}
