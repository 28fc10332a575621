//! The state of a job for one fire.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::engine::{FollowedRerun, ParentEnd, ParentView, Parents, Reruns, SkippedItems, Stand, Unmet};
use crate::fire::{Begun, Rerun};
use crate::ident::JobName;

/// A scheduled fire of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GraphFire {
    /// Its scheduled time in milliseconds since 1970. Jobs of a chain have the same one.
    pub at: i64,
    /// The state of the fire.
    pub state: GraphState,
    /// Why it, or items of it, are skipped; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The job before it that did not end as it has to, where it is skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Unmet>,
    /// The items that are skipped where others run, as each follows the item with its number of the jobs before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped_items: Vec<SkippedItems>,
    /// The time at which its first item began, in milliseconds since 1970, as far as the registry center still knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<i64>,
    /// The time at which its last item ended; `None` before that, and where the registry center does not know it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
    /// The number of items of the job, without those that an operator disabled.
    pub items: usize,
    /// The number of its items that have ended for this fire.
    pub items_ended: usize,
    /// The latest re-run of it, as far as the registry center knows: all else is said of that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Rerun>,
}

/// The state of a fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum GraphState {
    /// Its time is yet to come, or the jobs before it have not ended.
    NotBegun,
    /// The jobs before it have ended, and no item has begun yet.
    Due,
    /// Items of it run, or are yet to begin after others.
    Running,
    /// All items succeeded.
    Succeeded,
    /// An item of it did not succeed, or was not run.
    Failed,
    /// It is not run, because of the jobs before it.
    Skipped,
    /// It ended, and the items ran for a later fire since: the registry center does not know any more how it ended.
    Past,
    /// The job has no fire at this time.
    NoFire,
}

impl GraphState {
    /// Its name, as JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotBegun => "NOT_BEGUN",
            Self::Due => "DUE",
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Skipped => "SKIPPED",
            Self::Past => "PAST",
            Self::NoFire => "NO_FIRE",
        }
    }
}

/// By then the leader of the next job has seen which items begin a re-run, also where the clocks of hosts differ: so long after it
/// was asked for, or decided on. In milliseconds.
const SETTLED: i64 = 60_000;

/// How jobs stand, by the same rules by which the leader of a job decides on what it runs after.
#[derive(Debug)]
pub(super) struct Stands {
    /// In milliseconds since 1970.
    now: i64,
    parents: Parents,
    reruns: Reruns,
    views: BTreeMap<JobName, ParentView>,
}

impl Stands {
    pub(super) fn new(now: i64) -> Self {
        Self { now, parents: Parents::default(), reruns: Reruns::default(), views: BTreeMap::new() }
    }

    pub(super) fn learn(&mut self, job: JobName, view: ParentView) {
        self.reruns.learn(&job, &view);
        self.parents.learn(job.clone(), view.clone());
        self.views.insert(job, view);
    }

    /// The scheduled times of the fires of a job that the registry center knows, in ascending order.
    pub(super) fn fires(&self, job: &JobName) -> Vec<i64> {
        let mut fires = self.parents.fires_of(job);
        let view = self.views.get(job);
        let last =
            view.iter().flat_map(|view| view.items.values()).filter_map(|item| item.record.last.as_ref()?.rerun());
        let followed = view.iter().filter_map(|view| view.decided.as_ref()).flat_map(|record| &record.reruns);
        fires.extend(last.chain(followed.map(|known| known.rerun)).map(|rerun| rerun.of));
        fires.into_iter().collect()
    }

    /// The latest fire of a job.
    pub(super) fn latest(&self, job: &JobName) -> Option<GraphFire> {
        self.fire(job, self.fires(job).pop()?)
    }

