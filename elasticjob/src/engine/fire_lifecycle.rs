//! The life of a fire: due, open, looked at, running, over.

use std::collections::BTreeSet;

use super::action::{Action, Start};
use super::dependencies::Release;
use super::engine::JobEngine;
use super::late::{SAID_FROM, lateness};
use super::notice::Notice;
use super::planted::Bug;
use super::state::fires::Missed;
use super::state::listener_round::Round;
use super::state::membership::Phase;
use super::state::open_fire::OpenFire;
use super::state::runs::{BegunItem, Stage};
use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::fire::{Attempt, ExecutionSource, Fire, Hook, LateCause, RunKey, SkipReason};
use crate::ident::ShardingItem;
use crate::registry::Zxid;
use crate::registry::mirror::Lookup;

impl JobEngine {
    /// Opens the scheduled fire that is due, and closes the open fire whose time is over.
    pub(super) fn watch_calendar(&mut self, now: Now) {
        if !self.watches_calendar() {
            return;
        }
        let configuration = self.configuration.in_force.clone();
        self.follow_clock_back(now);
        if let Some(schedule) = configuration.as_deref().and_then(JobConfiguration::schedule)
            && let Some(due) = self.fires.calendar.due(schedule, now.wall)
        {
            if let Some(from) = due.missed_from {
                self.fires.reported.note_whole_before(&self.fires.own_items_seen, from, due.at);
                self.tell(Notice::Missed { from, until: due.at });
            }
            self.on_due(now, due.at);
        }
        let over = |open: &OpenFire| open.closes_at.is_some_and(|at| now.mono >= at);
        if !self.is_begin_under_way() && self.fires.open.as_deref().is_some_and(over) {
            self.end_time(now);
        }
    }

    /// A scheduled fire came here, by the schedule or after other jobs.
    pub(super) fn on_due(&mut self, now: Now, at: i64) {
        let fire = Fire::Scheduled(at);
        let beginning = self.is_begin_under_way();
        // The rules may not have been asked since the outcome is known: the earlier fire is decided before the later one.
        if !beginning {
            self.decide_held_up(now);
        }
        let makes_up = self.makes_up();
        let executing = self.runs.regular_mut().filter(|run| run.is_executing());
        let held_up = match executing {
            // The clock was set back after the run began: the fire stays due for the other items.
            Some(run) if run.key == RunKey::new(fire, ExecutionSource::NormalTrigger) => {
                let finished = run.finished.iter().map(|(item, _)| *item);
                let begun = run.items.keys().copied().chain(finished).collect();
                self.open_again(now, at, begun);
                return;
            }
            // This instance makes up for the fire before its time: an instance whose clock is ahead missed it, and the
            // item moved here. Other items of this instance may not have been begun for it: their records say so.
            Some(run) if run.key.fire == fire => {
                if self.configuration.is_monitored() && self.fires.missed.is_none_or(|missed| missed.at() < at) {
                    self.miss(Missed::OfTheRun(at));
                }
                return;
            }
            Some(run) => {
                if !makes_up {
                    run.skipped = Some(at);
                }
                Some(SkipReason::StillRunning { since: run.key.fire })
            }
            // It falls into the run of the fire before it, or is due: that is known when the outcome of the begin is.
            None if beginning && self.phase == Phase::Active => {
                if let Some(earlier) = self.fires.undecided.replace(at) {
                    self.give_way(earlier, at, SkipReason::BeginUnknown);
                }
                return;
            }
            None => None,
        };
        if let Some(reason) = held_up {
            if !beginning {
                // A fire that was due before is not begun any more.
                self.close();
                self.fires.standing = None;
            }
            if !makes_up {
                self.skip_fire(fire, reason);
                return;
            }
            self.tell_skip(fire, vec![], reason);
            self.miss(Missed::Whole(at));
            return;
        }
        if self.phase != Phase::Active {
            self.skip_fire(fire, SkipReason::Leaving);
            return;
        }
        self.close();
        self.fires.noted = None;
        self.fires.standing = None;
        let open = self.due_fire(now, at);
        if open.why_late == LateCause::Overslept && self.planted.has(Bug::DroppedOverslept) {
            return;
        }
        self.fires.open = Some(Box::new(open));
    }

    /// Opens a fire again that came here before, and that these items were begun for. It was looked at then: whatever ends its
    /// run does not wait for the others.
    fn open_again(&mut self, now: Now, at: i64, begun: BTreeSet<ShardingItem>) {
        let key = RunKey::new(Fire::Scheduled(at), ExecutionSource::NormalTrigger);
        let is_open = self.fires.open.as_deref().is_some_and(|open| open.key == key);
        if is_open || self.phase != Phase::Active || !self.configuration.is_monitored() {
            return;
        }
        self.close();
        self.fires.standing = None;
        self.fires.open = Some(Box::new(OpenFire { begun, looked: true, ..self.due_fire(now, at) }));
    }

