//! Records of fires that an instance began by a wrong clock.
//!
//! A record says up to which fire an item was begun or decided against. A record that a host wrote while its clock was
//! an hour ahead covers the fires of the next hour, also when that host is gone or its clock is right again. The engine
//! compares the record with the server's time of its last write: a host whose clock is right enough to begin anything
//! never writes a fire that is so far ahead of that time.

use std::time::Duration;

use super::engine::JobEngine;
use super::planted::Bug;
use crate::config::JobConfiguration;
use crate::fire::{FireRecord, FireState};
use crate::registry::mirror::Known;

impl JobEngine {
    /// The record in a node, limited to the part that counts.
    pub(super) fn read_record(&self, known: &Known) -> FireRecord {
        self.count(known.parsed(FireRecord::parse).as_ref().clone(), known.mtime)
    }

    /// The part that counts of a record that was written at this time by the server's clock; 0 where that is not known.
    pub(super) fn count(&self, record: FireRecord, written: i64) -> FireRecord {
        // The answer to a create has no server time. A node that was only created is blank.
        let is_told = written > 0 && !self.planted.has(Bug::TrustedRecord);
        let record = match self.clock_tolerance().filter(|_| is_told) {
            Some(tolerance) => record.counted(written, tolerance),
            None => record,
        };
        if self.planted.has(Bug::ForgottenAhead) { FireRecord { ahead: None, ..record } } else { record }
    }

    /// How far the clocks may differ, in seconds; `None` where they are not compared.
    pub(super) fn clock_limit(&self) -> Option<u32> {
        self.configuration.in_force.as_deref().and_then(JobConfiguration::max_time_diff_seconds)
    }

    /// How far ahead of the server's clock a fire may be when an instance begins it, in milliseconds: the allowed
    /// difference of the clocks, and the longest delay of an answer that brings the server's time. `None` where the
    /// clocks are not compared.
    pub(super) fn clock_tolerance(&self) -> Option<i64> {
        tolerance(self.clock_limit()?, self.session.timeout())
    }
}

/// The same for clocks that may differ by so many seconds, in a session with this time-out.
pub(super) fn tolerance(limit: u32, timeout: Duration) -> Option<i64> {
    i64::try_from((Duration::from_secs(limit.into()) + timeout).as_millis()).ok()
}

impl FireRecord {
    /// The part that counts of a record that was written at `written` by the server's clock.
    ///
    /// A fire that is further ahead of `written` than `tolerance` came by a wrong clock. That fire is decided if it was
    /// begun. All fires that may have been begun by a right clock before the record was written are decided too. The
    /// fires in between are not, though some of them may have been begun by the wrong clock.
    pub(super) fn counted(self, written: i64, tolerance: i64) -> Self {
        let by_right_clocks = written.saturating_add(tolerance);
        let is_ahead = |at: i64| at > by_right_clocks;
        let ahead = self.last.as_ref().filter(|last| !last.manual && is_ahead(last.at));
        // A begun fire that the check of the clock kept from starting has not run.
        let begun = ahead.filter(|last| last.state != FireState::NotRun).map(|last| last.at);
        let through = self.through.map(|at| if is_ahead(at) { by_right_clocks } else { at });
        // The missed fire comes again at its time. No instance makes up for it before: the record covers the time that
        // replaces it here.
        let missed = self.missed.and_then(|at| if is_ahead(at) { through } else { Some(at) });
        Self { through, missed, ahead: self.ahead.max(begun), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fire::{Attempt, ExecutionSource, Fire, ItemEnd};
    use crate::ident::InstanceId;
    use crate::registry::SessionId;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    /// When the server wrote the record.
    const WRITTEN: i64 = 100 * HOUR;

    fn begun(at: i64) -> FireRecord {
        let (instance, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(1), 7, 1));
        FireRecord::empty().begin(at, Fire::Scheduled(at), ExecutionSource::NormalTrigger, instance, attempt)
    }

    fn covers(record: &FireRecord, minutes: i64) -> bool {
        record.covers(Fire::Scheduled(WRITTEN + minutes * MINUTE))
    }

    #[test]
    fn what_a_clock_an_hour_ahead_began_covers_the_past_and_that_fire_alone() {
        let record = begun(WRITTEN + HOUR).counted(WRITTEN, 2 * MINUTE);
        for (minutes, is_covered) in [(-5, true), (2, true), (3, false), (59, false), (60, true), (61, false)] {
            assert_eq!(covers(&record, minutes), is_covered, "{minutes} minutes later");
        }
        // The record covers that fire after the next begin too, until its time has come.
        let (instance, attempt) = (InstanceId::of_process("10.0.0.2", 7), Attempt::new(SessionId(2), 7, 1));
        let next = Fire::Scheduled(WRITTEN + 3 * MINUTE);
        let next = record.begin(WRITTEN, next, ExecutionSource::NormalTrigger, instance, attempt);
        assert!(covers(&next, 3) && !covers(&next, 4) && covers(&next, 60));
        let text = String::from_utf8(next.to_bytes()).unwrap();
        assert!(text.contains(r#""ahead":"#) && FireRecord::parse(text.as_bytes()) == next, "{text}");
        let (instance, attempt) = (InstanceId::of_process("10.0.0.2", 7), Attempt::new(SessionId(2), 7, 2));
        let later = Fire::Scheduled(WRITTEN + HOUR + MINUTE);
        assert_eq!(next.begin(WRITTEN, later, ExecutionSource::NormalTrigger, instance, attempt).ahead, None);
    }

    #[test]
    fn what_is_allowed_counts_as_it_is() {
        let within = begun(WRITTEN + 2 * MINUTE);
        assert_eq!(within.clone().counted(WRITTEN, 2 * MINUTE), within);
    }

    #[test]
    fn a_fire_that_a_wrong_clock_did_not_start_is_due_at_its_time() {
        let end = ItemEnd { state: FireState::NotRun, took: 0, error: None };
        let record = begun(WRITTEN + HOUR).end(WRITTEN + HOUR, &end).counted(WRITTEN, 2 * MINUTE);
        assert!(!covers(&record, 60) && covers(&record, 0));
    }

    #[test]
    fn a_fire_that_was_missed_by_a_wrong_clock_is_not_made_up_for() {
        let record = begun(WRITTEN).miss(WRITTEN + HOUR);
        assert_eq!(record.to_make_up(), Some(WRITTEN + HOUR));
        assert_eq!(record.counted(WRITTEN, 2 * MINUTE).to_make_up(), None);
    }
}
