//! Processes of `DAEMON` jobs that end again and again soon after their start, or that do not start: operators have to hear of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob::ident::{InstanceId, JobName};
use elasticjob::log::{info, warn};
use elasticjob::operations::DaemonTrouble;
use elasticjob::registry::RegistryCenter;
use elasticjob::trace::{DecisionKind, JobDecisionEvent, JobEvent, Tracing};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::job_notes::Noted;
use super::jobs::{Troubles, lock};
use super::wait::{LONG, Wait};
use crate::carrier::{Carrier, DaemonProcess, ItemState};

/// How often the processes are looked at: more often in tests, which wait for it.
const LOOK: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });

/// A process that lived so long, in milliseconds, has started well.
const WELL: i64 = 60_000;

/// A process that ended so often is told; again after each doubling.
const OFTEN: u32 = 3;

/// The pauses of all carriers after an end are shorter, in milliseconds: a process that waits longer waits for something else.
const LONGER_THAN_PAUSES: i64 = 360_000;

/// What is known of the processes of the jobs that this scheduler keeps. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Ailing(Arc<Mutex<BTreeMap<JobName, BTreeMap<u32, Seen>>>>);

/// What was seen of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    /// How often it had ended when it was well last.
    well: u32,
    /// How often it has ended since.
    ends: u32,
    /// How it ended last, and when it starts again.
    why: String,
    /// The number of ends that was told last.
    told: u32,
    /// Since when it is told, in milliseconds since 1970.
    since: i64,
    /// It waits for its start.
    wait: Option<Wait>,
}

/// What is to be told of a process.
#[derive(Debug, PartialEq, Eq)]
enum News {
    /// It has ended so often.
    Ends { index: u32, ends: u32, why: String },
    /// It lives again.
    Lives { index: u32 },
}

impl Ailing {
    /// The jobs that this scheduler keeps now.
    pub(super) fn keep(&self, jobs: &BTreeSet<JobName>) {
        let mut seen = self.lock();
        seen.retain(|job, _| jobs.contains(job));
        for job in jobs {
            seen.entry(job.clone()).or_default();
        }
    }

    /// Why jobs do not run as they should, by job.
    pub(super) fn troubles(&self) -> BTreeMap<JobName, String> {
        let seen = self.lock();
        let of_job = |(job, processes): (&JobName, &BTreeMap<u32, Seen>)| {
            let ailing = processes.iter().filter(|(_, seen)| seen.ends >= OFTEN);
            let texts: Vec<String> = ailing.map(|(index, seen)| text(*index, seen.ends, &seen.why)).collect();
            (!texts.is_empty()).then(|| (job.clone(), texts.join("; ")))
        };
        seen.iter().filter_map(of_job).collect()
    }

    /// Takes a look at the processes of a job.
    fn see(&self, job: &JobName, processes: &[DaemonProcess], now: i64) -> Vec<News> {
        let mut all = self.lock();
        let Some(of_job) = all.get_mut(job) else { return Vec::new() };
        of_job.retain(|index, _| processes.iter().any(|process| process.index == *index));
        let mut news = Vec::new();
        for process in processes {
            let index = process.index;
            // A process that runs when it is first seen may have ended long ago.
            let runs = matches!(process.state, ItemState::Running { .. });
            let seen = of_job
                .entry(index)
                .or_insert_with(|| Seen { well: if runs { process.restarts } else { 0 }, ..Seen::default() });
            match &process.state {
                ItemState::Waiting { why, .. } => {
                    // The pause after an end is a wait, too.
                    let long = if process.restarts == 0 { LONG } else { LONGER_THAN_PAUSES };
                    seen.wait.get_or_insert_with(|| Wait::new(why.clone(), now)).see(why.clone(), now, long);
                }
                _ => seen.wait = None,
            }
            match &process.state {
                // In the moment after a start it is not known since when.
                ItemState::Running { since: since @ 1.., .. } if now - since >= WELL => {
                    if seen.told > 0 {
                        news.push(News::Lives { index });
                    }
                    *seen = Seen { well: process.restarts, ..Seen::default() };
                }
                // It waits for room, or for its first start.
                ItemState::Waiting { .. } if process.restarts == 0 => {}
                ItemState::Waiting { why, .. } => {
                    seen.ends = process.restarts.saturating_sub(seen.well);
                    seen.why.clone_from(why);
                    if seen.ends >= OFTEN.max(seen.told * 2) {
                        if seen.told == 0 {
                            seen.since = now;
                        }
                        seen.told = seen.ends;
                        news.push(News::Ends { index, ends: seen.ends, why: why.clone() });
                    }
                }
                ItemState::Running { .. } | ItemState::LetGo | ItemState::Ended { .. } => {}
            }
        }
        news
    }

