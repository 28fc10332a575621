//! Following the configuration in the registry.

use std::sync::Arc;

use super::Step;
use crate::clock::Now;
use crate::config::{Followed, JobConfiguration, wire};
use crate::engine::engine::JobEngine;
use crate::engine::listeners::ListenerPlan;
use crate::engine::notice::Notice;
use crate::engine::planted::{Bug, DEAF};
use crate::engine::txn::JobTransaction;
use crate::fire::StopReason;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// Puts a changed configuration in force. A configuration that cannot be used is refused, and the last good one stays
/// in force, also when the node is deleted.
pub(super) fn follow(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let (data, mtime) = match engine.mirror.need(&JobPath::Config) {
        // What is in force stays in force until the change is read.
        Ok(None) | Err(Unread) => return Ok(wait_for_first(engine)),
        Ok(Some(_)) if engine.configuration.in_force.is_some() && engine.planted.has(Bug::FrozenConfiguration) => {
            return Ok(Step::Pass);
        }
        Ok(Some(known)) if engine.configuration.data.as_ref() == Some(&known.data) => {
            return Ok(wait_for_first(engine));
        }
        Ok(Some(known)) => (known.data.clone(), known.mtime),
    };
    let first = engine.configuration.in_force.is_none();
    match read_usable(engine, &data) {
        Ok(Usable { configuration, plan, refused }) => {
            let is_rescheduled = is_rescheduled(engine, &configuration);
            if is_rescheduled {
                match followed_since(engine, &configuration, mtime) {
                    Ok(since) => engine.configuration.follows_since = since,
                    Err(Unread) => return Ok(wait_for_first(engine)),
                }
            }
            tell_refused_values(engine, refused);
            engine.configuration.refused = None;
            if first {
                let since = engine.configuration.follows_since.or(engine.membership.joining_since);
                let from = takes_part_from(engine, &configuration, since, now);
                engine.fires.calendar.join(configuration.schedule(), from, now.wall);
            } else {
                engine.planted.deafen(Bug::DeafAfterChange, now.mono + DEAF);
            }
            if is_rescheduled && !first {
                // This instance may hear of the change late.
                let since = engine.configuration.follows_since.filter(|_| !engine.planted.has(Bug::ForgottenChange));
                let from = takes_part_from(engine, &configuration, since, now);
                engine.fires.calendar.follow(configuration.schedule(), from);
                engine.fires.reported.forget();
            }
            // Mostly it equals the configuration of the program: then each of thousands of jobs holds it only once.
            let is_local = configuration == *engine.configuration.local;
            if engine.configuration.in_force.as_ref().is_some_and(|before| !before.has_props_of(&configuration)) {
                engine.ask_items(StopReason::PropsChanged, |_| true);
            }
            let changes = engine.configuration.in_force.as_ref().map(|before| before.changes(&configuration));
            engine.configuration.plan = plan;
            // Items that the configuration removes or adds may be lost ones.
            engine.fires.losses.suspect();
            engine.configuration.in_force =
                Some(if is_local { engine.configuration.local.clone() } else { Arc::new(configuration) });
            if let Some(changes) = changes {
                engine.tell(Notice::ConfigurationChanged { changes });
            }
            engine.watch_calendar(now);
        }
        Err(why) => {
            engine.configuration.refused = Some(why.as_str().into());
            engine.tell(Notice::ConfigurationRefused { why });
        }
    }
    engine.configuration.data = Some(data);
    Ok(wait_for_first(engine))
}

impl JobEngine {
    /// Lets a transaction pass only while the registry has the configuration in force. Returns whether it has, as far as
    /// this instance knows. Where it has one that cannot be used, each instance goes by the last one that it could use, and
    /// that is not the same one for all.
    pub(super) fn guard_configuration(&self, txn: &mut JobTransaction<'_>) -> Result<bool, Unread> {
        let Some(known) = self.mirror.need(&JobPath::Config)? else { return Ok(false) };
        let is_in_force = self.configuration.refused.is_none() && self.configuration.data.as_ref() == Some(&known.data);
        if is_in_force {
            txn.check_configuration(known.version);
        }
        Ok(is_in_force)
    }
}

