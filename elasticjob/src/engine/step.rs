//! The loop of an engine: an event in, the rules in order, actions out.

use super::action::Action;
use super::engine::JobEngine;
use super::event::Event;
use super::notice::Notice;
use super::planted::{Bug, DEAF};
use super::rules::{LooksAt, Meanwhile, RULES, Step};
use super::state::group::Group;
use super::state::leadership::Rerequest;
use super::state::link::Write;
use super::state::membership::Phase;
use super::state::pending_trigger::PendingTrigger;
use super::state::proposal::Proposal;
use super::state::runs::Stage;
use super::state::session::SessionChange;
use crate::clock::Now;
use crate::config::wire::QUICKLY_READ;
use crate::fire::{FireState, ItemEnd};
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Lookup, Unread};
use crate::registry::{Data, SessionState, WatchEvent};

/// How often all rules may be asked again in one step. Each time some rule has done something, and what there is to do
/// without a write is little: the items of the job, and what they wait for.
const MOST_ROUNDS: usize = 100;

impl JobEngine {
    /// Takes an event and decides what to do; the actions are polled afterwards.
    pub fn handle(&mut self, now: Now, event: Event) {
        self.session.see(now);
        self.clock.see(now);
        self.dependencies.reruns.pass(now.mono);
        self.deafen_by(now, &event);
        if self.phase == Phase::Stopped {
            self.note(now, event);
            return;
        }
        // Every transaction of the process brings a proof; nothing but a begin waits for one.
        if let Event::Proven { session, at } = event
            && self.fires.open.as_ref().is_none_or(|open| open.looked)
            && self.fires.unresolved.is_none()
        {
            self.session.on_proof(session, at);
            return;
        }
        let is_step = |seen: Now| (now.wall - seen.wall).abs_diff((now.mono - seen.mono).as_millis() as i64) > 500;
        if self.seen.is_some_and(is_step) {
            self.planted.deafen(Bug::DeafAfterStep, now.mono + DEAF);
        }
        self.seen = Some(now);
        self.take(now, event);
        self.keep_deadlines(now);
        self.abandon_runs(now);
        self.watch_calendar(now);
        // A fire that was closed begins no further items.
        self.close_runs(now);
        self.ask_to_stop();
        self.advance(now);
        // A run that was started just now may have a deadline that has come already, or there may be a reason to ask it
        // to stop.
        self.keep_deadlines(now);
        self.ask_to_stop();
    }

    /// Takes one of several events that came together, without deciding anything yet. [`Self::handle`] has to follow
    /// with the last of them, or with a tick. Events of items and of watches, and what was read, are taken this way; each
    /// decision looks at all items.
    pub fn note(&mut self, now: Now, event: Event) {
        self.session.see(now);
        self.clock.see(now);
        if self.phase != Phase::Stopped {
            self.take(now, event);
        } else if let Event::ItemEnded { item, end } = event {
            self.on_left_run_ended(item, end);
        }
    }

    /// Whether taking an event may last some hundredths of a second, because the engine reads a long configuration
    /// then.
    pub fn may_take_long(&self, event: &Event) -> bool {
        let is_long = |data: &Data| data.len() > QUICKLY_READ && self.configuration.data.as_ref() != Some(data);
        match event {
            Event::Read { path: JobPath::Config, node: Ok(Some(node)), .. } if is_long(&node.data) => true,
            // What the registry has is in force.
            _ if self.group == Group::Settled => false,
            _ => matches!(self.mirror.lookup(&JobPath::Config), Lookup::Known(known) if is_long(&known.data)),
        }
    }

