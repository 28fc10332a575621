//! Decides which items of fires an owner had to begin: it was well, and had the time that the protocol needs. Any other
//! item of a fire has a cause: what was wrong with it, or with the instance that it belonged to, and for how long.
//!
//! Looked at ten times a second. A fire that its owner could not begin in time is to be begun late, as soon as the owner,
//! the same or another one, is well for long enough before the next fire.

mod cause;
mod hosts;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::cause::Cause;
use self::hosts::HostState;
use super::Scene;
use super::group::{Group, ItemNodes};
use crate::engine::{JobEngine, ShardingData};
use crate::ident::ShardingItem;
use crate::registry::Data;
use crate::registry::layout::JobPath;
use crate::testing::sim::{EPOCH, Host, Millis, Process, Program};

/// How long fires wait for items of others that have no live owner, in milliseconds.
const ASSIGNMENT_WAIT: Millis = 5_000;
/// How long after its time a fire may begin where misfire is off, less what the look itself takes, in milliseconds.
const LATE_WITHOUT_MISFIRE: i64 = 9_000;
/// The time between two looks, and a bit, in milliseconds.
const MOMENT: Millis = 150;
/// When damage that no watch tells of is repaired.
const REPAIRED: Millis = 75_000;

/// A fire that an item had to be begun for by now.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) item: ShardingItem,
    pub(super) at: i64,
    pub(super) owner: usize,
    /// Since when its owner is well.
    pub(super) since: Millis,
}

#[derive(Debug, Default)]
pub(super) struct Duties {
    /// When something was wrong last, and until when that excuses.
    hosts: BTreeMap<usize, HostState>,
    items: BTreeMap<ShardingItem, ItemState>,
    /// Since when some item has no live owner, or the leader is asked to assign the items, which holds up the fires of all.
    unassigned_since: Option<Millis>,
    damaged_at: Option<Millis>,
    /// The time between two fires, and since when it is that.
    period: (u32, Millis),
    /// A configuration was written since the last look.
    is_configured: bool,
    /// The schedule changed with it, or what is done about fires that are due: fires of before are none of it.
    decides_anew: bool,
    /// The registry says since when the schedule is followed. Otherwise fires count from the last edit.
    is_noted: bool,
    group: Option<Group>,
    /// The longest delays of the network, with the time when they were there last.
    slow: (Millis, Millis),
    /// Until when the leader may have been busy with triggers of no instance.
    foreign_until: Millis,
    looked_at: BTreeSet<(i64, ShardingItem)>,
    excused: BTreeMap<(i64, ShardingItem), Cause>,
}

#[derive(Debug, Default)]
struct ItemState {
    owner: Option<Data>,
    /// The time by the clocks up to which fires are not to be begun late.
    not_before: i64,
    /// Why they are not.
    settled_by: Option<Cause>,
    ill_until: Millis,
    cause: Option<Cause>,
    /// Since when it is well, with the same owner.
    well_since: Option<(usize, u64, Millis)>,
}

impl Duties {
    /// An operator did what no watch tells of.
    pub(super) fn damaged(&mut self, now: Millis) {
        self.damaged_at = Some(now);
    }

    /// Another configuration is in the registry.
    pub(super) fn configured(&mut self, decides_anew: bool) {
        self.is_configured = true;
        self.decides_anew |= decides_anew;
    }

    /// A begin for this fire is excused.
    pub(super) fn excuse(&mut self, at: i64, item: ShardingItem, cause: Cause) {
        self.excused.insert((at, item), cause);
        self.looked_at.remove(&(at, item));
    }

    /// Whether the server of a host was disabled when this fire came there, as far as the instance may know.
    pub(super) fn was_disabled(&self, host: usize, at: i64) -> bool {
        self.hosts.get(&host).is_some_and(|host| at <= host.declines_until)
    }

    pub(super) fn was_looked_at(&self, at: i64, item: ShardingItem) -> bool {
        self.looked_at.contains(&(at, item))
    }

    pub(super) fn cause(&self, at: i64, item: ShardingItem) -> Cause {
        self.excused.get(&(at, item)).copied().unwrap_or(Cause::Unseen)
    }

