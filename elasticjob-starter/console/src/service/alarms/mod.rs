//! Alarms: what needs a look as a list, each with since when it holds and who looks after it.

mod acknowledged;
mod long;
mod over;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use elasticjob::__private::log::{apart, info};
use elasticjob::ident::JobName;
use elasticjob::operations::{ActionEnd, JobOverview, Reason};
use sha2::{Digest, Sha256};

use super::now;
use super::overview::Concern;
use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;

pub(crate) use acknowledged::{Acknowledged, Acknowledgements};
pub(crate) use long::Usual;
pub(crate) use over::follow;

/// An operator may have disabled a job for the evening: it is an alarm after a day.
const DISABLED_FOR_LONG: i64 = 24 * 60 * 60 * 1_000;

/// A busy engine lets runs wait for some time: it is an alarm after five minutes.
const WAITS_FOR_LONG: i64 = 5 * 60 * 1_000;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AlarmKind {
    /// The registry center is lost: of the jobs only the past is known.
    RegistryLost,
    /// What the overview has as well; `Disabled` only once it lasts for a day, `CarriedWaits` for five minutes.
    Concern(Concern),
    /// A run takes much longer than those before it.
    RunsLong,
}

impl AlarmKind {
    /// All kinds, the most urgent first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        // A late begin is on the overview: it is over with the next fire.
        let concerns = Concern::ALL.into_iter().filter(|concern| *concern != Concern::Late).map(Self::Concern);
        std::iter::once(Self::RegistryLost).chain(concerns).chain([Self::RunsLong])
    }

    /// Its name for programs.
    pub(crate) fn code(self) -> &'static str {
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
pub(crate) struct Alarm {
    /// The same as long as it lasts, and when it comes back.
    pub(crate) id: String,
    pub(crate) kind: AlarmKind,
    /// `None` for one of the whole registry center.
    pub(crate) job: Option<Arc<JobOverview>>,
    /// Since when it holds, as far as that is known.
    pub(crate) since: Option<i64>,
    /// How long runs of the job take, in milliseconds, for one that runs long: 95 of 100 take no longer.
    pub(crate) usual: Option<u64>,
    /// Who looks after it.
    pub(crate) acknowledged: Option<Acknowledged>,
}

impl Alarm {
    fn of(here: &Here, kind: AlarmKind, job: Option<Arc<JobOverview>>, since: Option<i64>) -> Self {
        let id = id(here.registry.name(), kind, job.as_deref().map(|job| &job.job));
        // One that began after it was acknowledged is another one.
        let known = here.app.acknowledgements.of(here.registry.name(), &id);
        let acknowledged = known.filter(|known| since.is_none_or(|since| since <= known.at));
        Self { id, kind, job, since, usual: None, acknowledged }
    }

    /// Its place in the order of the list, as a text that is compared as such.
    pub(crate) fn place(&self) -> String {
        let kind = AlarmKind::all().position(|kind| kind == self.kind).unwrap_or_default();
        let (is_seen, since) = (u8::from(self.acknowledged.is_some()), self.since.unwrap_or_default());
        format!("{is_seen}-{kind:02}-{since:020}-{}", self.id)
    }

    /// Whether the caller may say that he or she looks after it.
    pub(crate) fn may_acknowledge(&self, here: &Here) -> bool {
        match &self.job {
            Some(job) => here.may(Role::Operator, &job.job),
            None => here.identity.has_everywhere(Role::Operator, here.registry.name()),
        }
    }
}

/// What names an alarm in addresses.
fn id(registry: &str, kind: AlarmKind, job: Option<&JobName>) -> String {
    let mut hash = Sha256::new();
    for part in [registry, job.map_or("", |job| job.as_str())] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digits: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digits}", kind.code())
}

/// Since when a concern holds.
fn since(concern: Concern, job: &JobOverview) -> Option<i64> {
    match concern {
        Concern::Overdue => job.overdue.map(|overdue| overdue.since),
        Concern::Failing => job.failing_since,
        Concern::CarriedWaits => {
            let waits = job.obstacles.iter().filter(|finding| matches!(finding.reason, Reason::CarriedWaits { .. }));
            waits.filter_map(|finding| finding.since).min()
        }
        _ => job.obstacles.iter().filter_map(|finding| finding.since).min(),
    }
}

/// The alarms of the jobs that the caller may see: those that no operator looks after first, the most urgent first.
pub(crate) async fn alarms(here: &Here) -> Result<Vec<Alarm>, Problem> {
    let now = now();
    let listed = here.registry.catalogue().jobs().await?;
    over::note(here.registry.name(), &listed, &here.app.acknowledgements).await;
    let mut alarms = Vec::new();
    if let Some(lost) = listed.lost_since {
        alarms.push(Alarm::of(here, AlarmKind::RegistryLost, None, Some(lost)));
    }
    let seen: Vec<Arc<JobOverview>> = listed.jobs.into_iter().filter(|job| here.sees(&job.job)).collect();
    for job in &seen {
        let Some(concern) = Concern::of(job).filter(|concern| *concern != Concern::Late) else { continue };
        let since = since(concern, job);
        let least = match concern {
            Concern::Disabled => DISABLED_FOR_LONG,
            Concern::CarriedWaits => WAITS_FOR_LONG,
            _ => 0,
        };
        if since.is_none_or(|since| now - since >= least) {
            alarms.push(Alarm::of(here, AlarmKind::Concern(concern), Some(job.clone()), since));
        }
    }
    for (job, usual) in long::running(here, &seen, now).await {
        let since = job.running_since;
        let alarm = Alarm::of(here, AlarmKind::RunsLong, Some(job), since);
        alarms.push(Alarm { usual: Some(usual), ..alarm });
    }
    alarms.sort_by_cached_key(Alarm::place);
    Ok(alarms)
}

/// Says that the caller looks after an alarm, and records it.
pub(crate) async fn acknowledge(here: &Here, id: &str, reason: &str) -> Result<Alarm, Problem> {
    let alarms = alarms(here).await?;
    let alarm = alarms.into_iter().find(|alarm| alarm.id == id).ok_or_else(|| Problem::no_such_alarm(id))?;
    if !alarm.may_acknowledge(here) {
        return Err(Problem::forbidden(crate::access::Permission::Has(Role::Operator), here.app.options.read_only));
    }
    let by = Acknowledged { by: here.identity.name().to_owned(), at: now(), reason: reason.to_owned() };
    here.app.acknowledgements.put(here.registry.name(), id, by.clone()).await?;
    match &alarm.job {
        Some(job) => {
            let parts = vec![format!("alarm {}", alarm.kind.code())];
            here.operations(reason).record_action("acknowledge-alarm", &job.job, parts, ActionEnd::Done);
        }
        // The decision log is by job.
        None => {
            let (registry, actor) = (here.registry.name().to_owned(), here.identity.name().to_owned());
            let (alarm, reason) = (alarm.kind.code(), reason.to_owned());
            apart(move || {
                info!("{actor:?} acknowledged the alarm {alarm} of the registry center {registry}: {reason:?}")
            });
        }
    }
    Ok(Alarm { acknowledged: Some(by), ..alarm })
}
