//! Without faults a fire begins at once, unless it is made up for after a run that went on. A Java instance begins it
//! when it has read all it needs.

use std::collections::BTreeSet;

use super::{Observation, Scene};
use crate::engine::Notice;
use crate::fire::{ExecutionSource, Fire, SkipReason};
use crate::testing::sim::EPOCH;

/// How late an item may begin in the calm, in milliseconds: clocks disagree by a little, and a run may have to be
/// finished before.
const LATE: i64 = 1_500;

#[derive(Debug, Default)]
pub(super) struct Punctual {
    /// Fires that fell into a running one somewhere.
    overrun: BTreeSet<Fire>,
}

impl Punctual {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Notice {
                notice:
                    Notice::Skipped {
                        fire, reason: SkipReason::StillRunning { .. } | SkipReason::RunsElsewhere { .. }, ..
                    },
                ..
            } => {
                self.overrun.insert(*fire);
            }
            Observation::Started {
                host,
                item,
                fire: fire @ Fire::Scheduled(at),
                source: ExecutionSource::NormalTrigger,
                ..
            } => {
                let late = EPOCH + scene.now as i64 - at;
                // Items that move on, or were left where they ran, reach an instance which is free while the fire is open.
                let moved_on = self.overrun.contains(fire);
                // The items start when their listeners have returned.
                let allowed = LATE + scene.shape.listeners.delay() as i64;
                if scene.calm && !scene.is_java(*host) && late > allowed && !moved_on {
                    return Err(format!("host {host} begins item {item} {late} ms late, and nothing was wrong"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
