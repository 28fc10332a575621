//! Every item of every scheduled fire is begun by somebody, or somebody says why not. Around a fault it may be lost
//! with the process or the connection that was to run it; without a fault it must have been begun.
//!
//! Beside Java instances it holds once the faults are over. What Java leaves out of a fire that is its own, and says so
//! in the model, is accounted for: its only worker was busy, or the item was marked, disabled or taken over.

use std::collections::{BTreeMap, BTreeSet};

use super::kept::Kept;
use super::{Observation, Scene};
use crate::config::wire;
use crate::engine::{Fire, Notice, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::Transaction;
use crate::registry::path::{ItemNode, JobPath};
use crate::testing::sim::{EPOCH, Program};

/// How far a fault reaches, in milliseconds: the longest session time-out, then an election, a resharding and the wait
/// of a fire for it.
const REACH: i64 = 25_000;
/// How long an instance may take to find its place after it has registered.
const JOINED: i64 = 5_000;
/// When the processes of a group have all started.
const STARTED: i64 = 10_000;

#[derive(Debug)]
pub(super) struct Accounted {
    /// From when there is a fire every so many milliseconds.
    schedules: BTreeMap<i64, i64>,
    begun: BTreeMap<i64, BTreeSet<ShardingItem>>,
    /// Skipped items of a fire, all when there are none.
    skipped: BTreeMap<i64, Vec<(Vec<ShardingItem>, SkipReason)>>,
    /// Items that a Java instance leaves out of a fire.
    left_out: BTreeMap<i64, BTreeSet<ShardingItem>>,
    /// Beside Java instances: who owned each item from when on, in milliseconds since 1970.
    owners: BTreeMap<ShardingItem, BTreeMap<i64, String>>,
    incidents: BTreeSet<i64>,
    calm_from: i64,
    until: i64,
    /// Who led in the calm.
    leader: String,
    /// Java instances that never heard of the last cron expression: one that reconnects at the wrong moment misses it.
    out_of_date: BTreeSet<String>,
}

impl Accounted {
    pub(super) fn new(period: u32) -> Self {
        Self {
            schedules: BTreeMap::from([(0, i64::from(period) * 1_000)]),
            begun: BTreeMap::new(),
            skipped: BTreeMap::new(),
            left_out: BTreeMap::new(),
            owners: BTreeMap::new(),
            incidents: BTreeSet::new(),
            calm_from: i64::MAX,
            until: 0,
            leader: String::new(),
            out_of_date: BTreeSet::new(),
        }
    }

    pub(super) fn scheduled(&mut self, wall: i64, period: u32) {
        self.schedules.insert(wall, i64::from(period) * 1_000);
    }

    pub(super) fn incident(&mut self, wall: i64) {
        self.incidents.insert(wall);
    }

    /// An instance that is gone ran it.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem, fire: Fire) {
        self.begun.entry(fire.at()).or_default().insert(item);
    }

    pub(super) fn check(
        &mut self,
        scene: &Scene<'_>,
        observation: &Observation<'_>,
        kept: &Kept,
    ) -> Result<(), String> {
        match observation {
            Observation::Started { item, fire: Fire::Scheduled(at), .. } => {
                self.begun.entry(*at).or_default().insert(*item);
            }
            Observation::Notice { notice: Notice::Skipped { fire: Fire::Scheduled(at), items, reason }, .. } => {
                self.skipped.entry(*at).or_default().push((items.clone(), reason.clone()));
            }
            // Starting and leaving is no fault where the record tells who begins what.
            Observation::Notice { notice: Notice::Registered { .. } | Notice::Left, .. } if !scene.shape.monitored => {
                self.incident(EPOCH + scene.now as i64);
            }
            // Nobody is there to say anything.
            Observation::Notice { notice: Notice::Left, .. } if scene.children(&JobPath::Instances).is_empty() => {
                self.incident(EPOCH + scene.now as i64);
            }
            Observation::LeftOut { instance, fires, items } => {
                for fire in *fires {
                    let then = self.owned_by(&instance.to_string(), *fire);
                    self.left_out.entry(*fire).or_default().extend(items.iter().copied().chain(then));
                }
            }
            Observation::Committed { transaction, .. } if scene.is_mixed() => self.note_owners(scene, transaction),
            Observation::Calm { from, until } => {
                (self.calm_from, self.until) = (*from, *until);
                self.leader = scene.text(&JobPath::LeaderInstance).unwrap_or_default();
                self.out_of_date = out_of_date(scene);
            }
            Observation::Over => return self.settle(scene, kept),
            _ => {}
        }
        Ok(())
    }

    fn note_owners(&mut self, scene: &Scene<'_>, transaction: &Transaction) {
        for op in transaction.ops() {
            let Some(JobPath::Item(item, ItemNode::Instance)) = JobPath::parse(scene.job, op.path()) else { continue };
            // Java leaders delete all owners for a moment, before they assign the items.
            if let Some(owner) = scene.text(&JobPath::owner_of(item)) {
                self.owners.entry(item).or_default().insert(EPOCH + scene.now as i64, owner);
            }
        }
    }

    fn owned_by(&self, instance: &str, at: i64) -> Vec<ShardingItem> {
        let owner = |owners: &BTreeMap<i64, String>| {
            owners.range(..=at).next_back().is_some_and(|(_, owner)| owner == instance)
        };
        self.owners.iter().filter(|(_, owners)| owner(owners)).map(|(item, _)| *item).collect()
    }

    /// Looks at every fire between the start and the end of the calm.
    fn settle(&self, scene: &Scene<'_>, kept: &Kept) -> Result<(), String> {
        // With static sharding all owners may be gone before the first fire for good.
        if self.begun.is_empty() && !scene.shape.static_sharding {
            return Err("nothing ever fired".to_owned());
        }
        let last = self.until - 2_000;
        let mut at = EPOCH + STARTED;
        while at <= last {
            let period = self.schedules.range(..=at).next_back().map_or(1_000, |(_, period)| *period);
            // Periods divide a minute, so fires are at their multiples.
            if at % period != 0 {
                at += period - at % period;
                continue;
            }
            self.account(scene, at, kept)?;
            at += period;
        }
        Ok(())
    }

    fn account(&self, scene: &Scene<'_>, at: i64, kept: &Kept) -> Result<(), String> {
        let disturbed = self.incidents.range(at - REACH..at + REACH).next().is_some();
        // A Java leader reshards when it fires next and nothing runs, so a fault reaches to the calm.
        if disturbed || (scene.is_mixed() && at < self.calm_from) {
            return Ok(());
        }
        let begun = self.begun.get(&at);
        let excused = self.skipped.get(&at);
        for item in 0..scene.total {
            let by_somebody = begun.is_some_and(|items| items.contains(&item));
            let with_reason = excused.is_some_and(|skips| {
                skips.iter().any(|(items, reason)| {
                    let meant = items.is_empty() || items.contains(&item);
                    meant && is_good(reason)
                })
            });
            let by_java = self.left_out.get(&at).is_some_and(|items| items.contains(&item));
            let by_another_schedule = || self.out_of_date.iter().any(|id| self.owned_by(id, at).contains(&item));
            if by_somebody || with_reason || by_java || by_another_schedule() {
                continue;
            }
            // Nobody may take its place; the leader says so.
            let gone = kept.was_gone(item, at - JOINED, at + REACH);
            let said = || {
                let is_that = |reason: &SkipReason| matches!(reason, SkipReason::OwnerGone { .. });
                excused
                    .is_some_and(|skips| skips.iter().any(|(items, reason)| items.contains(&item) && is_that(reason)))
            };
            // A Java leader says nothing.
            let by_java = scene.is_mixed() && scene.java_ids.contains(&self.leader);
            if !gone || (at >= self.calm_from && !said() && !by_java) {
                return Err(format!(
                    "item {item} of the fire at {} ({at}) was not begun; skips: {excused:?}",
                    at - EPOCH
                ));
            }
        }
        Ok(())
    }
}

