//! The identity of an engine, and its membership in the group.

use std::time::Duration;

use super::left_run::LeftRun;
use crate::ident::InstanceId;
use crate::registry::SessionId;
use crate::registry::layout::candidate_prefix;

/// The identity of this engine.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The id to register under.
    pub base: InstanceId,
    /// The id in use: the base, or the base with a suffix where that was taken.
    pub instance: InstanceId,
    /// Appended to the id when it is taken.
    pub suffix: u16,
    /// Makes the name of the candidate node unique: a random UUID.
    pub candidate: String,
    /// Tells the attempts of this engine from those of others in the same session: a random number.
    pub nonce: u32,
}

impl Identity {
    /// The prefix of the names of its candidate nodes.
    pub(in crate::engine) fn candidate_prefix(&self) -> String {
        candidate_prefix(&self.candidate)
    }
}

/// The phase of the life of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Not registered yet.
    Joining,
    /// Takes part.
    Active,
    /// Runs end, then the instance is deleted.
    Leaving {
        /// When running items are cut off.
        cut_at: Duration,
        /// When it leaves without the registry's answer; set once nothing executes any more.
        give_up_at: Option<Duration>,
    },
    /// Over.
    Stopped,
}

/// How many of its sessions an engine remembers. A session ends at the latest when its time-out has passed, and takes its nodes
/// along; so many do not come within one. Of a session that is forgotten too early a node counts as that of another process, as
/// safe and slower.
const MOST_SESSIONS: usize = 32;

/// The registration of this engine, as it knows it.
#[derive(Debug, Default)]
pub(in crate::engine) struct Membership {
    /// The session in which the instance was registered last.
    pub(in crate::engine) session: Option<SessionId>,
    /// The last sessions of this engine. Nodes of the earlier ones are left over, and the engine replaces them.
    pub(in crate::engine) own_sessions: Vec<SessionId>,
    /// The time that the clock of this host showed when the instance was about to register for the first time.
    pub(in crate::engine) joining_since: Option<i64>,
    /// The time that this clock showed when it was about to register in the session it is in, or tried to last.
    pub(in crate::engine) registering_since: Option<i64>,
    /// An earlier engine of the process was in the group: the program does not start, only the coordination starts
    /// again, so the settings of the program overwrite nothing.
    pub(in crate::engine) is_back: bool,
    /// Since when the registry has had the schedule, by the server's clock; set where the schedule was in the registry
    /// before the registration wrote the configuration.
    pub(in crate::engine) schedule_since: Option<i64>,
    /// The configuration in the registry was written with the registration.
    pub(in crate::engine) wrote_configuration: bool,
    /// The registration under way writes the configuration again, as the registry center has lost it.
    pub(in crate::engine) restores: bool,
    /// A read confirmed in the live session that the instance is gone: an operator deleted it.
    pub(in crate::engine) removal_confirmed: bool,
    /// The program leaves to join again: a manual trigger waits for it.
    pub(in crate::engine) returns: bool,
    /// Runs that go on because they could not be stopped: the node of their session has to say so.
    pub(in crate::engine) abandoned: Vec<LeftRun>,
    /// Whether the engine left without an answer of the registry center to its leaving.
    pub(in crate::engine) gave_up: bool,
}

impl Membership {
    /// The engine has this session now.
    pub(in crate::engine) fn note_session(&mut self, session: SessionId) {
        if !self.own_sessions.contains(&session) {
            if self.own_sessions.len() == MOST_SESSIONS {
                self.own_sessions.remove(0);
            }
            self.own_sessions.push(session);
        }
    }

    /// Whether an ephemeral node is of one of the sessions of this engine.
    pub(in crate::engine) fn is_own(&self, owner: Option<SessionId>) -> bool {
        owner.is_some_and(|owner| self.own_sessions.contains(&owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sessions_are_remembered() {
        let mut membership = Membership::default();
        for session in 1..=1_000 {
            membership.note_session(SessionId(session));
            membership.note_session(SessionId(session));
        }
        assert_eq!(membership.own_sessions.len(), MOST_SESSIONS);
        let is_own = |session| membership.is_own(Some(SessionId(session)));
        assert!(is_own(1_000) && is_own(969) && !is_own(968));
    }
}
