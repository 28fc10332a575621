//! The rules of the engine, asked in order after each event; the first with a write wins.
//!
//! A rule looks at the mirror and the state and proposes one transaction, or does what needs none. It wishes for data
//! that it needs and that are not read yet. It is asked again after every change, so it never waits.

mod begin;
mod configure;
mod early;
mod elect;
mod failover;
mod finish;
mod foreign;
mod hand_over;
mod leave;
mod misfire;
mod once_listeners;
mod reconcile;
mod record_skips;
mod register;
mod rerequest_sharding;
mod reshard;
mod resolve;
mod servers;
mod sessionless;
mod sweep;
mod trigger;

use super::engine::JobEngine;
use super::event::Now;
use super::state::proposal::Proposal;

/// The result of a rule.
pub(super) enum Step {
    /// Nothing to do, or data are wished for; the next rule is asked.
    Pass,
    /// No rule after this one may be asked yet.
    Stop,
    /// Something changed that needed no write: all rules are asked again.
    Again,
    /// Commit this.
    Write(Proposal),
}

type Rule = fn(&mut JobEngine, Now) -> Step;

/// All rules, in the order in which they are asked.
pub(super) const RULES: [Rule; 23] = [
    foreign::clear,
    leave::removed,
    leave::leave,
    register::register,
    servers::restore,
    configure::follow,
    resolve::resolve,
    early::let_go,
    finish::finish,
    once_listeners::call_once,
    failover::failover,
    elect::abdicate,
    elect::elect,
    reconcile::reconcile,
    hand_over::hand_over,
    reshard::reshard,
    rerequest_sharding::remind,
    misfire::mark,
    record_skips::note,
    trigger::trigger,
    sweep::sweep,
    misfire::clear,
    begin::begin,
];
