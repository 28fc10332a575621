//! Stops what runs of a job, whoever waits for it.

use std::collections::BTreeMap;
use std::time::Duration;

use elasticjob::api::{JobError, JobResult};
use elasticjob::fire::CancelReason;
use elasticjob::ident::{JobName, ShardingItem};
use futures_util::future::{join_all, try_join_all};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use super::{Launches, lets_go, of_job};
use crate::carrier::{CarrierError, ItemState, Launch, LaunchId, LaunchItem, Outcome, Stop, StopCause};
use crate::scheduler::item_states::Following;
use crate::scheduler::launch_marks::Note;
use crate::scheduler::registrations::Registered;
use crate::scheduler::stops::{Wish, wished};
use crate::scheduler::time_limits::of_stop;
use crate::texts;

/// How long a run that lets go of its item waits for the answer to its launch, and notes that the carrier was not given it.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);

/// How long a request to launch items may take before what has to wait for it says so, and tries again.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

/// The launch of a run that is cut off. Without it the item is not launched any more.
pub(super) struct Cut {
    /// Withdraws the permit of the item.
    pub(super) withdrawn: DropGuard,
    /// With the last one of its group the launch ends.
    pub(super) launched: watch::Receiver<bool>,
    /// Of the run.
    pub(super) fencing_token: Option<i64>,
}

impl Cut {
    /// What is not on its way by now is not launched any more.
    fn withdraw(self) {
        let Self { withdrawn, launched, fencing_token: _ } = self;
        drop((withdrawn, launched));
    }
}

impl Launches {
    /// A run is cut off. When its session was lost or the scheduler leaves, another scheduler takes the item over and adopts
    /// it: this one lets go. Any other reason is the wish of an operator that it ends: a program that ends well after all has
    /// succeeded, as every run has. The engine drops the run where that takes longer than it waits, and it has failed then.
    pub(super) async fn cut(
        &self,
        registered: &Registered,
        id: &LaunchId,
        item: ShardingItem,
        reason: Option<CancelReason>,
        following: &mut Following,
        launch: Cut,
    ) -> JobResult {
        match reason {
            Some(wish) if !lets_go(wish) => {
                // First of all: what is not on its way by now is not launched after the stop.
                let was_taken = following.is_accepted();
                launch.withdraw();
                let stop = || Stop::new(registered.job.grace(), StopCause::Operator);
                // The run may be dropped before the carrier answers: the stop goes on.
                let _ = self.stop_with_late(id, item, stop()).await;
                // What the carrier does not have, or cannot be asked for, does not end by this stop.
                let (outcome, noted) = match following.asked().await {
                    Ok(Some(state)) if state != ItemState::LetGo => {
                        // Its answer may be lost: it may have come after the stop, which found nothing.
                        if !was_taken && state.is_open() {
                            let _ = self.0.formers.stop_again(id, item, stop()).await;
                        }
                        self.0.hub.accepted(id, &[item]).await;
                        following.end().await
                    }
                    Ok(_) | Err(_) => (Outcome::Stopped, None),
                };
                // What was lost may go on where it is not seen, and is not wanted any more.
                let outcome = match outcome {
                    Outcome::Lost { .. } => Outcome::Stopped,
                    outcome => outcome,
                };
                of_job(of_stop(outcome, noted.or_else(|| self.0.formers.cause(id, item)).as_ref()))
            }
            _ => {
                if reason == Some(CancelReason::Shutdown) {
                    // The scheduler that has it next asks the carrier, which may not have it before the answer. It reads the
                    // note when this run has ended.
                    let let_go = LaunchItem::new(item, launch.fencing_token);
                    launch.withdraw();
                    let is_told = async {
                        self.0.not_given.until_answered(id, [item]).await;
                        if self.0.not_given.lacks(id, item) {
                            self.note_not_given(id, &[let_go]).await;
                        }
                    };
                    let _ = timeout(LEAVES_WITHIN, is_told).await;
                }
                Err(JobError::message("it goes on, and the next scheduler of its job waits for it"))
            }
        }
    }