    /// Looks at all items; returns what had to be begun by now, each once.
    pub(super) fn look(&mut self, scene: &Scene<'_>, latency: Millis, lagging: bool) -> Vec<Due> {
        let (now, period) = (scene.now, i64::from(scene.period) * 1_000);
        if latency >= self.slow.0 || now > self.slow.1 + 3_000 {
            self.slow = (latency, now);
        }
        let latency = self.slow.0;
        let (settle, need) = (24 * latency + 800, (8 * latency + 400) as i64);
        if self.period.0 != scene.period {
            self.period = (scene.period, now);
        }
        self.look_at_hosts(scene, latency, lagging, settle);
        let group = self.group.take().filter(|group| group.is_of(scene)).unwrap_or_else(|| Group::read(scene));
        // With static sharding an item stays with an owner that is gone; a new item waits for its first one.
        if group.is_any_foreign {
            self.foreign_until = now + settle;
        }
        let is_assigned = if scene.shape.static_sharding { group.all_owned } else { group.all_live };
        let is_unassigned = group.is_requested || !is_assigned;
        let is_configured = std::mem::take(&mut self.is_configured);
        // Instances that went by another total count did not miss these items before.
        let unassigned_since = self.unassigned_since.filter(|_| !is_configured);
        self.unassigned_since = is_unassigned.then(|| unassigned_since.unwrap_or(now));
        if is_configured {
            let wall = latest_wall(scene);
            // Some may be new.
            for item in 0..scene.total {
                self.items.entry(item).or_default();
            }
            // An engine that runs meanwhile may have decided by what was there before.
            let is_any_up = scene.hosts.iter().any(|host| host.process.is_some());
            let starts_anew = std::mem::take(&mut self.decides_anew) || !self.is_noted || is_any_up;
            self.items.values_mut().for_each(|item| {
                item.ill(Cause::Configuration, now + 1);
                if starts_anew {
                    item.settle(Cause::Configuration, wall);
                }
            });
        }
        self.is_noted = scene.data(&JobPath::Sharding).is_some_and(|data| ShardingData::parse(&data).notes(scene.cron));
        let mut due = Vec::new();
        for (item, nodes) in (0..).zip(&group.items) {
            let host = nodes.owner().and_then(|owner| host_of(scene.hosts, owner));
            let cause = self.wrong_with(scene, item, nodes, host, settle);
            let host_state = host.and_then(|host| Some((host, self.hosts.get(&host)?)));
            let state = self.items.entry(item).or_default();
            if let Some(cause) = cause {
                state.ill(cause, now + settle);
            }
            let Some((host, of_host)) = host_state else {
                state.well_since = None;
                let wall = EPOCH + now as i64;
                self.excused.insert((wall - wall.rem_euclid(period), item), cause.unwrap_or(Cause::OwnerGone));
                continue;
            };
            let wall = EPOCH + now as i64 + of_host.offset;
            let at = wall - wall.rem_euclid(period);
            if state.ill_until > now || of_host.ill_until > now {
                state.well_since = None;
                let cause = if state.ill_until > now { state.cause } else { of_host.cause };
                self.excused.insert((at, item), cause.unwrap_or(Cause::Unseen));
                continue;
            }
            let since = match state.well_since {
                Some((of, life, since)) if of == host && life == of_host.life => since,
                _ => now,
            };
            state.well_since = Some((host, of_host.life, since));
            let well_from = EPOCH + since as i64 + of_host.offset;
            let is_late = well_from > at;
            let is_in_time = of_host.lateness(at, since) <= LATE_WITHOUT_MISFIRE;
            let may_be_late = scene.shape.monitored && (scene.shape.misfire || is_in_time);
            let excuse = match () {
                () if at <= state.not_before => state.settled_by,
                () if at <= of_host.declines_until => Some(Cause::ServerDisabled),
                () if at <= of_host.out_of_date_until => Some(Cause::Configuration),
                () if scene.shape.monitored && at <= nodes.made_at => Some(Cause::NewItem),
                // A clock that was ahead began others for it, which were removed.
                () if scene.shape.monitored && Some(at) <= nodes.made_for => Some(Cause::NewItem),
                () if is_late && !may_be_late => Some(Cause::TooLate),
                () => None,
            };
            if let Some(excuse) = excuse {
                self.excused.entry((at, item)).or_insert(excuse);
                continue;
            }
            // Lost runs and the election of a leader go first, and what is known of them may have to be read again.
            let is_electing = group.led_since.is_none_or(|since| EPOCH + now as i64 - since < settle as i64);
            let need = if group.is_any_lost || is_electing || now < self.foreign_until { 2 * need } else { need };
            if wall - at.max(well_from) < need {
                self.excused.entry((at, item)).or_insert(Cause::Slow);
            } else if self.looked_at.insert((at, item)) {
                due.push(Due { item, at, owner: host, since });
            }
        }
        self.group = Some(group);
        due
    }