    /// Of the processes of each job that are told, the one that has ended most often; else the one that has waited longest.
    fn worst(&self) -> BTreeMap<JobName, DaemonTrouble> {
        let of_job = |(job, processes): (&JobName, &BTreeMap<u32, Seen>)| {
            let told = processes.iter().filter(|(_, seen)| seen.told > 0);
            let ends = told.max_by_key(|(_, seen)| seen.told);
            let ends = ends.map(|(index, seen)| DaemonTrouble::ends(*index, seen.told, seen.why.clone(), seen.since));
            let waits = processes.iter().filter_map(|(index, seen)| {
                let wait = seen.wait.as_ref()?;
                Some(DaemonTrouble::waits(*index, wait.told()?, wait.since()))
            });
            let trouble = ends.or_else(|| waits.min_by_key(|waits| waits.since))?;
            Some((job.clone(), trouble))
        };
        self.lock().iter().filter_map(of_job).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<JobName, BTreeMap<u32, Seen>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text(index: u32, ends: u32, why: &str) -> String {
    format!("process {index} has ended {ends} times soon after its start: {why}")
}

/// Looks at the processes again and again, and tells of those that end.
pub(super) struct Watch {
    pub(super) ailing: Ailing,
    pub(super) carrier: Arc<dyn Carrier>,
    /// Where it is noted, for everybody who looks at the job.
    pub(super) registry: Arc<dyn RegistryCenter>,
    /// Where it is recorded.
    pub(super) tracing: Option<Tracing>,
    pub(super) instance: InstanceId,
    /// Why the carrier has not taken jobs.
    pub(super) refused: Troubles,
}

impl Watch {
    pub(super) async fn watch(self, ending: CancellationToken) {
        let mut looks = tokio::time::interval(LOOK);
        let mut noted = Noted::new(self.registry.clone());
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                () = ending.cancelled() => return,
            }
            let jobs: Vec<JobName> = self.ailing.lock().keys().cloned().collect();
            for job in jobs {
                // A carrier that does not answer is asked with the next look.
                let Ok(mut processes) = self.carrier.kept(&job).await else { continue };
                if processes.is_empty() {
                    let refused = lock(&self.refused).get(&job).cloned();
                    processes.extend(refused.map(|why| DaemonProcess::new(0, ItemState::waiting(why), 0)));
                }
                let now = chrono::Utc::now().timestamp_millis();
                self.ailing.see(&job, &processes, now).into_iter().for_each(|news| self.tell(&job, news));
            }
            noted.note(self.ailing.worst()).await;
        }
    }

