//! Prepares launches: leaves out what another scheduler has, or what is lost, and holds what still runs for an earlier fire.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::time::Duration;

use elasticjob::fire::ExecutionSource;
use elasticjob::ident::ShardingItem;
use elasticjob::log::{info, warn};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::time::timeout;

use super::{Launches, TOGETHER};
use crate::carrier::{Launch, LaunchId, LaunchItem, Outcome, Stop, StopCause};
use crate::scheduler::launch_marks::{Note, Noted};

/// How long items wait for the answer to an earlier request before that is told.
const LONG: Duration = Duration::from_secs(10);

impl Launches {
    /// Prepares what is left to launch. This scheduler may stand still at any time, as with the machine that it runs on: so the last
    /// thing before the launch is a look at whether another scheduler has taken the items over.
    pub(super) async fn ready(&self, launch: &mut Launch, is_noted: &mut bool) -> Result<(), String> {
        while self.prepare(launch, *is_noted).await? == Noted::Changed {}
        *is_noted = true;
        if launch.items.is_empty() {
            return Ok(());
        }
        let noted = self.0.marks.read(&launch.id.job).await?;
        self.leave_out_overtaken(launch, &noted, true);
        Ok(())
    }

    /// Leaves the items out of which a later run is noted by now: that one was launched since, and may be over and forgotten. Where
    /// it is a run for the same fire, its end is the end of this one too.
    fn leave_out_overtaken(&self, launch: &mut Launch, noted: &Note, is_noted: bool) {
        let id = &launch.id;
        for wanted in launch.items.extract_if(.., |wanted| noted.has_later_run(id, wanted, is_noted)) {
            if noted.is_of(id, wanted.item) {
                continue;
            }
            let why = "this scheduler stood still, and a later run of the item was launched meanwhile".to_owned();
            self.0.hub.settle(id, wanted.item, Outcome::Lost { why });
        }
    }

    /// Notes that the items are about to be launched. An item that was taken over, that the carrier does not know although it
    /// was launched, and that may not run twice is lost: it is noted too, so that the scheduler that had it before does not launch
    /// it any more.
    async fn prepare(&self, launch: &mut Launch, is_noted: bool) -> Result<Noted, String> {
        let id = launch.id.clone();
        launch.leave_out_withdrawn();
        if launch.items.is_empty() {
            return Ok(Noted::Done);
        }
        let may_be_lost = launch.source == ExecutionSource::Failover && !launch.replaces_lost();
        // Where this scheduler has the item again that it let go of.
        self.until_answered(&id, &launch.items).await;
        let mut noted = self.0.marks.read(&id.job).await?;
        self.leave_out_overtaken(launch, &noted, is_noted);
        let mut lost = Vec::new();
        if may_be_lost {
            let known = self.0.carrier.states(&id).await.map_err(|error| error.to_string())?.unwrap_or_default();
            let is_lost = |item: &&LaunchItem| self.was_given(&id, item, &noted) && !known.contains_key(&item.item);
            lost = launch.items.iter().filter(is_lost).map(|item| item.item).collect();
        }
        let may_run = || launch.items.iter().map(|item| item.item).filter(|item| !lost.contains(item));
        let not_given = &self.0.not_given;
        let is_on_its_way = |former: &LaunchId, item| not_given.is_on_its_way(former, item);
        let running = self.0.formers.running(&id, may_run(), &noted, is_on_its_way).await?;
        let unnoted = match self.0.loses_notes {
            true => self.0.formers.running_unnoted(&id, may_run(), &noted).await?,
            false => BTreeMap::new(),
        };
        let stop = Some(Stop::new(launch.job.grace(), StopCause::LaterRun));
        let formers = running.into_iter().map(|former| (former, stop.clone()));
        for ((former, items), stop) in formers.chain(unnoted.into_iter().map(|former| (former, None))) {
            info!("items {items:?} of {id} are launched when they have ended for {former}");
            let held = launch.items.extract_if(.., |item| items.contains(&item.item)).collect();
            tokio::spawn(self.clone().launch_after(former, Launch { items: held, ..launch.clone() }, stop));
        }
        if launch.items.is_empty() {
            return Ok(Noted::Done);
        }
        self.leave_out_former_items(launch, &mut noted).await;
        if !is_noted {
            self.0.not_given.add(&id, launch.items.iter().filter(|item| !self.was_given(&id, item, &noted)));
        }
        // Before the note says that they began with this run.
        self.stop_wished_between(launch, &noted).await?;
        let written = self.0.marks.note(&id, &launch.items, noted).await?;
        if written == Noted::Done {
            launch.items.retain(|item| !lost.contains(&item.item));
            for item in lost {
                let place = self.0.carrier.place();
                let why = format!("it was launched, and {place} does not know it; with `failover` it would run again");
                self.0.hub.settle(&id, item, Outcome::Lost { why });
            }
        }
        Ok(written)
    }

