//! Joining the group: configuration, server and instance in one transaction.

use super::Step;
use super::configure::{Usable, read_usable};
use super::lost_data::{lost_configuration, restore};
use crate::clock::Now;
use crate::config::{JobConfiguration, wire};
use crate::engine::action::Action;
use crate::engine::engine::JobEngine;
use crate::engine::notice::Notice;
use crate::engine::planted::{Bug, DEAF};
use crate::engine::state::membership::Phase;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::ident::InstanceId;
use crate::registry::layout::{JobPath, ServerStatus, instance_yaml};
use crate::registry::mirror::{Known, Lookup, Unread};
use crate::registry::{CreateMode, Refusal, SessionId};
use crate::sharding::ForeignToJava;

/// Registers the instance, at first or in a new session.
pub(super) fn register(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let Some(session) = engine.session.connected() else { return Ok(Step::Stop) };
    if engine.is_registered() || matches!(engine.phase, Phase::Leaving { .. }) {
        return Ok(Step::Pass);
    }
    match choose_id(engine, session)? {
        Id::Registered => return Ok(Step::Pass),
        Id::Free => {}
    }
    // Before the own trigger is deleted once more.
    engine.tell_taken_unknown()?;
    let joining = engine.phase == Phase::Joining;
    let accepted = if joining {
        match accept(engine)? {
            Ok(accepted) => accepted,
            Err(Unacceptable::ForGood(why)) => {
                engine.fail_to_start(why);
                engine.stop();
                return Ok(Step::Stop);
            }
            Err(Unacceptable::UntilMended(why)) => {
                wait_for_mended(engine, why);
                return Ok(Step::Stop);
            }
        }
    } else {
        let max_time_diff =
            engine.configuration.in_force.as_ref().and_then(|configuration| configuration.max_time_diff_seconds());
        Accepted { disabled: false, max_time_diff, takes_over: false, write: None, schedule_since: None }
    };
    let lost = if joining { None } else { lost_configuration(engine)? };
    let server = JobPath::Server(engine.identity.instance.server_ip().into());
    let version = match engine.mirror.need(&server)? {
        // An operator's DISABLED stays.
        Some(known) if ServerStatus::written(known.text()) == Some(ServerStatus::Disabled) => None,
        Some(known) => Some(Some(known.version)),
        None => Some(None),
    };
    let me = engine.own_node();
    let mut foreign = Vec::new();
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    if let Some(configuration) = &accepted.write {
        let class = configuration.class_name().unwrap_or_default();
        match engine.mirror.exists(&JobPath::Root) {
            true if !class.is_empty() => {
                txn.set(&JobPath::Root, class, None);
            }
            true => {}
            false => {
                txn.create(&JobPath::Root, class, CreateMode::Persistent);
            }
        }
        let yaml = wire::to_yaml(configuration);
        match engine.mirror.lookup(&JobPath::Config) {
            Lookup::Known(known) if *known.data == *yaml.as_bytes() => {}
            lookup => {
                foreign = configuration.foreign_to_java(&engine.configuration.strategies);
                match lookup {
                    Lookup::Known(known) => txn.set(&JobPath::Config, yaml, Some(known.version)),
                    _ => txn.create(&JobPath::Config, yaml, CreateMode::Persistent),
                };
            }
        }
    }
    engine.membership.restores = lost.is_some();
    if let Some(lost) = lost {
        restore(engine, lost, &mut txn);
    }
    // The transaction also writes a node that exists, as a guard: an operator may disable it, or a leader may sweep it
    // up, at this moment.
    let disabled = accepted.disabled && !engine.membership.is_back;
    let status = if disabled { ServerStatus::Disabled } else { ServerStatus::Enabled }.as_str();
    match version {
        Some(Some(version)) => {
            txn.set(&server, status, Some(version));
        }
        Some(None) => {
            txn.create(&server, status, CreateMode::Persistent);
        }
        None => {}
    }
    // A trigger that waited for an earlier instance with this id. With failover another instance runs its items: this one,
    // which came before the leader handed them over.
    let own_trigger = engine.own_trigger();
    let mut dropped = Vec::new();
    if joining && !accepted.takes_over && engine.mirror.exists(&own_trigger) {
        txn.delete(&own_trigger, None);
        dropped.push(engine.identity.instance.clone());
    }
    engine.membership.joining_since.get_or_insert(now.wall);
    engine.membership.registering_since = Some(now.wall);
    engine.membership.wrote_configuration |= accepted.write.is_some();
    engine.membership.schedule_since = engine.membership.schedule_since.or(accepted.schedule_since);
    txn.replace(&me, instance_yaml(&engine.identity.instance), CreateMode::Ephemeral);
    let max_time_diff = accepted.max_time_diff;
    if max_time_diff.is_some() {
        // Only the answer to a set brings the server's time.
        txn.set(&me, instance_yaml(&engine.identity.instance), Some(0));
    }
    Ok(Step::Write(Proposal {
        transaction: txn.build(),
        purpose: Purpose::Register { foreign, max_time_diff, dropped },
    }))
}