/// Java instances that follow another cron expression than that of the registry.
fn out_of_date(scene: &Scene<'_>) -> BTreeSet<String> {
    let data = scene.text(&JobPath::Config).unwrap_or_default();
    let configuration = wire::from_yaml(scene.job, data.as_bytes()).ok();
    let Some(schedule) = configuration.as_ref().and_then(|configuration| configuration.schedule()) else {
        return BTreeSet::new();
    };
    let java = scene.hosts.iter().filter_map(|host| match &host.process.as_ref()?.program {
        Program::Java(java) if java.differs(schedule.cron().as_str()) => Some(java.id().to_string()),
        _ => None,
    });
    java.collect()
}

/// Reasons that hold without any fault.
fn is_good(reason: &SkipReason) -> bool {
    match reason {
        SkipReason::StillRunning { .. }
        | SkipReason::ClockOff { .. }
        | SkipReason::RunsElsewhere { .. }
        | SkipReason::ItemDisabled => true,
        // Only while the owner is gone, which is looked at by itself.
        SkipReason::OwnerGone { .. }
        | SkipReason::AlreadyBegun { .. }
        | SkipReason::DecidedAhead { .. }
        | SkipReason::AwaitingFailover
        | SkipReason::BeginUnknown
        | SkipReason::Refused
        | SkipReason::NotBegunInTime
        | SkipReason::ServerDisabled
        | SkipReason::Leaving
        | SkipReason::RegistryLost
        | SkipReason::TooLate { .. }
        | SkipReason::MaybeRunByJava => false,
    }
}
