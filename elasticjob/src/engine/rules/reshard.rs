//! Resharding: the leader assigns the items to the enabled instances.

use std::collections::{BTreeMap, BTreeSet};

use super::Step;
use crate::engine::engine::{Basis, JobEngine, Proposal, Purpose};
use crate::engine::event::Now;
use crate::engine::fire::FireRecord;
use crate::engine::planted::Bug;
use crate::engine::strategy;
use crate::engine::txn::JobTransaction;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::CreateMode;
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;

/// What a resharding in flight will have done.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Sharding {
    pub(in crate::engine) basis: Basis,
    pub(in crate::engine) pinned: BTreeSet<ShardingItem>,
    pub(in crate::engine) moved: Vec<String>,
}

/// What the leader sees of the items.
struct Survey<'a> {
    /// Owner of each item that has one, as the node tells it.
    owners: BTreeMap<ShardingItem, &'a str>,
    /// Items that somebody runs.
    running: BTreeSet<ShardingItem>,
}

/// Asks for resharding when something the assignment depends on changed, then reshards.
///
/// Both happen as soon as they are seen. Items that run stay with their owner until they end, and are looked at again
/// then, so that a running fire is not disturbed and nobody waits for it.
pub(super) fn reshard(engine: &mut JobEngine, _: Now) -> Step {
    let (Some(leadership), Some(configuration)) = (&engine.leadership, engine.configuration.clone()) else {
        return Step::Pass;
    };
    let Some(instances) = engine.available_instances() else { return Step::Pass };
    if instances.is_empty() {
        return Step::Pass;
    }
    let total = configuration.sharding_total_count();
    let strategy_type = configuration.sharding_strategy_type().to_owned();
    let mut basis = Basis { instances, total, strategy: strategy_type };
    if engine.planted.has(Bug::StaleInstanceList)
        && let Some(old) = &leadership.basis
    {
        basis.instances.clone_from(&old.instances);
    }
    let flag = match engine.mirror.exists(&JobPath::Necessary) {
        true => match engine.look(&JobPath::Necessary) {
            Lookup::Known(known) => Some(known.version),
            _ => return Step::Pass,
        },
        false => None,
    };
    let last = leadership.basis.clone();
    let pinned = leadership.pinned.clone();
    let Some(survey) = survey(engine, &basis, &pinned, flag.is_some()) else { return Step::Pass };
    let Some(request) = flag else {
        return match cause(&survey, &basis, last.as_ref(), &pinned, engine) {
            None => Step::Pass,
            Some(why) => {
                let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
                txn.check(&JobPath::LeaderInstance);
                txn.create(&JobPath::Necessary, "", CreateMode::Persistent);
                Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::Request { why } })
            }
        };
    };
    assign(engine, basis, &survey, request).map_or(Step::Pass, Step::Write)
}

/// Owners and running items; `None` while data are missing. What a mark says is only read where it matters: with every
/// fire there are new ones.
fn survey<'a>(
    engine: &'a JobEngine,
    basis: &Basis,
    pinned: &BTreeSet<ShardingItem>,
    requested: bool,
) -> Option<Survey<'a>> {
    let mut complete = true;
    let mut owners = BTreeMap::new();
    for item in 0..basis.total {
        match engine.look(&JobPath::owner_of(item)) {
            Lookup::Missing => {}
            Lookup::Unread => complete = false,
            Lookup::Known(known) => {
                if let Some(owner) = known.text() {
                    owners.insert(item, owner);
                }
            }
        }
    }
    let mut running = BTreeSet::new();
    for item in engine.mirror.running_items() {
        let owned_well = owners.get(&item).is_some_and(|owner| is_available(basis, owner));
        if owned_well && !requested && !pinned.contains(&item) {
            running.insert(item);
            continue;
        }
        match engine.look(&JobPath::running(item)) {
            Lookup::Missing => {}
            Lookup::Unread => complete = false,
            Lookup::Known(known) => {
                // What is lost is run again, or not at all; it holds nobody up.
                match engine.is_run_alive(item, known) {
                    Some(true) => {
                        running.insert(item);
                    }
                    Some(false) => {}
                    None => complete = false,
                }
            }
        }
    }
    complete.then_some(Survey { owners, running })
}

