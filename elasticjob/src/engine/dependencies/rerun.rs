//! Re-runs of past fires, and how the jobs after a job follow them.
//!
//! An operator who runs a fire again writes the trigger of that job, and in the same transaction a note into the node
//! `dependencies` of each job after it, over any number of others: [`FollowedRerun`]. So each leader knows which of the
//! jobs before its own take part, and waits for those alone; no re-run is forgotten where a record moves on before a leader
//! has looked. When they have ended as they have to, the leader writes that into the note, with the triggers of its own job.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::parent::{ParentItem, ParentView, Parents, Stand};
use super::parent_end::ParentEnd;
use super::record::{FollowedRerun, KEPT_RERUNS, Unmet};
use super::taken::Taken;
use crate::config::{Dependency, JobConfiguration};
use crate::fire::{Begun, FireState, Rerun};
use crate::ident::{JobName, ShardingItem};
use crate::registry::Zxid;

/// How many re-runs of a job are remembered.
const REMEMBERED: usize = 16;

/// What was written so long before a re-run was asked for was written before it, also where the clock of the operator and that
/// of the registry center differ. In milliseconds.
const CLOCKS_DIFFER: i64 = 60_000;

/// What a leader decides on a re-run of jobs before its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Following {
    /// They have not ended.
    Wait,
    /// The job runs again.
    Run,
    Skip(Unmet),
}

/// The decision on a re-run, by what was seen when the leader last looked. A job before this one that takes no part in it
/// counts as it ended for the fire itself.
pub(crate) fn follow_rerun(
    dependencies: &[Dependency],
    parents: &Parents,
    reruns: &Reruns,
    followed: &FollowedRerun,
) -> Following {
    let mut following = Following::Run;
    for dependency in dependencies {
        let is_settled = reruns.taken.is_settled(&dependency.job, followed.rerun);
        let end = match reruns.stand(parents, &dependency.job, followed, is_settled) {
            Stand::Pending => return Following::Wait,
            Stand::NoSuchFire => ParentEnd::NoFire,
            Stand::Over(end) => end,
        };
        if !end.meets(dependency.when) && following == Following::Run {
            following = Following::Skip(Unmet::new(dependency.job.clone(), dependency.when, end));
        }
    }
    following
}

/// What is known of the re-runs of the jobs that a job depends on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reruns {
    seen: BTreeMap<JobName, SeenReruns>,
    taken: Taken,
}

/// What a job has to do with a re-run.
enum Part {
    /// Its triggers for it were written.
    Triggered,
    /// It was not triggered for it, and so it stands.
    Other(Stand),
}

impl Reruns {
    /// Takes what the registry says of one of them now.
    pub(crate) fn learn(&mut self, job: &JobName, view: &ParentView) {
        self.seen.entry(job.clone()).or_default().learn(view);
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        self.seen.clear();
        self.taken.clear();
    }

    /// Time has passed for the leader.
    pub(crate) fn pass(&mut self, now: Duration) {
        self.taken.pass(now);
    }

    /// Events may have been missed: whether triggers wait has to be seen anew.
    pub(crate) fn expect_missed_events(&mut self) {
        self.taken.clear();
    }

    /// The leader looks at the re-runs that are not decided, at `now` by the clock that never steps. Returns when it has to look
    /// again, though nothing happens until then.
    pub(crate) fn look(
        &mut self,
        dependencies: &[Dependency],
        parents: &Parents,
        undecided: &[&FollowedRerun],
        now: Duration,
    ) -> Option<Duration> {
        let is_taken = |job: &JobName, followed: &FollowedRerun| {
            let view = parents.view(job).filter(|view| !view.triggered);
            view.is_some_and(|view| matches!(part(parents, job, view, followed), Part::Triggered))
        };
        let all =
            dependencies.iter().flat_map(|dependency| undecided.iter().map(|followed| (&dependency.job, *followed)));
        let taken = all.filter(|(job, followed)| is_taken(job, followed));
        self.taken.look(taken.map(|(job, followed)| (job.clone(), followed.rerun)), now);
        self.taken.settles(now)
    }

