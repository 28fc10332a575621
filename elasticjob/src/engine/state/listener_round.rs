//! The listener round of a run: its listeners, and which of them were called.

use crate::engine::event::RoundId;
use std::sync::Arc;
use std::time::Duration;

use crate::config::JobConfiguration;
use crate::engine::listeners::{ListenerPlan, ListenerSpec};
use crate::engine::once_calls::SettledClaim;
use crate::fire::{Attempt, Hook, RunKey};

/// How long a round waits for items of other instances before it reads why they have not begun.
pub(in crate::engine) const ITEMS_WAIT: Duration = Duration::from_millis(500);

/// How long the other instances leave a call to the one that is first to claim it.
pub(in crate::engine) const TURN: Duration = Duration::from_millis(200);

/// The listener rounds of an engine, beside those of its runs.
#[derive(Debug)]
pub(in crate::engine) struct ListenerRounds {
    /// The id of the last listener round that began.
    pub(in crate::engine) last: RoundId,
    /// Claims of this instance whose calls are over, or will not be made.
    pub(in crate::engine) settled: Vec<SettledClaim>,
}

impl ListenerRounds {
    /// The end of a call that an earlier engine made may still be reported to this one: the ids of their rounds differ
    /// by the numbers that these engines have.
    pub(in crate::engine) fn new(nonce: u32) -> Self {
        Self { last: RoundId::from(nonce) << 32, settled: Vec::new() }
    }
}

/// The listeners around the items of a run. Runs of jobs without listeners have none.
#[derive(Debug)]
pub(in crate::engine) struct Round {
    pub(in crate::engine) id: RoundId,
    pub(in crate::engine) plan: ListenerPlan,
    /// The configuration with which the fire was begun.
    pub(in crate::engine) configuration: Arc<JobConfiguration>,
    pub(in crate::engine) stage: RoundStage,
}

/// Where a round stands.
#[derive(Debug)]
pub(in crate::engine) enum RoundStage {
    /// The listeners before number `next` were called for this hook, or given up.
    Hooks { hook: Hook, next: usize, step: Step },
    /// The items run.
    Items,
    /// All listeners were called, or the run was cut off.
    Over,
}

/// The step of a round with its next listeners.
#[derive(Debug)]
pub(in crate::engine) enum Step {
    /// The listeners up to number `until` are called here.
    Calling { until: usize, call: Call, claim: Option<Attempt> },
    /// The next listener is called once for the group.
    Waiting(Wait),
}

/// A call of listeners. One future runs all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Call {
    /// The future lives.
    Executing,
    /// Its token was fired; the future is dropped when the grace is over.
    Cancelled { abort_at: Duration },
    /// The engine asked to drop the future; it ends at its next await.
    Aborted,
}

/// The wait for the items of the group, then for the instance that calls the listener on behalf of all.
#[derive(Debug)]
pub(in crate::engine) struct Wait {
    pub(in crate::engine) since: Duration,
    /// When only the call was left to wait for.
    pub(in crate::engine) complete_at: Option<Duration>,
    /// The own claim, once it is sent.
    pub(in crate::engine) claim: Option<Attempt>,
}

/// The work that is left for a round that was cut off.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::engine) enum CutOff {
    /// It was over, or cut off before.
    Nothing,
    /// Listeners are not called any more, though some would have been.
    Stopped { claim: Option<Attempt> },
    /// The call that is under way has to end.
    Cancel,
}

impl Round {
    pub(in crate::engine) fn new(
        id: RoundId,
        plan: ListenerPlan,
        configuration: Arc<JobConfiguration>,
        now: Duration,
    ) -> Self {
        // Replaced by the first step at once.
        let step = Step::Waiting(Wait::new(now));
        Self { id, plan, configuration, stage: RoundStage::Hooks { hook: Hook::Before, next: 0, step } }
    }

    /// Whether anything is still to come.
    pub(in crate::engine) fn is_over(&self) -> bool {
        matches!(self.stage, RoundStage::Over)
    }

    /// Whether the items do not start yet.
    pub(in crate::engine) fn holds_items(&self) -> bool {
        matches!(self.stage, RoundStage::Hooks { hook: Hook::Before, .. })
    }