    /// Waits until no request of an earlier run for the same items is on its way. Where that takes long, it is told.
    async fn until_answered(&self, id: &LaunchId, items: &[LaunchItem]) {
        let items: Vec<ShardingItem> = items.iter().map(|wanted| wanted.item).collect();
        let mut answered = pin!(self.0.not_given.until_answered(id, items.iter().copied()));
        if timeout(LONG, &mut answered).await.is_err() {
            let why = "the carrier has not answered the request of the run before";
            self.0.hub.not_taken(id, items.iter().copied(), why);
            warn!("items {items:?} of {id} are not launched yet: {why}");
            answered.await;
            self.0.hub.is_being_launched(id, items.iter().copied());
        }
    }

    /// Leaves out of a note the items that the job has no more, once they have ended. While one runs, the note keeps a later run of
    /// it apart, as the job may get the item again. One whose launch the carrier does not know may be on its way, or run at another
    /// place: it stays unless it is old, and only this place runs the job.
    async fn leave_out_former_items(&self, launch: &Launch, noted: &mut Note) {
        let surplus = noted.from(launch.job.sharding_total_count);
        // A carrier that does not answer is asked with the next launch.
        let known = self.0.formers.known(&launch.id, surplus, noted).await.unwrap_or_default();
        known.ended.into_iter().for_each(|item| noted.leave_out(item));
        if !known.gone.is_empty() && self.is_only_here(&launch.id.job).await {
            known.gone.into_iter().for_each(|item| noted.leave_out(item));
        }
    }

    /// Launches items when they run no more for an earlier fire: all of them are asked to end at once, where they are to be stopped,
    /// and those that have ended together are launched together. Those that are cut off meanwhile are left out.
    fn launch_after(
        self,
        former: LaunchId,
        launch: Launch,
        stop: Option<Stop>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let (formers, hub, not_given) = (&self.0.formers, &self.0.hub, &self.0.not_given);
            let id = &launch.id;
            let end = |wanted: LaunchItem| {
                let (item, former) = (wanted.item, &former);
                let (held, stop) = (formers.hold(id, item, former), stop.clone());
                async move {
                    not_given.until_answered(former, [item]).await;
                    formers.end(former, item, stop, || hub.follows_item(id, item)).await;
                    drop(held);
                    wanted
                }
            };
            let mut ends: FuturesUnordered<_> = launch.items.iter().cloned().map(end).collect();
            while let Some(first) = ends.next().await {
                let mut ended = vec![first];
                let others = async {
                    while let Some(other) = ends.next().await {
                        ended.push(other);
                    }
                };
                let _ = timeout(TOGETHER, others).await;
                ended.retain(|wanted| hub.follows_item(id, wanted.item));
                ended.sort_unstable_by_key(|wanted| wanted.item);
                if !ended.is_empty() {
                    let (launches, freed) = (self.clone(), Launch { items: ended, ..launch.clone() });
                    tokio::spawn(async move { launches.attempt(freed).await });
                }
            }
        })
    }
}