fn is_available(basis: &Basis, owner: &str) -> bool {
    basis.instances.iter().any(|id| id.as_str() == owner)
}

/// Why the items have to be assigned anew, if so.
fn cause(
    survey: &Survey<'_>,
    basis: &Basis,
    last: Option<&Basis>,
    pinned: &BTreeSet<ShardingItem>,
    engine: &JobEngine,
) -> Option<String> {
    let owned_well = |item: ShardingItem| {
        survey.running.contains(&item) || survey.owners.get(&item).is_some_and(|owner| is_available(basis, owner))
    };
    if let Some(item) = (0..basis.total).find(|item| !owned_well(*item)) {
        return Some(match survey.owners.get(&item) {
            None => format!("item {item} has no owner"),
            Some(owner) => format!("item {item} belongs to {owner}, which is not available"),
        });
    }
    let surplus = engine.mirror.items().find(|item| *item >= basis.total && !survey.running.contains(item));
    if let Some(item) = surplus {
        return Some(format!("item {item} is beyond the total count of {}", basis.total));
    }
    if engine.mirror.exists(&JobPath::Processing) {
        return Some("another leader began to assign the items and did not end".to_owned());
    }
    if let Some(item) = pinned.iter().find(|item| !survey.running.contains(item)) {
        return Some(format!("item {item}, which stayed where it ran, has ended"));
    }
    match last {
        // A new leader trusts an assignment that everybody takes part in.
        None => {
            let owners: BTreeSet<&str> = survey.owners.values().copied().collect();
            let expected = basis.instances.len().min(basis.total as usize);
            let without = basis.instances.iter().find(|id| !owners.contains(id.as_str()));
            without.filter(|_| owners.len() < expected).map(|id| format!("{id} has no item"))
        }
        Some(last) if last == basis => None,
        Some(last) if last.instances != basis.instances => Some(format!(
            "the available instances changed from [{}] to [{}]",
            list(&last.instances),
            list(&basis.instances)
        )),
        Some(_) => Some("the sharding configuration changed".to_owned()),
    }
}

fn list(instances: &[InstanceId]) -> String {
    instances.iter().map(InstanceId::as_str).collect::<Vec<_>>().join(", ")
}

/// One transaction that assigns every item and takes the request back; `None` while data are missing.
fn assign(engine: &JobEngine, basis: Basis, survey: &Survey<'_>, request: i32) -> Option<Proposal> {
    let assignment = strategy::by_type(&basis.strategy)
        .expect("a configuration with an unknown strategy is never in force")
        .assign(&engine.job, &basis.instances, basis.total);
    let wanted: BTreeMap<ShardingItem, InstanceId> =
        assignment.into_iter().flat_map(|(id, items)| items.into_iter().map(move |item| (item, id.clone()))).collect();
    let monitored = engine.configuration.as_ref().is_some_and(|configuration| configuration.monitor_execution());
    let (kept, surplus): (Vec<ShardingItem>, Vec<ShardingItem>) =
        engine.mirror.items().partition(|item| *item < basis.total);
    let (removed, surplus_running): (Vec<ShardingItem>, Vec<ShardingItem>) =
        surplus.into_iter().partition(|item| !survey.running.contains(item));
    // Only asked for when the number of items changes.
    let floor = match removed.is_empty() && kept.len() == basis.total as usize {
        true => Floor::default(),
        false => floor(engine, &removed)?,
    };
    let mut moved = Vec::new();
    let mut pinned = BTreeSet::from_iter(surplus_running);
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    for item in 0..basis.total {
        let (owner, wanted) = (survey.owners.get(&item).copied(), wanted.get(&item).map(InstanceId::as_str));
        let path = JobPath::owner_of(item);
        if owner != wanted {
            if survey.running.contains(&item) && owner.is_some() {
                pinned.insert(item);
            } else {
                moved.push(format!("{item}: {} -> {}", owner.unwrap_or("nobody"), wanted.unwrap_or("nobody")));
                match wanted {
                    Some(id) if engine.mirror.exists(&path) => {
                        txn.set(&path, id, None);
                    }
                    Some(id) => {
                        txn.create(&path, id, CreateMode::Persistent);
                    }
                    None => txn.delete_existing(&path),
                }
            }
        }
        if monitored && !engine.mirror.exists(&JobPath::fire(item)) {
            txn.create(&JobPath::fire(item), floor.data(), CreateMode::Persistent);
        }
    }
    for item in removed {
        moved.push(format!("{item}: removed"));
        for path in engine.mirror.item_tree(item) {
            // Somebody may begin it at this moment.
            let version = (path == JobPath::fire(item)).then(|| floor.versions.get(&item).copied()).flatten();
            txn.delete(&path, version);
        }
    }
    if let Some(version) = floor.raised {
        txn.set(&JobPath::Sharding, floor.data(), Some(version));
    }
    txn.delete(&JobPath::Necessary, Some(request));
    txn.delete_existing(&JobPath::Processing);
    let purpose = Purpose::Reshard(Sharding { basis, pinned, moved });
    Some(Proposal { transaction: txn.build(), purpose })
}

