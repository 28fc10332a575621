//! Tells how long an engine may rely on its session.
//!
//! *Proof* is the local time just before the last transaction that was answered was sent. From it follows the
//! *deadline*: before the server may give the items away, running work is cancelled, gets a grace time, and is dropped.

use std::time::Duration;

use crate::clock::Now;
use crate::engine::planted::{Bug, Planted};
use crate::registry::{SessionId, SessionState};

/// The clocks differ by so much, in milliseconds, before that counts as a leap or as a step back. They are never read at the
/// same moment.
const LEAP: i64 = 20;

/// The session as one engine sees it.
#[derive(Debug)]
pub struct Session {
    state: SessionState,
    /// The last session that was connected, and its time-out.
    last: Option<(SessionId, Duration)>,
    proof: Option<Now>,
    /// What the clocks showed when they were compared last.
    compared: Option<Now>,
    /// Between which looks since the proof the wall clock leapt ahead of the other clock. A machine that was suspended stays
    /// known as such when its wall clock is set back afterwards, however often.
    leaps: Vec<(Now, Now)>,
    /// A proof was asked for, and the answer is on its way. Others do not count for it: where the registry center is slow,
    /// each of them would bring a further question.
    proving: bool,
    pub(in crate::engine) planted: Planted,
}

/// The meaning of a change of the session.
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

/// Until when a session is proven, by both clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProvenUntil {
    /// The session; `None` where it is known to have ended.
    pub session: Option<SessionId>,
    /// By the clock that never steps. `None` without a proof.
    pub mono: Option<Duration>,
    /// By the wall clock, in milliseconds since 1970. `None` without a proof.
    pub wall: Option<i64>,
}

impl ProvenUntil {
    /// Whether this session is proven at `now`.
    pub fn holds(&self, session: SessionId, now: Now) -> bool {
        let by_mono = self.mono.is_none_or(|until| now.mono < until);
        let by_wall = self.wall.is_none_or(|until| now.wall < until);
        self.session == Some(session) && by_mono && by_wall
    }
}

/// How old a proof may be at the most that answers the question for one. Much younger than the one for which the engine
/// asks: otherwise it would ask again at once.
pub(crate) fn oldest_answer(timeout: Duration) -> Duration {
    (timeout / 8).min(Duration::from_secs(1))
}

impl Session {
    /// Not connected yet.
    pub fn new() -> Self {
        Self {
            state: SessionState::Connecting,
            last: None,
            proof: None,
            compared: None,
            leaps: Vec::new(),
            proving: false,
            planted: Planted::default(),
        }
    }

    /// Takes what the clocks show; asked before anything is decided by them.
    pub fn see(&mut self, now: Now) {
        let Some(compared) = self.compared else {
            self.compared = Some(now);
            return;
        };
        let leapt = ahead(compared, now);
        if leapt >= LEAP {
            self.leaps.push((compared, now));
        }
        if leapt.abs() >= LEAP {
            self.compared = Some(now);
        }
    }

