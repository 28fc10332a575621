//! Drives the engine of one job: feeds events to the engine and performs its actions.

mod actions;
mod fallen;
mod input;
mod report;
mod watches;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::ops::Deref;
use std::sync::Arc;

use litemap::LiteMap;
use tokio::sync::{oneshot, watch};

use self::watches::Watches;
use super::environment::JobEnvironment;
use super::followed::Followed;
use super::handle::{Letter, TriggerError, Triggered};
use super::live_item::LiveItem;
use super::mailbox::Mailbox;
use super::observed::Observed;
use super::pending_replies::Answers;
use super::proven::Proven;
use super::recorder::Recorder;
use super::refusal_note::RefusalNote;
use super::timers::{Deadline, Timer};
use crate::api::ItemHandler;
use crate::clock::Now;
use crate::engine::{Event, JobEngine, RoundId, TriggerId};
use crate::executor::{Running, Slots};
use crate::ident::{JobName, ShardingItem};
use crate::job_status::JobStatus;
use crate::registry::{Proof, RegistryCenter, SessionId, SessionState};

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
    /// The note of the driver before, which ended by a bug.
    pub(super) refusal: Option<RefusalNote>,
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
    /// Present while the configuration in the registry center is refused.
    refusal: Option<RefusalNote>,
    session: watch::Receiver<SessionState>,
    watches: Watches,
    answers: Answers,
    timer: Timer,
    running: LiteMap<ShardingItem, LiveItem>,
    /// The proof of another job's transaction that the engine got last.
    handed_over: Option<Proof>,
    /// Until when the session is proven, for the runs.
    proven: Proven,
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
        let Job { environment, registry, handler, engine, mailbox, status, refusal } = job;
        let name = engine.job_name().clone();
        Box::new(Self {
            session: registry.session(),
            watches: Watches::of_job(&*registry, &name),
            timer: environment.timers().register(mailbox.bell().clone()),
            recorder: Recorder::of(&environment, &name),
            observed: environment.observer().map(|observer| Box::new(Observed::new(observer.clone(), name.clone()))),
            reported_given_up: false,
            handed_over: None,
            proven: Proven::default(),
            job: name,
            environment,
            registry,
            handler,
            engine,
            mailbox,
            status,
            refusal,
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
        self.proven.set(self.engine.proven_until());
        while let Some(action) = self.engine.poll_action() {
            self.perform(action);
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
        self.note_refusal();
    }

    /// Notes in the registry center what this instance refuses, and deletes that when it refuses nothing any more.
    fn note_refusal(&mut self) {
        if !self.engine.refuses() {
            self.refusal = None;
        } else if let Some(refused) = self.engine.refused() {
            let instance = self.engine.instance();
            match &mut self.refusal {
                Some(note) => note.renew(&self.environment, instance, refused),
                None => {
                    let note = RefusalNote::new(&self.environment, &self.registry, &self.job, instance, refused);
                    self.refusal = Some(note);
                }
            }
        }
    }

    fn publish_status(&self) {
        self.status.send_if_modified(|known| self.engine.renew_status(known));
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

fn by_own_clock(environment: &JobEnvironment, Proof { session, at }: Proof) -> (SessionId, Now) {
    (session, environment.at(at))
}
