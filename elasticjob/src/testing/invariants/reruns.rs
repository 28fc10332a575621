//! A run that a manual trigger began knows for which past fire it runs and to which trace it belongs, whichever instance goes
//! on with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Scene};
use crate::fire::{Fire, TriggerData};
use crate::registry::layout::JobPath;
use crate::registry::{Op, Zxid};

#[derive(Debug, Default)]
pub(super) struct Reruns {
    /// The triggers that say more than that the job is to run, by the transaction that created them.
    asked: BTreeMap<Zxid, TriggerData>,
    /// Those whose data a Java instance that triggers the job empties: it writes over a node that is there.
    emptied: BTreeSet<Zxid>,
}

impl Reruns {
    /// An operator triggered the job with this transaction.
    pub(super) fn asked(&mut self, trigger: Zxid, data: TriggerData) {
        self.asked.insert(trigger, data);
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committed { transaction, .. } => {
                for op in transaction.ops() {
                    let (Op::Create { path, data, .. } | Op::Set { path, data, .. }) = op else { continue };
                    let Some(path @ JobPath::Trigger(_)) = JobPath::parse(scene.job, path) else { continue };
                    // Made and deleted in one it only guards.
                    let Some(node) = scene.node(&path) else { continue };
                    if matches!(op, Op::Set { .. }) {
                        self.emptied.insert(node.stat.czxid);
                        continue;
                    }
                    let data = TriggerData::parse(data, node.stat.ctime);
                    if data != TriggerData::default() {
                        self.asked(node.stat.czxid, data);
                    }
                }
            }
            Observation::Started { host, item, fire: fire @ Fire::Manual { trigger, rerun, .. }, source, .. }
                if !scene.is_java(*host) =>
            {
                let asked = self.asked.get(trigger).copied().unwrap_or_default();
                let known = TriggerData { rerun: *rerun, trace_parent: fire.trace_parent() };
                let is_empty = self.emptied.contains(trigger) && known == TriggerData::default();
                if known != asked && !is_empty {
                    return Err(format!(
                        "item {item} starts for {fire} ({source}) as {known:?}, and its trigger asked for {asked:?}"
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
