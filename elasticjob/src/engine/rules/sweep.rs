//! Sweeping up after instances that are gone, and after settings that were switched off. The leader does it. A Java
//! leader does not, and may wait for ever for the marks of instances that are gone: then the other instances do it a
//! little later.

use std::time::Duration;

use super::{Step, servers, sessionless};
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::takeover::is_answered;
use crate::engine::txn::JobTransaction;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Lookup, Unread, read_found};

/// How much is swept at once, so that the servers of years fit into transactions.
const AT_ONCE: usize = 1_000;

/// How long a leader has to sweep before the others do.
const LEADER_SWEEPS_WITHIN: Duration = Duration::from_secs(10);

/// Deletes what nothing else deletes: triggers for instances that are gone, as ids are hardly ever used again, servers
/// without instances, what failover leaves behind, and nodes of instances and runs that no session owns.
pub(super) fn sweep(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    if engine.phase != Phase::Active || !engine.is_registered() {
        return Ok(Step::Pass);
    }
    // All of them are looked for first, so that what is missing is read together.
    let (dead, servers) = (dead_marks(engine), servers::without_instances(engine, now));
    let (sessionless, mut dead, servers) = (sessionless::nodes(engine)?, dead?, servers?);
    let mut useless: Vec<ShardingItem> =
        engine.mirror.failover_items().filter(|item| is_useless(engine, *item)).collect();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    if engine.leadership.term.is_some() {
        txn.check(&JobPath::LeaderInstance);
    }
    // An instance that has not heard yet that failover was switched on, or of more items, would delete what another one hands
    // over since.
    let is_off_now = dead.iter().map(|(item, _)| item).chain(&useless).any(|item| is_off(engine, *item));
    if is_off_now && !engine.guard_configuration(&mut txn)? {
        dead.retain(|(item, _)| !is_off(engine, *item));
        useless.retain(|item| !is_off(engine, *item));
    }
    let guards = txn.len();
    let triggers: Vec<InstanceId> = engine.orphaned_triggers().take(AT_ONCE).cloned().collect();
    for id in &triggers {
        txn.delete(&JobPath::Trigger(id.clone()), None);
    }
    for (path, version) in &sessionless {
        txn.delete(path, Some(*version));
    }
    for (server, version) in servers.into_iter().take(AT_ONCE) {
        txn.delete(&server, Some(version));
    }
    for (item, version) in dead.iter().filter(|(item, _)| !engine.link.is_obstructed(&JobPath::running(*item))) {
        // The other ones are swept with the next transaction.
        if txn.is_full() {
            break;
        }
        // An instance may begin it at this moment.
        let record = JobPath::fire(*item);
        match version {
            Some(version) => {
                txn.check_version(&record, *version);
            }
            None => txn.check_missing(&record),
        }
        txn.delete(&JobPath::running(*item), None);
    }
    for item in useless {
        let path = JobPath::FailoverItem(item);
        if !txn.is_full() && !engine.link.is_obstructed(&path) {
            txn.delete(&path, None);
        }
    }
    for item in engine.mirror.taken_over_items() {
        let runs = engine.mirror.exists(&JobPath::running(item)) && !dead.iter().any(|(dead, _)| *dead == item);
        let path = JobPath::Item(item, ItemNode::Failovering);
        let is_held = engine.mirror.exists(&JobPath::Item(item, ItemNode::Failover));
        if !runs && !is_held && !txn.is_full() && !engine.link.is_obstructed(&path) {
            txn.delete(&path, None);
        }
    }
    let transaction = txn.build();
    if transaction.ops().len() == guards {
        // A Java instance that takes and drops the item again and again hides what is left behind now and then.
        if engine.mirror.taken_over_items().next().is_none() {
            engine.leadership.unswept = None;
        }
        return Ok(Step::Pass);
    }
    let sessionless = sessionless.into_iter().map(|(path, _)| path).collect();
    let due = *engine.leadership.unswept.get_or_insert(now.mono + LEADER_SWEEPS_WITHIN);
    if engine.leadership.term.is_none() && now.mono < due {
        return Ok(Step::Pass);
    }
    Ok(Step::Write(Proposal { transaction, purpose: Purpose::Sweep { triggers, sessionless } }))
}

/// Marks of runs that are lost, with the versions of their items' records, where no instance takes over: failover is
/// off, a Java leader left an item beyond the total count there, or a Java peer took the item and waits for the mark to
/// go.
fn dead_marks(engine: &mut JobEngine) -> Result<Vec<(ShardingItem, Option<i32>)>, Unread> {
    let failover = engine.configuration.is_failover_on();
    if !failover && !engine.fires.losses.are_suspected(&engine.mirror) {
        return Ok(Vec::new());
    }
    let is_taken = |item| engine.mirror.exists(&JobPath::Item(item, ItemNode::Failover));
    let marks = engine.mirror.running_items().filter(|item| is_off(engine, *item) || is_taken(*item));
    let dead: Vec<(ShardingItem, Option<i32>)> = read_found(marks.map(|item| dead_mark(engine, item)))?;
    if dead.is_empty() && !failover {
        engine.fires.losses.found_none(&engine.mirror);
    }
    Ok(dead)
}

/// The item with the version of its record, where the run of its mark is lost.
fn dead_mark(engine: &JobEngine, item: ShardingItem) -> Result<Option<(ShardingItem, Option<i32>)>, Unread> {
    let is_alive = match engine.mirror.need(&JobPath::running(item)) {
        Ok(None) => return Ok(None),
        Ok(Some(mark)) => engine.is_run_alive(item, mark),
        Err(unread) => Err(unread),
    };
    let record = engine.mirror.need(&JobPath::fire(item));
    if is_alive? && !engine.planted.has(Bug::SweptMarks) {
        return Ok(None);
    }
    Ok(Some((item, record.unwrap_or(None).map(|known| known.version))))
}

/// Whether no instance will take over an item that waits for it: failover is off, the item does not exist any more, or
/// it was begun since.
fn is_useless(engine: &JobEngine, item: ShardingItem) -> bool {
    if is_off(engine, item) {
        return true;
    }
    match (engine.mirror.lookup(&JobPath::FailoverItem(item)), engine.mirror.lookup(&JobPath::fire(item))) {
        (Lookup::Known(asked), Lookup::Known(known)) => is_answered(&engine.read_record(known), known.mzxid, asked),
        _ => false,
    }
}

/// Whether the configuration in force says that no instance takes this item over.
fn is_off(engine: &JobEngine, item: ShardingItem) -> bool {
    let total = engine.configuration.in_force.as_ref().map_or(0, |configuration| configuration.sharding_total_count());
    !engine.configuration.is_failover_on() || item >= total
}

impl JobEngine {
    /// What nothing else deletes is deleted.
    pub(in crate::engine) fn on_swept(&mut self, triggers: Vec<InstanceId>, sessionless: &[JobPath]) {
        self.tell_dropped(triggers);
        if !sessionless.is_empty() {
            let nodes = sessionless.iter().map(ToString::to_string).collect();
            self.tell(Notice::SessionlessNodesDeleted { nodes });
        }
    }
}
