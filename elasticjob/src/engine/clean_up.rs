//! Cleaning up after an engine that is gone while the session of its process goes on.
//!
//! The registry deletes the nodes of a session when the session ends. Where the session goes on, with other jobs of the
//! process, nothing would delete them: a leader that does not lead, marks of runs that are over, an instance that is
//! given items and runs none. So the clean-up reads and deletes what is left, again and again, until nothing is left.
//! It writes a run that was begun and not finished as cut off, so that with failover another instance takes it over.
//! The marks of runs whose code goes on stay until the code returns.
//!
//! The clean-up shares only the transactions with the rules of the engine: it has to work when a rule does not.

use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Duration;

use super::action::Action;
use super::engine::JobEngine;
use super::event::Event;
use super::once_calls::OnceCalls;
use super::planted::{Bug, Planted};
use super::state::foreign_nodes::ForeignNodes;
use super::state::left_run::LeftRun;
use super::state::membership::Identity;
use super::txn::JobTransaction;
use crate::clock::Now;
use crate::config::wire::{self, QUICKLY_READ};
use crate::fire::{ExecutionSource, FireRecord, ItemEnd};
use crate::ident::{JobName, ShardingItem};
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::mirror::{Lookup, Mirror, Unread};
use crate::registry::{CommitError, CreateMode, SessionId, SessionState, Transaction, WatchEvent, Zxid};

/// How long to wait before the registry is asked again after it failed, doubled each time up to the longest.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(3);

/// The error that the record of an item has for a run that was lost with its engine.
const LOST: &str = "the coordination of the job ended by a bug";

/// Cleans up what an engine left in the registry. Events in, actions out, as of the engine.
#[derive(Debug)]
pub struct CleanUp {
    job: JobName,
    identity: Identity,
    /// Runs whose end is still to be written, and runs that go on.
    left: Vec<LeftRun>,
    session: Option<SessionId>,
    pub(super) mirror: Mirror,
    stage: Stage,
    /// Whether the configuration that this transaction wrote has failover.
    failover: Cell<Option<(Zxid, bool)>>,
    /// The nodes below a node that could not be deleted.
    foreign: Option<ForeignNodes>,
    failures: u32,
    planted: Planted,
    actions: VecDeque<Action>,
}

/// What the clean-up waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A session.
    Unconnected,
    /// The time to try again.
    Retry { at: Duration },
    /// The lists and the data of the nodes.
    Looking,
    /// The answer to a transaction.
    Committing,
    /// A run that ends, or another session: nothing else is left.
    Clean,
}

impl CleanUp {
    /// Cleans up after this engine.
    pub fn after(engine: &JobEngine) -> Self {
        Self {
            job: engine.job.clone(),
            identity: engine.identity.clone(),
            left: engine.left_runs(),
            session: None,
            mirror: engine.mirror.unread(),
            stage: Stage::Unconnected,
            failover: Cell::new(None),
            foreign: None,
            failures: 0,
            planted: engine.planted,
            actions: VecDeque::new(),
        }
    }

    /// The instance that is gone.
    #[cfg(feature = "testing")]
    pub fn instance(&self) -> &crate::ident::InstanceId {
        &self.identity.instance
    }

    /// Whether nothing is left in the registry but what belongs to code that goes on.
    pub fn is_clean(&self) -> bool {
        self.stage == Stage::Clean
    }

    /// Whether taking an event may last some hundredths of a second, because a long configuration is read then.
    pub fn may_take_long(&self, event: &Event) -> bool {
        let is_read = |written: Zxid| self.failover.get().is_some_and(|(read, _)| read == written);
        match event {
            Event::Read { path: JobPath::Config, node: Ok(Some(node)), .. } => node.data.len() > QUICKLY_READ,
            _ => match self.mirror.lookup(&JobPath::Config) {
                Lookup::Known(known) => known.data.len() > QUICKLY_READ && !is_read(known.mzxid),
                Lookup::Missing | Lookup::Unread => false,
            },
        }
    }

    /// The items whose code goes on.
    pub fn busy(&self) -> impl Iterator<Item = ShardingItem> {
        self.left.iter().filter(|left| left.end.is_none()).map(|left| left.item)
    }

    /// The runs that are not written yet, for the engine that takes its place.
    pub fn take_left(&mut self) -> Vec<LeftRun> {
        std::mem::take(&mut self.left)
    }

    /// Takes back runs that no engine took over.
    pub fn keep(&mut self, left: Vec<LeftRun>) {
        self.left = left;
    }

    /// The next action, until there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The time of the next tick, by the clock that never steps.
    pub fn poll_timeout(&self) -> Option<Duration> {
        match self.stage {
            Stage::Retry { at } => Some(at),
            _ => None,
        }
    }

