//! Drives the engine of one job: feeds events to the engine and performs its actions.

mod fallen;
mod report;
mod watches;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use futures_util::FutureExt;
use litemap::LiteMap;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use self::watches::Watches;
use super::environment::JobEnvironment;
use super::followed::Followed;
use super::handle::{Letter, ShutdownMode, TriggerError, Triggered};
use super::live_item::LiveItem;
use super::log::log;
use super::mailbox::Mailbox;
use super::observed::Observed;
use super::pending_replies::Answers;
use super::recorder::Recorder;
use super::timers::{Deadline, Timer};
use crate::api::{
    AnyJobListener, Cut, Failed, ItemHandler, ItemRun, JobFailure, ListenerContext, ListenerRound, RunInfo,
    ShardingContext,
};
use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::engine::{
    Action, Event, JobEngine, ListenerCall, Notice, RoundId, Start, TriggerAnswer, TriggerId, oldest_answer,
};
use crate::executor::{self, ItemOutcome, Running, Slots, spawn_item, spawn_listeners};
use crate::fire::{CancelReason, Fire, FireState, ItemEnd, RunKey, SkipReason};
use crate::ident::{InstanceId, JobName, ShardingItem};
use crate::job_status::JobStatus;
use crate::registry::{Proof, RegistryCenter, SessionId, SessionState};
use crate::schedule::TimeZone;

/// The pause between a failed attempt to prove the session and the next one.
const PROOF_RETRY: Duration = Duration::from_millis(50);

/// Receives one answer: the job is registered, or it cannot be.
pub(super) type Started = oneshot::Sender<Result<(), String>>;

/// The parts of a driver.
pub(super) struct Job {
    pub(super) environment: JobEnvironment,
    pub(super) registry: Arc<dyn RegistryCenter>,
    pub(super) handler: ItemHandler,
    /// Boxed, so that it is moved to the driver without a copy and takes no place in the bootstrap afterwards.
    pub(super) engine: Box<JobEngine>,
    pub(super) mailbox: Arc<Mailbox<Letter>>,
    pub(super) status: watch::Sender<JobStatus>,
}

/// Drives one job. Each job has one task, on the runtime of coordination.
pub(super) struct Driver {
    job: JobName,
    environment: JobEnvironment,
    registry: Arc<dyn RegistryCenter>,
    handler: ItemHandler,
    engine: Box<JobEngine>,
    mailbox: Arc<Mailbox<Letter>>,
    status: watch::Sender<JobStatus>,
    session: watch::Receiver<SessionState>,
    watches: Watches,
    answers: Answers,
    timer: Timer,
    running: LiteMap<ShardingItem, LiveItem>,
    /// The proof of another job's transaction that the engine got last.
    handed_over: Option<Proof>,
    /// The jobs that this one depends on, while it leads.
    followed: Followed,
    /// The slots of the pool that the last run used.
    slots: Option<Slots>,
    /// Calls of listeners, one for each listener round.
    listening: LiteMap<RoundId, Running>,
    triggers: BTreeMap<TriggerId, oneshot::Sender<Result<Triggered, TriggerError>>>,
    last_trigger: TriggerId,
    /// Present where the job is traced. Boxed, as most jobs are not traced.
    recorder: Option<Box<Recorder>>,
    /// Present where the job is observed.
    observed: Option<Box<Observed>>,
    /// The driver has reported a fire that was given up, and no fire has begun since.
    reported_given_up: bool,
    /// Answered when the job is registered, or cannot be.
    started: Option<Started>,
}

impl Driver {
    pub(super) fn new(job: Job, started: Option<Started>) -> Box<Self> {
        let Job { environment, registry, handler, engine, mailbox, status } = job;
        let name = engine.job_name().clone();
        Box::new(Self {
            session: registry.session(),
            watches: Watches::of_job(&*registry, &name),
            timer: environment.timers().register(mailbox.bell().clone()),
            recorder: Recorder::of(&environment, &name),
            observed: environment.observer().map(|observer| Box::new(Observed::new(observer.clone(), name.clone()))),
            reported_given_up: false,
            handed_over: None,
            job: name,
            environment,
            registry,
            handler,
            engine,
            mailbox,
            status,
            answers: Answers::default(),
            running: LiteMap::new(),
            followed: Followed::default(),
            slots: None,
            listening: LiteMap::new(),
            triggers: BTreeMap::new(),
            last_trigger: 0,
            started,
        })
    }

    pub(super) fn status(&self) -> &watch::Sender<JobStatus> {
        &self.status
    }

    pub(super) fn job_name(&self) -> &JobName {
        &self.job
    }

