//! Answers to transactions, and what follows from them.

use super::engine::JobEngine;
use super::notice::Notice;
use super::planted::{Bug, DEAF, SLOW};
use super::state::link::Write;
use super::state::proposal::Purpose;
use crate::clock::Now;
use crate::registry::layout::JobPath;
use crate::registry::{CommitError, Committed, Refusal, SessionId};

impl JobEngine {
    pub(super) fn on_answer(&mut self, now: Now, answer: Result<Committed, CommitError>) {
        let Some(Write { transaction, purpose, session, sent }) = self.take_write() else { return };
        if now.mono > sent.mono + SLOW {
            self.planted.deafen(Bug::DeafAfterSlow, now.mono + DEAF);
        }
        match answer {
            Ok(committed) => {
                self.mirror.on_committed(&transaction, &committed, session);
                self.note_success();
                if let Some(at) = committed.server_time() {
                    self.clock.learn(at, sent, now);
                }
                self.on_done(now, purpose, &committed, session);
            }
            Err(error) => {
                self.mirror.on_not_committed();
                match &purpose {
                    Purpose::Clear { above, .. } => self.on_not_cleared(above, &error),
                    _ => self.on_obstructed(&error),
                }
                match error {
                    CommitError::Refused { ref path, reason, .. } => {
                        let path = JobPath::parse(&self.job, path);
                        if let Some(path) = &path {
                            // The mirror was wrong about this node.
                            self.mirror.doubt(path);
                        }
                        self.on_refused(purpose, path.as_ref(), reason, &error.to_string());
                        self.note_refusal(now, &error.to_string());
                    }
                    CommitError::NotReached { .. } => {
                        self.on_not_reached(purpose);
                        self.back_off(now, error.to_string());
                    }
                    CommitError::Unknown { .. } => {
                        self.mirror.relist();
                        self.on_unknown(purpose, &error.to_string());
                        self.back_off(now, error.to_string());
                    }
                }
            }
        }
    }

    fn on_done(&mut self, now: Now, purpose: Purpose, committed: &Committed, session: SessionId) {
        match purpose {
            Purpose::Register { foreign, max_time_diff, dropped } => {
                self.on_registration_done(now, foreign, max_time_diff, dropped, session);
            }
            Purpose::AskTime | Purpose::Candidate | Purpose::NoteSchedule | Purpose::Skip => {}
            Purpose::DecideFires { skipped, unseen } => self.on_fires_decided(skipped, unseen),
            Purpose::FollowRerun { followed } => self.on_rerun_followed(*followed),
            Purpose::Sweep { triggers, sessionless } => self.on_swept(triggers, &sessionless),
            Purpose::Leave { triggers } => self.tell_dropped(triggers),
            Purpose::HandOver(plan) => self.on_handed_over(*plan),
            Purpose::Clear { above, deleted } => self.on_cleared(&above, deleted),
            Purpose::Elect => self.tell(Notice::Elected),
            Purpose::Abdicate => self.on_abdicated(),
            Purpose::Request { why } => self.tell(Notice::ReshardRequested { why }),
            Purpose::Reshard(sharding) => self.on_resharded(sharding),
            Purpose::Trigger { asked, answer, left_out } => self.on_triggers_written(asked, &answer, left_out),
            Purpose::Begin(plan) => {
                let live = self.session.connected() == Some(session);
                self.on_begun(now, plan, committed.zxid(), live);
            }
            Purpose::Miss { items } => self.on_marked(items),
            Purpose::ClearMissed { declined, collapsed } => {
                self.on_missed_declined(declined);
                self.on_missed_collapsed(collapsed);
            }
            Purpose::Finish { items } => self.on_finished(now, &items),
            Purpose::Conclude { fire, item, from, request } => {
                self.tell(Notice::LostAfterCancel { fire, item, from, request });
            }
            Purpose::CallOnce { claims, settled } => {
                // Otherwise the answer comes too late to trust it: once the session is proven, the record shows the
                // claim.
                let live = self.session.connected() == Some(session) && self.session.is_proven(now);
                self.on_claims_written(if live { claims } else { Vec::new() }, &settled);
            }
        }
    }

    fn on_refused(&mut self, purpose: Purpose, path: Option<&JobPath>, reason: Refusal, why: &str) {
        match purpose {
            Purpose::Begin(plan) => self.on_begin_refused(&plan, path),
            Purpose::Trigger { asked, .. } => self.on_triggers_not_written(asked),
            Purpose::Register { .. } => self.on_registration_refused(reason, why),
            _ => {}
        }
    }

    fn on_not_reached(&mut self, purpose: Purpose) {
        if let Purpose::Trigger { asked, .. } = purpose {
            self.on_triggers_not_written(asked);
        }
    }

    fn on_unknown(&mut self, purpose: Purpose, why: &str) {
        match purpose {
            Purpose::Begin(plan) => self.on_begin_unresolved(plan),
            Purpose::Trigger { asked, left_out, .. } => self.on_triggers_unknown(asked, left_out, why),
            // Where they did not move, they are reported again with the next try.
            Purpose::Reshard(sharding) => self.tell_left_out(sharding.untriggered),
            Purpose::HandOver(plan) => self.fires.hand_over_unknown = Some(plan),
            Purpose::Register { dropped: triggers, .. }
            | Purpose::Sweep { triggers, .. }
            | Purpose::Leave { triggers } => self.fires.dropped_unknown.extend(triggers),
            Purpose::ClearMissed { declined, collapsed } => {
                self.on_missed_declined_unknown(declined);
                self.on_missed_collapsed(collapsed);
            }
            _ => {}
        }
    }
}
