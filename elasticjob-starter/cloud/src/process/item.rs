//! The life of an item that was launched: it waits for its package, for the last run of the item and for room, then runs.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::log::warn;
use rustix::process::Signal;
use tokio::process::Child;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::budget::{Amount, Room};
use super::slot::{Look, Slot, Start};
use super::{Shared, now};
use crate::carrier::{ATTEMPT, ItemState, Launch, LaunchItem, LostPlace, Outcome, Permit, StopCause};

/// How often a lock is looked at that another process holds. The kernel does not report that a lock is given back.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A process that began so long ago has started its program.
const STARTED_AFTER_MILLISECONDS: i64 = 1_000;

/// How long a keeper that saw no note of its end may take until its program is there. A signal before that reaches only its shells.
const STARTS: Duration = Duration::from_millis(100);

/// How often an item is started that is lost each time.
const ATTEMPTS: u32 = 3;

/// What the carrier keeps in memory of an item.
#[derive(Debug)]
pub(super) struct Tracked {
    pub(super) state: ItemState,
    /// Wakes its task: it was stopped.
    pub(super) wake: Arc<Notify>,
    /// That of the last launch that named it.
    pub(super) permit: Permit,
    /// The cause of the first stop that this carrier was asked for.
    pub(super) stopped: Option<StopCause>,
    /// The task that ends it after the last stop: one for an item, however often it is stopped.
    pub(super) ends: Option<AbortHandle>,
}

/// An item that is followed to its end.
pub(super) struct Item {
    shared: Arc<Shared>,
    launch: Arc<Launch>,
    item: LaunchItem,
    slot: Slot,
    wake: Arc<Notify>,
}

impl Item {
    /// Keeps track of it from now on.
    pub(super) fn new(shared: Arc<Shared>, launch: Arc<Launch>, item: LaunchItem, slot: Slot) -> Self {
        let wake = Arc::new(Notify::new());
        let state = ItemState::waiting("it is being prepared");
        let tracked = Tracked { state, wake: wake.clone(), permit: item.permit.clone(), stopped: None, ends: None };
        shared.lock().insert((launch.id.clone(), item.item), tracked);
        Self { shared, launch, item, slot, wake }
    }

    /// Tells what the first look showed, so that the state is right when the launch is answered.
    pub(super) fn publish_look(&self, look: Look) {
        let state = match look {
            // What cannot be read now is read again before it runs.
            look if self.runs_again(&look).unwrap_or(true) => None,
            look => {
                let state = self.shared.state(look);
                state.map(|state| state.after(self.slot.lost().unwrap_or_default()).stopped_for(self.stopped()))
            }
        };
        if let Some(state) = state {
            self.tell(state);
        }
    }

    /// Whether it is run again: its processes were lost, and it may run twice.
    fn runs_again(&self, look: &Look) -> io::Result<bool> {
        let is_lost = matches!(look, Look::Ended(Outcome::Lost { .. }));
        Ok(is_lost && self.stopped().is_none() && self.launch.replaces_lost() && self.slot.attempt()? < ATTEMPTS)
    }

    /// Why it is stopped: by the first stop that is noted, or that could not be.
    fn stopped(&self) -> Option<StopCause> {
        let key = (self.launch.id.clone(), self.item.item);
        let noted = self.slot.stop_note().ok().flatten().map(|note| note.why);
        noted.or_else(|| self.shared.lock().get(&key)?.stopped.clone())
    }

    fn running(&self, since: i64) -> ItemState {
        ItemState::running(&self.shared.host, since)
    }

    fn tell(&self, state: ItemState) {
        self.shared.tell(&self.launch.id, self.item.item, state);
    }

    fn tell_forgotten(&self) {
        let why = "its launch was forgotten, and its files are removed: it is not started again".to_owned();
        self.tell(Outcome::Lost { why }.into());
    }

