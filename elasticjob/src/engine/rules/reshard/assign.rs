//! The transaction of a resharding.

use std::collections::{BTreeMap, BTreeSet};

use super::Request;
use super::high_water_mark::HighWaterMark;
use super::item_states::ItemStates;
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::leadership::Basis;
use crate::engine::state::proposal::{Proposal, Purpose, Sharding};
use crate::engine::txn::JobTransaction;
use crate::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;
use crate::sharding;
use crate::sharding::{AVG_ALLOCATION, SINGLE_SHARDING_BALANCE, StrategyFault};

/// What the assignment has come to.
pub(super) struct Assigned {
    pub(super) proposal: Proposal,
    /// The fault in the answer of the strategy, if it was asked and there is one.
    pub(super) fault: Option<StrategyFault>,
}

/// One transaction that assigns every item and takes the request back. Where that is too much for one transaction,
/// several ones follow each other: each checks that this instance leads and that the request is the same, and only the
/// last one takes the request back. Until then fires wait, and whichever instance leads next assigns what is left.
pub(super) struct Assignment<'a> {
    pub(super) engine: &'a JobEngine,
    pub(super) basis: Basis,
    pub(super) items: &'a ItemStates<'a>,
    /// Whether the items move on to the next instance.
    pub(super) moves_on: bool,
    /// The items that stayed with their owners the last time, as they were busy.
    pub(super) stayed: &'a BTreeSet<ShardingItem>,
    pub(super) request: Request,
}

/// What one transaction does.
struct Moves<'a> {
    txn: JobTransaction<'a>,
    moved: Vec<String>,
    /// The items that leave a disabled instance which was to run them for a manual trigger, and those that had no owner and come to
    /// an instance which was not asked.
    untriggered: Vec<ShardingItem>,
    /// The items without an owner for which a manual trigger waits.
    awaited: BTreeSet<ShardingItem>,
    /// The instances that items are taken from.
    left: BTreeSet<InstanceId>,
    /// The items that stay where they are, as they are busy.
    pinned: BTreeSet<ShardingItem>,
    /// Whether nothing is left for a further transaction.
    is_whole: bool,
}

impl<'a> Assignment<'a> {
    /// The transaction.
    ///
    /// # Errors
    /// Something that decides it is not read yet.
    pub(super) fn propose(self) -> Result<Assigned, Unread> {
        let engine = self.engine;
        let (kept, surplus): (Vec<ShardingItem>, Vec<ShardingItem>) =
            engine.mirror.items().partition(|item| *item < self.basis.total);
        let (removed, surplus_busy): (Vec<ShardingItem>, Vec<ShardingItem>) = surplus
            .into_iter()
            .filter(|item| !engine.link.is_item_obstructed(*item))
            .partition(|item| !self.items.busy.contains(item));
        // It is only read when the number of items changes.
        let mark = match removed.is_empty() && kept.len() == self.basis.total as usize {
            true => HighWaterMark::default(),
            false => HighWaterMark::of(engine, &removed)?,
        };
        let (wanted, fault) = self.wanted();
        let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
        txn.check(&JobPath::LeaderInstance);
        if let Some(note) = engine.first_note() {
            txn.create(&JobPath::Sharding, note, CreateMode::Persistent);
        }
        let pinned = BTreeSet::from_iter(surplus_busy);
        let mut moves = Moves {
            txn,
            moved: Vec::new(),
            untriggered: Vec::new(),
            awaited: self.awaited()?,
            left: BTreeSet::new(),
            pinned,
            is_whole: true,
        };
        self.move_items(&mut moves, &wanted, &mark);
        let left = std::mem::take(&mut moves.left);
        guard_triggers(engine, &mut moves.txn, left);
        moves.remove(engine, removed, &mark);
        if let Some(version) = mark.raised {
            moves.txn.set(&JobPath::Sharding, mark.data(), Some(version));
        } else if !moves.moved.is_empty()
            && let Some(known) = engine.mirror.need(&JobPath::Sharding)?
        {
            // A trigger that was planned by the assignment before fails by the version. The data are limited to what counts: the
            // write renews the time by which the mark is judged.
            let data = engine.read_sharding(known).to_bytes();
            moves.txn.set(&JobPath::Sharding, data, Some(known.version));
        }
        if !moves.close(self.request) {
            // Fires have to wait between the transactions.
            let proposal = super::ask_for_resharding(engine, "the items move on to the next instance".to_owned());
            return Ok(Assigned { proposal, fault });
        }
        let Moves { txn, moved, untriggered, pinned, is_whole, .. } = moves;
        let transaction = txn.build();
        let rest = (!is_whole).then_some(wanted);
        let purpose = Purpose::Reshard(Sharding { basis: self.basis, pinned, moved, untriggered, rest });
        Ok(Assigned { proposal: Proposal { transaction, purpose }, fault })
    }