    /// How a job before this one stands for a re-run; `is_settled` says that its triggers were taken, and that what has not begun
    /// for it until now does not begin any more.
    pub(crate) fn stand(&self, parents: &Parents, job: &JobName, followed: &FollowedRerun, is_settled: bool) -> Stand {
        let Some((view, seen)) = parents.view(job).zip(self.seen.get(job)) else { return Stand::Pending };
        let Some(configuration) = &view.configuration else { return Stand::Pending };
        match part(parents, job, view, followed) {
            Part::Triggered => seen.stand(configuration, view, followed.rerun, is_settled),
            Part::Other(stand) => stand,
        }
    }
}

/// What a job has to do with a re-run, which the operator asked for with the note that this job follows.
fn part(parents: &Parents, job: &JobName, view: &ParentView, followed: &FollowedRerun) -> Part {
    let FollowedRerun { rerun, from, with, .. } = followed;
    let noted = view.decided.as_ref().map_or(&[][..], |record| &record.reruns);
    Part::Other(match noted.iter().find(|known| known.rerun == *rerun) {
        None if job == from => return Part::Triggered,
        None if !with.contains(job) => parents.stand(job, rerun.of),
        // Its note has made room for later ones.
        None if noted.len() >= KEPT_RERUNS && noted.iter().all(|known| known.rerun.asked > rerun.asked) => {
            Stand::Over(ParentEnd::Unknown)
        }
        // What is known of that job is older than its note.
        None => Stand::Pending,
        Some(own) if own.decided.is_none() => Stand::Pending,
        Some(own) if own.skipped.is_some() => Stand::Over(ParentEnd::Skipped),
        Some(_) => return Part::Triggered,
    })
}

/// How the items of a job ended for fires that were run again: an item that runs for the next fire does not say it any more.
#[derive(Debug, Clone, Default)]
struct SeenReruns(Vec<SeenRerun>);

#[derive(Debug, Clone)]
struct SeenRerun {
    rerun: Rerun,
    /// The transaction that triggered it: an item whose record covers that has begun.
    trigger: Zxid,
    items: BTreeMap<ShardingItem, FireState>,
}

/// How an item ended for a re-run.
enum End {
    Pending,
    Succeeded,
    Failed,
    LeftOut,
    Unknown,
}

impl SeenReruns {
    /// Takes what the registry says of the job now.
    fn learn(&mut self, view: &ParentView) {
        for (item, known) in &view.items {
            let last = known.record.last.as_ref();
            let Some((begun, rerun)) = last.and_then(|begun| Some((begun, begun.rerun()?))) else { continue };
            let Some(trigger) = known.record.triggered else { continue };
            // Without its mark a run was lost.
            let state = Some(begun.state).filter(|state| *state != FireState::Running || !known.marked);
            let seen = self.of(rerun, trigger);
            seen.items.extend(state.map(|state| (*item, state)));
        }
    }

