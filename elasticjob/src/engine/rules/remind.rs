//! Reminding the leader of what it forgot.
//!
//! Our leaders see for themselves what has to be assigned. A Java leader acts on requests, and loses those that come
//! while it waits for running items: what belonged to an instance that left then stays with it, and who joined gets
//! nothing. So whoever misses an assignment for long makes the request anew. It assigns nothing, so it needs no guard.

use std::time::Duration;

use super::Step;
use crate::engine::engine::{JobEngine, Phase, Proposal, Purpose};
use crate::engine::event::Now;
use crate::engine::run::SHARDING_WAIT;
use crate::engine::txn::JobTransaction;
use crate::ident::InstanceId;
use crate::registry::CreateMode;
use crate::registry::path::JobPath;

/// How long an assignment may be missed: far longer than our leaders take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a follower misses.
#[derive(Debug, Default)]
pub(in crate::engine) struct Reminder {
    /// Since when fires find items without a live owner, or a request that is not served.
    unsettled: Option<Duration>,
    /// Since when fires find nothing to do here, or the assignment unsettled.
    since: Option<Duration>,
    /// The instances among which this one was left out when it asked last: a strategy may mean it.
    asked_among: Option<Vec<InstanceId>>,
}

impl Reminder {
    pub(in crate::engine) fn remind_at(&self) -> Option<Duration> {
        self.since.map(|since| since + PATIENCE)
    }
}

pub(super) fn remind(engine: &mut JobEngine, now: Now) -> Step {
    let (Some(remind_at), Some(configuration)) = (engine.reminder.remind_at(), engine.configuration.clone()) else {
        return Step::Pass;
    };
    if engine.leadership.is_some() || engine.phase != Phase::Active || !engine.is_registered() {
        engine.reminder = Reminder::default();
        return Step::Pass;
    }
    let total = configuration.sharding_total_count();
    let Some((mine, settled)) = engine.own_items(total) else { return Step::Pass };
    let Some(available) = engine.available_instances() else { return Step::Pass };
    let left_out = mine.is_empty()
        && available.contains(&engine.identity.instance)
        && available.len() <= total as usize
        && engine.reminder.asked_among.as_ref() != Some(&available);
    if settled {
        engine.reminder.unsettled = None;
    }
    if (settled && !left_out) || available.is_empty() {
        engine.reminder.since = None;
        return Step::Pass;
    }
    if now.mono < remind_at || engine.mirror.exists(&JobPath::Necessary) {
        return Step::Pass;
    }
    engine.reminder.since = Some(now.mono);
    engine.reminder.asked_among = left_out.then_some(available);
    let why = if settled { "this instance has no item" } else { "items have no owner that is there" };
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
    Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Request { why: why.to_owned() } })
}

impl JobEngine {
    /// A fire looked at the assignment.
    pub(super) fn note_assignment(&mut self, now: Now, settled: bool, has_items: bool) {
        self.reminder.unsettled = if settled { None } else { self.reminder.unsettled.or(Some(now.mono)) };
        if !settled || !has_items {
            self.reminder.since.get_or_insert(now.mono);
        }
    }

    /// Whether the open fire waits on for its assignment. What a leader has not done for so long it may never do: fires
    /// that follow each other faster than one may wait would all be lost.
    pub(super) fn may_wait_for_assignment(&mut self, now: Now) -> bool {
        let Some(open) = &mut self.open else { return false };
        if let Some(since) = self.reminder.unsettled {
            open.hold_until = open.hold_until.min(since + SHARDING_WAIT);
        }
        now.mono < open.hold_until
    }
}
