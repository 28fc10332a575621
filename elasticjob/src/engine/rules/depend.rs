//! Fires that come from other jobs.

use std::borrow::Cow;

use super::Step;
use crate::clock::Now;
use crate::config::{Dependency, DependencyItems, JobConfiguration};
use crate::engine::action::Action;
use crate::engine::dependencies::{
    Decided, Decision, DependencyRecord, DueFire, ParentView, Release, Unmet, Unseen, decide,
};
use crate::engine::engine::JobEngine;
use crate::engine::late::lateness;
use crate::engine::notice::Notice;
use crate::engine::planted::Bug;
use crate::engine::released_items::has_items;
use crate::engine::state::open_fire::{LATE_ACQUISITION, OpenFire};
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::{Fire, FireState};
use crate::ident::JobName;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Unread, read_all};

/// How many fires keep the time at which they became due: that of a missed one is asked for when it is made up for.
const KEPT: usize = 8;

/// Takes the fire that is due by the node `dependencies`, as the clock brings the fire of a schedule. The leader follows the
/// records of the other jobs, and writes into that node which of their fires are fires of this job.
pub(super) fn follow(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let configuration = engine.configuration.in_force.clone();
    let Some(configuration) = configuration.filter(|configuration| !configuration.depends_on().is_empty()) else {
        engine.follow_jobs(Vec::new());
        engine.dependencies.items = None;
        return Ok(Step::Pass);
    };
    let known = engine.mirror.need(&JobPath::Dependencies)?;
    let (record, version) = (known.and_then(|known| engine.read_decided(known)), known.map(|known| known.version));
    engine.take_items(now, &configuration, record.as_ref());
    if let Some(due) = record.as_ref().and_then(|record| record.due)
        && engine.take_due(now, due)
    {
        // The rules before this one look at the open fire: with static sharding the first one assigns the items.
        return Ok(Step::Again);
    }
    if engine.leadership.term.is_none() || !engine.is_registered() {
        if engine.is_registered() {
            // It lists everything again, and may lead all the same: nobody else has seen how fires of these jobs ended.
            engine.mirror.need(&JobPath::LeaderInstance)?;
        }
        engine.follow_jobs(Vec::new());
        return Ok(Step::Pass);
    }
    let jobs = configuration.depends_on().iter().map(|dependency| dependency.job.clone()).collect();
    if !engine.planted.has(Bug::ForgottenParents) || engine.membership.wrote_configuration {
        engine.follow_jobs(jobs);
    }
    engine.dependencies.undecided = engine.dependencies.parents.first_after(now.wall);
    engine.tell_totals(&configuration);
    Ok(decide_next(engine, now, &configuration, record, version)?.map_or(Step::Pass, Step::Write))
}