    fn take(&mut self, now: Now, event: Event) {
        self.group.hear(&event);
        match event {
            Event::Tick => {}
            Event::Session(SessionState::Closed) if self.phase == Phase::Joining => {
                let why = "the registry center was closed before the job could register".to_owned();
                self.fail_to_start(why);
                self.stop();
            }
            Event::Session(state) => match self.session.on_state(state) {
                SessionChange::None => {}
                SessionChange::Closed => self.start_leaving(now.mono),
                SessionChange::Lost => self.tell(Notice::RegistryLost),
                SessionChange::Back { new } => {
                    self.planted.deafen(Bug::DeafAfterReconnect, now.mono + DEAF);
                    if self.planted.has(Bug::DroppedHeld) {
                        self.fires.open = None;
                    }
                    self.on_session_back(new);
                }
            },
            Event::Proven { session, at } => self.session.on_proof(session, at),
            Event::ProofAnswered(proof) => self.session.on_answered(proof),
            Event::Watch(event) => {
                if event == WatchEvent::Gap {
                    self.expect_missed_events();
                }
                self.note_departure(&event);
                self.mirror.on_event(&event);
                self.hear_request();
            }
            Event::Watching(watched) => {
                if self.mirror.is_in_place(&watched) {
                    self.expect_missed_events();
                }
                self.mirror.on_placed(&watched);
            }
            Event::Listed { generation, path, children } => {
                if generation == self.mirror.generation() {
                    self.on_foreign_listed(&path, &children);
                }
                match children {
                    Ok(children) => {
                        self.link.trouble = None;
                        self.mirror.on_listed(generation, &path, children);
                    }
                    Err(error) => {
                        self.mirror.on_unanswered(generation, &path);
                        self.back_off(now, error.to_string());
                    }
                }
            }
            Event::Read { generation, path, node } => match node {
                Ok(node) => {
                    self.link.trouble = None;
                    if node.is_none() && path == JobPath::Instance(self.identity.instance.clone()) {
                        self.membership.removal_confirmed = self.session.connected().is_some();
                    }
                    self.mirror.on_read(generation, &path, node);
                }
                Err(error) => {
                    self.mirror.on_unanswered(generation, &path);
                    self.back_off(now, error.to_string());
                }
            },
            Event::Committed(answer) => self.on_answer(now, answer),
            Event::Trigger(id, trace_parent) => {
                self.pending_triggers.push(PendingTrigger::at(id, trace_parent, now.mono));
            }
            Event::ItemEnded { item, end } => self.on_item_ended(now, item, end),
            Event::ListenersCalled { round } => self.on_listeners_called(now, round),
            Event::Parent { job, view } => self.on_parent(job, *view),
            Event::Shutdown { grace } => self.start_leaving(now.mono + grace),
            Event::Restart => {
                self.membership.returns = true;
                self.start_leaving(now.mono);
            }
        }
    }

    /// A watch is in place again: events may have been missed meanwhile.
    fn expect_missed_events(&mut self) {
        self.link.foreign = None;
        self.link.obstructed.clear();
        self.dependencies.reruns.expect_missed_events();
        self.remember_instances();
    }

    fn on_session_back(&mut self, new: bool) {
        let Some(session) = self.session.connected() else { return };
        let first = self.membership.own_sessions.is_empty();
        self.membership.note_session(session);
        self.membership.removal_confirmed = false;
        self.note_success();
        if new {
            // Leading ended with the session that owned the leader's node.
            self.leadership.term = None;
            self.leadership.rerequest = Rerequest::default();
            self.leadership.unswept = None;
            // A registry center that lost its data ends all sessions, and its versions begin again: a node may have the
            // version that was read before, and another's data. What was seen of other jobs is as old.
            self.mirror.relist();
            self.follow_jobs(Vec::new());
        }
        self.tell(Notice::RegistryBack { session, new, first });
    }

    fn on_item_ended(&mut self, now: Now, item: ShardingItem, end: ItemEnd) {
        if let Some(run) = self.runs.item_mut(item) {
            // A run that gives up because it was told to has not failed: it was cut off.
            let told = matches!(run.stage, Stage::Cancelled { .. } | Stage::Aborted);
            let state = if told && end.state == FireState::Failed { FireState::Cancelled } else { end.state };
            run.stage = Stage::Ended { at: now.mono, end: ItemEnd { state, ..end } };
        } else {
            self.on_left_run_ended(item, end);
        }
    }

