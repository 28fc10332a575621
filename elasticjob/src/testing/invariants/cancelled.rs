//! A run that an operator cancelled ends soon, and is not repeated for its fire: not by failover, also where its
//! instance is lost before it hears of the request, and not where its begin was never answered.
//!
//! Groups without Java instances: those take a lost run over whatever its record says.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::fire::{Attempt, Fire, FireRecord};
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::testing::sim::{EPOCH, Millis};

/// How long an instance may take to hear of the request, once nothing goes wrong.
const HEARD: Millis = 5_000;

#[derive(Debug, Default)]
pub(super) struct Cancelled {
    /// The request for each run, and when it was made.
    asked: BTreeMap<(ShardingItem, Fire), (Attempt, Millis)>,
    /// When runs of these started last.
    started: BTreeMap<(ShardingItem, Fire), Millis>,
}

impl Cancelled {
    /// An operator cancelled this run.
    pub(super) fn asked(&mut self, now: Millis, item: ShardingItem, fire: Fire, attempt: Attempt) {
        self.asked.insert((item, fire), (attempt, now));
    }

    /// What a clock ahead ran has no record any more: the fire comes again at its time.
    pub(super) fn data_lost(&mut self, now: Millis) {
        self.asked.retain(|(_, fire), _| fire.at() <= EPOCH + now as i64);
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            // Without records an instance whose clock is behind cannot know of it.
            Observation::Started { token: None, .. } => Ok(()),
            Observation::Started { host, item, fire, .. } => {
                self.started.insert((*item, *fire), scene.now);
                let Some((attempt, _)) = self.asked.get(&(*item, *fire)) else { return Ok(()) };
                let record = scene.data(&JobPath::fire(*item)).map(|data| FireRecord::parse(&data));
                // It had begun before, and its instance did not know.
                if record.is_some_and(|record| record.is_attempt(attempt)) {
                    return Ok(());
                }
                Err(format!("host {host} starts item {item} of {fire}, which an operator cancelled"))
            }
            Observation::Attended { host } if scene.calm => {
                let Some(process) = &scene.hosts[*host].process else { return Ok(()) };
                let goes_on = process.executions.iter().find(|(item, run)| {
                    let key = (**item, run.fire);
                    let asked = self.asked.get(&key).map(|(_, at)| *at);
                    let since = asked.max(self.started.get(&key).copied().filter(|_| asked.is_some()));
                    !run.cancelled && since.is_some_and(|since| scene.now > since + HEARD)
                });
                match goes_on {
                    Some((item, run)) => Err(format!(
                        "host {host} goes on with item {item} of {}, which an operator cancelled",
                        run.fire
                    )),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
