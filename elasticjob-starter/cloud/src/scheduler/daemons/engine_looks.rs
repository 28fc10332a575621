//! Looks at the engine of a carrier: whether it has what the carrier was told to keep.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::ident::JobName;
use elasticjob::log::{debug, warn};
use futures_util::stream::{self, StreamExt};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Told, Wanted};
use crate::carrier::{Carrier, Daemon};

/// How often the carrier is asked.
pub(super) const LOOK: Duration = Duration::from_secs(15);

/// The longest pause before it is asked again of a job whose processes were not there as wanted several times in a row: another program
/// may want them otherwise, and each change may start them again.
const LONGEST: Duration = Duration::from_secs(600);

/// Of so many jobs at a time.
const ASKED_AT_A_TIME: usize = 10;

/// A job, the last request to keep its processes, and whether the engine still has what was asked for.
type Answer = (JobName, Wanted, bool);

/// The looks. One is under way at a time, beside everything else: an engine that does not answer keeps nothing waiting.
pub(super) struct EngineLooks {
    carrier: Arc<dyn Carrier>,
    under_way: JoinSet<Vec<Answer>>,
    missing: BTreeMap<JobName, Missing>,
}

/// A job whose processes the engine did not have as wanted.
struct Missing {
    times: u32,
    /// When the carrier is asked again.
    again_at: Instant,
}

impl EngineLooks {
    pub(super) fn new(carrier: Arc<dyn Carrier>) -> Self {
        Self { carrier, under_way: JoinSet::new(), missing: BTreeMap::new() }
    }

    /// Asks of these jobs, apart from those whose pause lasts, unless a look is under way.
    pub(super) fn begin(&mut self, jobs: impl Iterator<Item = (JobName, Wanted, Daemon)>) {
        if !self.under_way.is_empty() {
            return;
        }
        let (now, jobs) = (Instant::now(), jobs.collect::<Vec<_>>());
        self.missing.retain(|name, _| jobs.iter().any(|(job, ..)| job == name));
        let is_due = |name: &JobName| self.missing.get(name).is_none_or(|missing| missing.again_at <= now);
        let due: Vec<_> = jobs.into_iter().filter(|(name, ..)| is_due(name)).collect();
        let carrier = self.carrier.clone();
        self.under_way.spawn(async move {
            let asked = due.into_iter().map(|(name, wanted, daemon)| {
                let carrier = carrier.clone();
                async move {
                    let answer = carrier.is_kept(&daemon).await;
                    // While the engine is away everything else says so, too.
                    let answer = answer.inspect_err(
                        |error| debug!(job = %name, "it is not known whether the engine has the processes of the DAEMON job: {error}"),
                    );
                    Some((name, wanted, answer.ok()?))
                }
            });
            let answers = stream::iter(asked).buffer_unordered(ASKED_AT_A_TIME);
            answers.filter_map(std::future::ready).collect().await
        });
    }

    /// Whether a look is under way.
    pub(super) fn is_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Waits for the look, and returns the jobs whose processes are not there as the carrier was told, with what it was told.
    pub(super) async fn end(&mut self) -> Told {
        let answers = match self.under_way.join_next().await {
            Some(Ok(answers)) => answers,
            Some(Err(error)) => {
                warn!("a look at the engine has ended by a bug: {error}");
                Vec::new()
            }
            None => Vec::new(),
        };
        let mut told = Told::new();
        for (name, wanted, is_kept) in answers {
            if is_kept {
                self.missing.remove(&name);
                continue;
            }
            let missing = self.missing.entry(name.clone()).or_insert(Missing { times: 0, again_at: Instant::now() });
            missing.again_at = Instant::now() + (LOOK * 2_u32.saturating_pow(missing.times)).min(LONGEST);
            missing.times += 1;
            warn!(job = %name, times = missing.times, "the engine does not have the processes of the DAEMON job as they were asked for; \
                they are asked for again, unless another scheduler looks after the job now");
            told.insert(name, wanted);
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::super::tests::registered;
    use super::*;
    use crate::scheduler::tests::away::Away;
    use crate::scratch::Scratch;

    #[tokio::test(start_paused = true)]
    async fn what_is_changed_again_and_again_is_asked_for_with_growing_pauses() {
        let registered = registered();
        let (app, job) = (registered.app.clone(), registered.job.clone());
        let name = job.job_name.clone();
        let wanted = Wanted { registered, instances: 1, wish: None };
        let daemon = Daemon { app, job, instances: 1, registry_center: None };
        let scratch = Scratch::new();
        let away = Arc::new(Away::in_folder(scratch.path().join("work")));
        let mut looks = EngineLooks::new(away.clone());
        let begun = Instant::now();
        let mut missing = Vec::new();
        while begun.elapsed() < Duration::from_secs(200) {
            away.is_changed.store(true, Ordering::SeqCst);
            looks.begin([(name.clone(), wanted.clone(), daemon.clone())].into_iter());
            if looks.end().await.contains_key(&name) {
                missing.push(begun.elapsed().as_secs());
            }
            tokio::time::sleep(LOOK).await;
        }
        assert_eq!(missing, [0, 15, 45, 105]);
        away.is_changed.store(false, Ordering::SeqCst);
        tokio::time::sleep(LONGEST).await;
        looks.begin([(name.clone(), wanted, daemon)].into_iter());
        assert!(looks.end().await.is_empty() && looks.missing.is_empty());
    }
}