    /// Takes an event, and goes on.
    pub fn handle(&mut self, now: Now, event: Event) {
        match event {
            Event::Session(SessionState::Connected { id, .. }) => {
                let is_new = self.session.replace(id) != Some(id);
                if is_new || self.stage == Stage::Unconnected {
                    self.look_again();
                }
            }
            Event::Session(_) => {
                self.session = None;
                self.stage = Stage::Unconnected;
            }
            Event::Listed { generation, path, children } => {
                let foreign = self.foreign.as_mut().filter(|_| generation == self.mirror.generation());
                let is_kept = foreign.is_some_and(|foreign| foreign.on_listed(&path, &children).is_err());
                match children {
                    Ok(children) if !is_kept => self.mirror.on_listed(generation, &path, children),
                    Ok(_) | Err(_) => self.failed(now, generation),
                }
            }
            Event::Read { generation, path, node } => match node {
                Ok(node) => self.mirror.on_read(generation, &path, node),
                Err(_) => self.failed(now, generation),
            },
            Event::Committed(answer) if self.stage == Stage::Committing => match answer {
                Ok(_) => {
                    self.failures = 0;
                    self.look_again();
                }
                Err(error) => {
                    let foreign = ForeignNodes::of_refused(&self.job, &error);
                    let has_changed = self.failures == 0 && matches!(error, CommitError::Refused { .. });
                    if foreign.is_some() || has_changed {
                        self.failures += 1;
                        self.look_again();
                        self.foreign = foreign;
                    } else {
                        self.retry(now);
                    }
                }
            },
            Event::ItemEnded { item, end } => {
                let mut of_item = self.left.iter_mut().filter(|left| left.item == item && left.end.is_none());
                if let Some(left) = of_item.next() {
                    left.ended(end);
                    if self.stage == Stage::Clean {
                        self.look_again();
                    }
                }
            }
            _ => {}
        }
        if matches!(self.stage, Stage::Retry { at } if now.mono >= at) {
            self.look_again();
        }
        if self.stage == Stage::Looking {
            self.go_on(now);
        }
    }

    /// Reads all nodes again: only that makes it certain that nothing is left.
    fn look_again(&mut self) {
        self.foreign = None;
        self.mirror.on_event(&WatchEvent::Gap);
        self.stage = Stage::Looking;
    }

    fn failed(&mut self, now: Now, generation: u32) {
        if self.stage == Stage::Looking && generation == self.mirror.generation() {
            self.retry(now);
        }
    }

    fn retry(&mut self, now: Now) {
        self.failures += 1;
        let pause = RETRY_FIRST.saturating_mul(1 << self.failures.min(6)).min(RETRY_LAST);
        self.stage = Stage::Retry { at: now.mono + pause };
    }

    fn go_on(&mut self, now: Now) {
        let Some(session) = self.session else { return };
        let mut lists = self.mirror.take_lists();
        lists.extend(self.foreign.iter_mut().flat_map(ForeignNodes::take_lists));
        if !lists.is_empty() {
            self.actions.push_back(Action::List { generation: self.mirror.generation(), paths: lists });
        }
        if !self.mirror.is_synced() {
            return;
        }
        let transaction = match &self.foreign {
            Some(foreign) => match foreign.deletion(&self.job, &self.mirror) {
                Some((transaction, _)) if !transaction.is_empty() => Ok(transaction),
                Some(_) => self.transaction(now, session),
                None => return,
            },
            None => self.transaction(now, session),
        };
        match transaction {
            Err(Unread) => {
                let paths = self.mirror.start_reads(self.mirror.take_wanted());
                if !paths.is_empty() {
                    self.actions.push_back(Action::Read { generation: self.mirror.generation(), paths });
                }
            }
            Ok(transaction) if transaction.is_empty() => {
                self.left.retain(|left| left.end.is_none());
                self.stage = Stage::Clean;
            }
            Ok(transaction) => {
                self.stage = Stage::Committing;
                self.actions.push_back(Action::Commit(transaction.in_session(session)));
            }
        }
    }

    /// The transaction that deletes what is left; it is empty when nothing is left.
    fn transaction(&self, now: Now, session: SessionId) -> Result<Transaction, Unread> {
        let mut txn = JobTransaction::new(&self.job, &self.mirror);
        let mut complete = Ok(());
        for item in self.mirror.items() {
            // The other items follow in the next transaction.
            if txn.is_full() {
                return Ok(txn.build());
            }
            if self.planted.has(Bug::HastyCleanUp) || self.busy().all(|busy| busy != item) {
                complete = complete.and(self.clean_item(now, &mut txn, item, session));
            }
        }
        let (calls, instance) = (self.clean_calls(&mut txn, session), self.clean_instance(&mut txn, session));
        complete.and(calls).and(instance).map(|()| txn.build())
    }