    /// What is wrong with an item now.
    fn wrong_with(
        &mut self,
        scene: &Scene<'_>,
        item: ShardingItem,
        nodes: &ItemNodes,
        host: Option<usize>,
        settle: Millis,
    ) -> Option<Cause> {
        let now = scene.now;
        // Fires wait together, from the first one on that finds it so.
        let offset = host.map_or(0, |host| scene.hosts[host].clock_offset);
        let (period, since_period) = (i64::from(scene.period) * 1_000, self.period.1);
        let of_host = host.and_then(|host| self.hosts.get(&host));
        let well_from = of_host.map_or(0, |host| host.ill_until);
        let kept_at = of_host.map_or(0, |host| host.disabled_at.max(host.busy_at));
        let is_enabled = of_host.is_some_and(|host| host.is_enabled);
        let first_fire = |since: Millis| {
            let since = since.max(well_from.min(now)).max(kept_at).max(since_period);
            let shown = EPOCH + since as i64 + offset;
            let at = (shown + period - 1).div_euclid(period) * period;
            (at - EPOCH - offset) as Millis
        };
        let waits_until = |since: Millis| first_fire(since) + ASSIGNMENT_WAIT + settle;
        let is_held_up = self.unassigned_since.is_some_and(|since| now < waits_until(since));
        let is_damaged = self.damaged_at.is_some_and(|at| now < at + REPAIRED);
        let state = self.items.entry(item).or_default();
        let is_moved = state.owner != nodes.owner;
        state.owner.clone_from(&nodes.owner);
        let wall = latest_wall(scene);
        let Some(process) = host.and_then(|host| scene.hosts[host].process.as_ref()) else {
            return Some(why_without_host(scene, nodes.owner()));
        };
        let engine = engine_of(process)?;
        let taken_out = match () {
            () if nodes.is_disabled => Some(Cause::ItemDisabled),
            () if !is_enabled => Some(Cause::ServerDisabled),
            () => None,
        };
        let is_triggered = scene.exists(&JobPath::Trigger(engine.instance().clone()));
        let busy = (runs(process) || nodes.is_marked || is_triggered).then_some(Cause::Busy);
        // A fire that comes meanwhile is decided against; one that falls into a run is made up for with misfire on.
        let is_made_up = scene.shape.monitored && scene.shape.misfire;
        if let Some(cause) = taken_out.or(busy.filter(|_| !is_made_up)) {
            state.settle(cause, wall);
        }
        let decides_alike = decides_alike(engine, scene);
        let others = match () {
            () if is_damaged => Some(Cause::Unheard),
            () if is_held_up || is_moved => Some(Cause::Assignment),
            () if !decides_alike || !follows(engine, scene) => Some(Cause::Configuration),
            () => None,
        };
        // What it decided by other settings stays. An engine that hears late of another schedule looks at the fires since the
        // change, as one that joins does; without records it has none of before.
        let starts_late = matches!(others, Some(Cause::Configuration)) && !scene.shape.monitored;
        if (!decides_alike || starts_late) && engine.configuration().is_some() {
            state.settle(Cause::Configuration, wall + MOMENT as i64);
        }
        taken_out.or(others).or(busy)
    }
}

impl ItemState {
    fn ill(&mut self, cause: Cause, until: Millis) {
        self.cause = Some(cause);
        self.ill_until = self.ill_until.max(until);
    }

    fn settle(&mut self, cause: Cause, wall: i64) {
        self.settled_by = Some(cause);
        self.not_before = self.not_before.max(wall);
    }
}

/// What the clock shows that is ahead of all others.
fn latest_wall(scene: &Scene<'_>) -> i64 {
    EPOCH + scene.now as i64 + scene.hosts.iter().map(|host| host.clock_offset).max().unwrap_or(0).max(0)
}

/// Why an item has no owner whose engine is there.
fn why_without_host(scene: &Scene<'_>, owner: Option<&str>) -> Cause {
    let is_fallen = |host: &Host| match host.process.as_ref().map(|process| &process.program) {
        Some(Program::Fallen(fallen)) => Some(fallen.instance().as_str()) == owner,
        _ => false,
    };
    match owner {
        _ if scene.children(&JobPath::Instances).is_empty() => Cause::NoInstance,
        None => Cause::Unassigned,
        Some(_) if scene.hosts.iter().any(is_fallen) => Cause::EngineGone,
        Some(_) if scene.shape.static_sharding => Cause::Static,
        Some(owner) if scene.children(&JobPath::Instances).iter().any(|id| id == owner) => Cause::OwnerGone,
        Some(_) => Cause::Orphaned,
    }
}

/// Whether something runs in a process.
fn runs(process: &Process) -> bool {
    !process.executions.is_empty() || !process.calls.is_empty() || engine_of(process).is_some_and(JobEngine::is_busy)
}

pub(super) fn engine_of(process: &Process) -> Option<&JobEngine> {
    match &process.program {
        Program::Engine(engine) => Some(engine),
        Program::Fallen(_) | Program::Java(_) => None,
    }
}

fn host_of(hosts: &[Host], owner: &str) -> Option<usize> {
    hosts.iter().position(|host| {
        let engine = host.process.as_ref().and_then(engine_of);
        engine.is_some_and(|engine| engine.instance().as_str() == owner)
    })
}

/// Whether an engine goes by the schedule that is in the registry.
fn follows(engine: &JobEngine, scene: &Scene<'_>) -> bool {
    let schedule = engine.configuration().and_then(|configuration| configuration.schedule());
    schedule.is_some_and(|schedule| schedule.cron().as_str() == scene.cron)
}

/// Whether an engine decides on fires by the settings that are in the registry.
fn decides_alike(engine: &JobEngine, scene: &Scene<'_>) -> bool {
    engine.configuration().is_some_and(|configuration| {
        configuration.monitor_execution() == scene.shape.monitored
            && configuration.misfire() == scene.shape.misfire
            && configuration.sharding_total_count() == scene.total
    })
}