    fn tell(&self, job: &JobName, news: News) {
        match news {
            News::Lives { index } => info!(%job, "process {index} of the DAEMON job has lived for a minute again"),
            News::Ends { index, ends, why } => {
                let reason = text(index, ends, &why);
                warn!(%job, "DAEMON job: {reason}");
                let Some(tracing) = &self.tracing else { return };
                let detail = json!({ "process": index, "ends": ends, "why": why });
                tracing.post(JobEvent::Decision(JobDecisionEvent {
                    instance: Some(self.instance.clone()),
                    reason,
                    detail: detail.as_object().cloned().unwrap_or_default(),
                    ..JobDecisionEvent::new(job.clone(), DecisionKind::DaemonEnds)
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(restarts: u32) -> DaemonProcess {
        DaemonProcess::new(0, ItemState::waiting("it ended with exit code 3: no database"), restarts)
    }

    fn runs(restarts: u32, since: i64) -> DaemonProcess {
        DaemonProcess::new(0, ItemState::running("host", since), restarts)
    }

    #[test]
    fn a_process_that_ends_is_told_after_some_times_and_after_each_doubling_until_it_lives() {
        let (ailing, job) = (Ailing::default(), JobName::new("resident").unwrap());
        ailing.keep(&BTreeSet::from([job.clone()]));
        let told: Vec<u32> = (0..=13).filter(|ends| !ailing.see(&job, &[waits(*ends)], 0).is_empty()).collect();
        assert_eq!(told, [3, 6, 12]);
        let why = ailing.troubles().remove(&job).unwrap();
        assert!(why.contains("13 times") && why.contains("no database"), "{why}");
        // It runs for a moment before it ends again.
        assert_eq!(ailing.see(&job, &[runs(13, 1)], 10), []);
        assert_eq!(ailing.see(&job, &[runs(13, 0)], 2 * WELL), [], "it is not known since when");
        assert!(!ailing.troubles().is_empty());
        assert_eq!(ailing.see(&job, &[runs(13, 1)], WELL + 1), [News::Lives { index: 0 }]);
        assert!(ailing.troubles().is_empty());
        // It lived, and ends once: no trouble.
        assert_eq!(ailing.see(&job, &[waits(14)], WELL), []);
        assert!(ailing.troubles().is_empty());
        ailing.keep(&BTreeSet::new());
        assert_eq!(ailing.see(&job, &[waits(90)], WELL), []);
    }

    #[test]
    fn what_ended_before_this_scheduler_came_is_told_only_while_it_goes_on() {
        let (ailing, job) = (Ailing::default(), JobName::new("resident").unwrap());
        ailing.keep(&BTreeSet::from([job.clone()]));
        assert_eq!(ailing.see(&job, &[runs(7, 0)], 1), []);
        assert_eq!(ailing.see(&job, &[waits(8)], 1), []);
        ailing.keep(&BTreeSet::new());
        ailing.keep(&BTreeSet::from([job.clone()]));
        assert_eq!(ailing.see(&job, &[waits(8)], 1).len(), 1);
    }

    #[test]
    fn a_process_that_does_not_start_is_noted_until_it_does_and_one_that_ends_goes_before_it() {
        let (ailing, job) = (Ailing::default(), JobName::new("resident").unwrap());
        ailing.keep(&BTreeSet::from([job.clone()]));
        let other = |state| DaemonProcess::new(1, state, 0);
        let noted = |processes: &[DaemonProcess], now| {
            ailing.see(&job, processes, now);
            ailing.worst().remove(&job)
        };
        let waiting = || other(ItemState::waiting("no memory"));
        assert_eq!(noted(&[waiting()], 1_000), None);
        assert_eq!(noted(&[waiting()], 6_000), None, "most start sooner");
        assert_eq!(noted(&[waiting()], 11_000), Some(DaemonTrouble::waits(1, "no memory", 1_000)));
        let ends = noted(&[waits(3), waiting()], 12_000).unwrap();
        assert_eq!((ends.process, ends.ends), (0, 3));
        assert_eq!(noted(&[other(ItemState::running("host", 13_000))], 13_000), None);
        assert_eq!(noted(&[waiting()], 14_000), None, "it waits from now on");
        // It ended once, and its pause is over.
        let again = || DaemonProcess::new(1, ItemState::waiting("no room"), 1);
        assert_eq!(noted(&[again()], 15_000), None);
        assert_eq!(noted(&[again()], 300_000), None, "it may be its pause");
        assert_eq!(noted(&[again()], 374_000), Some(DaemonTrouble::waits(1, "no room", 14_000)));
    }
}
