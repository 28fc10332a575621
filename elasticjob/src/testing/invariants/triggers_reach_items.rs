//! A manual trigger that was written reaches every item of the job: it is begun for it, or an instance names it and says why not.
//!
//! A trigger asks instances. That an instance acts on it is not enough: an item may have moved from one that was asked to one
//! that was not.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Scene};
use crate::config::wire;
use crate::engine::Notice;
use crate::fire::Fire;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::layout::JobPath;
use crate::registry::{Op, Transaction, Zxid};
use crate::testing::sim::Millis;

/// The triggers that have not reached all items yet.
#[derive(Debug, Default)]
pub(super) struct TriggersReachItems {
    open: Vec<Asked>,
    /// The items that an instance has told it does not run for a trigger. A trigger that joins this one before it is taken
    /// does not make the instance tell it again.
    declined: BTreeMap<Zxid, BTreeSet<ShardingItem>>,
    /// Triggers of instances that have ended, taken by a process that has not said so yet.
    untold: Vec<Untold>,
}

/// A trigger that another process took than the one that was asked.
#[derive(Debug)]
struct Untold {
    host: usize,
    /// The life of the process, which is over before it says so.
    life: Option<u64>,
    at: Millis,
    instance: InstanceId,
}

/// A trigger.
#[derive(Debug)]
struct Asked {
    /// The oldest trigger that waited when this one was written: an instance that has one is not asked again.
    oldest: Zxid,
    at: Millis,
    /// The items that it has not reached, each with the instance that was to run it then.
    items: BTreeMap<ShardingItem, Option<String>>,
}

impl Asked {
    /// The items of such an instance, by their owner now or when the trigger was written.
    fn reaches_items_of(&mut self, scene: &Scene<'_>, is_such: impl Fn(&str) -> bool) {
        self.items.retain(|item, asked| {
            let now = scene.text(&JobPath::owner_of(*item));
            ![asked.as_deref(), now.as_deref()].into_iter().flatten().any(&is_such)
        });
    }
}