    /// Follows it to its end. Dropping this lets go of it: its process goes on.
    pub(super) async fn follow(self) {
        let mut room = None;
        let mut child: Option<Child> = None;
        let mut lost = None;
        let mut has_begun = false;
        loop {
            let look = self.slot.look().and_then(|look| Ok((self.runs_again(&look)?, look)));
            let look = match look {
                Ok((true, _)) if self.lets_go() => return,
                Ok((true, Look::Ended(Outcome::Lost { why }))) => {
                    has_begun = false;
                    match self.clear_for_next(why) {
                        Ok(()) => continue,
                        Err(outcome) => return self.tell(outcome.into()),
                    }
                }
                look => look.map(|(_, look)| look),
            };
            match look {
                Ok(Look::Untouched) if has_begun => return self.tell_forgotten(),
                Ok(Look::Untouched | Look::Held) if self.shared.is_forgotten(&self.launch.id) => {
                    return self.tell_forgotten();
                }
                // Another launch holds its lock, or its stop could not be noted: else a look says that it has ended.
                Ok(Look::Untouched | Look::Held) if self.stopped().is_some() => {
                    return self.tell(self.end(Outcome::Stopped));
                }
                Ok(Look::Untouched | Look::Held) if self.lets_go() => return,
                Ok(Look::Ended(outcome)) => {
                    self.slot.clean_up(&self.shared.memory);
                    return self.tell(self.end(outcome));
                }
                Ok(Look::Alive { since }) => {
                    if !has_begun {
                        // Of an earlier scheduler, too.
                        lost = self.slot.lost().unwrap_or_default();
                    }
                    // Before it says that it began, its lock may be of one that gives it back and starts nothing.
                    has_begun |= since.is_some();
                    room.get_or_insert_with(|| self.shared.budget.occupy(self.needs()));
                    if let Some(since) = since {
                        self.tell(self.running(since).after(lost.clone()));
                    }
                    self.slot.rotate_outputs();
                    match &mut child {
                        // It is this process's own: the kernel tells of its end. In the moment before it says that it began,
                        // it is looked at again soon.
                        Some(own) => {
                            let pause = if since.is_some() { LOOK_AGAIN * 10 } else { LOOK_AGAIN / 10 };
                            drop(tokio::time::timeout(pause, own.wait()).await);
                        }
                        None => sleep(LOOK_AGAIN).await,
                    }
                }
                Ok(Look::Held) => {
                    self.tell(ItemState::waiting("the run of the fire before has not ended on this host"));
                    self.pause().await;
                }
                // Its keeper ended before it could say that it began, as where the disk is full.
                Ok(Look::Untouched) if child.take().is_some() => {
                    tokio::select! {
                        () = sleep(LOOK_AGAIN * 10) => {}
                        () = self.wake.notified() => {}
                    }
                }
                Ok(Look::Untouched) => match self.begin(&mut room).await {
                    Ok(begun) => child = begun,
                    Err(why) => {
                        if let Err(error) = self.slot.refuse(&why) {
                            return self.tell(Outcome::Failed { exit: None, text: format!("{why}; {error}") }.into());
                        }
                    }
                },
                Err(error) => {
                    self.tell(ItemState::waiting(format!("the folder of the carrier cannot be read: {error}")));
                    sleep(LOOK_AGAIN * 10).await;
                }
            }
        }
    }

    /// How it has ended. Where its stop could not be noted, its folder does not say that the process was stopped.
    fn end(&self, outcome: Outcome) -> ItemState {
        let stopped = self.stopped();
        let outcome = match outcome {
            Outcome::Failed { exit: Some(_), .. } | Outcome::Lost { .. } if stopped.is_some() => Outcome::Stopped,
            outcome => outcome,
        };
        ItemState::from(outcome).stopped_for(stopped)
    }

    /// Makes room for the next attempt: the process of the last one is lost. An error is final.
    fn clear_for_next(&self, why: String) -> Result<(), Outcome> {
        self.slot.clean_up(&self.shared.memory);
        let attempt = self.slot.attempt();
        let lost = attempt.map(|attempt| LostPlace::new(attempt, Some(self.shared.host.clone()), why.as_str()));
        let cleared = lost.and_then(|lost| {
            // First of all: what was cleared and not noted would count for nothing.
            self.slot.note_lost(&lost)?;
            self.slot.clear()?;
            Ok(lost)
        });
        match cleared {
            Ok(lost) => {
                let again = ItemState::waiting("its processes were lost, and it is run again");
                self.tell(again.after(Some(lost)));
                Ok(())
            }
            Err(error) => Err(Outcome::Lost { why: format!("{why}; it is not run again: {error}") }),
        }
    }

    /// Lets go of it where it may not be started any more, unless it is stopped: then it ends. One look under the lock, as a launch
    /// that brings another permit either comes before, or finds it let go. A note tells the next scheduler of this folder that it has
    /// not begun: without it, an item that may not run twice would count as lost.
    fn lets_go(&self) -> bool {
        let (mut items, key) = (self.shared.lock(), (self.launch.id.clone(), self.item.item));
        let is_withdrawn =
            items.get(&key).is_some_and(|tracked| tracked.stopped.is_none() && tracked.permit.is_withdrawn());
        if is_withdrawn {
            if let Err(error) = self.slot.note_let_go() {
                warn!(
                    "item {} of {} does not start on this host, and counts as lost: {error}",
                    self.item.item, self.launch.id
                );
            }
            items.remove(&key);
        }
        is_withdrawn
    }

    /// The permit of the last launch that named it.
    fn permit(&self) -> Permit {
        let key = (self.launch.id.clone(), self.item.item);
        self.shared.lock().get(&key).map(|tracked| tracked.permit.clone()).unwrap_or_default()
    }

    /// Waits a while, or until it is stopped.
    async fn pause(&self) {
        tokio::select! {
            () = sleep(LOOK_AGAIN) => {}
            () = self.wake.notified() => {}
        }
    }

