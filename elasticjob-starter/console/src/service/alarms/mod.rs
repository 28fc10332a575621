//! The alarms of a registry center, each with who looks after it.

mod acknowledged;
mod over;
#[cfg(test)]
mod tests;

use elasticjob::ident::JobName;
use elasticjob::operations::alarms::{Alarm as Wrong, AlarmKind, alarms as wrong_now};
use elasticjob::operations::{ALL_JOBS, ActionEnd};
use sha2::{Digest, Sha256};

use super::now;
use crate::access::Role;
use crate::api::Problem;
use crate::here::Here;

pub(crate) use acknowledged::{Acknowledged, Acknowledgements};
pub(crate) use over::follow;

/// Something that is wrong now, and who looks after it.
#[derive(Debug, Clone)]
pub(crate) struct Alarm {
    pub(crate) wrong: Wrong,
    /// The same as long as it lasts, and when it comes back.
    pub(crate) id: String,
    /// Who looks after it.
    pub(crate) acknowledged: Option<Acknowledged>,
}

impl Alarm {
    fn of(here: &Here, wrong: Wrong) -> Self {
        let id = id(here.registry.name(), wrong.kind, wrong.job.as_deref().map(|job| &job.job));
        // One that began after it was acknowledged is another one.
        let known = here.app.acknowledgements.of(here.registry.name(), &id);
        let acknowledged = known.filter(|known| wrong.since.is_none_or(|since| since <= known.at));
        Self { wrong, id, acknowledged }
    }

    /// Its place in the order of the list, as a text that is compared as such.
    pub(crate) fn place(&self) -> String {
        format!("{}-{}", u8::from(self.acknowledged.is_some()), self.wrong.place())
    }

    /// Whether the caller may say that he or she looks after it.
    pub(crate) fn may_acknowledge(&self, here: &Here) -> bool {
        match &self.wrong.job {
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

/// The alarms of the jobs that the caller may see: those that no operator looks after first, the most urgent first.
pub(crate) async fn alarms(here: &Here) -> Result<Vec<Alarm>, Problem> {
    let (registry, now) = (&here.registry, now());
    let mut listed = registry.catalogue().jobs().await?;
    over::note(registry.name(), &listed, &here.app.acknowledgements).await;
    listed.jobs.retain(|job| here.sees(&job.job));
    let wrong = wrong_now(&listed, registry.trace_reader(), registry.usual_durations(), now).await;
    let mut alarms: Vec<Alarm> = wrong.into_iter().map(|wrong| Alarm::of(here, wrong)).collect();
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
    // The decision log is by job: an alarm of the whole registry center is at the name that stands for all jobs.
    let job = alarm.wrong.job.as_ref().map(|job| job.job.clone()).or_else(|| JobName::new(ALL_JOBS).ok());
    if let Some(job) = job {
        let parts = vec![format!("alarm {}", alarm.wrong.kind.code())];
        here.operations(reason).record_action("acknowledge-alarm", &job, parts, ActionEnd::Done);
    }
    Ok(Alarm { acknowledged: Some(by), ..alarm })
}