    /// The fire of a job at a time; `None` where the job has no configuration that can be read.
    pub(super) fn fire(&self, job: &JobName, at: i64) -> Option<GraphFire> {
        let view = self.views.get(job)?;
        view.configuration.as_ref()?;
        if let Some(rerun) = rerun_of(view, job, at) {
            return Some(self.fire_again(job, view, rerun));
        }
        let decided = view.decided.as_ref().and_then(|record| record.decided.iter().find(|fire| fire.at == at));
        let open = view.decided.as_ref().filter(|record| record.open().is_some_and(|due| due.at == at));
        let begun: Vec<&Begun> = view.items.values().filter_map(|item| item.begun_for(at)).collect();
        let state = match self.parents.stand(job, at) {
            Stand::NoSuchFire if view.decided.as_ref().is_some_and(|record| record.has_forgotten(at)) => {
                GraphState::Past
            }
            stand => state_of(stand, !begun.is_empty(), decided.is_some() || open.is_some()),
        };
        let of_open = open.and_then(|record| record.items.as_ref()).map(|items| &items.skipped);
        let skipped_items = decided.map(|fire| &fire.skipped_items).or(of_open).cloned().unwrap_or_default();
        let skipped = Skipped { fire: decided.and_then(|fire| fire.skipped.clone()), items: skipped_items };
        Some(GraphFire::new(at, state, skipped, view.parts(), &begun))
    }

    /// The same for a fire that is run again.
    fn fire_again(&self, job: &JobName, view: &ParentView, followed: FollowedRerun) -> GraphFire {
        let rerun = followed.rerun;
        let last = view.items.values().filter_map(|item| item.record.last.as_ref());
        let begun: Vec<&Begun> = last.filter(|begun| begun.rerun() == Some(rerun)).collect();
        // Of the job that the operator named it is decided.
        let is_decided = followed.from == *job || followed.decided.is_some();
        let triggered = rerun.asked.max(followed.decided.unwrap_or(i64::MIN));
        let is_settled = self.now > triggered.saturating_add(SETTLED);
        let stand = self.reruns.stand(&self.parents, job, &followed, is_settled);
        let state = state_of(stand, !begun.is_empty(), is_decided);
        let skipped = Skipped { fire: followed.skipped, items: Vec::new() };
        let fire = GraphFire::new(rerun.of, state, skipped, view.parts(), &begun);
        GraphFire { rerun: Some(rerun), ..fire }
    }
}

/// What of a fire is not run, and why.
struct Skipped {
    fire: Option<Unmet>,
    items: Vec<SkippedItems>,
}

impl GraphFire {
    fn new(at: i64, state: GraphState, skipped: Skipped, items: usize, begun: &[&Begun]) -> Self {
        let Skipped { fire: skipped, items: skipped_items } = skipped;
        let of_items = |skipped: &SkippedItems| format!("items {}: {}", skipped.items, skipped.unmet.reason_of_items());
        let why = skipped.iter().map(|unmet| unmet.reason().to_string());
        let why: Vec<String> = why.chain(skipped_items.iter().map(of_items)).collect();
        let is_over = matches!(state, GraphState::Succeeded | GraphState::Failed);
        let ended = begun.iter().filter_map(|begun| begun.ended);
        Self {
            at,
            state,
            why: why.join("; "),
            skipped,
            skipped_items,
            began: begun.iter().filter_map(|begun| begun.began).min(),
            ended: ended.max().filter(|_| is_over),
            items,
            items_ended: begun.iter().filter(|begun| !begun.state.is_unfinished()).count(),
            rerun: None,
        }
    }
}

fn state_of(stand: Stand, has_begun: bool, is_decided: bool) -> GraphState {
    match stand {
        Stand::NoSuchFire | Stand::Over(ParentEnd::NoFire) => GraphState::NoFire,
        Stand::Pending if has_begun => GraphState::Running,
        Stand::Pending if is_decided => GraphState::Due,
        Stand::Pending => GraphState::NotBegun,
        Stand::Over(ParentEnd::Succeeded) => GraphState::Succeeded,
        Stand::Over(ParentEnd::Failed) => GraphState::Failed,
        Stand::Over(ParentEnd::Skipped) => GraphState::Skipped,
        Stand::Over(ParentEnd::Unknown) => GraphState::Past,
    }
}

