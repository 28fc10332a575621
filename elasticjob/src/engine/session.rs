//! How long this side may believe in its session.
//!
//! *Proof* is the local time just before the last transaction that was answered was sent. From it follows the
//! *deadline*: before the server may give the items away, running work is cancelled, gets a grace time, and is dropped.

use std::time::Duration;

use crate::registry::{SessionId, SessionState};

/// The session as one engine sees it.
#[derive(Debug)]
pub struct Session {
    state: SessionState,
    /// The last session that was connected, and its time-out.
    last: Option<(SessionId, Duration)>,
    proof: Option<Duration>,
    /// A proof was asked for and not answered yet.
    proving: bool,
}

/// What a change of the session means.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// Nothing to act on.
    None,
    /// The connection was lost.
    Lost,
    /// The registry center is closed for good.
    Closed,
    /// Connected: for the first time, again, or with a new session.
    Back {
        /// Whether it is another session than the last one.
        new: bool,
    },
}

impl Session {
    /// Not connected yet.
    pub fn new() -> Self {
        Self { state: SessionState::Connecting, last: None, proof: None, proving: false }
    }

    /// Takes the state that the registry center tells.
    pub fn on_state(&mut self, state: SessionState) -> SessionChange {
        let before = std::mem::replace(&mut self.state, state);
        match state {
            SessionState::Connected { id, timeout } => {
                let new = self.last.is_none_or(|(last, _)| last != id);
                let again = !matches!(before, SessionState::Connected { id: old, .. } if old == id);
                if new {
                    self.proof = None;
                }
                self.last = Some((id, timeout));
                if again {
                    // What was asked before the connection was lost may never be answered.
                    self.proving = false;
                    SessionChange::Back { new }
                } else {
                    SessionChange::None
                }
            }
            SessionState::Closed => SessionChange::Closed,
            _ if matches!(before, SessionState::Connected { .. }) => SessionChange::Lost,
            _ => SessionChange::None,
        }
    }

    /// Takes a proof. That of another session says nothing of this one.
    pub fn on_proof(&mut self, session: SessionId, at: Duration) {
        if self.last() == Some(session) {
            self.proving = false;
            self.proof = self.proof.max(Some(at));
        }
    }

    /// A proof that was asked for did not come.
    pub fn on_no_proof(&mut self) {
        self.proving = false;
    }

    /// The live session, as far as this side knows.
    pub fn connected(&self) -> Option<SessionId> {
        match self.state {
            SessionState::Connected { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Whether the last session is known to have ended, and no other one is there yet.
    pub fn is_over(&self) -> bool {
        self.last.is_some() && self.state == SessionState::Connecting
    }

    /// The session that is or was connected last.
    pub fn last(&self) -> Option<SessionId> {
        self.last.map(|(id, _)| id)
    }

    /// The time-out of the session that is or was connected last.
    pub fn timeout(&self) -> Duration {
        self.last.map_or(Duration::ZERO, |(_, timeout)| timeout)
    }

    /// How long a cancelled run may go on before its future is dropped.
    pub fn grace(&self) -> Duration {
        (self.timeout() / 5).min(Duration::from_secs(5))
    }

    /// When running work has to be cancelled unless the session is proven anew: proof + time-out - grace - a tenth of
    /// the time-out. The tenth covers clocks of different speed and the way of the cancellation.
    pub fn deadline(&self) -> Option<Duration> {
        let (_, timeout) = self.last?;
        Some(self.proof? + timeout - self.grace() - timeout / 10)
    }

    /// When a run that is cancelled at `now` is dropped. Its grace counts from the deadline where that has passed: who
    /// comes late to it has no more time than the server gives.
    pub fn drop_at(&self, now: Duration) -> Duration {
        self.deadline().map_or(now, |deadline| deadline.min(now)) + self.grace()
    }

    /// Whether the session is proven well enough to begin something at `now` that the registry is not asked for.
    pub fn is_proven(&self, now: Duration) -> bool {
        self.connected().is_some() && self.deadline().is_some_and(|deadline| now < deadline)
    }

    /// When the proof should be renewed while items run: after a quarter of the time-out. `None` while it is being
    /// renewed or there is no connection.
    pub fn renew_at(&self) -> Option<Duration> {
        self.connected()?;
        let (_, timeout) = self.last?;
        if self.proving { None } else { Some(self.proof.map_or(Duration::ZERO, |proof| proof + timeout / 4)) }
    }

    /// Notes that a proof was asked for.
    pub fn start_proving(&mut self) {
        self.proving = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn connected(id: i64) -> SessionState {
        SessionState::Connected { id: SessionId(id), timeout: S(10) }
    }

    #[test]
    fn work_ends_before_the_server_may_give_it_away() {
        let mut session = Session::new();
        assert_eq!(session.on_state(connected(1)), SessionChange::Back { new: true });
        assert!(!session.is_proven(S(0)));
        session.on_proof(SessionId(1), S(100));
        assert_eq!(session.deadline(), Some(S(107)));
        assert!(session.deadline().unwrap() + session.grace() < S(100) + S(10));
        assert!(session.is_proven(S(106)) && !session.is_proven(S(107)));
    }

    #[test]
    fn who_cancels_late_gives_no_more_grace_than_who_cancels_in_time() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), S(100));
        assert_eq!(session.drop_at(S(104)), S(106));
        for late in [107, 108, 500] {
            assert_eq!(session.drop_at(S(late)), S(109), "cancelled at {late} s");
        }
    }

    #[test]
    fn an_older_proof_does_not_take_a_newer_one_back() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), S(100));
        session.on_proof(SessionId(1), S(90));
        assert_eq!(session.deadline(), Some(S(107)));
    }

    #[test]
    fn a_proof_is_renewed_after_a_quarter_once_at_a_time() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), S(100));
        assert_eq!(session.renew_at(), Some(Duration::from_millis(102_500)));
        session.start_proving();
        assert_eq!(session.renew_at(), None);
        session.on_no_proof();
        assert!(session.renew_at().is_some());
    }

    #[test]
    fn the_proof_of_an_old_session_says_nothing_about_a_new_one() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), S(100));
        assert_eq!(session.on_state(SessionState::Suspended { id: SessionId(1) }), SessionChange::Lost);
        assert_eq!(session.connected(), None);
        assert_eq!(session.on_state(connected(1)), SessionChange::Back { new: false });
        assert!(session.is_proven(S(101)));
        assert_eq!(session.on_state(connected(2)), SessionChange::Back { new: true });
        assert!(!session.is_proven(S(101)));
        session.on_proof(SessionId(1), S(101));
        assert_eq!(session.deadline(), None);
    }

    #[test]
    fn the_proof_of_a_session_that_is_not_known_yet_does_not_lengthen_that_before_it() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), S(100));
        session.on_proof(SessionId(2), S(105));
        assert_eq!(session.deadline(), Some(S(107)));
    }

    #[test]
    fn a_session_is_over_when_another_one_is_dialled() {
        let mut session = Session::new();
        assert!(!session.is_over());
        session.on_state(connected(1));
        session.on_state(SessionState::Suspended { id: SessionId(1) });
        assert!(!session.is_over());
        session.on_state(SessionState::Connecting);
        assert!(session.is_over());
    }
}