    /// Stops an item, and once more when its launch is answered where that is on its way: then the stop may have found nothing.
    fn stop_with_late(&self, id: &LaunchId, item: ShardingItem, stop: Stop) -> JoinHandle<()> {
        let is_on_its_way = self.0.not_given.is_on_its_way(id, item);
        let (launches, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            let _ = launches.0.formers.stop(&id, item, stop.clone()).await;
            if is_on_its_way {
                launches.stop_late(id, vec![item], stop).await;
            }
        })
    }

    /// Stops what runs of a job for runs that began before this wish, as soon as the carrier takes it: also when this scheduler lets
    /// go of the runs meanwhile. What the carrier runs without a note is of an earlier life of the registry center or of the job.
    ///
    /// # Errors
    /// The registry center or the carrier did not answer: call again.
    pub(in crate::scheduler) async fn stop_begun_before(
        &self,
        job: &JobName,
        wish: Wish,
        grace: Duration,
    ) -> Result<(), String> {
        let why = |error: CarrierError| error.to_string();
        let stop = || Stop::new(grace, StopCause::Changed);
        // Before the notes are read: each launch is noted before the carrier is given it, so what it runs by now has a note by then.
        let mut running = self.all_running(self.0.carrier.launches_of(job).await.map_err(why)?).await.map_err(why)?;
        let noted = self.0.marks.read(job).await?;
        let begun = noted.begun_before(wish.at);
        let late = begun.iter().map(|(id, items)| {
            let is_late = |item: &ShardingItem| self.0.not_given.is_on_its_way(id, *item);
            (id.clone(), items.iter().copied().filter(is_late).collect())
        });
        let late: Vec<(LaunchId, Vec<ShardingItem>)> = late.collect();
        // Once more: what was on its way at the first look, and is not any more, is there now.
        running.extend(self.all_running(begun.keys().cloned().collect()).await.map_err(why)?);
        for (id, items) in late {
            tokio::spawn(self.clone().stop_late(id, items, stop()));
        }
        for (id, items) in running {
            let has_begun_before = |item: &ShardingItem| match noted.is_of(&id, *item) {
                true => begun.get(&id).is_some_and(|items| items.contains(item)),
                false => wish.is_for_unnoted(id.fire),
            };
            for item in items.into_iter().filter(has_begun_before) {
                drop(self.0.formers.stop(&id, item, stop()));
            }
        }
        Ok(())
    }

    /// Stops items that go on from an earlier run of the same fire, where it was wished after the begin of that run, and before the
    /// begin of this one, that what runs ends. Who hears of the wish later takes them for begun after it.
    ///
    /// # Errors
    /// The registry center or the carrier did not answer: call again, before this run is noted.
    pub(super) async fn stop_wished_between(&self, launch: &Launch, noted: &Note) -> Result<(), String> {
        let id = &launch.id;
        let mut taken_over = launch.items.clone();
        taken_over.retain(|wanted| noted.is_given_by_another_run(id, wanted));
        if taken_over.is_empty() {
            return Ok(());
        }
        let registered = Registered { app: launch.app.clone(), job: launch.job.clone() };
        let wish = wished(self.0.marks.registry(), &registered).await.map_err(|error| error.to_string())?;
        let Some(Wish { at, .. }) = wish else { return Ok(()) };
        taken_over.retain(|wanted| {
            let earlier = noted.token_of(wanted.item);
            earlier.is_none_or(|token| token < at) && wanted.fencing_token.is_some_and(|token| token > at)
        });
        if taken_over.is_empty() {
            return Ok(());
        }
        let running = self.running(id).await.map_err(|error| error.to_string())?;
        taken_over.retain(|wanted| running.contains(&wanted.item));
        let stop = || Stop::new(launch.job.grace(), StopCause::Changed);
        let stops: Vec<_> = taken_over.iter().map(|wanted| self.0.formers.stop(id, wanted.item, stop())).collect();
        // Otherwise nobody would know of it when this scheduler is killed.
        match timeout(ANSWERED_WITHIN, join_all(stops)).await {
            Ok(_) => Ok(()),
            Err(_) => Err("the carrier has not taken the stop of what ran before the last change".to_owned()),
        }
    }

    /// The items of these launches that have not ended.
    async fn all_running(&self, ids: Vec<LaunchId>) -> Result<BTreeMap<LaunchId, Vec<ShardingItem>>, CarrierError> {
        let running = ids.into_iter().map(|id| async move { Ok::<_, CarrierError>((self.running(&id).await?, id)) });
        Ok(try_join_all(running).await?.into_iter().map(|(items, id)| (id, items)).collect())
    }

    /// Stops everything that the carrier runs for a job, and what is on its way to it. A launch that cannot be stopped keeps no other
    /// one running.
    ///
    /// # Errors
    /// [`CarrierError`] of the first launch of which the engine did not answer. Then something may go on: call again.
    pub(in crate::scheduler) async fn stop_all(&self, job: &JobName, stop: &Stop) -> Result<(), CarrierError> {
        for (id, items) in self.0.not_given.on_their_way(job) {
            tokio::spawn(self.clone().stop_late(id, items, stop.clone()));
        }
        let mut first = Ok(());
        for id in self.0.carrier.launches_of(job).await? {
            let stopped = self.stop_launch(&id, stop).await;
            first = first.and(stopped);
        }
        first
    }

    /// Stops items whose launch is on its way, when it is answered: those that the carrier has by it.
    async fn stop_late(self, id: LaunchId, items: Vec<ShardingItem>, stop: Stop) {
        let stops = items.into_iter().map(|item| {
            let (launches, id, stop) = (&self, &id, stop.clone());
            async move {
                launches.0.not_given.until_answered(id, [item]).await;
                if !launches.0.not_given.lacks(id, item) {
                    let _ = launches.0.formers.stop_again(id, item, stop).await;
                }
            }
        });
        join_all(stops).await;
    }

    /// Waits a while for the answers to the requests to launch items of a job.
    ///
    /// # Errors
    /// [`CarrierError`] when one of them is not answered.
    pub(super) async fn answered(&self, job: &JobName) -> Result<(), CarrierError> {
        let answered = timeout(ANSWERED_WITHIN, self.0.not_given.until_all_answered(job)).await;
        answered.map_err(|_| {
            let seconds = ANSWERED_WITHIN.as_secs();
            CarrierError::new(texts::answer_launch(), format!("a request of the job has no answer after {seconds} s"))
        })
    }

    async fn stop_launch(&self, id: &LaunchId, stop: &Stop) -> Result<(), CarrierError> {
        let items = self.running(id).await?;
        if items.is_empty() { Ok(()) } else { self.0.carrier.stop(id, &items, stop.clone()).await }
    }
}
