//! With `SINGLE_SHARDING_BALANCE` and nothing wrong no instance runs the first item twice in a row, when there was time
//! to hand it on.

use super::{Observation, Scene};
use crate::registry::Op;
use crate::registry::layout::{ItemNode, JobPath};
use crate::sharding::SINGLE_SHARDING_BALANCE;
use crate::testing::sim::Millis;

/// How long handing on takes: the leader hears of the end, reads the record and assigns.
const HAND_ON: Millis = 300;

#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Since when no instance runs an item, or is to run one for a trigger: until then they stay.
    quiet_since: Option<Millis>,
    /// Whether it was quiet for long enough when item 0 was begun last.
    was_quiet: bool,
    ran_last: Option<usize>,
}

impl Turns {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        if scene.shape.strategy != SINGLE_SHARDING_BALANCE || !scene.calm {
            return Ok(());
        }
        match observation {
            Observation::Committed { transaction, .. } => {
                let mark = JobPath::running(0).absolute(scene.job);
                if transaction.ops().iter().any(|op| matches!(op, Op::Create { path, .. } if *path == mark)) {
                    self.was_quiet = self.quiet_since.is_some_and(|since| scene.now - since > HAND_ON);
                }
                let items = scene.children(&JobPath::Sharding);
                let runs = |item: &String| {
                    item.parse().is_ok_and(|item| scene.text(&JobPath::Item(item, ItemNode::Running)).is_some())
                };
                let quiet = !items.iter().any(runs) && scene.children(&JobPath::Triggers).is_empty();
                self.quiet_since = self.quiet_since.or(Some(scene.now)).filter(|_| quiet);
            }
            Observation::Started { host, item: 0, fire, .. } => {
                let others = scene.children(&JobPath::Instances).len() > 1;
                if self.ran_last.replace(*host) == Some(*host) && others && self.was_quiet {
                    return Err(format!("host {host} runs item 0 of {fire}, and ran it the last time"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