/// The time from which on an instance takes part in the fires of a schedule that it has just read: the time since which
/// the schedule is followed. It looks at the last of the fires since then: the records say what any instance has begun.
/// Without records it lets that fire go.
fn takes_part_from(engine: &JobEngine, configuration: &JobConfiguration, since: Option<i64>, now: Now) -> i64 {
    if !configuration.monitor_execution() || engine.planted.has(Bug::LateJoiner) {
        return now.wall;
    }
    since.unwrap_or(now.wall).min(now.wall)
}

/// Whether a configuration has another schedule than that in force, or its fires are recorded from now on. What was due by the
/// schedule stays due when anything else changes.
fn is_rescheduled(engine: &JobEngine, configuration: &JobConfiguration) -> bool {
    let is_same = |before: &JobConfiguration| {
        (before.schedule(), before.monitor_execution()) == (configuration.schedule(), configuration.monitor_execution())
    };
    engine.planted.has(Bug::SinceLastEdit) || !engine.configuration.in_force.as_deref().is_some_and(is_same)
}

/// Since when the schedule of a configuration is followed: since the leader noted, else since the last edit. `None` where it
/// was not followed before this instance joined, or the server does not report the time.
fn followed_since(engine: &JobEngine, configuration: &JobConfiguration, mtime: i64) -> Result<Option<i64>, Unread> {
    // A note that is not later than the schedule that was followed here since is of an earlier time with the same schedule.
    let noted = engine.noted_since(configuration)?.filter(|since| Some(*since) > engine.configuration.follows_since);
    if noted.is_some() {
        return Ok(noted);
    }
    Ok(match engine.configuration.in_force.is_none() && engine.membership.wrote_configuration {
        true => engine.membership.schedule_since,
        false => Some(mtime).filter(|mtime| *mtime > 0),
    })
}

/// A configuration of the registry that this program can follow.
pub(super) struct Usable {
    pub(super) configuration: JobConfiguration,
    plan: Option<ListenerPlan>,
    /// Its values that the program does not take from the registry.
    refused: Vec<String>,
}

/// Reads a configuration of the registry that this program can follow; otherwise says why not.
pub(super) fn read_usable(engine: &JobEngine, data: &[u8]) -> Result<Usable, String> {
    let read = wire::from_yaml(&engine.job, data).map_err(|error| error.to_string())?;
    let Followed { configuration: read, refused: not_taken } =
        read.under(&engine.configuration.local, &engine.configuration.bound);
    let mut refused: Vec<String> = engine.configuration.check.problems(&read).iter().map(ToString::to_string).collect();
    refused.extend(engine.configuration.strategies.problem(&read).map(|problem| problem.to_string()));
    let plan = engine.configuration.listeners.plan(&read).unwrap_or_else(|problem| {
        refused.push(problem.to_string());
        None
    });
    if refused.is_empty() {
        return Ok(Usable { configuration: read, plan, refused: not_taken });
    }
    // A value that is missing may be in the registry, and the program does not take it from there.
    Err(refused.into_iter().chain(not_taken).collect::<Vec<_>>().join("; "))
}

/// Reports which values of the registry are not in force here, as often as they change.
fn tell_refused_values(engine: &mut JobEngine, refused: Vec<String>) {
    let refused: Option<Arc<str>> = (!refused.is_empty()).then(|| refused.join("; ").into());
    if let Some(values) = refused.clone().filter(|_| refused != engine.configuration.refused_values) {
        engine.tell(Notice::ValuesRefused { values });
    }
    engine.configuration.refused_values = refused;
}

/// Without any configuration nothing else can be decided.
fn wait_for_first(engine: &JobEngine) -> Step {
    if engine.configuration.in_force.is_some() { Step::Pass } else { Step::Stop }
}

impl JobEngine {
    /// Says what differs between the configuration of the program and that of the registry, if anything.
    pub(super) fn tell_differences(
        &mut self,
        local: &JobConfiguration,
        registry: &JobConfiguration,
        overwritten: bool,
    ) {
        let differences = local.differences(registry);
        if !differences.is_empty() && differences != self.configuration.told_differences {
            self.configuration.told_differences.clone_from(&differences);
            self.tell(Notice::ConfigurationDiffers { differences, overwritten });
        }
    }
}