    /// Whether items of the fire may still become part of it. Of a round that was cut off only the call is left, and
    /// its end has to be heard of.
    pub(in crate::engine) fn takes_items(&self) -> bool {
        match self.call() {
            Some(Call::Cancelled { .. } | Call::Aborted) => false,
            Some(Call::Executing) | None => self.holds_items() || matches!(self.stage, RoundStage::Items),
        }
    }

    /// The listener that waits to be called once for the group, and what for.
    pub(in crate::engine) fn waiting(&self) -> Option<(&ListenerSpec, Hook, &Wait)> {
        match &self.stage {
            RoundStage::Hooks { hook, next, step: Step::Waiting(wait) } => Some((&self.plan[*next], *hook, wait)),
            _ => None,
        }
    }

    pub(in crate::engine) fn wait_mut(&mut self) -> Option<&mut Wait> {
        match &mut self.stage {
            RoundStage::Hooks { step: Step::Waiting(wait), .. } => Some(wait),
            _ => None,
        }
    }

    /// The call that is under way.
    pub(in crate::engine) fn call_mut(&mut self) -> Option<&mut Call> {
        match &mut self.stage {
            RoundStage::Hooks { step: Step::Calling { call, .. }, .. } => Some(call),
            _ => None,
        }
    }

    pub(in crate::engine) fn call(&self) -> Option<Call> {
        match &self.stage {
            RoundStage::Hooks { step: Step::Calling { call, .. }, .. } => Some(*call),
            _ => None,
        }
    }

    /// The times at which the engine has to look at it again.
    pub(in crate::engine) fn times(&self) -> impl Iterator<Item = Duration> {
        let waiting = self.waiting().map(|(spec, hook, wait)| {
            let limit = spec.once.and_then(|once| once.of(hook));
            let patience = (hook == Hook::Before).then_some(ITEMS_WAIT);
            let window = (hook == Hook::Before).then_some(super::open_fire::LATE_ACQUISITION);
            let turn = wait.complete_at.map(|at| at + TURN);
            let since = |span: Option<Duration>| span.map(|span| wait.since + span);
            [since(limit), since(patience), since(window), turn]
        });
        let abort = match self.call() {
            Some(Call::Cancelled { abort_at }) => Some(abort_at),
            _ => None,
        };
        waiting.into_iter().flatten().flatten().chain(abort)
    }

    /// Calls no more listeners. A call that executes may go on until `abort_at`.
    pub(in crate::engine) fn cut_off(&mut self, abort_at: Duration) -> CutOff {
        match &mut self.stage {
            RoundStage::Hooks { step: Step::Calling { call: Call::Cancelled { abort_at: before }, .. }, .. } => {
                *before = abort_at.min(*before);
                CutOff::Nothing
            }
            RoundStage::Over | RoundStage::Hooks { step: Step::Calling { call: Call::Aborted, .. }, .. } => {
                CutOff::Nothing
            }
            RoundStage::Hooks { step: Step::Calling { call, .. }, .. } => {
                *call = Call::Cancelled { abort_at };
                CutOff::Cancel
            }
            RoundStage::Hooks { step: Step::Waiting(wait), .. } => {
                let claim = wait.claim.take();
                self.stage = RoundStage::Over;
                CutOff::Stopped { claim }
            }
            RoundStage::Items => {
                self.stage = RoundStage::Over;
                CutOff::Stopped { claim: None }
            }
        }
    }
}

/// A round that waits, as it stands.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Waiting {
    pub(in crate::engine) round: RoundId,
    pub(in crate::engine) key: RunKey,
    /// The listener that is to be called, and its number.
    pub(in crate::engine) listener: Arc<str>,
    pub(in crate::engine) next: usize,
    pub(in crate::engine) hook: Hook,
    pub(in crate::engine) since: Duration,
    pub(in crate::engine) claim: Option<Attempt>,
}

impl Wait {
    pub(in crate::engine) fn new(now: Duration) -> Self {
        Self { since: now, complete_at: None, claim: None }
    }
}
