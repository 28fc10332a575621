//! Performs the actions that the engine asks for: requests to the registry center, runs of items, calls of listeners.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use tokio_util::sync::CancellationToken;

use super::{Driver, by_own_clock};
use crate::api::{
    AnyJobListener, Cut, Failed, ItemRun, JobFailure, ListenerContext, ListenerRound, RunInfo, ShardingContext,
};
use crate::config::JobConfiguration;
use crate::engine::{Action, Event, ListenerCall, Start, oldest_answer};
use crate::executor::{self, ItemOutcome, Running, Slots, spawn_item, spawn_listeners};
use crate::fire::{CancelReason, Fire, FireState, ItemEnd, RunKey};
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::{Proof, SessionState};
use crate::runtime::followed::Followed;
use crate::runtime::handle::Letter;
use crate::runtime::live_item::LiveItem;
use crate::schedule::TimeZone;

/// The pause between a failed attempt to prove the session and the next one.
const PROOF_RETRY: Duration = Duration::from_millis(50);

impl Driver {
    pub(super) fn perform(&mut self, action: Action) {
        let Some(action) = self.answers.ask(&*self.registry, &self.job, action) else { return };
        match action {
            Action::List { .. } | Action::Read { .. } | Action::Commit(_) => {}
            Action::Watch(changes) => self.watches.change(&*self.registry, &self.job, changes),
            Action::Prove => self.prove(),
            Action::Start(start) => self.start_items(start),
            Action::AskToStop(items) => self.each_running(&items, Running::ask_to_stop),
            Action::Cancel { items, reason } => self.cancel(&items, reason),
            Action::CancelOnRequest { item, request } => {
                if let Some(live) = self.running.get(&item) {
                    live.cancel_on(request);
                }
            }
            Action::FollowJobs(jobs) => {
                self.followed = Followed::start(self.environment.system(), &self.registry, jobs, &self.mailbox);
            }
            Action::Abort(items) => self.each_running(&items, Running::abort),
            Action::Abandon(items) => self.abandon(&items),
            Action::CallListeners(call) => self.call_listeners(call),
            Action::CancelListeners(round) => self.listening.get(&round).into_iter().for_each(Running::cancel),
            Action::AbortListeners(round) => self.listening.get(&round).into_iter().for_each(Running::abort),
            Action::AnswerTrigger(id, answer) => self.answer_trigger(id, answer),
            Action::AnswerStart(outcome) => self.answer_start(outcome),
            Action::Tell(notice) => self.tell(&notice),
            Action::Stopped => self.answer_start(Err("it was stopped before it had joined the group".to_owned())),
        }
    }

    /// Proves the session: by the transaction of another job, where that is a moment ago; otherwise by a transaction
    /// that writes nothing, which serves all jobs that ask meanwhile.
    fn prove(&mut self) {
        let moment = match *self.session.borrow() {
            SessionState::Connected { timeout, .. } => oldest_answer(timeout),
            _ => Duration::ZERO,
        };
        // Nor may the engine get one twice: it asks again where a clock leapt since.
        let is_new = |proof: &Proof| self.handed_over != Some(*proof) && proof.at.elapsed() < moment;
        let proof = self.registry.proof().filter(is_new);
        self.handed_over = proof.or(self.handed_over);
        let environment = self.environment.clone();
        match proof {
            Some(proof) => {
                self.answers.push(async move { Event::ProofAnswered(Some(by_own_clock(&environment, proof))) })
            }
            None => {
                let proof = self.environment.proofs().prove(&self.registry, &self.job);
                self.answers.push(async move {
                    let proof = proof.await;
                    if proof.is_none() {
                        // The engine asks again as soon as it hears of the failure.
                        tokio::time::sleep(PROOF_RETRY).await;
                    }
                    Event::ProofAnswered(proof.map(|proof| by_own_clock(&environment, proof)))
                });
            }
        }
    }

    fn cancel(&mut self, items: &[ShardingItem], reason: CancelReason) {
        for item in items {
            if let Some(live) = self.running.get(item) {
                live.cut_off(reason);
            }
        }
    }

    fn abandon(&mut self, items: &[ShardingItem]) {
        for item in items {
            if let Some((run, error)) = self.running.remove(item).map(LiveItem::abandoned) {
                self.report_item(*item, run, error);
            }
        }
    }

    fn each_running(&self, items: &[ShardingItem], act: fn(&Running)) {
        items.iter().filter_map(|item| self.running.get(item)).for_each(|live| act(live));
    }