    /// A fire fell into a run. It takes the place of the one before it.
    fn miss(&mut self, missed: Missed) {
        if let Some(earlier) = self.fires.missed.replace(missed) {
            self.tell(Notice::Collapsed { earlier: earlier.at(), into: missed.at() });
            self.fires.over += 1;
        }
    }

    /// Decides on the fire that came while the outcome of a begin was unknown.
    pub(super) fn decide_held_up(&mut self, now: Now) {
        if let Some(at) = self.fires.undecided.take() {
            self.on_due(now, at);
        }
    }

    /// A later fire takes the place of one that was not decided.
    fn give_way(&mut self, earlier: i64, into: i64, reason: SkipReason) {
        match self.makes_up() {
            true => {
                self.tell_skip(Fire::Scheduled(earlier), vec![], reason);
                self.tell(Notice::Collapsed { earlier, into });
                self.fires.over += 1;
            }
            false => self.skip_fire(Fire::Scheduled(earlier), reason),
        }
    }

    /// Opens a scheduled fire that is due, for as long as its lateness allows.
    pub(super) fn due_fire(&self, now: Now, at: i64) -> OpenFire {
        let due = self.due_time(at);
        let late = lateness(now, due);
        let looks_back = self.membership.joining_since.is_some_and(|since| due < since);
        let mut open = OpenFire::new(Fire::Scheduled(at), ExecutionSource::NormalTrigger, now.mono);
        open.looks_back = looks_back;
        open.why_late = match self.session.connected() {
            None => LateCause::RegistryAway,
            Some(_) if looks_back => LateCause::BeforeJoining,
            Some(_) if late > SAID_FROM => LateCause::Overslept,
            Some(_) => LateCause::Waited,
        };
        // A fire that is late already has only the rest of the time.
        open.closes_at = self.late_limit().map(|limit| now.mono + limit.saturating_sub(late));
        open
    }

    /// The time of the open fire is over. A scheduled fire stays for items that come here later: their new owner
    /// reports that they were not begun.
    pub(super) fn end_time(&mut self, now: Now) {
        let monitored = self.configuration.is_monitored();
        let stays = |open: &OpenFire| monitored && open.is_regular();
        let Some(open) = self.fires.open.as_deref_mut().filter(|open| stays(open)) else {
            self.close();
            self.fires.open = self.fires.standing.take();
            return;
        };
        open.closes_at = None;
        open.is_over = true;
        let (fire, is_first) = (open.key.fire, !std::mem::replace(&mut open.looked, true));
        // Where some items were begun, the others are reported when they are given up.
        if is_first && !open.looks_back && open.begun.is_empty() {
            let reason = match self.session.connected() {
                None => SkipReason::RegistryLost,
                Some(_) => self.too_late(now, self.due_time(fire.at())),
            };
            self.skip_fire(fire, reason);
        }
    }

    /// Makes another fire the open one. After it the engine goes on with the scheduled fire that was open before, where
    /// it has looked at that fire.
    pub(super) fn open_instead(&mut self, open: OpenFire) {
        let before = self.fires.open.replace(Box::new(open));
        let last = self.fires.calendar.last();
        let is_due = |open: &OpenFire| open.is_regular() && open.looked && last == Some(open.key.fire.at());
        if let Some(before) = before.filter(|before| is_due(before)) {
            self.fires.standing = Some(before);
        }
    }

    /// Goes on with the scheduled fire when nothing more is to begin here for the manual trigger or the missed fire that took
    /// its place, and with the trigger when items came here since that were not begun for it. Returns whether it did.
    pub(super) fn alternate(&mut self, now: Now, mine: &[ShardingItem]) -> bool {
        if self.runs.regular().is_some() {
            return false;
        }
        let (Some(open), Some(standing)) = (self.fires.open.as_deref(), self.fires.standing.as_deref()) else {
            return false;
        };
        let is_undecided = |item: &ShardingItem| {
            let is_decided = standing.begun.contains(item) || standing.dropped.contains(item);
            !is_decided && self.release(standing.key.fire, *item) != Release::Held
        };
        let goes_on = match (open.key.fire, standing.key.fire) {
            (Fire::Manual { .. }, Fire::Scheduled(_)) => open.looked,
            (Fire::Scheduled(_), Fire::Manual { .. }) => {
                standing.closes_at.is_some_and(|at| now.mono < at) && mine.iter().any(is_undecided)
            }
            // The missed fire is made up for again when another item missed it.
            (Fire::Scheduled(_), Fire::Scheduled(_))
                if open.key.source == ExecutionSource::Misfire && open.looked && mine.iter().any(is_undecided) =>
            {
                self.fires.open = self.fires.standing.take();
                return true;
            }
            _ => false,
        };
        if goes_on {
            std::mem::swap(&mut self.fires.open, &mut self.fires.standing);
        }
        goes_on
    }