/// The transaction of the leader that decides on fires: guarded by the leader's node, and by the version of what was decided
/// before.
fn decide_next(
    engine: &mut JobEngine,
    now: Now,
    configuration: &JobConfiguration,
    record: Option<DependencyRecord>,
    version: Option<i32>,
) -> Result<Option<Proposal>, Unread> {
    let before = match &record {
        Some(record) => record.clone(),
        None => DependencyRecord::from(first_time(engine, now)?),
    };
    let (mut decided, unseen) = {
        let mut parents = Cow::Borrowed(&engine.dependencies.parents);
        if engine.planted.has(Bug::HastyChild) {
            parents.to_mut().take_for(FireState::Running, FireState::Succeeded);
        }
        if engine.planted.has(Bug::HastyCancelled) {
            parents.to_mut().take_for(FireState::Cancelled, FireState::Failed);
        }
        if engine.planted.has(Bug::ForgottenFormer) {
            parents.to_mut().forget_former_items();
        }
        let is_far_ahead =
            |at| engine.has_not_come(now, at) || at > now.wall && engine.dependencies.parents.ran_ahead(at);
        let total = configuration.sharding_total_count();
        let unseen = match engine.planted.has(Bug::ForgottenParentFire) {
            true => Unseen::default(),
            false => parents.unseen(configuration.depends_on(), &before, is_far_ahead),
        };
        (decide(configuration.depends_on(), total, &parents, &before, &unseen, is_far_ahead), unseen)
    };
    if engine.planted.has(Bug::BlindChild) {
        decided.iter_mut().for_each(run_all);
    }
    if has_items(configuration) && leaves_time(engine, now, configuration, &before, &decided)? {
        decided.pop();
    }
    let after = decided.iter().fold(before, |record, Decided { at, decision }| match decision {
        Decision::Runs => record.after(*at, None, now.wall),
        Decision::Skipped(unmet) => record.after(*at, Some(unmet.clone()), now.wall),
        Decision::Items(items) => record.after_items(*at, items, now.wall),
    });
    if record.as_ref() == Some(&after) {
        return Ok(None);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    match version {
        Some(version) => txn.set(&JobPath::Dependencies, after.to_bytes(), Some(version)),
        None => txn.create(&JobPath::Dependencies, after.to_bytes(), CreateMode::Persistent),
    };
    let unseen = unseen.passed_over(&decided.iter().map(|decided| decided.at).collect());
    let skipped = decided.into_iter().filter_map(|Decided { at, decision }| match decision {
        Decision::Skipped(unmet) => Some((at, unmet)),
        Decision::Runs | Decision::Items(_) => None,
    });
    let skipped = skipped.collect();
    Ok(Some(Proposal { transaction: txn.build(), purpose: Purpose::DecideFires { skipped, unseen } }))
}

/// What is not to be run is run all the same: a planted bug.
fn run_all(decided: &mut Decided) {
    match &mut decided.decision {
        Decision::Runs => {}
        Decision::Skipped(_) => decided.decision = Decision::Runs,
        Decision::Items(items) => items.released.extend(std::mem::take(&mut items.skipped).into_keys()),
    }
}

/// Whether the next fire leaves time to that which is due: its last items may have been released a moment ago, and the next
/// fire takes its place with their owners. It does not where each of them was begun, noted as missed or decided against, is
/// late, or stays with an instance that is gone; and no longer than that takes, whatever the clocks say.
fn leaves_time(
    engine: &mut JobEngine,
    now: Now,
    configuration: &JobConfiguration,
    record: &DependencyRecord,
    decided: &[Decided],
) -> Result<bool, Unread> {
    let is_next = |decided: &Decided| !matches!(decided.decision, Decision::Skipped(_));
    let next = decided.last().filter(|decided| is_next(decided)).map(|decided| decided.at);
    let (Some(next), Some(due)) = (next, record.due) else { return Ok(false) };
    if next == due.at || engine.planted.has(Bug::HastyNext) {
        return Ok(false);
    }
    let waited_for: Vec<bool> = read_all((0..configuration.sharding_total_count()).map(|item| {
        let Some(Release::Since(since)) = record.release(due.at, item) else { return Ok(false) };
        Ok(lateness(now, since) <= LATE_ACQUISITION && !engine.has_taken(configuration, due.at, item)?)
    }))?;
    if !waited_for.contains(&true) {
        return Ok(false);
    }
    let known = engine.dependencies.leaves_time.filter(|(at, _)| *at == due.at);
    let (_, until) = *engine.dependencies.leaves_time.insert(known.unwrap_or((due.at, now.mono + LATE_ACQUISITION)));
    Ok(now.mono < until)
}

/// The time up to which nothing is decided where no node says what was: what was scheduled before this configuration was
/// there is not for the job. The clock of the leader does not say it: one that is ahead would leave out the fires until then,
/// and one that is behind would run fires again whose records the registry center has lost.
fn first_time(engine: &JobEngine, now: Now) -> Result<i64, Unread> {
    if engine.planted.has(Bug::StartsByOwnClock) {
        return Ok(now.wall);
    }
    Ok(engine.mirror.written_at(&JobPath::Config)?.unwrap_or(now.wall))
}

impl JobEngine {
    /// What the registry says of a job that this one depends on.
    pub(in crate::engine) fn on_parent(&mut self, job: JobName, view: ParentView) {
        if self.dependencies.following.contains(&job) {
            let view = view.counted(self.session.timeout());
            self.dependencies.reruns.learn(&job, &view);
            self.dependencies.parents.learn(job, view);
        }
    }

    /// The decision is written. Each fire that is not run is told once, by the leader: the latest ones that it did not see with
    /// the reason, and those before them together.
    pub(in crate::engine) fn on_fires_decided(&mut self, skipped: Vec<(i64, Unmet)>, unseen: Vec<(i64, i64)>) {
        let configuration = self.configuration.in_force.as_ref();
        let total = configuration.map_or(0, |configuration| configuration.sharding_total_count());
        for (from, before) in unseen {
            self.tell(Notice::NotBegun { items: (0..total).collect(), from, before });
        }
        for (at, unmet) in skipped {
            self.skip_fire(Fire::Scheduled(at), unmet.reason());
        }
    }

    /// The edge shall tell what the registry says of these jobs from now on.
    pub(in crate::engine) fn follow_jobs(&mut self, jobs: Vec<JobName>) {
        if self.dependencies.following != jobs {
            self.dependencies.parents.clear();
            self.dependencies.reruns.clear();
            self.dependencies.following.clone_from(&jobs);
            self.act(Action::FollowJobs(jobs));
        }
    }

    /// Reports jobs that the items follow item by item and that have another number of items, once.
    fn tell_totals(&mut self, configuration: &JobConfiguration) {
        let own = configuration.sharding_total_count();
        let same = configuration.depends_on().iter().filter(|dependency| dependency.items == DependencyItems::Same);
        let totals =
            same.filter_map(|Dependency { job, .. }| Some((job.clone(), self.dependencies.parents.total(job)?)));
        let others: Vec<(JobName, u32)> = totals.filter(|(_, total)| *total != own).collect();
        let told = std::mem::replace(&mut self.dependencies.other_totals, others.clone());
        for (other, of_other) in others.into_iter().filter(|other| !told.contains(other)) {
            self.tell(Notice::TotalsDiffer { other, of_other, own });
        }
    }

    /// Takes what the node says of single items.
    fn take_items(&mut self, now: Now, configuration: &JobConfiguration, record: Option<&DependencyRecord>) {
        // A fire that is open stays so where the configuration changes, until the leader has decided on it.
        let record = record.filter(|record| has_items(configuration) || record.items.is_some());
        if self.dependencies.items.as_deref() == record {
            return;
        }
        self.dependencies.items = record.cloned().map(Box::new);
        self.dependencies.released_until = record.map(|_| now.mono + LATE_ACQUISITION);
        // What a wrong clock opened comes again at its time.
        if let Some(record) = record {
            self.dependencies.due.retain(|due| due.at <= record.through || record.release(due.at, 0).is_some());
        }
        self.keep_open(now);
        self.close_runs(now);
    }

    /// The time for a fire counts from the last items of it that were released.
    fn keep_open(&mut self, now: Now) {
        let Some(record) = self.dependencies.items.as_deref() else { return };
        let released = record.items.iter().flat_map(|items| &items.released);
        let Some(since) = released.map(|released| released.since).max() else { return };
        if let Some(due) = record.due {
            self.keep_open_for(now, DueFire { since, ..due });
        }
    }

    /// The time for a fire counts from when it came due, as is known now.
    fn keep_open_for(&mut self, now: Now, DueFire { at, since }: DueFire) {
        let closes_at = self.late_limit().map(|limit| now.mono + limit.saturating_sub(lateness(now, since)));
        let opens = [self.fires.open.as_deref_mut(), self.fires.standing.as_deref_mut()];
        let is_of_due = |open: &&mut OpenFire| open.is_regular() && open.key.fire.at() == at;
        for open in opens.into_iter().flatten().filter(is_of_due) {
            open.closes_at = closes_at;
            open.is_over = false;
        }
    }

    /// The fire that is due comes here, once. Returns whether it came now.
    fn take_due(&mut self, now: Now, due: DueFire) -> bool {
        // The one before it may be later: a clock was ahead, or the registry center has lost what was decided.
        if let Some(known) = self.dependencies.due.iter_mut().find(|known| known.at == due.at) {
            // Its items followed items one by one, and by a changed configuration the rest has come due together.
            if due.since > std::mem::replace(&mut known.since, due.since) && self.dependencies.items.is_none() {
                self.keep_open_for(now, due);
            }
            return false;
        }
        if !self.watches_calendar() {
            return false;
        }
        self.dependencies.due.push(due);
        let extra = self.dependencies.due.len().saturating_sub(KEPT);
        self.dependencies.due.drain(..extra);
        self.fires.calendar.came(due.at);
        self.on_due(now, due.at);
        self.keep_open(now);
        true
    }
}