/// The state of the id to register under.
enum Id {
    /// It can be registered.
    Free,
    /// It turned out to be registered in this session.
    Registered,
}

/// Chooses the id to register under.
fn choose_id(engine: &mut JobEngine, session: SessionId) -> Result<Id, Unread> {
    loop {
        let Some(known) = engine.mirror.need(&engine.own_node())? else { return Ok(Id::Free) };
        let owner = known.owner;
        if owner == Some(session) {
            // The answer to the registration got lost: it went through.
            engine.on_registered(session);
            return Ok(Id::Registered);
        }
        if engine.membership.is_own(owner) || engine.planted.has(Bug::StolenId) {
            return Ok(Id::Free);
        }
        let taken = engine.identity.instance.clone();
        engine.identity.instance = engine.identity.base.with_suffix(engine.identity.suffix);
        engine.identity.suffix = engine.identity.suffix.wrapping_add(1);
        engine.tell(Notice::IdTaken { taken, instance: engine.identity.instance.clone() });
    }
}

/// The part of the configuration that joining has to write.
struct Accepted {
    disabled: bool,
    max_time_diff: Option<u32>,
    /// Items whose instance is gone are taken over.
    takes_over: bool,
    write: Option<std::sync::Arc<JobConfiguration>>,
    /// Since when the registry has the schedule that is written.
    schedule_since: Option<i64>,
}

impl Accepted {
    fn writing(configuration: std::sync::Arc<JobConfiguration>) -> Self {
        let (disabled, max_time_diff) = (configuration.disabled(), configuration.max_time_diff_seconds());
        let takes_over = configuration.failover() && configuration.monitor_execution();
        Self { disabled, max_time_diff, takes_over, write: Some(configuration), schedule_since: None }
    }
}

/// Why an instance does not join.
enum Unacceptable {
    /// The program is wrong.
    ForGood(String),
    /// The configuration in the registry is wrong or missing; an operator may mend it.
    UntilMended(String),
}

/// Reports once for each configuration that it cannot be used. The engine looks at a change of it when it comes.
fn wait_for_mended(engine: &mut JobEngine, why: String) {
    if engine.configuration.refused.as_deref() != Some(&why) {
        engine.configuration.refused = Some(why.as_str().into());
        engine.tell(Notice::WaitsForConfiguration { why });
        // The program goes on meanwhile: an operator may mend it at any time.
        engine.act(Action::AnswerStart(Ok(())));
    }
}

/// Decides between the configuration of the program and that of the registry.
fn accept(engine: &mut JobEngine) -> Result<Result<Accepted, Unacceptable>, Unread> {
    let job = &engine.job;
    if let Some(class) = engine.configuration.local.class_name() {
        let root = engine.mirror.need(&JobPath::Root)?;
        let theirs = root.and_then(Known::text).unwrap_or_default();
        if !theirs.trim().is_empty() && theirs != class {
            return Ok(Err(Unacceptable::ForGood(format!(
                "job '{job}' belongs to class '{theirs}' in the registry, and to '{class}' in this program: rename one of \
                 the two jobs, or set `elastic-job-class` to '{theirs}'"
            ))));
        }
    }
    let there = engine.mirror.need(&JobPath::Config)?.map(|known| (known.data.clone(), known.mtime));
    Ok(match there {
        None => accept_alone(engine),
        Some((data, mtime)) => accept_beside(engine, &data, mtime),
    })
}