    /// Takes the state that the registry center reports.
    pub fn on_state(&mut self, state: SessionState) -> SessionChange {
        let before = std::mem::replace(&mut self.state, state);
        match state {
            SessionState::Connected { id, timeout } => {
                let new = self.last.is_none_or(|(last, _)| last != id);
                let again = !matches!(before, SessionState::Connected { id: old, .. } if old == id);
                if new {
                    self.proof = None;
                }
                let first = self.last.filter(|_| !new && self.planted.has(Bug::FirstTimeOut));
                self.last = Some((id, first.map_or(timeout, |(_, first)| first)));
                if again {
                    // A request from before the connection was lost may never be answered.
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

    /// Takes a proof. A proof of another session says nothing about this one.
    pub fn on_proof(&mut self, session: SessionId, at: Now) {
        if self.last() == Some(session) || self.planted.has(Bug::ForeignProof) {
            if self.proof.is_some_and(|proof| proof.mono > at.mono) {
                return;
            }
            self.proof = Some(at);
            // What the clock leapt before the proof was asked for is over.
            self.leaps.retain(|(_, to)| to.mono >= at.mono);
            for (from, _) in self.leaps.iter_mut().filter(|(from, _)| from.mono < at.mono) {
                *from = at;
            }
            if self.compared.is_none_or(|compared| compared.mono < at.mono) {
                self.compared = Some(at);
            }
        }
    }

    /// Takes the answer to the question for a proof.
    pub fn on_answered(&mut self, proof: Option<(SessionId, Now)>) {
        self.proving = false;
        if let Some((session, at)) = proof {
            self.on_proof(session, at);
        }
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

    /// The time for which a cancelled run may go on before its future is dropped.
    pub fn grace(&self) -> Duration {
        (self.timeout() / 5).min(Duration::from_secs(5))
    }

    /// The time that a proof lasts: the time-out less the grace and a tenth of the time-out. The tenth covers clocks of
    /// different speed and the time that the cancellation takes.
    pub fn lasts(&self) -> Duration {
        let timeout = self.timeout();
        let margin = if self.planted.has(Bug::NoMargin) { Duration::ZERO } else { timeout / 10 };
        timeout - self.grace() - margin
    }

    /// How old the proof is, by the clock that shows more.
    fn age(&self, now: Now) -> Option<Duration> {
        let shown = now.mono.saturating_sub(self.proof?.mono);
        let since = if self.planted.has(Bug::YoungAgain) { self.proof } else { self.compared };
        let leapt = since.filter(|_| !self.planted.has(Bug::StoppedClock)).map_or(0, |since| ahead(since, now));
        Some(shown + self.leapt() + Duration::from_millis(u64::try_from(leapt).unwrap_or(0)))
    }

    /// By how much the wall clock leapt ahead of the other one since the proof, as seen until now.
    fn leapt(&self) -> Duration {
        if self.planted.has(Bug::YoungAgain) || self.planted.has(Bug::StoppedClock) {
            return Duration::ZERO;
        }
        let leapt: i64 = self.leaps.iter().map(|(from, to)| ahead(*from, *to).max(0)).sum();
        Duration::from_millis(u64::try_from(leapt).unwrap_or(0))
    }

    /// The time at which running work has to be cancelled unless the session is proven again: proof + time-out - grace - a tenth of
    /// the time-out; by the clock that never steps, less what it is known to have stood still.
    pub fn deadline(&self) -> Option<Duration> {
        Some((self.proof?.mono + self.lasts()).saturating_sub(self.leapt()))
    }

    /// The same by the wall clock, as [`Now::wall`].
    pub fn wall_deadline(&self) -> Option<i64> {
        Some(self.proof?.wall.saturating_add(millis(self.lasts())))
    }

    /// Both deadlines, with the session that they are of.
    pub fn proven_until(&self) -> ProvenUntil {
        let session = self.last().filter(|_| !self.is_over());
        ProvenUntil { session, mono: self.deadline(), wall: self.wall_deadline() }
    }

    /// The time at which what was cancelled at the deadline is dropped, by the wall clock.
    pub fn wall_drop_at(&self) -> Option<i64> {
        Some(self.wall_deadline()?.saturating_add(millis(self.grace())))
    }

    /// Whether the deadline has passed.
    pub fn is_overdue(&self, now: Now) -> bool {
        self.age(now).is_some_and(|age| age >= self.lasts())
    }

    /// Whether it has passed by the wall clock alone: the machine was suspended or paused, or its clock was set.
    pub fn has_leapt(&self, now: Now) -> bool {
        self.is_overdue(now) && self.proof.is_some_and(|proof| now.mono < proof.mono + self.lasts())
    }

    /// The time at which a run that is cancelled at `now` is dropped. Its grace counts from the deadline where that has passed: a
    /// late cancellation gives no more time than the server gives.
    pub fn drop_at(&self, now: Now) -> Duration {
        let left = self.age(now).map_or(self.grace(), |age| (self.lasts() + self.grace()).saturating_sub(age));
        now.mono + left.min(self.grace())
    }

    /// Whether the session is proven well enough to begin something at `now` without asking the registry.
    pub fn is_proven(&self, now: Now) -> bool {
        self.connected().is_some() && self.proof.is_some() && !self.is_overdue(now)
    }

    /// The time at which the proof should be renewed while items run: after a quarter of the time-out. `None` while it is being
    /// renewed or there is no connection.
    pub fn renew_at(&self) -> Option<Duration> {
        self.connected()?;
        let quarter = self.timeout() / 4;
        if self.proving { None } else { Some(self.proof.map_or(Duration::ZERO, |proof| proof.mono + quarter)) }
    }

    /// Notes that a proof is asked for.
    pub fn start_proving(&mut self) {
        self.proving = true;
    }
}

/// How many milliseconds more the wall clock went on between two looks than the other clock; below zero where it was set
/// back.
fn ahead(from: Now, to: Now) -> i64 {
    let mono = millis(to.mono.saturating_sub(from.mono)) - millis(from.mono.saturating_sub(to.mono));
    to.wall.saturating_sub(from.wall).saturating_sub(mono)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    /// Both clocks show these seconds.
    fn at(seconds: u64) -> Now {
        Now { wall: 1_000 * seconds as i64, mono: S(seconds) }
    }

    fn connected(id: i64) -> SessionState {
        SessionState::Connected { id: SessionId(id), timeout: S(10) }
    }

    #[test]
    fn work_ends_before_the_server_may_give_it_away() {
        let mut session = Session::new();
        assert_eq!(session.on_state(connected(1)), SessionChange::Back { new: true });
        assert!(!session.is_proven(at(0)));
        session.on_proof(SessionId(1), at(100));
        assert_eq!(session.deadline(), Some(S(107)));
        assert!(session.deadline().unwrap() + session.grace() < S(100) + S(10));
        assert!(session.is_proven(at(106)) && !session.is_proven(at(107)));
    }

    #[test]
    fn who_cancels_late_gives_no_more_grace_than_who_cancels_in_time() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        assert_eq!(session.drop_at(at(104)), S(106));
        for (late, dropped) in [(107, 109), (108, 109), (109, 109), (500, 500)] {
            assert_eq!(session.drop_at(at(late)), S(dropped), "cancelled at {late} s");
        }
    }

    #[test]
    fn a_clock_that_stood_still_does_not_make_a_proof_younger() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        let suspended = |seconds: u64| Now { mono: S(101), ..at(101 + seconds) };
        assert!(session.is_proven(suspended(5)) && !session.has_leapt(suspended(5)));
        assert!(!session.is_proven(suspended(6)) && session.has_leapt(suspended(6)));
        // A grace of 2 s from the deadline on, of which 1 s and then nothing is left.
        assert_eq!((session.drop_at(suspended(7)), session.drop_at(suspended(60))), (S(102), S(101)));
        assert_eq!((session.wall_deadline(), session.wall_drop_at()), (Some(107_000), Some(109_000)));
    }

    #[test]
    fn what_is_proven_ends_with_either_clock_and_with_the_session() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        let (until, first) = (session.proven_until(), SessionId(1));
        assert!(until.holds(first, at(106)) && !until.holds(first, at(107)));
        assert!(
            !until.holds(first, Now { mono: S(101), ..at(107) }) && !until.holds(first, Now { wall: 0, ..at(107) })
        );
        session.on_state(connected(2));
        assert!(!session.proven_until().holds(first, at(101)));
    }

    #[test]
    fn a_wall_clock_that_was_set_back_makes_nothing_younger_either() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        let set_back = |mono: u64| Now { mono: S(mono), ..at(10) };
        assert!(session.is_proven(set_back(106)) && !session.is_proven(set_back(107)));
        assert!(!session.has_leapt(set_back(107)));
        assert_eq!(session.drop_at(set_back(108)), S(109));
    }

    #[test]
    fn a_suspended_machine_whose_clock_is_set_back_afterwards_needs_a_new_proof() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        let woken = Now { mono: S(101), ..at(109) };
        let set_back = |mono: u64| Now { mono: S(mono), ..at(mono) };
        session.see(woken);
        assert!(!session.is_proven(woken) && !session.is_proven(set_back(102)));
        assert_eq!(session.deadline(), Some(S(99)));
        // Sent before the machine was suspended, answered when its clock is right again.
        session.on_proof(SessionId(1), Now { mono: Duration::from_millis(100_900), wall: 100_900 });
        assert!(!session.is_proven(set_back(102)));
        session.on_proof(SessionId(1), set_back(102));
        session.see(set_back(103));
        assert!(session.is_proven(set_back(108)) && !session.is_proven(set_back(109)));
    }