impl TriggersReachItems {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        // What an instance of Java does with its own is looked at elsewhere.
        if scene.is_mixed() {
            return Ok(());
        }
        self.open.iter_mut().for_each(|asked| asked.items.retain(|item, _| *item < scene.total));
        // An engine that has left had the time to say what it knew.
        if let Observation::Left { host, .. } = observation {
            self.untold.retain(|untold| untold.host != *host);
        }
        self.forgive_the_killed(scene);
        match observation {
            Observation::Committed { transaction, host, .. } => {
                // Who hands an item over writes a run that has ended.
                let begun = scene.records(transaction).into_iter().filter(|(_, record)| record.running().is_some());
                for (item, record) in begun {
                    if let Some(Fire::Manual { trigger, .. }) = record.last_fire() {
                        self.serves(trigger, [item]);
                    }
                }
                if let Some(host) = *host {
                    let (life, at) = (life(scene, host), scene.now);
                    let taken = taken_untold(scene, host, transaction);
                    self.untold.extend(taken.map(|instance| Untold { host, life, at, instance }));
                }
                if let Some(mut asked) = asked(scene, *host, transaction) {
                    asked.items.retain(|item, owner| !self.has_declined(scene, *item, owner.as_deref()));
                    // An operator does not wait for them, and static sharding leaves them where they are.
                    if host.is_none() || scene.shape.static_sharding {
                        asked.items.retain(|_, owner| is_asked(scene, owner.as_deref()));
                    }
                    self.open.push(asked);
                }
            }
            Observation::Started { item, fire: Fire::Manual { trigger, .. }, .. } => self.serves(*trigger, [*item]),
            Observation::Notice { host, notice } => self.hear(scene, *host, notice),
            // An instance may take a trigger and end before it runs the job. Without records nothing shows that it did.
            Observation::SessionEnded { .. } if !scene.shape.monitored => {
                let is_taken = |owner: &str| !is_there(scene, owner) && !is_asked(scene, Some(owner));
                self.open.iter_mut().for_each(|asked| asked.reaches_items_of(scene, is_taken));
            }
            Observation::CleanedUp { host, .. } if !scene.shape.monitored => {
                if let Some(id) = scene.instance(*host).filter(|id| !is_asked(scene, Some(id.as_str()))) {
                    self.reaches_items_of(scene, &id);
                }
            }
            Observation::Converged => {
                let due = scene.now.saturating_sub(2 * scene.shape.longest_round() + 3_000);
                let missed = self.open.iter().find(|asked| asked.at < due && !asked.items.is_empty());
                if let Some(Asked { at, items, .. }) = missed {
                    return Err(format!(
                        "items {:?} were not run for the trigger written at {at}, and nobody says why",
                        items.keys()
                    ));
                }
            }
            _ => {}
        }
        self.open.retain(|asked| !asked.items.is_empty());
        Ok(())
    }

    /// Whether the owner of an item has told that it does not run the item for the trigger that waits for it.
    fn has_declined(&self, scene: &Scene<'_>, item: ShardingItem, owner: Option<&str>) -> bool {
        let waiting = owner.and_then(|owner| scene.node(&JobPath::Trigger(owner.parse().ok()?)));
        let declined = waiting.and_then(|waiting| self.declined.get(&waiting.stat.czxid));
        declined.is_some_and(|items| items.contains(&item))
    }

    /// The registry has lost its data: nobody can know what was asked.
    pub(super) fn data_lost(&mut self) {
        *self = Self::default();
    }

    /// A begin for one trigger serves those that were written before as well, and those that it was not asked again for.
    fn serves(&mut self, trigger: Zxid, items: impl IntoIterator<Item = ShardingItem>) {
        for item in items {
            for asked in self.open.iter_mut().filter(|asked| asked.oldest <= trigger) {
                asked.items.remove(&item);
            }
        }
    }

    fn hear(&mut self, scene: &Scene<'_>, host: usize, notice: &Notice) {
        match notice {
            Notice::Skipped { fire: Fire::Manual { trigger, .. }, items, .. } => {
                match (items.is_empty(), scene.instance(host)) {
                    (true, Some(id)) => self.reaches_items_of(scene, &id),
                    _ => {
                        self.declined.entry(*trigger).or_default().extend(items);
                        self.serves(*trigger, items.iter().copied());
                    }
                }
            }
            Notice::TriggerDropped { instance, items }
            | Notice::TriggerMerged { instance, items }
            | Notice::TriggerHandedOver { instance, items } => {
                match items.is_empty() {
                    true => self.reaches_items_of(scene, instance),
                    false => self.reaches(items.iter().copied()),
                }
                self.untold.retain(|untold| untold.host != host || untold.instance != *instance);
            }
            Notice::TriggerLeavesOut { items } => self.reaches(items.iter().copied()),
            // It says that it left without an answer, and cannot know more.
            Notice::LeftUnanswered => {
                self.forgive(scene, |untold| untold.host == host);
                if let Some(id) = scene.instance(host) {
                    self.reaches_items_of(scene, &id);
                }
            }
            _ => {}
        }
    }

    /// A process that was killed between the answer and its word for it leaves nobody who knows.
    fn forgive_the_killed(&mut self, scene: &Scene<'_>) {
        self.forgive(scene, |untold| life(scene, untold.host) != untold.life);
    }

    fn forgive(&mut self, scene: &Scene<'_>, is_such: impl Fn(&Untold) -> bool) {
        let forgiven: Vec<Untold> = self.untold.extract_if(.., |untold| is_such(untold)).collect();
        for Untold { at, instance, .. } in forgiven {
            let before = self.open.iter_mut().filter(|asked| asked.at <= at);
            before.for_each(|asked| asked.reaches_items_of(scene, |owner| owner == instance.as_str()));
        }
    }

    /// The instance of an item whose owner was deleted unheard is not known: it may be the one whose trigger was taken.
    fn reaches_unowned(&mut self, scene: &Scene<'_>) {
        if scene.shape.unheard {
            for asked in &mut self.open {
                asked.items.retain(|_, owner| owner.is_some());
            }
        }
    }

    /// The items that an instance has now, or had when it was asked.
    fn reaches_items_of(&mut self, scene: &Scene<'_>, id: &InstanceId) {
        self.reaches(items_of(scene, id));
        // An instance that does not hear that its item lost its owner goes on with the item, and knows no more than this one.
        self.reaches_unowned(scene);
        for asked in &mut self.open {
            asked.items.retain(|_, owner| owner.as_deref() != Some(id.as_str()));
        }
    }

    fn reaches(&mut self, items: impl IntoIterator<Item = ShardingItem>) {
        for item in items {
            self.open.iter_mut().for_each(|asked| {
                asked.items.remove(&item);
            });
        }
    }
}

