//! The rules of the engine, asked in order after each event; the first with a write wins.
//!
//! A rule looks at the mirror and the state and proposes one transaction, or does what needs none. Data that it needs and
//! that are not read yet it leaves with `?`: they are read, and it is asked again. It is asked again after every change,
//! so it never waits. What follows when its transaction is done, refused or of unknown outcome stands beside it.

mod begin;
mod cancel;
mod configure;
mod depend;
mod early;
mod elect;
mod failover;
mod finish;
mod foreign;
mod hand_over;
mod leave;
mod lost_data;
mod misfire;
mod note_schedule;
mod once_listeners;
mod reconcile;
mod record_skips;
mod register;
mod rerequest_sharding;
mod rerun;
mod reshard;
mod resolve;
mod servers;
mod sessionless;
mod sweep;
mod trigger;

use super::engine::JobEngine;
use super::state::proposal::Proposal;
use crate::clock::Now;
use crate::registry::mirror::Unread;

use Meanwhile::{GoOn, Wait};

/// The result of a rule.
pub(super) enum Step {
    /// Nothing to do; the next rule is asked.
    Pass,
    /// No rule after this one may be asked yet.
    Stop,
    /// Something changed that needed no write: all rules are asked again.
    Again,
    /// Commit this.
    Write(Proposal),
}

/// What becomes of the later rules while a rule needs data that are being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meanwhile {
    /// They are asked.
    GoOn,
    /// They wait: they would change what the rule has to look at.
    Wait,
}

/// What a rule looks at. Most of the events of a job whose execution is not monitored are fires and ends of items, which
/// change nothing that a rule of the group looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LooksAt {
    /// The nodes of the job, the session, and the configuration in force. A rule that passed passes again until one of
    /// these changes; see `engine/unchanged_group.rs`.
    Group,
    /// Also the fires and runs of this instance, and the time.
    Everything,
}

/// The function of a rule.
type Ask = fn(&mut JobEngine, Now) -> Result<Step, Unread>;

/// A rule in its place.
pub(super) struct Rule {
    pub(super) ask: Ask,
    pub(super) meanwhile: Meanwhile,
    pub(super) looks_at: LooksAt,
    /// Why it stands before the next ones, or after those before it.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is for readers, and for the page of the rules"))]
    pub(super) why_here: &'static str,
}

const fn rule(ask: Ask, meanwhile: Meanwhile, why_here: &'static str) -> Rule {
    Rule { ask, meanwhile, looks_at: LooksAt::Everything, why_here }
}

/// A rule that looks at the group alone.
const fn of_group(ask: Ask, meanwhile: Meanwhile, why_here: &'static str) -> Rule {
    Rule { ask, meanwhile, looks_at: LooksAt::Group, why_here }
}

/// All rules, in the order in which they are asked.
pub(super) const RULES: [Rule; 27] = [
    rule(foreign::clear, GoOn, "The transactions of all other rules are refused while these nodes are in the way."),
    of_group(
        leave::removed,
        GoOn,
        "An instance that an operator deleted does nothing more but leave, and must not register again.",
    ),
    rule(leave::leave, Wait, "An instance that leaves takes part in nothing that follows once its runs are over."),
    rule(register::register, Wait, "All later rules write only in a session in which the instance is registered."),
    of_group(servers::restore, GoOn, "The later rules take an instance without the node of its server for disabled."),
    of_group(configure::follow, GoOn, "All later rules go by the configuration in force."),
    rule(
        resolve::resolve,
        GoOn,
        "What a begin without an answer has begun starts before anything else is decided about its items.",
    ),
    rule(
        cancel::cancel,
        GoOn,
        "After `resolve`, which starts what was begun; before `finish`, which writes what the request made of the end.",
    ),
    rule(early::let_go, GoOn, "Otherwise `finish` and `mark` would write fires that have not come yet."),
    rule(
        finish::finish,
        GoOn,
        "Only an item whose end is written can be taken over, moved, or begun for the next fire.",
    ),
    rule(
        once_listeners::call_once,
        GoOn,
        "After `finish`, as a call after the items waits for their ends; before new items begin, which it holds up.",
    ),
    rule(
        failover::failover,
        Wait,
        "A lost run goes first: before the leader moves its item, and before a later fire of it begins.",
    ),
    of_group(
        elect::abdicate,
        GoOn,
        "A leader that gives up must not act as one below, nor stand for election in the same step.",
    ),
    of_group(elect::elect, GoOn, "Before the rules of the leader, which need one."),
    rule(
        reconcile::reconcile,
        GoOn,
        "It makes the rules of the leader look at everything again, so it comes before them.",
    ),
    rule(
        hand_over::hand_over,
        Wait,
        "Before `reshard`, which moves the items: afterwards it is not known for which items a trigger was meant.",
    ),
    of_group(reshard::reshard, GoOn, "Before `begin`, so that fires find owners that are there."),
    of_group(
        note_schedule::note,
        GoOn,
        "After `reshard`, which makes the node and writes the note with the first assignment.",
    ),
    rule(
        rerequest_sharding::rerequest,
        GoOn,
        "After `reshard`: an instance that leads assigns the items instead of asking for it.",
    ),
    rule(
        depend::follow,
        GoOn,
        "After `elect`, as the leader decides; before `mark` and `begin`, which act on the fire that it brings.",
    ),
    rule(
        rerun::follow,
        GoOn,
        "After `depend::follow`, which decides on the fire itself in the same node; before `begin`, which takes the trigger.",
    ),
    rule(
        misfire::mark,
        GoOn,
        "Before `begin`, which makes up for what is marked; while the run before goes on, peers see the mark.",
    ),
    rule(record_skips::note, GoOn, "After `mark`: what is made up for is not skipped."),
    rule(
        trigger::trigger,
        GoOn,
        "It asks other instances and depends on nothing above; a manual trigger may wait for all of it.",
    ),
    of_group(sweep::sweep, GoOn, "Before `begin`, which respects the marks of lost runs until they are swept up."),
    rule(misfire::clear, GoOn, "Before `begin`, which would look at marks that no instance acts on."),
    rule(begin::begin, GoOn, "Last: all that decides whether an item may begin was done or is being read."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_says_why_it_stands_where_it_stands() {
        for Rule { why_here, .. } in RULES {
            assert!(why_here.ends_with('.') && !why_here.contains('|'), "{why_here}");
        }
    }
}