    /// Runs until the job has left. The caller keeps the driver: after a panic it asks the driver for what is left
    /// behind.
    pub(super) async fn run(&mut self) {
        let state = *self.session.borrow_and_update();
        self.feed(Event::Session(state));
        while !self.engine.is_stopped() {
            self.settle();
            tokio::select! {
                biased;
                Ok(()) = self.session.changed() => self.take_session(),
                event = poll_fn(|cx| self.watches.poll_next(cx)) => self.take_watch_event(event),
                event = self.answers.next() => {
                    // The engine must see what happened before the answer was given before it sees the answer.
                    self.drain_watch();
                    self.take_answer(event);
                }
                () = self.mailbox.bell().notified() => self.take_letters(),
            }
        }
        self.settle();
    }

    fn take_session(&mut self) {
        let state = *self.session.borrow_and_update();
        // The gap comes before the session that is back: an engine that registers at once would trust what was so
        // before the gap.
        self.drain_watch();
        self.feed_proof();
        self.feed(Event::Session(state));
        self.feed_proof();
    }

    fn take_watch_event(&mut self, event: Option<Event>) {
        match event {
            Some(event) => {
                self.gather(event);
                self.drain_watch();
                // The events of an own transaction come just before its answer: both are decided on together. A session
                // that changed meanwhile goes first.
                let answer = match self.session.has_changed() {
                    Ok(false) => self.answers.next().now_or_never(),
                    _ => None,
                };
                match answer {
                    Some(answer) => self.take_answer(answer),
                    None => self.feed(Event::Tick),
                }
            }
            // The registry center is closed; its session says so too.
            None => self.feed(Event::Session(SessionState::Closed)),
        }
    }

