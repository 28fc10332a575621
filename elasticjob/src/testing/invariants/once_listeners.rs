//! A once listener is called at most once for a fire before its items, and at most once after them: before any item of
//! the fire starts, and when all that began have ended. An instance that goes on without the call says so, and without
//! faults no instance does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Observation, Scene};
use crate::engine::{KEPT_FIRES, Notice};
use crate::fire::{CancelReason, Fire, Hook};
use crate::ident::ShardingItem;
use crate::registry::layout::{JobPath, name};
use crate::testing::sim::{EPOCH, Execution, Millis};

/// How long a change of the listeners takes to reach every fire.
const SWITCHED: Millis = 60_000;
/// How long what happens at one host may be unknown at another one.
const UNHEARD: Millis = 3_000;

type Key = (Fire, Arc<str>, Hook);

#[derive(Debug, Default)]
pub(super) struct Once {
    on: bool,
    switched_at: Option<Millis>,
    /// When a call began, and whether it is over.
    calls: BTreeMap<Key, bool>,
    /// Hosts that said that they go on without.
    without: BTreeSet<(Key, usize)>,
    /// Fires that are older than those which the record remembers, or whose round ended with the grace time of a shutdown.
    forgotten: BTreeSet<Fire>,
    /// When each item of a fire started last.
    started: BTreeMap<(Fire, ShardingItem), Millis>,
    /// Of fires of the calm, when the first item started.
    calm: BTreeMap<Fire, Millis>,
    /// Runs of the calm that are not over, and when they began.
    open: BTreeMap<(usize, Fire), Millis>,
}

impl Once {
    /// What a clock ahead ran has no record any more: the fire comes again at its time.
    pub(super) fn data_lost(&mut self, now: Millis) {
        self.calls.retain(|(fire, ..), _| fire.at() <= EPOCH + now as i64);
    }

