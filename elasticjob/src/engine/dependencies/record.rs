//! The data of the node `dependencies`: which fires of other jobs were decided, and which one is due.

use serde::{Deserialize, Serialize};

use super::parent_end::ParentEnd;
use crate::config::When;
use crate::fire::{Later, Rerun, SkipReason};
use crate::ident::JobName;

/// How many decided fires the node names: for jobs that depend on this one in turn, and for people.
const KEPT: usize = 16;

/// How many re-runs it names.
pub(super) const KEPT_RERUNS: usize = 16;

/// Far more bytes than the node has.
const LONGEST: usize = 64 * 1024;

/// Data of `dependencies`, as JSON. The leader writes it, with its version as the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DependencyRecord {
    /// Every fire up to this scheduled time, in milliseconds since 1970, was decided.
    pub through: i64,
    /// The latest fire that was decided long before its time, as a clock was ahead. It is not decided again, and the fires
    /// before it are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<i64>,
    /// The latest fire that the job runs for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<DueFire>,
    /// The latest decided fires, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<DecidedFire>,
    /// The latest re-runs of fires of jobs before this one, in the order in which they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reruns: Vec<FollowedRerun>,
    #[serde(flatten)]
    later: Later,
}

/// A fire that the job runs for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DueFire {
    /// The scheduled time that the jobs before it have run for, in milliseconds since 1970.
    pub at: i64,
    /// When it became due, by the clock of the leader, in milliseconds since 1970.
    pub since: i64,
}

/// A fire that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecidedFire {
    /// Its scheduled time in milliseconds since 1970.
    pub at: i64,
    /// The job for whose end it is not run; `None` where it is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Unmet>,
}

/// A dependency that did not come out as it has to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Unmet {
    /// The job.
    pub job: JobName,
    /// How it has to end.
    pub when: When,
    /// How it ended.
    pub end: ParentEnd,
}

impl Unmet {
    pub(super) fn new(job: JobName, when: When, end: ParentEnd) -> Self {
        Self { job, when, end }
    }

    /// Why a fire is not run.
    pub(crate) fn reason(&self) -> SkipReason {
        SkipReason::DependencyNotMet { job: self.job.clone(), end: self.end.to_string(), when: self.when.as_str() }
    }
}

impl DependencyRecord {
    /// The record of a job that decides on the fires after this time.
    pub(crate) fn from(through: i64) -> Self {
        Self { through, ahead: None, due: None, decided: Vec::new(), reruns: Vec::new(), later: Later::new() }
    }

    /// Reads the node. `None` where it cannot be read: then the leader makes it again.
    pub fn parse(data: &[u8]) -> Option<Self> {
        (data.len() <= LONGEST).then(|| serde_json::from_slice(data).ok()).flatten()
    }

    /// Whether it was decided so long ago that the node does not say any more what was decided on a fire at this time.
    pub(crate) fn has_forgotten(&self, at: i64) -> bool {
        self.decided.len() >= KEPT && self.decided.first().is_some_and(|oldest| at < oldest.at)
    }

    /// The data of the node.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record of texts and numbers has a JSON form")
    }

    /// The record after a decision that is made at `now`, in milliseconds since 1970.
    pub(crate) fn after(&self, at: i64, skipped: Option<Unmet>, now: i64) -> Self {
        let mut decided = self.decided.clone();
        let due = if skipped.is_none() { Some(DueFire { at, since: now }) } else { self.due };
        decided.push(DecidedFire { at, skipped });
        decided.drain(..decided.len().saturating_sub(KEPT));
        let through = self.through.max(at);
        let ahead = self.ahead.filter(|ahead| *ahead > through);
        Self { through, ahead, due, decided, reruns: self.reruns.clone(), later: self.later.clone() }
    }

    /// The part that counts of a record that was written at `written` by the server's clock, as that of the record of an
    /// [item](FireRecord::counted): a fire that is further ahead of it than `tolerance` came by a wrong clock.
    pub(crate) fn counted(self, written: i64, tolerance: i64) -> Self {
        let by_right_clocks = written.saturating_add(tolerance);
        match self.through {
            at if at > by_right_clocks => Self { through: by_right_clocks, ahead: self.ahead.max(Some(at)), ..self },
            _ => self,
        }
    }

    /// Whether a fire is decided already.
    pub(super) fn covers(&self, at: i64) -> bool {
        at <= self.through || self.ahead == Some(at)
    }
}