    fn needs(&self) -> Amount {
        Amount::new(self.launch.job.cpus(&self.launch.app, 1), self.launch.job.memory(&self.launch.app, 1))
    }

    /// Starts it. `None` when it was stopped or came to be held before. An error is final.
    async fn begin(&self, room: &mut Option<Room>) -> Result<Option<Child>, String> {
        let (preparing, permit) = (self.package(), self.permit());
        let package = tokio::select! {
            package = preparing => package?,
            () = self.wake.notified() => return Ok(None),
            () = permit.withdrawn() => return Ok(None),
        };
        if room.is_none() {
            let needs = self.needs();
            let total = self.shared.budget.total();
            // In the queue it would keep all others waiting for room that there will never be.
            if !needs.fits(total) {
                return Err(format!(
                    "it needs {needs} with its application, and the host has {total}: it would never begin"
                ));
            }
            *room = self.shared.budget.take_now(needs);
            if room.is_none() {
                let free = self.shared.budget.free();
                self.tell(ItemState::waiting(format!("it needs {needs}; of {total} of the host {free} are free")));
                let permit = self.permit();
                tokio::select! {
                    taken = self.shared.budget.take(needs) => *room = Some(taken),
                    () = self.wake.notified() => return Ok(None),
                    () = permit.withdrawn() => return Ok(None),
                }
            }
        }
        let fails = |error: io::Error| format!("it cannot be started: {error}");
        let Some(claim) = self.slot.claim().map_err(fails)? else { return Ok(None) };
        // Under the lock nothing changes any more: another scheduler may have run it, or forgotten it, since the last look.
        if self.slot.has_begun() {
            return Ok(None);
        }
        if self.shared.is_forgotten(&self.launch.id) {
            self.shared.remove_empty(&self.launch.id, &self.slot);
            return Ok(None);
        }
        fs::write(self.slot.folder.join("limit"), self.slot.limit.to_string()).map_err(fails)?;
        self.slot.clear_ending().map_err(fails)?;
        if self.permit().is_withdrawn() || self.stopped().is_some() {
            return Ok(None);
        }
        let attempt = self.slot.note_attempt().map_err(fails)?;
        let mut environment = self.launch.environment(&self.item);
        environment.insert(ATTEMPT.to_owned(), attempt.to_string());
        let start = Start {
            command: self.launch.command(),
            arguments: self.launch.arguments(self.item.item),
            environment,
            package: &package,
        };
        self.slot.start(claim, start, &self.shared.memory).map(Some).map_err(fails)
    }

    async fn package(&self) -> Result<PathBuf, String> {
        let launch = self.shared.launch_folder(&self.launch.id);
        let package = self.shared.packages.folder(&self.launch.app, &launch.join("package")).await?;
        let noted = self.shared.packages.note_use(&package, &launch);
        noted.map_err(|error| format!("its package cannot be noted: {error}"))?;
        Ok(package)
    }
}

impl Shared {
    /// What a look says of an item. `None` where it says nothing: it has not begun.
    pub(super) fn state(&self, look: Look) -> Option<ItemState> {
        match look {
            Look::Untouched | Look::Held => None,
            Look::Alive { since: None } => Some(ItemState::waiting("its process is being started")),
            Look::Alive { since: Some(since) } => Some(ItemState::running(&self.host, since)),
            Look::Ended(outcome) => Some(outcome.into()),
        }
    }
}

/// Ends a process: asks it to end, and kills it when the grace is over.
pub(super) async fn end(slot: Slot, shared: Arc<Shared>, grace: Duration) {
    let deadline = Instant::now() + grace;
    // Where it cannot be noted, the signal alone has to do.
    if let Ok(Look::Alive { .. }) = slot.look()
        && slot.note_ending().is_ok()
        && let Ok(Look::Alive { since: Some(since) }) = slot.look()
        && now().saturating_sub(since) < STARTED_AFTER_MILLISECONDS
    {
        sleep(STARTS.min(grace)).await;
    }
    let mut is_asked = false;
    // A look that fails says nothing: it is tried again until the deadline.
    while Instant::now() < deadline {
        if !is_asked {
            is_asked = slot.ask_to_end(&shared.memory).unwrap_or(false);
        }
        if !matches!(slot.look(), Ok(Look::Alive { .. }) | Err(_)) {
            return;
        }
        sleep(LOOK_AGAIN.min(deadline.saturating_duration_since(Instant::now()))).await;
    }
    loop {
        match slot.look() {
            Ok(Look::Alive { .. }) => {
                let _ = slot.signal(Signal::KILL, &shared.memory);
                sleep(LOOK_AGAIN).await;
            }
            // It may live, and its id may be that of another process by now: it is killed as soon as a look says so.
            Err(_) => sleep(LOOK_AGAIN * 10).await,
            Ok(_) => return,
        }
    }
}