    /// Notes the watch events that have arrived. The caller has to let the engine decide afterwards.
    fn drain_watch(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(event)) = self.watches.poll_next(&mut cx) {
            self.gather(event);
        }
    }

    fn take_answer(&mut self, event: Event) {
        self.feed_proof();
        let mut gathered = self.take_one_answer(event);
        // Takes all answers that came together before the driver waits again. It does not take the answers to questions
        // that are asked meanwhile: between a question and its answer the engine must hear of everything else that
        // happens.
        for _ in 0..self.answers.len() {
            let Some(event) = self.answers.next().now_or_never() else { break };
            self.drain_watch();
            gathered = self.take_one_answer(event);
        }
        if gathered {
            self.feed(Event::Tick);
        }
    }

    /// What was read is gathered: each decision looks at all items, and there may be thousands of answers. Returns whether
    /// the engine has still to decide.
    fn take_one_answer(&mut self, event: Event) -> bool {
        let is_read = matches!(event, Event::Read { .. } | Event::Listed { .. });
        if is_read {
            self.gather(event)
        } else {
            self.feed(event)
        }
        is_read
    }

    fn take_letters(&mut self) {
        for letter in self.mailbox.take() {
            match letter {
                Letter::Trigger(reply) => {
                    self.last_trigger += 1;
                    self.triggers.insert(self.last_trigger, reply);
                    self.feed(Event::Trigger(self.last_trigger));
                }
                Letter::Shutdown(mode) => {
                    let grace = match mode {
                        ShutdownMode::Graceful => self.environment.shutdown_grace(),
                        ShutdownMode::Now => Duration::ZERO,
                    };
                    self.feed(Event::Shutdown { grace });
                }
                Letter::ItemEnded(item, end) => {
                    // The engine makes the same of it, by the record.
                    let told = self.running.get(&item).map_or_else(|| end.clone(), |live| live.end_of(end.clone()));
                    let failed = self.running.remove(&item).and_then(|live| live.ended(&told));
                    if let Some((run, error)) = failed {
                        self.report_item(item, run, error);
                    }
                    if let Some(recorder) = &mut self.recorder {
                        recorder.item_ended(item, &told);
                    }
                    if let Some(observed) = &self.observed {
                        observed.ended(item, &told);
                    }
                    self.gather(Event::ItemEnded { item, end });
                }
                Letter::Parent(job, view) => self.gather(Event::Parent { job, view }),
                Letter::ListenersCalled(round) => {
                    self.listening.remove(&round);
                    self.feed(Event::ListenersCalled { round });
                }
                // Not answered: nothing is handed over while a driver is at work.
                Letter::HandOver(_) => {}
            }
        }
        // Lets the engine decide on the gathered events. The timer rings the same bell as the mailbox.
        self.feed(Event::Tick);
    }

    /// Notes one of several events without a decision. The caller feeds the last one.
    fn gather(&mut self, event: Event) {
        self.engine.note(self.environment.now(), event);
    }

    fn feed(&mut self, event: Event) {
        let now = self.environment.now();
        if self.engine.may_take_long(&event) {
            // It blocks this thread; the session and the other jobs go on, on another thread.
            tokio::task::block_in_place(|| self.engine.handle(now, event));
        } else {
            self.engine.handle(now, event);
        }
        while let Some(action) = self.engine.poll_action() {
            self.perform(action);
        }
    }

    /// Reports to the engine until when requests of this job or of another job prove the session.
    fn feed_proof(&mut self) {
        if let Some(proof) = self.registry.proof() {
            let (session, at) = by_own_clock(&self.environment, proof);
            self.feed(Event::Proven { session, at });
        }
    }

    /// Publishes the status and sets the timer. Called when everything that had arrived is taken.
    fn settle(&mut self) {
        let timeout = self.engine.poll_timeout();
        let mono = timeout.mono.map(|at| self.environment.by_clock(at));
        match Deadline::first_of(timeout.wall, mono) {
            Some(deadline) => self.timer.set(deadline),
            None => self.timer.clear(),
        }
        self.publish_status();
    }

    fn publish_status(&self) {
        self.status.send_if_modified(|known| self.engine.renew_status(known));
    }

    fn perform(&mut self, action: Action) {
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
        for (item, fencing_token) in items {
            let (cancellation, cut) = (CancellationToken::new(), Cut::default());
            let context = ShardingContext::new(ItemRun {
                run: run.clone(),
                item,
                fencing_token,
                stop: cancellation.child_token(),
                cancellation,
                cut: cut.clone(),
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
    fn run_info(
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
    fn scheduled_at(&self, fire: Fire, configuration: &JobConfiguration) -> DateTime<FixedOffset> {
        self.local_time(fire.scheduled_for(), configuration)
    }

    /// A time in milliseconds since 1970, in the zone of the job.
    fn local_time(&self, wall: i64, configuration: &JobConfiguration) -> DateTime<FixedOffset> {
        let zone = configuration.schedule().map_or(self.environment.local_zone(), |schedule| schedule.time_zone());
        in_zone(wall, zone)
    }

    fn answer_trigger(&mut self, id: TriggerId, answer: TriggerAnswer) {
        let Some(reply) = self.triggers.remove(&id) else { return };
        let job = self.job.clone();
        let answer = match answer {
            TriggerAnswer::Queued => Ok(Triggered::Queued),
            TriggerAnswer::AlreadyPending => Ok(Triggered::AlreadyPending),
            TriggerAnswer::NoEnabledInstance => Err(TriggerError::NoEnabledInstance { job }),
            TriggerAnswer::NotRunning => Err(TriggerError::NotRunning { job }),
            TriggerAnswer::Registry(why) => Err(TriggerError::Registry { job, why }),
        };
        // The caller may have gone away.
        let _ = reply.send(answer);
    }

    fn tell(&mut self, notice: &Notice) {
        let zone = self.engine.schedule().map_or(self.environment.local_zone(), |schedule| schedule.time_zone());
        log(&self.job, self.engine.instance(), zone, notice);
        if let Some(recorder) = &mut self.recorder {
            recorder.note(self.engine.instance(), self.engine.makes_up(), notice);
        }
        if let Some(observed) = &mut self.observed {
            observed.note(notice, self.engine.schedule(), self.environment.now().wall);
        }
        match notice {
            Notice::WaitsForConfiguration { why } => {
                self.report(Some(self.failure_of_program(Failed::Configuration, why.clone())));
            }
            Notice::ConfigurationRefused { why } => self.report(self.failure(Failed::Configuration, why.clone())),
            Notice::ClockOff { difference, .. } => {
                let error = SkipReason::ClockOff { difference: *difference }.to_string();
                self.report(self.failure(Failed::Clock, error));
            }
            Notice::Skipped { fire, items, reason } => self.report_given_up(*fire, items, reason),
            Notice::TriggerDropped { instance, items } if !items.is_empty() => {
                let error =
                    format!("a manual trigger asked {instance} to run them, which is gone; trigger the job again");
                self.report(self.failure(Failed::Fires(items.clone()), error));
            }
            Notice::NotBegun { items, from, before } => self.report_not_begun(items, *from, *before),
            Notice::Missed { from, until } => self.report_missed(*from, *until),
            Notice::Begun { .. } => self.reported_given_up = false,
            Notice::NotStarted { key, items, reason } => self.report_not_started(*key, items, *reason),
            _ => {}
        }
    }

    fn answer_start(&mut self, outcome: Result<(), String>) {
        if let Some(started) = self.started.take() {
            // The program may look at the status at once, for example for the id that the instance got.
            self.publish_status();
            // The program may have stopped waiting for the start.
            let _ = started.send(outcome);
        }
    }
}

/// A driver that is dropped, by the end of the program or by a bug, cuts its runs off.
impl Drop for Driver {
    fn drop(&mut self) {
        for running in self.running.values().map(Deref::deref).chain(self.listening.values()) {
            running.cancel();
            running.abort();
        }
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

fn by_own_clock(environment: &JobEnvironment, Proof { session, at }: Proof) -> (SessionId, Now) {
    (session, environment.at(at))
}

/// A time in milliseconds since 1970, in a zone.
fn in_zone(wall: i64, zone: TimeZone) -> DateTime<FixedOffset> {
    let utc = DateTime::from_timestamp_millis(wall).unwrap_or_default();
    let offset = FixedOffset::east_opt(zone.offset_at(wall.div_euclid(1_000)));
    utc.with_timezone(&offset.unwrap_or(FixedOffset::east_opt(0).expect("no offset is an offset")))
}