/// The re-run of a fire of a job before this one: this job follows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FollowedRerun {
    /// Which one.
    #[serde(flatten)]
    pub rerun: Rerun,
    /// The job whose fire the operator runs again.
    pub from: JobName,
    /// The jobs right before this one that follow it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<JobName>,
    /// When the jobs before this one had ended, by the clock of the leader, in milliseconds since 1970. `None` before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<i64>,
    /// The job for whose end this job does not run again; `None` where it does, and before it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Unmet>,
}

impl FollowedRerun {
    /// A re-run that is not decided yet.
    pub(crate) fn new(rerun: Rerun, from: JobName, with: Vec<JobName>) -> Self {
        Self { rerun, from, with, decided: None, skipped: None }
    }
}

impl DependencyRecord {
    /// The record after an operator asked for a re-run of a job before this one.
    pub(crate) fn with_rerun(&self, rerun: FollowedRerun) -> Self {
        let mut after = self.clone();
        let reruns = &mut after.reruns;
        reruns.retain(|known| known.rerun != rerun.rerun);
        reruns.push(rerun);
        // Those that are decided are of no use to this job any more.
        while reruns.len() > KEPT_RERUNS {
            let oldest = reruns.iter().position(|known| known.decided.is_some()).unwrap_or(0);
            reruns.remove(oldest);
        }
        after
    }

    /// The record after the decision on a re-run, at `now` in milliseconds since 1970.
    pub(crate) fn after_rerun(&self, rerun: Rerun, skipped: Option<Unmet>, now: i64) -> Self {
        let mut after = self.clone();
        for known in after.reruns.iter_mut().filter(|known| known.rerun == rerun) {
            (known.decided, known.skipped) = (Some(now), skipped.clone());
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_what_it_writes_and_keeps_the_latest_fires() {
        let unmet = Unmet::new(JobName::new("extract").unwrap(), When::Succeeded, ParentEnd::Failed);
        let mut record = DependencyRecord::from(5).after(10, None, 12).after(20, Some(unmet.clone()), 22);
        let text = String::from_utf8(record.to_bytes()).unwrap();
        assert_eq!(
            text,
            r#"{"through":20,"due":{"at":10,"since":12},"decided":[{"at":10},{"at":20,"skipped":{"job":"extract","when":"succeeded","end":"failed"}}]}"#
        );
        assert_eq!(DependencyRecord::parse(text.as_bytes()), Some(record.clone()));
        for at in 30..60 {
            record = record.after(at, Some(unmet.clone()), at);
        }
        assert_eq!((record.through, record.decided.len(), record.decided[0].at), (59, KEPT, 44));
        assert_eq!(record.due, Some(DueFire { at: 10, since: 12 }), "a skipped fire takes no due one away");
        assert_eq!(DependencyRecord::parse(b"x"), None);
    }

    #[test]
    fn what_was_decided_an_hour_ahead_covers_that_fire_and_the_past_alone() {
        const HOUR: i64 = 3_600_000;
        let written = DependencyRecord::from(5).after(HOUR, None, HOUR);
        assert_eq!(written.clone().counted(HOUR - 10, 20), written, "within what clocks may differ");
        let record = written.counted(100, 20);
        let covered = |record: &DependencyRecord| [120, 121, HOUR, HOUR + 1].map(|at| record.covers(at));
        assert_eq!(covered(&record), [true, false, true, false]);
        let next = DependencyRecord::parse(&record.after(130, None, 130).to_bytes()).unwrap();
        assert_eq!((covered(&next), next.due.unwrap().at), ([true, true, true, false], 130));
        assert_eq!(next.after(HOUR + 1, None, 1).ahead, None);
    }
}
