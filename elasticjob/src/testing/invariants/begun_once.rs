//! A scheduled fire of an item is begun once; with every begin of an item its fencing token grows.

use std::collections::BTreeMap;

use super::{Observation, Scene};
use crate::engine::Fire;
use crate::ident::ShardingItem;

#[derive(Debug, Default)]
pub(super) struct BegunOnce {
    begun: BTreeMap<(ShardingItem, Fire), usize>,
    tokens: BTreeMap<ShardingItem, i64>,
}

impl BegunOnce {
    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        let Observation::Started { host, item, fire, token } = observation else { return Ok(()) };
        if !scene.shape.monitored {
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
