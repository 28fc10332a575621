//! A scheduled fire of an item is begun once; with every begin of an item its fencing token grows.
//!
//! Beside Java instances it holds for ours, until a Java leader deletes the item with its record, as it does when the
//! total count shrinks (finding 9): nobody can tell then what was begun of an item that is made anew. What Java begins
//! has no record.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::engine::Fire;
use crate::ident::ShardingItem;
use crate::registry::Op;
use crate::registry::path::{ItemNode, JobPath};

#[derive(Debug, Default)]
pub(super) struct BegunOnce {
    begun: BTreeMap<(ShardingItem, Fire), usize>,
    tokens: BTreeMap<ShardingItem, i64>,
}

impl BegunOnce {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        if let Observation::Committing { host: Some(host), transaction, .. } = observation
            && scene.is_java(*host)
        {
            for op in transaction.ops() {
                if let (Op::Delete { .. }, Some(JobPath::Item(item, ItemNode::Fire))) =
                    (op, JobPath::parse(scene.job, op.path()))
                {
                    self.begun.retain(|(begun, _), _| *begun != item);
                }
            }
        }
        let Observation::Started { host, item, fire, token } = observation else { return Ok(()) };
        if !scene.monitored || scene.is_java(*host) {
            return Ok(());
        }
        if let Some(before) = self.begun.insert((*item, *fire), *host) {
            return Err(format!("host {host} begins item {item} of {fire}, which host {before} began before"));
        }
        let Some(token) = token else { return Err(format!("item {item} of {fire} has no fencing token")) };
        match self.tokens.insert(*item, *token) {
            Some(before) if before >= *token => {
                Err(format!("the token of item {item} went from {before} to {token} with {fire}"))
            }
            _ => Ok(()),
        }
    }
}