    /// The instance that shall own each item: as the transaction before had it, else as the strategy says now.
    fn wanted(&self) -> (BTreeMap<ShardingItem, InstanceId>, Option<StrategyFault>) {
        let in_part = self.engine.leadership.term.as_ref().and_then(|term| term.in_part.as_deref());
        match in_part.filter(|in_part| in_part.basis == self.basis) {
            Some(in_part) => (in_part.wanted.clone(), None),
            None => ask(self.engine, &self.basis, self.items.owner(0), self.moves_on),
        }
    }

    /// Writes the owner of each item, and makes records that are not there.
    fn move_items(&self, moves: &mut Moves<'a>, wanted: &BTreeMap<ShardingItem, InstanceId>, mark: &HighWaterMark) {
        let engine = self.engine;
        let (monitored, available) = (engine.configuration.is_monitored(), self.basis.available());
        for item in 0..self.basis.total {
            if moves.is_full() {
                break;
            }
            let (owner, wanted) = (self.items.owner(item), wanted.get(&item));
            if owner != wanted.map(InstanceId::as_str) {
                // A busy item whose owner is not available moves: it was taken over and runs elsewhere, and fires need an
                // owner meanwhile.
                let stays = self.items.stays(item, self.stayed.contains(&item));
                match stays && owner.is_some_and(|owner| available.contains(owner)) {
                    true => {
                        moves.pinned.insert(item);
                    }
                    false => self.move_item(moves, item, owner, wanted),
                }
            }
            if monitored && !engine.mirror.exists(&JobPath::fire(item)) {
                moves.txn.create(&JobPath::fire(item), mark.record(), CreateMode::Persistent);
            }
        }
    }

    /// The items without an owner that are not begun for a manual trigger which waits, as far as their records say.
    fn awaited(&self) -> Result<BTreeSet<ShardingItem>, Unread> {
        let (engine, mut awaited) = (self.engine, BTreeSet::new());
        if (0..self.basis.total).all(|item| self.items.owner(item).is_some()) {
            return Ok(awaited);
        }
        for instance in engine.mirror.triggers() {
            let Some(asked) = engine.mirror.need(&JobPath::Trigger(instance.clone()))? else { continue };
            let fire = Fire::of_trigger(asked.czxid, asked.ctime, &asked.data);
            awaited.extend(engine.items_without_owner(fire, self.basis.total)?);
        }
        Ok(awaited)
    }