    /// Writes the run of an item that was not finished as cut off, and deletes its mark.
    fn clean_item(
        &self,
        now: Now,
        txn: &mut JobTransaction<'_>,
        item: ShardingItem,
        session: SessionId,
    ) -> Result<(), Unread> {
        let (path, mark_path) = (JobPath::fire(item), JobPath::running(item));
        let (known, mark) = (self.mirror.need(&path), self.mirror.need(&mark_path));
        let (known, mark) = (known?, mark?);
        let record = known.map_or(FireRecord::empty(), |known| FireRecord::parse(&known.data));
        let is_left = |left: &&LeftRun| left.attempt.as_ref().is_some_and(|attempt| record.is_attempt(attempt));
        let left = self.left.iter().filter(|left| left.item == item).find(is_left);
        let begun = record.running().filter(|begun| left.is_some() || begun.attempt.is_of(session));
        let Some((begun, known)) = begun.zip(known) else {
            if mark.is_some_and(|mark| mark.owner == Some(session)) && !self.planted.has(Bug::LeftMark) {
                // The guard fails where another instance begins the item: a begin sets the record.
                match known {
                    Some(known) => {
                        txn.check_version(&path, known.version);
                    }
                    None => txn.check_missing(&path),
                }
                txn.delete(&mark_path, None);
            }
            return Ok(());
        };
        let is_mine = |owner: Option<SessionId>, text: Option<&str>| match owner {
            Some(owner) => owner == session,
            None => text == Some(begun.instance.as_str()),
        };
        let mark = mark.filter(|mark| is_mine(mark.owner, mark.text()));
        let end = left.and_then(|left| left.end.clone()).unwrap_or_else(|| ItemEnd::cut_off(LOST));
        // The mark of a run that began with failover is persistent. It may have been switched on since.
        let is_handed_over = record.as_ended(&end).state.is_unfinished()
            && (mark.is_some_and(|mark| mark.owner.is_none()) || self.is_failover_on(txn)?);
        let is_marked = self.mirror.exists(&JobPath::Item(item, ItemNode::Misfire));
        let ended = record.end_and_skip(now.wall, &end, left.and_then(|left| left.skipped), is_marked);
        txn.set(&path, ended.to_bytes(), Some(known.version));
        if mark.is_some() && !self.planted.has(Bug::LeftMark) {
            txn.delete(&mark_path, None);
        }
        if begun.source == ExecutionSource::Failover {
            txn.delete_existing(&JobPath::Item(item, ItemNode::Failover));
            txn.delete_existing(&JobPath::Item(item, ItemNode::Failovering));
        }
        if is_handed_over {
            txn.create_missing(&JobPath::FailoverItem(item), "", CreateMode::Persistent);
        }
        Ok(())
    }

    /// Whether the configuration in the registry has failover. The transaction passes only while that is so.
    fn is_failover_on(&self, txn: &mut JobTransaction<'_>) -> Result<bool, Unread> {
        let Some(known) = self.mirror.need(&JobPath::Config)? else { return Ok(false) };
        txn.check_configuration(known.version);
        if let Some((_, failover)) = self.failover.get().filter(|(written, _)| *written == known.mzxid) {
            return Ok(failover);
        }
        let failover = wire::from_yaml(&self.job, &known.data).is_ok_and(|configuration| configuration.failover());
        self.failover.set(Some((known.mzxid, failover)));
        Ok(failover)
    }

    /// Writes the calls of once listeners that the engine had under way when it ended as cut off: no instance waits for
    /// them any more, and none calls them again.
    fn clean_calls(&self, txn: &mut JobTransaction<'_>, session: SessionId) -> Result<(), Unread> {
        let Some(known) = self.mirror.need(&JobPath::Rounds)? else { return Ok(()) };
        let mut calls = OnceCalls::parse(&known.data);
        if calls.cut_off(session) && !self.planted.has(Bug::LeftCall) {
            txn.set(&JobPath::Rounds, calls.to_bytes(), Some(known.version));
        }
        Ok(())
    }

    /// Deletes the nodes that show the other instances that this one takes part.
    fn clean_instance(&self, txn: &mut JobTransaction<'_>, session: SessionId) -> Result<(), Unread> {
        let me = &self.identity.instance;
        let leader = self.mirror.need(&JobPath::LeaderInstance);
        let instance = self.mirror.need(&JobPath::Instance(me.clone()));
        let (leader, instance) = (leader?, instance?);
        if instance.is_some_and(|known| known.owner == Some(session)) {
            // A manual trigger that waits for it stays: the next engine with this id takes it, or the leader, which also says so.
            txn.delete(&JobPath::Instance(me.clone()), None);
        }
        let leads = leader.is_some_and(|known| known.owner == Some(session) && known.text() == Some(me.as_str()));
        if leads && !self.planted.has(Bug::LeftLeader) {
            txn.delete(&JobPath::LeaderInstance, None);
        }
        let prefix = self.identity.candidate_prefix();
        for candidate in self.mirror.candidates().filter(|name| name.starts_with(&prefix)) {
            txn.delete(&JobPath::Candidate(candidate.into()), None);
        }
        // The node of the session says that runs live, also those whose code goes on. A Java leader deletes the marks of an
        // instance that is gone.
        if self.busy().next().is_none() {
            txn.delete_existing(&JobPath::Session(session));
        } else if self.left.iter().any(LeftRun::is_recorded) {
            txn.create_missing(&JobPath::Session(session), me.as_str(), CreateMode::Ephemeral);
        }
        Ok(())
    }
}