    fn of(&mut self, rerun: Rerun, trigger: Zxid) -> &mut SeenRerun {
        let place = self.0.iter().position(|seen| seen.rerun == rerun).unwrap_or_else(|| {
            if self.0.len() >= REMEMBERED {
                self.0.remove(0);
            }
            self.0.push(SeenRerun { rerun, trigger, items: BTreeMap::new() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    /// What is known of a re-run of the job, which has been triggered for it.
    fn stand(&self, configuration: &JobConfiguration, view: &ParentView, rerun: Rerun, is_settled: bool) -> Stand {
        let seen = self.0.iter().find(|seen| seen.rerun == rerun);
        let total = configuration.sharding_total_count();
        let of_items = (0..total).map(|item| end_of(configuration, view, item, rerun, seen, is_settled));
        let former = former_items(view, total, rerun, seen).into_iter();
        let of_former_items = former.map(|item| end_of_former(view, item, rerun, seen));
        let mut so_far = ParentEnd::Succeeded;
        for end in of_items.chain(of_former_items) {
            so_far = match (so_far, end) {
                (_, End::Pending) => return Stand::Pending,
                (ParentEnd::Failed, _) | (_, End::Failed) => ParentEnd::Failed,
                (_, End::Unknown) => ParentEnd::Unknown,
                (so_far, End::Succeeded | End::LeftOut) => so_far,
            };
        }
        Stand::Over(so_far)
    }
}

/// Items that have begun a re-run, and are no items of the job any more.
fn former_items(view: &ParentView, total: u32, rerun: Rerun, seen: Option<&SeenRerun>) -> BTreeSet<ShardingItem> {
    let last = view.items.iter().filter(|(_, known)| run_of(known, rerun).is_some()).map(|(item, _)| *item);
    let seen = seen.iter().flat_map(|seen| seen.items.keys().copied());
    last.chain(seen).filter(|item| *item >= total).collect()
}

/// The last run of an item, if that is one for a re-run.
fn run_of(known: &ParentItem, rerun: Rerun) -> Option<&Begun> {
    known.record.last.as_ref().filter(|begun| begun.rerun() == Some(rerun))
}

/// How such an item ended. What it leaves is not taken over.
fn end_of_former(view: &ParentView, item: ShardingItem, rerun: Rerun, seen: Option<&SeenRerun>) -> End {
    let known = view.items.get(&item);
    let last = known.and_then(|known| run_of(known, rerun)).map(|begun| begun.state);
    match last.or_else(|| seen?.items.get(&item).copied()) {
        Some(FireState::Running) if known.is_some_and(|known| known.marked) => End::Pending,
        Some(FireState::Succeeded) => End::Succeeded,
        _ => End::Failed,
    }
}

fn end_of(
    configuration: &JobConfiguration,
    view: &ParentView,
    number: ShardingItem,
    rerun: Rerun,
    seen: Option<&SeenRerun>,
    is_settled: bool,
) -> End {
    let of_state = |state: FireState| match state {
        FireState::Running => End::Pending,
        // Another instance takes it over.
        FireState::Cancelled if configuration.failover() => End::Pending,
        FireState::Succeeded => End::Succeeded,
        FireState::Failed | FireState::Cancelled | FireState::NotRun => End::Failed,
    };
    let seen_last = seen.and_then(|seen| seen.items.get(&number)).copied();
    let known = view.items.get(&number);
    let last = known.and_then(|known| run_of(known, rerun)).map(|begun| begun.state);
    match (last, seen_last, known) {
        (Some(state), ..) => of_state(state),
        // It was lost, or cut off, and was not run again before the next fire.
        (None, Some(state), Some(_)) if state.is_unfinished() => End::Failed,
        (None, Some(state), _) => of_state(state),
        (None, None, None) => End::Pending,
        (None, None, Some(known)) => end_of_unseen(view, known, rerun, seen, is_settled),
    }
}

/// How an item ended of which no run for the re-run is known.
fn end_of_unseen(
    view: &ParentView,
    known: &ParentItem,
    rerun: Rerun,
    seen: Option<&SeenRerun>,
    is_settled: bool,
) -> End {
    let ParentItem { record, disabled, written, .. } = known;
    match seen {
        // It has begun, and has run for other fires since.
        Some(seen) if record.triggered >= Some(seen.trigger) => End::Unknown,
        // It may still begin, or be handed over.
        _ if view.triggered || !is_settled => End::Pending,
        // Of no item is known that it has begun: either none has, or all have run for other fires since.
        None if *written == 0 || *written > rerun.asked.saturating_sub(CLOCKS_DIFFER) => End::Unknown,
        _ if *disabled => End::LeftOut,
        // Its instance has taken the trigger without it, or is gone with it.
        _ => End::Failed,
    }
}

#[cfg(test)]
mod tests;
