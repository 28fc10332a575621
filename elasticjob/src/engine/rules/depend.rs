//! Fires that come from other jobs.

use std::borrow::Cow;

use super::Step;
use crate::clock::Now;
use crate::config::JobConfiguration;
use crate::engine::action::Action;
use crate::engine::dependencies::{Decided, DependencyRecord, DueFire, ParentView, Unmet, decide};
use crate::engine::engine::JobEngine;
use crate::engine::planted::Bug;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::fire::Fire;
use crate::ident::JobName;
use crate::registry::CreateMode;
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Known, Unread};

/// How many fires keep the time at which they became due: that of a missed one is asked for when it is made up for.
const KEPT: usize = 8;

/// Takes the fire that is due by the node `dependencies`, as the clock brings the fire of a schedule. The leader follows the
/// records of the other jobs, and writes into that node which of their fires are fires of this job.
pub(super) fn follow(engine: &mut JobEngine, now: Now) -> Result<Step, Unread> {
    let configuration = engine.configuration.in_force.clone();
    let Some(configuration) = configuration.filter(|configuration| !configuration.depends_on().is_empty()) else {
        engine.follow_jobs(Vec::new());
        return Ok(Step::Pass);
    };
    let known = engine.mirror.need(&JobPath::Dependencies)?;
    let (record, version) = (known.and_then(|known| engine.read_decided(known)), known.map(|known| known.version));
    if let Some(due) = record.as_ref().and_then(|record| record.due) {
        engine.take_due(now, due);
    }
    if engine.leadership.term.is_none() || !engine.is_registered() {
        engine.follow_jobs(Vec::new());
        return Ok(Step::Pass);
    }
    let jobs = configuration.depends_on().iter().map(|dependency| dependency.job.clone()).collect();
    if !engine.planted.has(Bug::ForgottenParents) || engine.membership.wrote_configuration {
        engine.follow_jobs(jobs);
    }
    engine.dependencies.undecided = engine.dependencies.parents.first_after(now.wall);
    Ok(decide_next(engine, now, &configuration, record, version).map_or(Step::Pass, Step::Write))
}

/// The transaction of the leader that decides on fires: guarded by the leader's node, and by the version of what was decided
/// before.
fn decide_next(
    engine: &JobEngine,
    now: Now,
    configuration: &JobConfiguration,
    record: Option<DependencyRecord>,
    version: Option<i32>,
) -> Option<Proposal> {
    // What was scheduled before this job was there is not for it.
    let before = record.clone().unwrap_or_else(|| DependencyRecord::from(now.wall));
    let mut parents = Cow::Borrowed(&engine.dependencies.parents);
    if engine.planted.has(Bug::HastyChild) {
        parents.to_mut().take_for_ended();
    }
    let is_far_ahead = |at| engine.has_not_come(now, at) || at > now.wall && engine.dependencies.parents.ran_ahead(at);
    let mut decided = decide(configuration.depends_on(), &parents, &before, is_far_ahead);
    if engine.planted.has(Bug::BlindChild) {
        decided.iter_mut().for_each(|decided| decided.unmet = None);
    }
    let after = decided.iter().fold(before, |record, Decided { at, unmet }| record.after(*at, unmet.clone(), now.wall));
    if record.as_ref() == Some(&after) {
        return None;
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    match version {
        Some(version) => txn.set(&JobPath::Dependencies, after.to_bytes(), Some(version)),
        None => txn.create(&JobPath::Dependencies, after.to_bytes(), CreateMode::Persistent),
    };
    let skipped = decided.into_iter().filter_map(|Decided { at, unmet }| Some((at, unmet?))).collect();
    Some(Proposal { transaction: txn.build(), purpose: Purpose::DecideFires { skipped } })
}

impl JobEngine {
    /// What counts of the record in the node `dependencies`.
    pub(in crate::engine) fn read_decided(&self, known: &Known) -> Option<DependencyRecord> {
        let record = known.parsed(DependencyRecord::parse).as_ref().clone()?;
        // The answer to a create has no server time.
        let is_told = known.mtime > 0 && !self.planted.has(Bug::TrustedRecord);
        Some(match self.clock_tolerance().filter(|_| is_told) {
            Some(tolerance) => record.counted(known.mtime, tolerance),
            None => record,
        })
    }

    /// What the registry says of a job that this one depends on.
    pub(in crate::engine) fn on_parent(&mut self, job: JobName, view: ParentView) {
        if self.dependencies.following.contains(&job) {
            let view = view.counted(self.session.timeout());
            self.dependencies.reruns.learn(&job, &view);
            self.dependencies.parents.learn(job, view);
        }
    }

    /// The decision is written. Each fire that is not run is told once, by the leader.
    pub(in crate::engine) fn on_fires_decided(&mut self, skipped: Vec<(i64, Unmet)>) {
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

    /// The fire that is due comes here, once.
    fn take_due(&mut self, now: Now, due: DueFire) {
        // The one before it may be later: a clock was ahead, or the registry center has lost what was decided.
        let is_taken = self.dependencies.due.iter().any(|known| known.at == due.at);
        if is_taken || !self.watches_calendar() {
            return;
        }
        self.dependencies.due.push(due);
        let extra = self.dependencies.due.len().saturating_sub(KEPT);
        self.dependencies.due.drain(..extra);
        self.fires.calendar.came(due.at);
        self.on_due(now, due.at);
    }

    /// The time from which on a fire counts as late: its scheduled time, or for a job that depends on others the time at
    /// which these had ended.
    pub(in crate::engine) fn due_time(&self, at: i64) -> i64 {
        self.dependencies.due.iter().find(|due| due.at == at).map_or(at, |due| due.since)
    }
}