/// The trigger that a transaction wrote, if it did. An instance asks for the items of the configuration that it has heard of.
fn asked(scene: &Scene<'_>, host: Option<usize>, transaction: &Transaction) -> Option<Asked> {
    let czxid = |path: &JobPath| Some(scene.node(path)?.stat.czxid);
    // One that is made and deleted in one is a guard.
    triggers(scene, transaction, |op| matches!(op, Op::Create { .. }))
        .find(|id| scene.exists(&JobPath::Trigger(id.clone())))?;
    let waiting = scene.children(&JobPath::Triggers);
    let waiting = waiting.iter().filter_map(|name| czxid(&JobPath::Trigger(name.parse().ok()?)));
    let owner = |item| (item, scene.text(&JobPath::owner_of(item)));
    let known = host.and_then(|host| Some(scene.configuration(host)?.sharding_total_count()));
    let total = usable_total(scene)?.min(known.unwrap_or(u32::MAX));
    Some(Asked { oldest: waiting.min()?, at: scene.now, items: (0..total).map(owner).collect() })
}

/// The triggers that a process took without running what they ask for: those of others that have ended, and its own where it leaves
/// or joins.
fn taken_untold<'a>(
    scene: &'a Scene<'_>,
    host: usize,
    transaction: &'a Transaction,
) -> impl Iterator<Item = InstanceId> + 'a {
    let own = scene.instance(host);
    let of_path = |path: &str| transaction.ops().iter().filter(|op| op.path() == path).count();
    // Made and deleted in one it is a guard; deleted and made again it is an instance.
    let is_instance = |op: &Op| match (op, JobPath::parse(scene.job, op.path())) {
        (Op::Create { .. }, Some(path @ JobPath::Instance(_))) => scene.exists(&path),
        (Op::Delete { path, .. }, Some(JobPath::Instance(_))) => of_path(path) == 1,
        _ => false,
    };
    let comes_or_goes = transaction.ops().iter().any(is_instance);
    triggers(scene, transaction, |op| matches!(op, Op::Delete { .. })).filter(move |id| {
        match own.as_ref() == Some(id) {
            true => comes_or_goes,
            false => !is_there(scene, id.as_str()),
        }
    })
}

/// The life of the process of a host.
fn life(scene: &Scene<'_>, host: usize) -> Option<u64> {
    scene.hosts[host].process.as_ref().map(|process| process.life)
}

fn triggers<'a>(
    scene: &'a Scene<'_>,
    transaction: &'a Transaction,
    is_meant: impl Fn(&Op) -> bool + 'a,
) -> impl Iterator<Item = InstanceId> + 'a {
    transaction.ops().iter().filter(move |op| is_meant(op)).filter_map(|op| {
        match JobPath::parse(scene.job, op.path())? {
            JobPath::Trigger(id) => Some(id),
            _ => None,
        }
    })
}

/// The total count that the registry has, where it can be used: what is in force else, the engines alone know.
fn usable_total(scene: &Scene<'_>) -> Option<u32> {
    let configuration = wire::from_yaml(scene.job, &scene.data(&JobPath::Config)?).ok()?;
    Some(configuration.sharding_total_count())
}

/// Whether an instance has a trigger.
fn is_asked(scene: &Scene<'_>, owner: Option<&str>) -> bool {
    let owner = owner.and_then(|owner| owner.parse().ok());
    owner.is_some_and(|owner| scene.exists(&JobPath::Trigger(owner)))
}

/// Whether an instance has its node.
fn is_there(scene: &Scene<'_>, owner: &str) -> bool {
    owner.parse().is_ok_and(|owner| scene.exists(&JobPath::Instance(owner)))
}

/// The items that are assigned to an instance.
fn items_of(scene: &Scene<'_>, id: &InstanceId) -> Vec<ShardingItem> {
    let is_owner = |item: &ShardingItem| scene.text(&JobPath::owner_of(*item)).as_deref() == Some(id.as_str());
    (0..scene.total).filter(is_owner).collect()
}