    fn start_items(&mut self, start: Start) {
        let Start { key, instance, configuration, items } = start;
        let run = self.run_info(key, configuration.clone(), instance, items.iter().map(|(item, _)| *item).collect());
        let slots = self.slots(&configuration);
        if let Some(recorder) = &self.recorder {
            recorder.running(items.iter().map(|(item, _)| *item));
        }
        if let Some(observed) = &self.observed {
            items.iter().for_each(|(item, _)| observed.started(*item));
        }
        let lease = self.proven.lease(&self.environment);
        for (item, fencing_token) in items {
            let (cancellation, cut) = (CancellationToken::new(), Cut::default());
            let context = ShardingContext::new(ItemRun {
                run: run.clone(),
                item,
                fencing_token,
                attempt: 1,
                stop: cancellation.child_token(),
                cancellation,
                cut: cut.clone(),
                lease: lease.clone(),
            });
            let mailbox = self.mailbox.clone();
            let record = self.recorder.as_ref().and_then(|recorder| recorder.item(item));
            let handler = record.as_ref().map(|record| record.around(&self.handler));
            let on_end = move |end: executor::ExecutionEnd| {
                let end: ItemEnd = end.into();
                if let Some(record) = record {
                    record.ended(&end);
                }
                // The driver has ended only when the program does.
                let _ = mailbox.post(Letter::ItemEnded(item, end));
            };
            let handler = handler.as_ref().unwrap_or(&self.handler);
            let launch = |task| self.environment.launcher().launch(task);
            let running = spawn_item(launch, &slots, handler, context, on_end);
            self.running.insert(item, LiveItem::new(running, run.clone(), cut));
        }
    }

    /// The slots for the next run. Runs that began before a change of the pool keep their slots, which do not count
    /// among the new ones.
    fn slots(&mut self, configuration: &JobConfiguration) -> Slots {
        let slots = Slots::after(self.slots.take(), self.environment.catalog().thread_pools(), configuration);
        self.slots.insert(slots).clone()
    }

    fn call_listeners(&mut self, call: ListenerCall) {
        let ListenerCall { round, hook, listeners, key, instance, configuration, items } = call;
        let listeners = listeners
            .iter()
            .filter_map(|name| self.environment.catalog().listeners().get(name).ok())
            .cloned()
            .collect();
        let run = self.run_info(key, configuration, instance, items);
        let context = ListenerContext::new(ListenerRound { run: run.clone(), cancellation: CancellationToken::new() });
        let failures = self.environment.failures().clone();
        let unnamed = self.failure(Failed::Listener { type_name: String::new(), hook }, String::new());
        let on_failure = move |listener: &AnyJobListener, error: String| {
            if let Some(failure) = unnamed.clone() {
                let what = Failed::Listener { type_name: listener.type_name().to_owned(), hook };
                failures.report(JobFailure { what, error, ..failure.of_run(run.clone()) });
            }
        };
        let mailbox = self.mailbox.clone();
        let on_end = move || {
            // The driver has ended only when the program does.
            let _ = mailbox.post(Letter::ListenersCalled(round));
        };
        let running = spawn_listeners(self.environment.user(), listeners, hook, context, on_failure, on_end);
        self.listening.insert(round, running);
    }

    /// A run, as code of the program sees it.
    pub(super) fn run_info(
        &self,
        key: RunKey,
        configuration: Arc<JobConfiguration>,
        instance: InstanceId,
        items: Vec<ShardingItem>,
    ) -> Arc<RunInfo> {
        let scheduled_at = self.scheduled_at(key.fire, &configuration);
        Arc::new(RunInfo::new(key, configuration, instance, items, scheduled_at))
    }

    /// The time of a fire in the zone of the job.
    pub(super) fn scheduled_at(&self, fire: Fire, configuration: &JobConfiguration) -> DateTime<FixedOffset> {
        self.local_time(fire.scheduled_for(), configuration)
    }

    /// A time in milliseconds since 1970, in the zone of the job.
    pub(super) fn local_time(&self, wall: i64, configuration: &JobConfiguration) -> DateTime<FixedOffset> {
        let zone = configuration.schedule().map_or(self.environment.local_zone(), |schedule| schedule.time_zone());
        in_zone(wall, zone)
    }
}

impl From<executor::ExecutionEnd> for ItemEnd {
    fn from(end: executor::ExecutionEnd) -> Self {
        let (state, error) = match end.outcome {
            ItemOutcome::Succeeded => (FireState::Succeeded, None),
            ItemOutcome::Failed(error) | ItemOutcome::Panicked(error) => (FireState::Failed, Some(error)),
            ItemOutcome::Dropped => (FireState::Cancelled, None),
        };
        Self { state, took: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX), error }
    }
}

/// A time in milliseconds since 1970, in a zone.
fn in_zone(wall: i64, zone: TimeZone) -> DateTime<FixedOffset> {
    let utc = DateTime::from_timestamp_millis(wall).unwrap_or_default();
    let offset = FixedOffset::east_opt(zone.offset_at(wall.div_euclid(1_000)));
    utc.with_timezone(&offset.unwrap_or(FixedOffset::east_opt(0).expect("no offset is an offset")))
}