    pub(super) fn check(&mut self, scene: &Scene<'_>, observation: &Observation<'_>) -> Result<(), String> {
        if scene.shape.listeners.on != self.on {
            self.on = scene.shape.listeners.on;
            self.switched_at = (scene.now > 0).then_some(scene.now);
        }
        match observation {
            Observation::Called { host, fire, hook, listeners } => self.called(scene, *host, *fire, *hook, listeners),
            Observation::CallEnded { fire, hook, listeners, .. } => {
                for listener in *listeners {
                    self.calls.entry((*fire, listener.clone(), *hook)).and_modify(|over| *over = true);
                }
                Ok(())
            }
            Observation::Started { host, item, fire, .. } => self.start(scene, *host, *item, *fire),
            Observation::Notice { host, notice } => self.hear(scene, *host, notice),
            Observation::Calm { until, .. } => self.settle(scene, (until - EPOCH) as Millis),
            Observation::AllLeft => match scene.children(&JobPath::Guarantee).iter().find(|name| *name != name::ROUNDS)
            {
                Some(name) => Err(format!("{}/{name} is left", JobPath::Guarantee)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether so many fires came after it that it is not remembered: the run of one item took many periods, while others
    /// went on. A fire counts from its first call on, which comes before its items begin.
    fn is_forgotten(&self, fire: Fire) -> bool {
        let began = |fire: Fire| self.started.range((fire, 0)..=(fire, u32::MAX)).map(|(_, at)| *at).min();
        let own = began(fire);
        let started = self.started.keys().map(|(fire, _)| *fire);
        let mut fires: BTreeSet<Fire> = started.chain(self.calls.keys().map(|(fire, ..)| *fire)).collect();
        fires.remove(&fire);
        fires.into_iter().filter(|fire| began(*fire).is_none_or(|at| Some(at) > own)).count() >= KEPT_FIRES
    }

    /// Whether the listeners are as they are for long, also in the registry: where that lost its data, an instance wrote its
    /// own configuration, from before a switch.
    fn is_steady(&self, scene: &Scene<'_>) -> bool {
        let is_written = |on| scene.text(&JobPath::Config).is_none_or(|yaml| yaml.contains("jobListenerTypes") == on);
        self.switched_at.is_none_or(|at| scene.now > at + SWITCHED) && is_written(self.on)
    }

    fn called(
        &mut self,
        scene: &Scene<'_>,
        host: usize,
        fire: Fire,
        hook: Hook,
        listeners: &[Arc<str>],
    ) -> Result<(), String> {
        for listener in listeners.iter().filter(|name| ["once", "again"].contains(&name.as_ref())) {
            if self.calls.insert((fire, listener.clone(), hook), false).is_some() {
                return Err(format!("host {host} calls {listener} {hook} {fire}, for which it was called before"));
            }
            if hook == Hook::After {
                self.all_ended(scene, host, fire)?;
            }
        }
        Ok(())
    }

    fn all_ended(&self, scene: &Scene<'_>, host: usize, fire: Fire) -> Result<(), String> {
        // An item may be begun again, for a later fire, while its run goes on that began while execution was monitored.
        if !scene.shape.monitored {
            return Ok(());
        }
        for (other, process) in scene.hosts.iter().enumerate().filter_map(|(n, host)| Some((n, host.process.as_ref()?)))
        {
            if process.is_frozen() {
                continue;
            }
            // What began unmonitored, before listeners that are called once were switched on, has no mark to wait for.
            let counts = |run: &Execution| run.fire == fire && !run.cancelled && run.token.is_some();
            let mut running = process.executions.iter().filter(|(_, run)| counts(run));
            let long = |item| self.started.get(&(fire, item)).is_some_and(|at| scene.now > at + UNHEARD);
            if let Some((item, _)) = running.find(|(item, _)| long(**item)) {
                return Err(format!("host {host} is called after {fire} while host {other} runs its item {item}"));
            }
        }
        Ok(())
    }

    fn start(&mut self, scene: &Scene<'_>, host: usize, item: ShardingItem, fire: Fire) -> Result<(), String> {
        self.started.insert((fire, item), scene.now);
        if scene.calm {
            self.calm.entry(fire).or_insert(scene.now);
        }
        if !self.is_steady(scene) {
            return Ok(());
        }
        for listener in scene.shape.listeners.once() {
            let key = (fire, Arc::from(listener), Hook::Before);
            let is_over = self.calls.get(&key) == Some(&true);
            if !is_over && !self.without.contains(&(key, host)) {
                return Err(format!("host {host} starts item {item} of {fire} before the call of {listener} is over"));
            }
        }
        Ok(())
    }

    fn hear(&mut self, scene: &Scene<'_>, host: usize, notice: &Notice) -> Result<(), String> {
        match notice {
            Notice::ListenerTimedOut { fire, listener, hook, .. }
            | Notice::ListenerInterrupted { fire, listener, hook, .. }
            | Notice::ListenerTooLate { fire, listener, hook } => {
                self.without.insert(((*fire, listener.clone(), *hook), host));
                let is_of_calm = self.open.contains_key(&(host, *fire));
                if matches!(notice, Notice::ListenerTooLate { .. }) && self.is_forgotten(*fire) {
                    self.forgotten.insert(*fire);
                } else if is_of_calm && scene.shape.listeners.is_patient() && self.is_steady(scene) {
                    return Err(format!("nothing is wrong, and host {host} says {notice:?}"));
                }
            }
            Notice::ListenersCutOff { fire, reason: CancelReason::Shutdown } => {
                self.forgotten.insert(*fire);
            }
            Notice::Begun { key, .. } if scene.calm => {
                self.open.entry((host, key.fire)).or_insert(scene.now);
            }
            Notice::Finished { key, .. } => {
                self.open.remove(&(host, key.fire));
            }
            _ => {}
        }
        Ok(())
    }

    /// The calm is over: what began long enough before is over as well.
    fn settle(&self, scene: &Scene<'_>, until: Millis) -> Result<(), String> {
        if !scene.shape.listeners.on || !scene.shape.listeners.is_patient() {
            return Ok(());
        }
        // Other instances begin it when they are through with the fire before.
        let due = until.saturating_sub(2 * scene.shape.longest_round());
        if let Some(((host, fire), at)) = self.open.iter().find(|(_, at)| **at < due) {
            return Err(format!("the run of {fire} that host {host} began at {at} is not over"));
        }
        for (fire, _) in self.calm.iter().filter(|(fire, at)| **at < due && !self.forgotten.contains(*fire)) {
            for listener in scene.shape.listeners.once() {
                for hook in [Hook::Before, Hook::After] {
                    if self.calls.get(&(*fire, Arc::from(listener), hook)) != Some(&true) {
                        return Err(format!("{listener} was not called {hook} {fire}"));
                    }
                }
            }
        }
        Ok(())
    }
}
