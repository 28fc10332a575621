//! Answers to transactions, and what follows from them.

use super::action::TriggerAnswer;
use super::engine::JobEngine;
use super::event::Now;
use super::notice::Notice;
use super::state::link::Write;
use super::state::membership::Phase;
use super::state::proposal::Purpose;
use crate::ident::{InstanceId, ShardingItem};
use crate::registry::path::JobPath;
use crate::registry::{CommitError, Committed, Refusal, SessionId};

impl JobEngine {
    pub(super) fn on_answer(&mut self, now: Now, answer: Result<Committed, CommitError>) {
        let Some(Write { transaction, purpose, session, sent }) = self.take_write() else { return };
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
            Purpose::Register { foreign, max_time_diff } => {
                if !foreign.is_empty() {
                    self.tell(Notice::ForeignToJava { values: foreign });
                }
                match self.clock_refusal(now, max_time_diff).filter(|_| self.phase == Phase::Joining) {
                    Some(why) => {
                        self.membership.session = Some(session);
                        self.tell(Notice::StartFailed { why });
                        self.start_leaving(now.mono);
                    }
                    None => self.on_registered(session),
                }
            }
            Purpose::AskTime | Purpose::Candidate | Purpose::Skip => {}
            Purpose::Sweep { triggers, sessionless } => {
                self.tell_dropped(triggers);
                if !sessionless.is_empty() {
                    let nodes = sessionless.iter().map(ToString::to_string).collect();
                    self.tell(Notice::SessionlessNodesDeleted { nodes });
                }
            }
            Purpose::Leave { triggers } => self.tell_dropped(triggers),
            Purpose::HandOver(plan) => self.on_handed_over(plan),
            Purpose::Clear { above, deleted } => self.on_cleared(&above, deleted),
            Purpose::Elect => self.tell(Notice::Elected),
            Purpose::Abdicate => {
                self.leadership.term = None;
                self.tell(Notice::Abdicated);
            }
            Purpose::Request { why } => self.tell(Notice::ReshardRequested { why }),
            Purpose::Reshard(sharding) => {
                if let Some(leadership) = &mut self.leadership.term {
                    leadership.basis = Some(sharding.basis);
                    leadership.pinned.clone_from(&sharding.pinned);
                }
                let pinned = sharding.pinned.into_iter().collect();
                self.tell(Notice::Resharded { moved: sharding.moved, pinned });
            }
            Purpose::Trigger { asked, answer } => self.answer(asked, &answer),
            Purpose::Begin(plan) => {
                let live = self.session.connected() == Some(session);
                self.on_begun(now, plan, committed.zxid(), live);
            }
            Purpose::Miss { items } => {
                for (item, at) in items {
                    if self.fires.missed_items.get(&item) == Some(&at) {
                        self.fires.missed_items.remove(&item);
                    }
                }
            }
            Purpose::Finish { items } => self.on_finished(now, &items),
            Purpose::CallOnce { claims, settled } => {
                self.rounds.settled.retain(|claim| !settled.contains(claim));
                // Otherwise the answer comes too late to trust it: once the session is proven, the record shows the
                // claim.
                if self.session.connected() == Some(session) && self.session.is_proven(now) {
                    for (round, claim) in claims {
                        self.on_claimed(round, claim);
                    }
                }
            }
        }
    }

    fn tell_dropped(&mut self, triggers: Vec<InstanceId>) {
        triggers.into_iter().for_each(|instance| self.tell(Notice::TriggerDropped { instance, items: vec![] }));
    }

    /// The instance is in the group, in this session.
    pub(super) fn on_registered(&mut self, session: SessionId) {
        self.membership.session = Some(session);
        self.membership.removal_confirmed = false;
        if self.phase == Phase::Joining {
            self.phase = Phase::Active;
        }
        self.tell(Notice::Registered { instance: self.identity.instance.clone(), session });
    }

    fn on_refused(&mut self, purpose: Purpose, path: Option<&JobPath>, reason: Refusal, why: &str) {
        match purpose {
            Purpose::Begin(plan) => {
                let item: Option<ShardingItem> = match path {
                    Some(JobPath::Item(item, _)) => Some(*item),
                    _ => None,
                };
                self.on_begin_refused(&plan, item);
            }
            // The rule asks again, with what the mirror knows by then.
            Purpose::Trigger { asked, .. } => self.pending_triggers.extend(asked),
            Purpose::Register { .. } if self.phase == Phase::Joining && is_final(reason) => {
                self.tell(Notice::StartFailed { why: why.to_owned() });
                self.stop();
            }
            _ => {}
        }
    }

    fn on_not_reached(&mut self, purpose: Purpose) {
        if let Purpose::Trigger { asked, .. } = purpose {
            self.pending_triggers.extend(asked);
        }
    }

    fn on_unknown(&mut self, purpose: Purpose, why: &str) {
        match purpose {
            Purpose::Begin(plan) => self.on_begin_unresolved(plan),
            // An instance may take the trigger before this engine looks for it again; then the engine would believe
            // that it was never written. So it answers that the job may or may not run, instead of running it twice.
            Purpose::Trigger { asked, .. } => {
                let answer = TriggerAnswer::Registry(format!("it may or may not run: {why}"));
                self.answer(asked, &answer);
            }
            _ => {}
        }
    }
}

/// Whether trying again cannot help.
fn is_final(reason: Refusal) -> bool {
    matches!(reason, Refusal::NoAuth | Refusal::InvalidAcl | Refusal::BadArguments | Refusal::NoChildrenForEphemerals)
}