/// Decides where the registry has no configuration. What the program leaves to it may come at any time.
fn accept_alone(engine: &JobEngine) -> Result<Accepted, Unacceptable> {
    usable_alone(engine, "the registry center has no configuration of the job yet")
        .map_err(Unacceptable::UntilMended)?;
    Ok(Accepted::writing(engine.configuration.local.for_registry(None).into()))
}

/// Decides where the registry has a configuration, which was set at this time.
fn accept_beside(engine: &mut JobEngine, data: &[u8], mtime: i64) -> Result<Accepted, Unacceptable> {
    let local = engine.configuration.local.clone();
    if local.overwrite() && !engine.membership.is_back {
        usable_alone(engine, "`overwrite: true` would take it out of the registry center")
            .map_err(Unacceptable::ForGood)?;
        let theirs = wire::from_yaml(&engine.job, data).ok();
        // Without monitoring no record says what was begun: what came before is not looked at when it is switched on.
        let followed = (local.schedule(), local.monitor_execution());
        let is_followed = |theirs: &JobConfiguration| (theirs.schedule(), theirs.monitor_execution()) == followed;
        let schedule_since = theirs.as_ref().filter(|theirs| is_followed(theirs)).map(|_| mtime);
        let write = local.for_registry(theirs.as_ref()).into();
        if let Some(theirs) = &theirs {
            engine.tell_differences(&local, theirs, true);
        }
        return Ok(Accepted { schedule_since, ..Accepted::writing(write) });
    }
    let Usable { configuration: theirs, .. } = read_usable(engine, data).map_err(Unacceptable::UntilMended)?;
    engine.configuration.refused = None;
    let theirs = theirs.at_start_of(&local);
    engine.tell_differences(&local, &theirs, false);
    Ok(Accepted { write: None, ..Accepted::writing(theirs.into()) })
}

/// Whether the configuration of the program is enough without that of the registry: the program may have allowed that
/// some of it stands only there.
fn usable_alone(engine: &JobEngine, why: &str) -> Result<(), String> {
    let missing: Vec<String> =
        engine.configuration.check.problems(&engine.configuration.local).iter().map(ToString::to_string).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{}: {why}", missing.join("; "))) }
}

impl JobEngine {
    /// The registration went through.
    pub(in crate::engine) fn on_registration_done(
        &mut self,
        now: Now,
        foreign: Vec<ForeignToJava>,
        max_time_diff: Option<u32>,
        dropped: Vec<InstanceId>,
        session: SessionId,
    ) {
        if !foreign.is_empty() {
            self.tell(Notice::ForeignToJava { values: foreign });
        }
        self.tell_dropped(dropped);
        match self.clock_refusal(now, max_time_diff).filter(|_| self.phase == Phase::Joining) {
            Some(why) => {
                self.membership.session = Some(session);
                self.fail_to_start(why);
                self.start_leaving(now.mono);
            }
            None => {
                self.planted.deafen(Bug::DeafAfterRegistration, now.mono + DEAF * 5 / 2);
                self.on_registered(session);
            }
        }
    }

    /// The registration was refused.
    pub(in crate::engine) fn on_registration_refused(&mut self, reason: Refusal, why: &str) {
        if self.phase == Phase::Joining && is_final(reason) {
            self.fail_to_start(why.to_owned());
            self.stop();
        }
    }

    /// The instance is in the group, in this session.
    fn on_registered(&mut self, session: SessionId) {
        self.membership.session = Some(session);
        self.membership.removal_confirmed = false;
        if self.phase == Phase::Joining {
            self.phase = Phase::Active;
        }
        // A fire needs to know it. Asked for now, the answer delays none.
        let _ = self.mirror.made_at(&JobPath::Config);
        self.tell(Notice::Registered { instance: self.identity.instance.clone(), session });
        if std::mem::take(&mut self.membership.restores) {
            self.tell(Notice::DataLost);
        }
        self.act(Action::AnswerStart(Ok(())));
    }

    /// The job cannot join the group.
    pub(in crate::engine) fn fail_to_start(&mut self, why: String) {
        self.tell(Notice::StartFailed { why: why.clone() });
        self.act(Action::AnswerStart(Err(why)));
    }
}

/// Whether trying again cannot help.
fn is_final(reason: Refusal) -> bool {
    matches!(reason, Refusal::NoAuth | Refusal::InvalidAcl | Refusal::BadArguments | Refusal::NoChildrenForEphemerals)
}
