//! The stand-in for a driver that has ended: it cleans up after the engine of that driver, and waits for code that
//! cannot be stopped.
//!
//! A driver ends by a bug, or it has left the group while code of its runs goes on. The mailbox of the job stays open
//! meanwhile, so that runs can report their ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::environment::JobEnvironment;
use super::handle::{Letter, ShutdownMode};
use super::mailbox::Mailbox;
use super::pending_replies::Answers;
use crate::engine::{Action, CleanUp, Event, LeftRun};
use crate::ident::JobName;
use crate::registry::{RegistryCenter, SessionState};

/// How long the clean-up still waits for the registry center after the job was asked to leave.
const CLEANED_UP_WITHIN: Duration = Duration::from_secs(5);

/// Cleans up after an engine, with the parts of the driver that it needs for it.
pub(super) struct StandIn {
    job: JobName,
    environment: JobEnvironment,
    registry: Arc<dyn RegistryCenter>,
    mailbox: Arc<Mailbox<Letter>>,
    session: watch::Receiver<SessionState>,
    answers: Answers,
    clean_up: CleanUp,
    /// Set when the job was asked to leave meanwhile: how, and until when the clean-up still waits for the registry
    /// center.
    shutdown: Option<(ShutdownMode, Instant)>,
    /// The job that took the place of this one, and waits for the runs that go on.
    heir: Option<Heir>,
}

/// A job that takes over the runs that an earlier job of its name left.
#[derive(Debug)]
pub(crate) struct Heir {
    /// Receives the ends of the runs from now on.
    pub(crate) mailbox: Arc<Mailbox<Letter>>,
    /// Receives the runs.
    pub(crate) runs: oneshot::Sender<Vec<LeftRun>>,
}

impl StandIn {
    pub(super) fn new(
        job: JobName,
        environment: JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        mailbox: Arc<Mailbox<Letter>>,
        clean_up: CleanUp,
    ) -> Self {
        let session = registry.session();
        let answers = Answers::default();
        Self { job, environment, registry, mailbox, session, answers, clean_up, shutdown: None, heir: None }
    }

    /// Cleans up until nothing is left to do or, when another driver follows, until `then`. That driver does not start
    /// before everything is clean: otherwise late writes of this clean-up would meet the writes of that driver.
    pub(super) async fn tend(&mut self, then: Option<Instant>) {
        let state = *self.session.borrow_and_update();
        self.feed(Event::Session(state));
        loop {
            if self.is_relieved(then) {
                return;
            }
            let now = self.environment.now().mono;
            let retry = self.clean_up.poll_timeout().map(|at| Instant::now() + at.saturating_sub(now));
            let patience = self.shutdown.filter(|_| then.is_some()).map(|(_, until)| until);
            let wake = retry.into_iter().chain(then.filter(|_| self.clean_up.is_clean())).chain(patience).min();
            tokio::select! {
                biased;
                Ok(()) = self.session.changed() => {
                    let state = *self.session.borrow_and_update();
                    self.feed(Event::Session(state));
                }
                event = self.answers.next() => self.feed(event),
                () = self.mailbox.bell().notified() => self.take_letters(),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => self.feed(Event::Tick),
            }
        }
    }

    /// The runs whose code goes on, and whether the job was asked to leave: the next driver takes both over.
    pub(super) fn into_legacy(mut self) -> (Vec<LeftRun>, Option<ShutdownMode>) {
        (self.clean_up.take_left(), self.shutdown.map(|(mode, _)| mode))
    }

    fn is_relieved(&mut self, then: Option<Instant>) -> bool {
        let is_closed = *self.session.borrow() == SessionState::Closed;
        if then.is_some() && self.shutdown.is_some_and(|(_, until)| Instant::now() >= until) {
            return true;
        }
        if !self.clean_up.is_clean() && !is_closed {
            return false;
        }
        if let Some(then) = then {
            return self.shutdown.is_some() || Instant::now() >= then;
        }
        is_closed || self.hand_over() || self.clean_up.busy().next().is_none()
    }

    /// Gives the runs to the job that waits for them, where there is one. From then on that job gets their ends.
    fn hand_over(&mut self) -> bool {
        let Some(Heir { mailbox, runs }) = self.heir.take() else { return false };
        match runs.send(self.clean_up.take_left()) {
            Ok(()) => {
                self.mailbox.forward(mailbox);
                true
            }
            // That job has given up waiting.
            Err(left) => {
                self.clean_up.keep(left);
                false
            }
        }
    }

    fn take_letters(&mut self) {
        for letter in self.mailbox.take() {
            match letter {
                Letter::ItemEnded(item, end) => self.feed(Event::ItemEnded { item, end }),
                Letter::Shutdown(mode) => {
                    let until = self.shutdown.map_or_else(|| Instant::now() + CLEANED_UP_WITHIN, |(_, until)| until);
                    self.shutdown = Some((mode, until));
                }
                Letter::HandOver(heir) => self.heir = Some(heir),
                // The trigger is dropped without an answer: the job does not run now. The listener rounds ended with
                // the engine.
                Letter::Trigger(..) | Letter::ListenersCalled(_) | Letter::Parent(..) => {}
            }
        }
    }

    fn feed(&mut self, event: Event) {
        let now = self.environment.now();
        if self.clean_up.may_take_long(&event) {
            // It blocks this thread; the session and the other jobs go on, on another thread.
            tokio::task::block_in_place(|| self.clean_up.handle(now, event));
        } else {
            self.clean_up.handle(now, event);
        }
        while let Some(action) = self.clean_up.poll_action() {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        // The clean-up has no other actions.
        let _ = self.answers.ask(&*self.registry, &self.job, action);
    }
}