    #[test]
    fn each_time_that_a_machine_was_suspended_counts() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        // Suspended for 4 s, set right by a server of time that is wrong, and suspended for 4 s again.
        for (mono, wall) in [(101, 105), (101, 101), (102, 106)] {
            session.see(Now { mono: S(mono), ..at(wall) });
        }
        assert!(!session.is_proven(Now { mono: S(102), ..at(106) }));
        assert_eq!(session.deadline(), Some(S(107 - 8)));
        // A proof that was asked for in between: only the second time was after it.
        session.on_proof(SessionId(1), Now { mono: Duration::from_millis(101_500), wall: 101_500 });
        assert_eq!(session.deadline(), Some(Duration::from_millis(108_500 - 4_000)));
    }

    #[test]
    fn the_work_of_a_clock_that_is_read_a_bit_later_is_no_leap() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        for look in 0..1_000 {
            session.see(Now {
                wall: 100_000 + look + look % 2 * (LEAP - 1),
                mono: S(100) + Duration::from_millis(look as u64),
            });
        }
        assert_eq!(session.deadline(), Some(S(107)));
    }

    #[test]
    fn an_older_proof_does_not_take_a_newer_one_back() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        session.on_proof(SessionId(1), at(90));
        assert_eq!(session.deadline(), Some(S(107)));
    }

    #[test]
    fn a_proof_is_renewed_after_a_quarter_once_at_a_time() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        assert_eq!(session.renew_at(), Some(Duration::from_millis(102_500)));
        session.start_proving();
        assert_eq!(session.renew_at(), None);
        // Another job of the process asked for it.
        session.on_proof(SessionId(1), at(103));
        assert_eq!(session.renew_at(), None);
        // The answer may be a proof from before the question.
        session.on_answered(Some((SessionId(1), at(102))));
        assert_eq!(session.renew_at(), Some(Duration::from_millis(105_500)));
        session.start_proving();
        session.on_answered(None);
        assert!(session.renew_at().is_some());
    }

    #[test]
    fn the_proof_of_an_old_session_says_nothing_about_a_new_one() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        assert_eq!(session.on_state(SessionState::Suspended { id: SessionId(1) }), SessionChange::Lost);
        assert_eq!(session.connected(), None);
        assert_eq!(session.on_state(connected(1)), SessionChange::Back { new: false });
        assert!(session.is_proven(at(101)));
        assert_eq!(session.on_state(connected(2)), SessionChange::Back { new: true });
        assert!(!session.is_proven(at(101)));
        session.on_proof(SessionId(1), at(101));
        assert_eq!(session.deadline(), None);
    }

    #[test]
    fn the_proof_of_a_session_that_is_not_known_yet_does_not_lengthen_that_before_it() {
        let mut session = Session::new();
        session.on_state(connected(1));
        session.on_proof(SessionId(1), at(100));
        session.on_proof(SessionId(2), at(105));
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