    fn move_item(&self, moves: &mut Moves<'a>, item: ShardingItem, owner: Option<&str>, wanted: Option<&InstanceId>) {
        let from = owner.and_then(|owner| self.basis.instances.iter().find(|id| id.as_str() == owner));
        if let Some(from) = from.filter(|from| moves.left.insert((*from).clone())) {
            moves.txn.reserve_check_missing(&JobPath::Trigger(from.clone()));
        }
        let is_given_away = self.items.is_asked(owner) && !self.engine.planted.has(Bug::SilentGiveAway);
        // No node says which instance had it.
        let is_found = moves.awaited.contains(&item);
        if (is_given_away || is_found) && !self.items.is_asked(wanted.map(InstanceId::as_str)) {
            moves.untriggered.push(item);
        }
        let name = |id: Option<&str>| id.unwrap_or("no owner").to_owned();
        moves.moved.push(format!("{item}: {} -> {}", name(owner), name(wanted.map(InstanceId::as_str))));
        let path = JobPath::owner_of(item);
        match wanted {
            Some(id) if self.engine.mirror.exists(&path) => {
                moves.txn.set(&path, id.as_str(), None);
            }
            Some(id) => {
                moves.txn.create(&path, id.as_str(), CreateMode::Persistent);
            }
            None => moves.txn.delete_existing(&path),
        }
    }
}

impl Moves<'_> {
    /// Whether the transaction takes no further item: the rest follows in the next one.
    fn is_full(&mut self) -> bool {
        self.is_whole &= !self.txn.is_full();
        !self.is_whole
    }

    /// Removes items that the total count does not have.
    fn remove(&mut self, engine: &JobEngine, removed: Vec<ShardingItem>, mark: &HighWaterMark) {
        for item in removed {
            if self.txn.is_full() {
                self.is_whole = false;
                break;
            }
            self.moved.push(format!("{item}: removed"));
            for path in engine.mirror.item_tree(item) {
                // An instance may begin it at this moment.
                let version = (path == JobPath::fire(item)).then(|| mark.versions.get(&item).copied()).flatten();
                self.txn.delete(&path, version);
            }
        }
    }

    /// Takes the request back, or leaves it for the rest. Returns `false` where there has to be one first.
    fn close(&mut self, request: Request) -> bool {
        match request {
            Request::Waits { version } if self.is_whole => {
                self.txn.delete(&JobPath::Necessary, Some(version));
            }
            Request::Waits { version } => {
                self.txn.check_version(&JobPath::Necessary, version);
            }
            // Created and deleted in one transaction: this is the guard that there is no request.
            Request::None if self.is_whole => {
                self.txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
                self.txn.delete(&JobPath::Necessary, None);
            }
            Request::None => return false,
        }
        if self.is_whole {
            self.txn.delete_existing(&JobPath::Processing);
        }
        true
    }
}

/// Guards that no trigger came meanwhile for the instances that items are taken from.
fn guard_triggers(engine: &JobEngine, txn: &mut JobTransaction<'_>, left: BTreeSet<InstanceId>) {
    if left.is_empty() || engine.planted.has(Bug::OutrunTrigger) {
        return;
    }
    if !engine.mirror.exists(&JobPath::Triggers) {
        txn.check_missing(&JobPath::Triggers);
        return;
    }
    for id in left {
        txn.check_missing(&JobPath::Trigger(id));
    }
}

/// Asks the strategy which instance shall own each item. Also returns the fault in its answer, if there is one.
fn ask(
    engine: &JobEngine,
    basis: &Basis,
    owner: Option<&str>,
    moves_on: bool,
) -> (BTreeMap<ShardingItem, InstanceId>, Option<StrategyFault>) {
    let (job, total) = (&engine.job, basis.total);
    let instances = match basis.strategy.as_str() {
        SINGLE_SHARDING_BALANCE => &sharding::in_turn(job, &basis.instances, owner, moves_on),
        _ => &basis.instances,
    };
    let by = |name| {
        let strategy =
            engine.configuration.strategies.get(name).expect("a configuration in force names a strategy that there is");
        sharding::assign_checked(strategy.as_ref(), job, instances, total)
    };
    match by(&basis.strategy) {
        Ok(owners) => (owners, None),
        Err(fault) => (by(AVG_ALLOCATION).expect("it assigns every item to a given instance"), Some(fault)),
    }
}