    /// The code of a run that this engine leaves behind has returned: the next engine, or the clean-up, writes that.
    fn on_left_run_ended(&mut self, item: ShardingItem, end: ItemEnd) {
        let mut left = self.membership.abandoned.iter_mut();
        if let Some(left) = left.find(|left| left.item == item && left.end.is_none()) {
            left.ended(end);
        }
    }

    /// Asks the rules until one writes or all pass; then asks for the data that are missing.
    fn advance(&mut self, now: Now) {
        let waiting = self.link.retry.not_before.is_some_and(|at| now.mono < at);
        if !waiting {
            self.link.retry.not_before = None;
        }
        if !waiting {
            self.ask_for_lists();
        }
        if self.gave_up_leaving(now) {
            self.membership.gave_up = true;
            self.tell(Notice::LeftUnanswered);
            self.stop();
            return;
        }
        let Some(session) = self.session.connected() else { return };
        if waiting || self.link.write.is_some() {
            return;
        }
        if self.mirror.is_synced() {
            self.choose_watches();
            // What a watch that is added now will tell of is listed behind it.
            self.ask_for_lists();
        }
        if !self.mirror.is_synced() {
            return;
        }
        let is_settled = self.is_group_settled();
        self.group = Group::InDoubt;
        let mut rules = RULES.iter();
        let mut rounds = 0;
        // Whether all rules of the group that were asked in this round passed.
        let mut passed = true;
        loop {
            let Some(rule) = rules.next() else {
                if passed {
                    self.group = Group::Settled;
                }
                break;
            };
            if is_settled && rule.looks_at == LooksAt::Group {
                // Only the tests ask it: a rule that is asked may report something.
                #[cfg(test)]
                assert!(matches!((rule.ask)(self, now), Ok(Step::Pass)), "a rule that was passed over has work");
                continue;
            }
            let step = (rule.ask)(self, now);
            passed &= rule.looks_at == LooksAt::Everything || matches!(step, Ok(Step::Pass));
            match step {
                Ok(Step::Pass) => {}
                Ok(Step::Again) if rounds == MOST_ROUNDS => {
                    self.tell(Notice::RulesCircle);
                    break;
                }
                Ok(Step::Again) => {
                    rounds += 1;
                    rules = RULES.iter();
                    passed = true;
                }
                Ok(Step::Write(Proposal { transaction, purpose })) => {
                    let transaction = transaction.in_session(session);
                    self.mirror.on_commit_sent(&transaction);
                    self.act(Action::Commit(transaction.clone()));
                    self.link.write = Some(Box::new(Write { transaction, purpose, session, sent: now }));
                    break;
                }
                Ok(Step::Stop) => break,
                Err(Unread) if rule.meanwhile == Meanwhile::Wait => break,
                Err(Unread) => {}
            }
            if self.phase == Phase::Stopped {
                return;
            }
        }
        // A rule may have put another configuration in force.
        if self.link.write.is_none() && self.mirror.is_synced() {
            self.choose_watches();
        }
        self.ask_for_lists();
        let wanted = self.mirror.take_wanted();
        if self.link.write.is_none() {
            let paths = self.mirror.start_reads(wanted);
            if !paths.is_empty() {
                self.act(Action::Read { generation: self.mirror.generation(), paths });
            }
        }
    }

    fn ask_for_lists(&mut self) {
        let mut paths = self.mirror.take_lists();
        paths.extend(self.link.foreign.iter_mut().flat_map(|foreign| foreign.take_lists()));
        if !paths.is_empty() {
            self.act(Action::List { generation: self.mirror.generation(), paths });
        }
    }
}
