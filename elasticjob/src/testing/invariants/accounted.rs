//! Every item of every scheduled fire is begun by somebody, or somebody says why not. Around a fault it may be lost
//! with the process or the connection that was to run it; without a fault it must have been begun.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Scene};
use crate::engine::{Notice, SkipReason};
use crate::ident::ShardingItem;
use crate::testing::sim::EPOCH;

/// How far a fault reaches, in milliseconds: the longest session time-out, then an election, a resharding and the wait
/// of a fire for it.
const REACH: i64 = 25_000;
/// When the processes of a group have all started.
const STARTED: i64 = 10_000;

#[derive(Debug, Default)]
pub(super) struct Accounted {
    begun: BTreeMap<i64, BTreeSet<ShardingItem>>,
    /// Skipped items of a fire, all when there are none.
    skipped: BTreeMap<i64, Vec<(Vec<ShardingItem>, SkipReason)>>,
    incidents: BTreeSet<i64>,
    until: i64,
}

impl Accounted {
    pub(super) fn incident(&mut self, wall: i64) {
        self.incidents.insert(wall);
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Started { item, fire, .. } => {
                if let crate::engine::Fire::Scheduled(at) = fire {
                    self.begun.entry(*at).or_default().insert(*item);
                }
            }
            Observation::Notice { notice: Notice::Skipped { fire, items, reason }, .. } => {
                if let crate::engine::Fire::Scheduled(at) = fire {
                    self.skipped.entry(*at).or_default().push((items.clone(), reason.clone()));
                }
            }
            // Starting and leaving is no fault where the record tells who begins what.
            Observation::Notice { notice: Notice::Registered { .. } | Notice::Left, .. } if !scene.monitored => {
                self.incident(EPOCH + scene.now as i64);
            }
            Observation::Calm { until, .. } => self.until = *until,
            Observation::Over => return self.settle(scene),
            _ => {}
        }
        Ok(())
    }

    /// Looks at every fire between the start and the end of the calm.
    fn settle(&self, scene: &Scene<'_>) -> Result<(), String> {
        let fires: BTreeSet<i64> = self.begun.keys().chain(self.skipped.keys()).copied().collect();
        let period = fires.iter().zip(fires.iter().skip(1)).map(|(a, b)| b - a).min().unwrap_or(1_000);
        let Some(first) = fires.first() else { return Err("nothing ever fired".to_owned()) };
        let last = self.until - 2_000;
        for at in (0..).map(|n| first + n * period).take_while(|at| *at <= last) {
            let disturbed = self.incidents.range(at - REACH..at + REACH).next().is_some();
            if at < EPOCH + STARTED || disturbed {
                continue;
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
                if !by_somebody && !with_reason {
                    return Err(format!(
                        "item {item} of the fire at {} ({at}) was not begun; skips: {excused:?}",
                        at - EPOCH
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Reasons that hold without any fault.
fn is_good(reason: &SkipReason) -> bool {
    match reason {
        SkipReason::StillRunning { .. } | SkipReason::RunsElsewhere { .. } | SkipReason::ItemDisabled => true,
        SkipReason::AlreadyBegun { .. }
        | SkipReason::Refused
        | SkipReason::NotBegunInTime
        | SkipReason::ServerDisabled
        | SkipReason::Leaving
        | SkipReason::RegistryLost => false,
    }
}