    /// Closes the open fire. A fire that the engine never looked at is reported and counted. One from before it joined was
    /// another instance's, and the records say whether that began it: who begins the next one reports that, see
    /// [`Self::tell_unbegun`]. A manual trigger that is not taken is opened again.
    pub(super) fn close(&mut self) {
        let monitored = self.configuration.is_monitored();
        if let Some(open) = self.fires.open.take()
            && !open.looked
            && !(open.looks_back && monitored)
            // Where a begin without records may have taken it, that is not known.
            && !(open.tried.is_empty() && self.comes_again(open.key.fire))
        {
            let connected = self.session.connected().is_some();
            let reason = if connected { SkipReason::NotBegunInTime } else { SkipReason::RegistryLost };
            self.skip_rest(&open, reason);
        }
    }

    /// Whether a fire is that of the own manual trigger, as far as this side knows. Another instance that takes the trigger reports what
    /// becomes of it.
    fn comes_again(&self, fire: Fire) -> bool {
        let Fire::Manual { trigger, .. } = fire else { return false };
        match self.mirror.lookup(&self.own_trigger()) {
            Lookup::Known(known) => known.czxid == trigger,
            Lookup::Unread => true,
            Lookup::Missing => false,
        }
    }

    /// Reports that there is nothing to begin for the open fire: once, at the first look at it.
    pub(super) fn tell_nothing_to_run(&mut self) {
        let is_new = |open: &&OpenFire| !open.looked && !open.looks_back && open.begun.is_empty();
        if let Some(open) = self.fires.open.as_deref().filter(is_new) {
            let fire = open.key.fire;
            self.tell(Notice::NothingToRun { fire });
        }
    }

    /// All items of the open fire that this instance owns now were begun or decided against.
    pub(super) fn looked_at(&mut self, now: Now) {
        let Some(open) = &mut self.fires.open else { return };
        let first = !std::mem::replace(&mut open.looked, true);
        let counts = first && !open.looks_back && matches!(open.key.fire, Fire::Scheduled(_));
        if open.why_late == LateCause::Waited {
            open.why_late = LateCause::Acquired;
        }
        if counts && self.runs.regular().is_none() {
            self.fires.over += 1;
        }
        if first {
            self.tell_moved_away();
            self.tell_items_of_the_gone();
            // Items that were begun before the last ones may have ended.
            self.close_runs(now);
        }
    }

    /// Starts items of a fire, as its run or as part of it. Where there are listeners, these are called first.
    pub(super) fn start_items(
        &mut self,
        now: Now,
        key: RunKey,
        attempt: Option<&Attempt>,
        items: Vec<(ShardingItem, Option<Zxid>)>,
    ) {
        let Some(configuration) = self.configuration.in_force.clone() else { return };
        let RunKey { fire, source } = key;
        if let Some(open) = self.fires.open.as_mut().filter(|open| open.key == key) {
            open.begun.extend(items.iter().map(|(item, _)| *item));
        }
        if let Fire::Scheduled(at) = fire {
            self.fires.calendar.begun(at);
        }
        let was_looked_at =
            self.fires.open.as_ref().is_some_and(|open| open.key.fire == fire && open.looked && !open.looks_back);
        self.tell_late(now, fire, source, items.iter().map(|(item, _)| *item).collect());
        let plan = self.configuration.plan.clone();
        let run = self.runs.of_fire(key);
        let is_new = run.items.is_empty() && run.finished.is_empty();
        run.is_counted |= is_new && was_looked_at && source == ExecutionSource::NormalTrigger;
        if let Some(plan) = plan.filter(|_| is_new) {
            self.rounds.last += 1;
            run.round = Some(Box::new(Round::new(self.rounds.last, plan, configuration.clone(), now.mono)));
        }
        let held_by = run.round.as_ref().filter(|round| round.holds_items()).map(|round| round.id);
        for (item, token) in &items {
            let stage = match held_by {
                Some(_) => Stage::Held { token: *token, wanted: None },
                None => Stage::Executing,
            };
            run.items.insert(*item, BegunItem { attempt: attempt.cloned(), stage });
        }
        let begun = items.iter().map(|(item, _)| *item).collect();
        self.tell(Notice::Begun { key, attempt: attempt.cloned(), items: begun });
        if let Some(round) = held_by {
            if is_new {
                self.go_on(now, round, Hook::Before, 0);
            }
            return;
        }
        let instance = self.identity.instance.clone();
        self.act(Action::Start(Start { key, instance, configuration, items }));
    }
}