/// What items that were removed may have been begun for. It is kept as data of `sharding` and becomes the record of new
/// items: one that is made anew must not be begun for a fire that it was begun for before.
#[derive(Default)]
struct Floor {
    record: Option<FireRecord>,
    /// Version of `sharding`, when its data have to be written.
    raised: Option<i32>,
    /// Versions of the records of the items that are removed.
    versions: BTreeMap<ShardingItem, i32>,
}

impl Floor {
    fn data(&self) -> Vec<u8> {
        self.record.as_ref().map(FireRecord::to_bytes).unwrap_or_default()
    }
}

/// `None` while data are missing.
fn floor(engine: &JobEngine, removed: &[ShardingItem]) -> Option<Floor> {
    let (before, version) = match engine.look(&JobPath::Sharding) {
        Lookup::Missing => return Some(Floor::default()),
        Lookup::Unread => (None, None),
        Lookup::Known(known) => (Some(FireRecord::parse(&known.data)), Some(known.version)),
    };
    let mut complete = version.is_some();
    let mut record = before.clone().unwrap_or(FireRecord::empty());
    let mut versions = BTreeMap::new();
    for item in removed {
        match engine.look(&JobPath::fire(*item)) {
            Lookup::Missing => {}
            Lookup::Unread => complete = false,
            Lookup::Known(known) => {
                let last = FireRecord::parse(&known.data);
                record.through = record.through.max(last.through);
                record.triggered = record.triggered.max(last.triggered);
                versions.insert(*item, known.version);
            }
        }
    }
    let raised = version.filter(|_| before.as_ref() != Some(&record));
    let record = Some(record).filter(|record| *record != FireRecord::empty());
    complete.then_some(Floor { record, raised, versions })
}

impl JobEngine {
    /// Online instances of enabled servers, in the order strategies get them; `None` while data are missing.
    pub(in crate::engine) fn available_instances(&self) -> Option<Vec<InstanceId>> {
        let mut known = true;
        let mut available = Vec::new();
        for id in self.mirror.instances() {
            match self.is_enabled(id.server_ip()) {
                Some(true) => available.push(id.clone()),
                Some(false) => {}
                None => known = false,
            }
        }
        strategy::sort_as_java(&mut available);
        known.then_some(available)
    }

    /// The items of this instance as they stand, `None` while data are missing. The flag is whether the leader has
    /// nothing left to assign, as far as this side sees.
    pub(super) fn own_items(&self, total: u32) -> Option<(Vec<ShardingItem>, bool)> {
        let mut own = Vec::new();
        let mut known = true;
        let mut settled = !self.mirror.exists(&JobPath::Necessary) && !self.mirror.exists(&JobPath::Processing);
        let instances: BTreeSet<&str> = self.mirror.instances().map(InstanceId::as_str).collect();
        for item in 0..total {
            match self.look(&JobPath::owner_of(item)) {
                Lookup::Missing => settled = false,
                Lookup::Unread => known = false,
                Lookup::Known(data) => {
                    let owner = data.text().unwrap_or_default();
                    settled &= instances.contains(owner);
                    if owner == self.identity.instance.as_str() {
                        own.push(item);
                    }
                }
            }
        }
        known.then_some((own, settled))
    }
}
