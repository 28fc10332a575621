//! A scheduled fire of an item is begun once, and again only as failover of a run that was not finished; with every
//! begin of an item its fencing token grows.
//!
//! It holds for monitored runs; what runs while monitoring is switched off has no record and no token, and may be begun
//! again when it is switched on.
//!
//! Beside Java instances it holds for ours, until a Java leader deletes the item with its record, as it does when the
//! total count shrinks (finding 9): no instance can tell then what was begun of an item that is made again. What Java
//! begins has no record.

use std::collections::{BTreeMap, BTreeSet};

use super::{Observation, Scene};
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState};
use crate::ident::ShardingItem;
use crate::registry::Op;
use crate::registry::layout::{ItemNode, JobPath};
use crate::testing::sim::{EPOCH, Millis};

/// How long it takes until all instances have heard that monitoring is on, and what was decided before has begun.
const SWITCHED: Millis = 40_000;

#[derive(Debug, Default)]
pub(super) struct BegunOnce {
    /// Items whose mark of a Java run was replaced.
    of_java: BTreeSet<ShardingItem>,
    begun: BTreeMap<(ShardingItem, Fire), usize>,
    /// Runs that a clock that was ahead kept from starting before their time.
    early: BTreeSet<Attempt>,
    /// Ends that the registry knows.
    finished: BTreeSet<(ShardingItem, Fire)>,
    tokens: BTreeMap<ShardingItem, i64>,
}

impl BegunOnce {
    /// What a clock far ahead began has no record any more: the fire comes again at its time.
    pub(super) fn data_lost(&mut self, now: Millis) {
        let has_come = |fire: &Fire| fire.at() <= EPOCH + now as i64;
        self.begun.retain(|(_, fire), _| has_come(fire));
        self.finished.retain(|(_, fire)| has_come(fire));
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        match observation {
            Observation::Committing { host: Some(host), transaction, .. } if scene.is_java(*host) => {
                for op in transaction.ops() {
                    if let (Op::Delete { .. }, Some(JobPath::Item(item, ItemNode::Fire))) =
                        (op, JobPath::parse(scene.job, op.path()))
                    {
                        self.begun.retain(|(begun, _), _| *begun != item);
                        self.finished.retain(|(finished, _)| *finished != item);
                    }
                }
                Ok(())
            }
            Observation::Committing { host: Some(_), transaction, .. } if scene.is_mixed() => {
                for op in transaction.ops() {
                    if let Some(JobPath::Item(item, ItemNode::Running)) = JobPath::parse(scene.job, op.path())
                        && scene.text(&JobPath::running(item)).is_some_and(|id| scene.java_ids.contains(&id))
                    {
                        self.of_java.insert(item);
                    }
                }
                Ok(())
            }
            Observation::Committed { transaction, .. } => {
                for op in transaction.ops() {
                    if let Op::Set { path, data, .. } = op
                        && let Some(JobPath::Item(item, ItemNode::Fire)) = JobPath::parse(scene.job, path)
                    {
                        self.look_at_end(scene, item, &FireRecord::parse(data));
                    }
                }
                Ok(())
            }
            Observation::Started { host, item, fire, source, token } if !scene.is_java(*host) => match token {
                Some(token) => self.begin(*host, *item, *fire, *source, *token),
                None if scene.shape.monitored && scene.monitored_for > SWITCHED => {
                    Err(format!("item {item} of {fire} has no fencing token"))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// An instance that is gone ran it.
    pub(super) fn begun_ahead(&mut self, item: ShardingItem, fire: Fire) {
        self.finished.insert((item, fire));
    }

    fn look_at_end(&mut self, scene: &Scene<'_>, item: ShardingItem, record: &FireRecord) {
        let Some(begun) = record.last.as_ref().filter(|begun| !begun.state.is_unfinished()) else { return };
        // A clock that was ahead kept it from starting before its time: then it is begun.
        if begun.state == FireState::NotRun && begun.at > EPOCH + scene.now as i64 {
            self.early.insert(begun.attempt.clone());
        }
        if let Some(fire) = record.last_fire().filter(|_| !self.early.contains(&begun.attempt)) {
            self.finished.insert((item, fire));
        }
    }

    fn begin(
        &mut self,
        host: usize,
        item: ShardingItem,
        fire: Fire,
        source: ExecutionSource,
        token: i64,
    ) -> Result<(), String> {
        // What Java ran is known by its time alone, which may be that of a fire of ours.
        if self.of_java.remove(&item) && source == ExecutionSource::Failover {
            self.finished.remove(&(item, fire));
        }
        if self.finished.contains(&(item, fire)) {
            return Err(format!("host {host} begins item {item} of {fire} as {source}, which was finished before"));
        }
        let before = self.begun.insert((item, fire), host);
        if let Some(before) = before.filter(|_| source != ExecutionSource::Failover) {
            return Err(format!("host {host} begins item {item} of {fire}, which host {before} began before"));
        }
        match self.tokens.insert(item, token) {
            Some(before) if before >= token => {
                Err(format!("the token of item {item} went from {before} to {token} with {fire}"))
            }
            _ => Ok(()),
        }
    }
}
