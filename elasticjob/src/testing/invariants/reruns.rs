//! A run that an operator's re-run began knows for which past fire it runs, whichever instance goes on with it.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::fire::{Fire, Rerun};
use crate::registry::layout::JobPath;
use crate::registry::{Op, Zxid};

#[derive(Debug, Default)]
pub(super) struct Reruns {
    /// The triggers that ask for one, by the transaction that created them.
    asked: BTreeMap<Zxid, Rerun>,
}

impl Reruns {
    /// An operator asked for a re-run with this transaction.
    pub(super) fn asked(&mut self, trigger: Zxid, rerun: Rerun) {
        self.asked.insert(trigger, rerun);
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committed { transaction, .. } => {
                for op in transaction.ops() {
                    let Op::Create { path, data, .. } = op else { continue };
                    let Some(path @ JobPath::Trigger(_)) = JobPath::parse(scene.job, path) else { continue };
                    // Made and deleted in one it only guards.
                    let Some(node) = scene.node(&path) else { continue };
                    if let Some(rerun) = Rerun::parse(data, node.stat.ctime) {
                        self.asked(node.stat.czxid, rerun);
                    }
                }
            }
            Observation::Started { host, item, fire: fire @ Fire::Manual { trigger, rerun, .. }, source, .. }
                if !scene.is_java(*host) =>
            {
                let asked = self.asked.get(trigger).copied();
                if *rerun != asked {
                    return Err(format!(
                        "item {item} starts for {fire} ({source}) as {rerun:?}, and its trigger asked for {asked:?}"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