/// The latest re-run of a fire of a job that the registry center knows: by the last runs of its items, or by what its leader
/// follows.
fn rerun_of(view: &ParentView, job: &JobName, at: i64) -> Option<FollowedRerun> {
    let last = view.items.values().filter_map(|item| item.record.last.as_ref()?.rerun());
    let own = last.map(|rerun| FollowedRerun::new(rerun, job.clone(), Vec::new()));
    // Of what it follows, the node says more than the records.
    let followed = view.decided.iter().flat_map(|record| &record.reruns).cloned();
    own.chain(followed).filter(|known| known.rerun.of == at).max_by_key(|known| known.rerun.asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::JobConfiguration;
    use crate::engine::{DependencyRecord, ParentItem};
    use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, FireState, ItemEnd};
    use crate::ident::InstanceId;
    use crate::registry::SessionId;

    const AT: i64 = 1_700_000_005_000;
    const NEXT: i64 = AT + 5_000;

    fn name(job: &str) -> JobName {
        JobName::new(job).unwrap()
    }

    fn begun(record: &FireRecord, at: i64) -> FireRecord {
        let (instance, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(1), 7, 1));
        record.begin(at + 2, Fire::Scheduled(at), ExecutionSource::NormalTrigger, instance, attempt)
    }

    fn ended(record: &FireRecord, at: i64, state: FireState) -> FireRecord {
        begun(record, at).end(at + 9, &ItemEnd { state, took: 7, error: None })
    }

    fn standing(job: &str, configuration: JobConfiguration, records: &[FireRecord], decided: Option<&str>) -> Stands {
        let item =
            |record: &FireRecord| ParentItem { record: record.clone(), written: 0, disabled: false, marked: true };
        let view = ParentView {
            configuration: Some(configuration.into()),
            items: (0..).zip(records.iter().map(item)).collect(),
            decided: decided.and_then(|text| DependencyRecord::parse(text.as_bytes())),
            ..ParentView::default()
        };
        let mut stands = Stands::new(NEXT + 10);
        stands.learn(name(job), view);
        stands
    }

    fn every_five() -> JobConfiguration {
        JobConfiguration::builder("a", 2).cron("0/5 * * * * ?").build().unwrap()
    }

    #[test]
    fn a_fire_of_a_schedule_is_followed_from_its_begin_to_its_end_and_forgotten_after_the_next() {
        let none = FireRecord::empty();
        let done = ended(&none, AT, FireState::Succeeded);
        let failed = ended(&none, AT, FireState::Failed);
        for (records, state, items_ended) in [
            ([none.clone(), none.clone()], GraphState::NotBegun, 0),
            ([begun(&none, AT), none.clone()], GraphState::Running, 0),
            ([done.clone(), none.clone()], GraphState::Running, 1),
            ([done.clone(), done.clone()], GraphState::Succeeded, 2),
            ([done.clone(), failed], GraphState::Failed, 2),
            ([done.clone(), ended(&done, NEXT, FireState::Succeeded)], GraphState::Past, 1),
        ] {
            let fire = standing("a", every_five(), &records, None).fire(&name("a"), AT).unwrap();
            assert_eq!((fire.state, fire.items, fire.items_ended), (state, 2, items_ended), "{records:?}");
        }
        let stands = standing("a", every_five(), &[done.clone(), done], None);
        let fire = stands.latest(&name("a")).unwrap();
        assert_eq!((fire.at, fire.began, fire.ended), (AT, Some(AT + 2), Some(AT + 9)));
        assert_eq!(stands.fire(&name("a"), AT + 1).map(|fire| fire.state), Some(GraphState::NoFire));
    }

    #[test]
    fn a_fire_after_others_is_due_or_skipped_and_waits_until_it_is_decided() {
        let after = || JobConfiguration::builder("b", 1).depends_on(["a"]).build().unwrap();
        let decided = format!(
            r#"{{"through":{NEXT},"decided":[{{"at":{AT},"skipped":{{"job":"a","when":"succeeded","end":"failed"}}}},{{"at":{NEXT}}}]}}"#
        );
        let stands = standing("b", after(), &[FireRecord::empty()], Some(&decided));
        assert_eq!(stands.fires(&name("b")), [AT, NEXT]);
        let state = |at| stands.fire(&name("b"), at).map(|fire| fire.state);
        assert_eq!(state(AT), Some(GraphState::Skipped));
        assert!(stands.fire(&name("b"), AT).is_some_and(|fire| fire.why.starts_with("job 'a' failed")));
        assert_eq!(state(NEXT), Some(GraphState::Due));
        assert_eq!(state(NEXT + 1), Some(GraphState::NotBegun), "nothing is decided on it");
        assert_eq!(state(AT - 1), Some(GraphState::NoFire));
    }

    #[test]
    fn a_fire_that_is_run_again_stands_as_its_re_run_does() {
        let rerun = Rerun::new(AT, NEXT + 1);
        let fire = Fire::manual(90, NEXT + 2, Some(rerun));
        let failed = ended(&FireRecord::empty(), AT, FireState::Failed);
        let (instance, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(1), 7, 2));
        let again = failed.begin(NEXT + 3, fire, ExecutionSource::NormalTrigger, instance, attempt);
        let done = again.end(NEXT + 9, &ItemEnd { state: FireState::Succeeded, took: 6, error: None });
        for (records, state, items_ended) in [
            ([again.clone(), failed], GraphState::Running, 0),
            ([again, done.clone()], GraphState::Running, 1),
            ([done.clone(), done], GraphState::Succeeded, 2),
        ] {
            let fire = standing("a", every_five(), &records, None).fire(&name("a"), AT).unwrap();
            assert_eq!((fire.at, fire.state, fire.items_ended, fire.rerun), (AT, state, items_ended, Some(rerun)));
        }
        let after = || JobConfiguration::builder("b", 1).depends_on(["a"]).build().unwrap();
        let noted = |more: &str| {
            format!(
                r#"{{"through":{NEXT},"decided":[{{"at":{AT}}}],"reruns":[{{"of":{AT},"asked":{},"from":"a"{more}}}]}}"#,
                NEXT + 1
            )
        };
        let unmet = r#","decided":9,"skipped":{"job":"a","when":"succeeded","end":"failed"}"#;
        for (more, state) in
            [("", GraphState::NotBegun), (r#","decided":9"#, GraphState::Due), (unmet, GraphState::Skipped)]
        {
            let stands = standing("b", after(), &[FireRecord::empty()], Some(&noted(more)));
            assert_eq!(stands.fire(&name("b"), AT).map(|fire| (fire.state, fire.rerun)), Some((state, Some(rerun))));
        }
        let mut stands = standing("b", after(), &[FireRecord::empty()], Some(&noted(r#","decided":9"#)));
        stands.now += SETTLED;
        assert_eq!(
            stands.fire(&name("b"), AT).map(|fire| fire.state),
            Some(GraphState::Past),
            "no item began it in time"
        );
    }

    #[test]
    fn a_fire_that_was_decided_too_long_ago_is_past() {
        let after = JobConfiguration::builder("b", 1).depends_on(["a"]).build().unwrap();
        let decided: Vec<String> = (1..=16).map(|at| format!(r#"{{"at":{at}}}"#)).collect();
        let decided = format!(r#"{{"through":16,"decided":[{}]}}"#, decided.join(","));
        let stands = standing("b", after, &[FireRecord::empty()], Some(&decided));
        assert_eq!(stands.fire(&name("b"), 0).map(|fire| fire.state), Some(GraphState::Past));
    }
}
