//! Notes what the records, the transactions and the instances say of each fire, and what follows from it for an item.

use super::super::Scene;
use super::super::duty::{Cause, engine_of};
use super::{Accounted, Recorded, owned_on};
use crate::fire::{FireRecord, FireState, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{CreateMode, Op, SessionId, Transaction};
use crate::testing::sim::{EPOCH, Host};

impl Accounted {
    pub(super) fn note_records(&mut self, scene: &Scene<'_>, host: Option<usize>, transaction: &Transaction) {
        for (item, record) in scene.records(transaction) {
            if let Some(host) = host
                && let Some(at) = record.through
                && let Some(cause) = self.decided_against.get(&(host, at))
            {
                self.declined.insert((at, item), *cause);
            }
            if let Some(begun) = record.last.filter(|begun| !begun.manual) {
                let (state, session) = (begun.state, begun.attempt.session());
                // What changes the record and not the run, as a missed fire does, says nothing of it.
                let before = self.recorded.get(&(begun.at, item));
                let before = before.filter(|before| (before.state, before.session) == (state, session));
                let is_taken_over =
                    keeps(scene, transaction, item) || before.is_some_and(|before| before.is_taken_over);
                let is_cancelled = begun.cancel.is_some();
                self.recorded.insert((begun.at, item), Recorded { state, session, is_taken_over, is_cancelled });
            }
        }
    }

    /// What an instance decided by misfire that was off for it, and by its server that was disabled, stays when that is
    /// switched.
    pub(super) fn note_decision(
        &mut self,
        scene: &Scene<'_>,
        host: usize,
        at: i64,
        items: &[ShardingItem],
        reason: &SkipReason,
    ) {
        let engine = scene.hosts[host].process.as_ref().and_then(engine_of);
        let Some(engine) = engine.filter(|engine| engine.configuration().is_some()) else { return };
        if *reason == SkipReason::AwaitingFailover {
            let handed_over = items.iter().filter(|item| is_lost(scene, **item) && was_triggered(scene, **item));
            self.fell_into_trigger.extend(handed_over.map(|item| (at, *item)));
        }
        match reason {
            SkipReason::AwaitingFailover if !engine.makes_up() => {
                let lost = items.iter().filter(|item| is_lost(scene, **item));
                self.fell_into_run.extend(lost.map(|item| (at, *item)));
            }
            SkipReason::StillRunning { .. } if !engine.makes_up() => {
                self.decided_against.insert((host, at), Cause::Busy);
                let meant = if items.is_empty() { owned_on(scene, host) } else { items.to_vec() };
                self.fell_into_run.extend(meant.into_iter().map(|item| (at, item)));
            }
            SkipReason::MaybeRunByJava => {
                let made_anew = items.iter().filter(|item| is_owner_made_anew(scene, **item));
                self.left_to_java.extend(made_anew.map(|item| (at, *item)));
            }
            SkipReason::ServerDisabled if self.duties.was_disabled(host, at) => {
                self.decided_against.insert((host, at), Cause::ServerDisabled);
            }
            _ => {}
        }
    }

    /// All items that are created again get one high-water mark: any of them may be the one that was run before its time.
    pub(super) fn note_marks(&mut self, scene: &Scene<'_>, transaction: &Transaction) {
        for op in transaction.ops() {
            let Op::Create { path, data, .. } = op else { continue };
            let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(scene.job, path) else { continue };
            let ahead = FireRecord::parse(data).ahead;
            self.begun_ahead.iter_mut().filter(|begun| Some(begun.at) == ahead).for_each(|begun| {
                begun.items.insert(item);
            });
        }
    }

    pub(super) fn note_owners(&mut self, scene: &Scene<'_>, transaction: &Transaction) {
        for op in transaction.ops() {
            let Some(JobPath::Item(item, ItemNode::Instance)) = JobPath::parse(scene.job, op.path()) else { continue };
            // Java leaders delete all owners for a moment, before they assign the items.
            if let Some(owner) = scene.text(&JobPath::owner_of(item)) {
                self.owners.entry(item).or_default().insert(EPOCH + scene.now as i64, owner);
            }
        }
    }

    /// Whether an item was begun for a fire, or may have been by a clock that was ahead.
    pub(super) fn is_begun(&self, item: ShardingItem, at: i64) -> bool {
        self.begun.get(&at).is_some_and(|items| items.contains(&item))
            || self.begun_ahead.iter().any(|begun| begun.covers(item, at))
    }

    /// Why an item is not begun any more for a fire that nothing excuses now.
    pub(super) fn why_decided(&self, scene: &Scene<'_>, item: ShardingItem, at: i64) -> Option<Cause> {
        // By a clock that was ahead a later fire was decided against.
        let declined = self.declined.range((at, 0)..).find(|((_, of), _)| *of == item).map(|(_, cause)| *cause);
        match () {
            () if declined.is_some() => declined,
            () if self.fell_into_run.contains(&(at, item)) => Some(Cause::Busy),
            () if self.left_to_java.contains(&(at, item)) => Some(Cause::Unheard),
            () if self.was_cut_off(scene, item, at) => Some(Cause::CutOff),
            () if self.is_from_before(scene, item, at) => Some(Cause::RegisteredSince),
            () => None,
        }
    }

    /// Whether the job was registered again after this fire, by the clock of the registry center, and an owner whose clock
    /// is behind said so.
    fn is_from_before(&self, scene: &Scene<'_>, item: ShardingItem, at: i64) -> bool {
        let says_so = |(items, reason): &(Vec<ShardingItem>, SkipReason)| {
            matches!(reason, SkipReason::RegisteredSince { .. }) && items.contains(&item)
        };
        let is_said = self.skipped.get(&at).is_some_and(|said| said.iter().any(says_so));
        is_said && scene.node(&JobPath::Config).is_some_and(|node| node.stat.ctime > at)
    }

    /// Whether the record of the item said that it was begun for this fire, and the session of the instance that began it
    /// has ended, or that instance leaves and had no answer to its begin: nothing tells that from a run that was lost. With
    /// failover, then and now, it is taken over. What an operator cancelled before it was started is over.
    ///
    /// By a clock that was ahead that may be a later fire, into which the missed ones before it were collapsed.
    fn was_cut_off(&self, scene: &Scene<'_>, item: ShardingItem, at: i64) -> bool {
        let lives = |session: SessionId| {
            let is_of = |host: &Host| host.process.as_ref().is_some_and(|process| process.session == Some(session));
            scene.tree.session_timeout(session).is_some() && scene.hosts.iter().any(is_of)
        };
        let recorded = self.recorded.range((at, 0)..).filter(|((_, of), _)| *of == item).map(|(_, recorded)| recorded);
        recorded.filter(|recorded| !(recorded.is_taken_over && scene.shape.failover)).any(|recorded| {
            match recorded.state {
                FireState::Cancelled => true,
                FireState::Running => !recorded.session.is_some_and(lives),
                FireState::Failed => recorded.is_cancelled,
                FireState::Succeeded | FireState::NotRun => false,
            }
        })
    }
}

/// Whether a transaction begins or cuts off a run of an item so that it is taken over: with failover on.
fn keeps(scene: &Scene<'_>, transaction: &Transaction, item: ShardingItem) -> bool {
    transaction.ops().iter().any(|op| match op {
        Op::Create { path, mode, .. } => match JobPath::parse(scene.job, path) {
            Some(JobPath::Item(of, ItemNode::Running)) => of == item && *mode == CreateMode::Persistent,
            Some(JobPath::FailoverItem(of)) => of == item,
            _ => false,
        },
        _ => false,
    })
}

/// Whether the node of the owner was deleted by an operator and made again, since the record was written.
fn is_owner_made_anew(scene: &Scene<'_>, item: ShardingItem) -> bool {
    let made = scene.node(&JobPath::owner_of(item)).map(|node| node.stat.czxid);
    scene.shape.unheard && made > scene.node(&JobPath::fire(item)).map(|node| node.stat.mzxid)
}

/// Whether the last run of an item is that of a manual trigger.
fn was_triggered(scene: &Scene<'_>, item: ShardingItem) -> bool {
    let record = scene.data(&JobPath::fire(item)).map(|data| FireRecord::parse(&data));
    record.and_then(|record| record.last).is_some_and(|last| last.manual)
}

/// Whether a run of an item waits to be taken over, or goes on.
fn is_lost(scene: &Scene<'_>, item: ShardingItem) -> bool {
    [JobPath::FailoverItem(item), JobPath::Item(item, ItemNode::Failover), JobPath::running(item)]
        .iter()
        .any(|path| scene.exists(path))
}
