//! Stands in for a driver that is gone: cleans up after its engine, and waits for code that cannot be stopped.
//!
//! A driver goes by a bug, or it has left the group and code of its runs goes on. The mailbox of the job stays open
//! meanwhile: runs tell their ends there.

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

/// How long a job that is asked to leave meanwhile waits for the registry center.
const PATIENCE: Duration = Duration::from_secs(5);

/// What cleans up after an engine, with what it needs of the driver.
pub(super) struct StandIn {
    job: JobName,
    environment: JobEnvironment,
    registry: Arc<dyn RegistryCenter>,
    mailbox: Arc<Mailbox<Letter>>,
    session: watch::Receiver<SessionState>,
    answers: Answers,
    clean_up: CleanUp,
    /// The job was asked to leave meanwhile, and when nobody waits any longer for the registry center because of that.
    shutdown: Option<(ShutdownMode, Instant)>,
    /// The job that was made in the place of this one, and waits for the runs that go on.
    heir: Option<Heir>,
}

/// A job that takes the runs over which an earlier one of its name left.
#[derive(Debug)]
pub(crate) struct Heir {
    /// Where the ends of the runs are told from now on.
    pub(crate) mailbox: Arc<Mailbox<Letter>>,
    /// Takes the runs.
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

    /// Cleans up, until there is nothing left to do or, when another driver is to come, until `then`. That one does not
    /// start before everything is clean: what this one still writes would meet what that one writes.
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

    /// What the next driver takes over: runs whose code goes on, and whether the job is to leave.
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

    /// Gives the runs to the job that waits for them, where one does; it is told how they end from then on.
    fn hand_over(&mut self) -> bool {
        let Some(Heir { mailbox, runs }) = self.heir.take() else { return false };
        match runs.send(self.clean_up.take_left()) {
            Ok(()) => {
                self.mailbox.forward(mailbox);
                true
            }
            // It has given up waiting.
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
                    let until = self.shutdown.map_or_else(|| Instant::now() + PATIENCE, |(_, until)| until);
                    self.shutdown = Some((mode, until));
                }
                Letter::HandOver(heir) => self.heir = Some(heir),
                // Dropped unanswered: the job does not run now. The rounds of listeners went with the engine.
                Letter::Trigger(_) | Letter::ListenersCalled(_) => {}
            }
        }
    }

    fn feed(&mut self, event: Event) {
        self.clean_up.handle(self.environment.now(), event);
        while let Some(action) = self.clean_up.poll_action() {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        // It wants nothing else.
        let _ = self.answers.ask(&*self.registry, &self.job, action);
    }
}
