use super::*;
use crate::config::When;
use crate::engine::dependencies::DependencyRecord;
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord, ItemEnd};
use crate::ident::InstanceId;
use crate::registry::SessionId;

const AT: i64 = 1_700_000_005_000;
const RERUN: Rerun = Rerun { of: AT, asked: AT + 60_000 };
const FIRE: Fire = Fire::manual(90, AT + 60_002, Some(RERUN));
const LATER: Fire = Fire::Scheduled(AT + 300_000);
/// The leader has seen for so long that no trigger waits.
const NOW: Duration = super::super::taken::SETTLES;

fn name(job: &str) -> JobName {
    JobName::new(job).unwrap()
}

fn begun(record: &FireRecord, fire: Fire) -> FireRecord {
    let (instance, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(1), 7, 1));
    record.begin(fire.at(), fire, ExecutionSource::NormalTrigger, instance, attempt)
}

fn ended(fire: Fire, state: FireState) -> FireRecord {
    begun(&ran_before(), fire).end(fire.at() + 1, &ItemEnd { state, took: 1, error: None })
}

/// The record of an item that failed for the fire which is run again.
fn ran_before() -> FireRecord {
    let end = ItemEnd { state: FireState::Failed, took: 1, error: None };
    begun(&FireRecord::empty(), Fire::Scheduled(AT)).end(AT + 1, &end)
}

fn job(items: u32) -> JobConfiguration {
    JobConfiguration::builder("a", items).cron("0/5 * * * * ?").build().unwrap()
}

fn view(configuration: JobConfiguration, records: &[FireRecord]) -> ParentView {
    let item = |record: &FireRecord| ParentItem { record: record.clone(), written: 0, disabled: false, marked: true };
    ParentView {
        configuration: Some(configuration.into()),
        items: (0..).zip(records.iter().map(item)).collect(),
        ..ParentView::default()
    }
}

fn followed() -> FollowedRerun {
    FollowedRerun::new(RERUN, name("a"), vec![])
}

/// What the leader knows.
#[derive(Default)]
struct Known(Parents, Reruns);

impl Known {
    fn learn(&mut self, job: JobName, view: ParentView) {
        self.1.learn(&job, &view);
        self.0.learn(job, view);
    }
}

fn following(when: When, parents: &mut Known) -> Following {
    following_at(NOW, when, parents)
}

fn following_at(now: Duration, when: When, Known(parents, reruns): &mut Known) -> Following {
    let dependencies = [format!("a when {when}").parse().unwrap()];
    reruns.look(&dependencies, parents, &[&followed()], Duration::ZERO);
    reruns.look(&dependencies, parents, &[&followed()], now);
    follow_rerun(&dependencies, parents, reruns, &followed())
}

fn skipped(when: When, end: ParentEnd) -> Following {
    Following::Skip(Unmet::new(name("a"), when, end))
}

#[test]
fn a_job_follows_when_all_items_have_ended_for_the_re_run_as_they_have_to() {
    let done = ended(FIRE, FireState::Succeeded);
    for (records, expected) in [
        (vec![ran_before(), ran_before()], Following::Wait),
        (vec![done.clone(), begun(&ran_before(), FIRE)], Following::Wait),
        (vec![done.clone(), done.clone()], Following::Run),
        (vec![done.clone(), ended(FIRE, FireState::Failed)], skipped(When::Succeeded, ParentEnd::Failed)),
        (vec![done.clone(), ended(FIRE, FireState::Cancelled)], skipped(When::Succeeded, ParentEnd::Failed)),
    ] {
        let mut parents = Known::default();
        parents.learn(name("a"), view(job(2), &records));
        assert_eq!(following_at(Duration::ZERO, When::Succeeded, &mut parents), expected, "{records:?}");
    }
    let mut parents = Known::default();
    parents.learn(name("a"), view(job(1), &[ended(FIRE, FireState::Failed)]));
    assert_eq!(following(When::Failed, &mut parents), Following::Run);
    let failover = JobConfiguration::builder("a", 1).cron("0/5 * * * * ?").failover(true).build().unwrap();
    parents.learn(name("a"), view(failover, &[ended(FIRE, FireState::Cancelled)]));
    assert_eq!(following(When::Ended, &mut parents), Following::Wait, "another instance takes it over");
}

#[test]
fn an_item_that_has_gone_on_keeps_the_end_that_was_seen_and_else_it_is_not_known() {
    let (done, next) = (ended(FIRE, FireState::Succeeded), ended(LATER, FireState::Failed));
    let went_on = begun(&done, LATER);
    let mut parents = Known::default();
    parents.learn(name("a"), view(job(2), &[done.clone(), begun(&ran_before(), FIRE)]));
    parents.learn(name("a"), view(job(2), &[went_on.clone(), done.clone()]));
    assert_eq!(following(When::Succeeded, &mut parents), Following::Run, "the leader has seen both");
    let mut parents = Known::default();
    parents.learn(name("a"), view(job(2), &[went_on, done]));
    assert_eq!(following(When::Succeeded, &mut parents), skipped(When::Succeeded, ParentEnd::Unknown));
    assert_eq!(following(When::Ended, &mut parents), Following::Run);
    let mut parents = Known::default();
    parents.learn(name("a"), view(job(1), &[next]));
    assert_eq!(following(When::Succeeded, &mut parents), skipped(When::Succeeded, ParentEnd::Unknown));
}

#[test]
fn an_item_that_the_job_has_no_more_is_a_part_of_the_re_run_that_it_began() {
    let done = ended(FIRE, FireState::Succeeded);
    let runs = view(job(1), &[done.clone(), begun(&ran_before(), FIRE)]);
    let mut parents = Known::default();
    parents.learn(name("a"), runs.clone());
    assert_eq!(following(When::Ended, &mut parents), Following::Wait);
    let mut lost = runs;
    lost.items.get_mut(&1).unwrap().marked = false;
    parents.learn(name("a"), lost);
    assert_eq!(following(When::Succeeded, &mut parents), skipped(When::Succeeded, ParentEnd::Failed));
    let mut parents = Known::default();
    parents.learn(name("a"), view(job(1), &[done.clone(), done]));
    assert_eq!(following(When::Succeeded, &mut parents), Following::Run);
}

#[test]
fn an_item_without_the_trigger_is_waited_for_as_long_as_one_waits() {
    let (done, other) = (ended(FIRE, FireState::Succeeded), ran_before());
    let mut known = view(job(2), &[done, other]);
    known.triggered = true;
    let mut parents = Known::default();
    parents.learn(name("a"), known.clone());
    assert_eq!(following(When::Ended, &mut parents), Following::Wait);
    known.triggered = false;
    parents.learn(name("a"), known.clone());
    assert_eq!(following(When::Succeeded, &mut parents), skipped(When::Succeeded, ParentEnd::Failed));
    known.items.get_mut(&1).unwrap().disabled = true;
    parents.learn(name("a"), known);
    assert_eq!(following(When::Succeeded, &mut parents), Following::Run, "an operator left it out");
}

#[test]
fn a_re_run_that_no_item_begins_was_not_run_and_where_the_items_have_run_since_is_not_known() {
    let learn = |written, triggered, disabled| {
        let mut parents = Known::default();
        let mut known = ParentView { triggered, ..view(job(1), &[ran_before()]) };
        known.items.values_mut().for_each(|item| (item.written, item.disabled) = (written, disabled));
        parents.learn(name("a"), known);
        let before = following_at(NOW - Duration::from_millis(1), When::Failed, &mut parents);
        (before, following_at(NOW, When::Failed, &mut parents))
    };
    let (before_it, since) = (RERUN.asked - CLOCKS_DIFFER, RERUN.asked - CLOCKS_DIFFER + 1);
    let unknown = skipped(When::Failed, ParentEnd::Unknown);
    assert_eq!(learn(before_it, true, false), (Following::Wait, Following::Wait), "a trigger waits");
    assert_eq!(learn(before_it, false, false), (Following::Wait, Following::Run));
    assert_eq!(learn(since, false, false), (Following::Wait, unknown.clone()));
    assert_eq!(learn(0, false, false), (Following::Wait, unknown), "it is not known when it was written");
    let left_out = skipped(When::Failed, ParentEnd::Succeeded);
    assert_eq!(learn(before_it, false, true), (Following::Wait, left_out), "an operator left it out");
}

#[test]
fn a_job_that_takes_part_is_waited_for_and_one_that_does_not_counts_as_it_ended_before() {
    let both: [Dependency; 2] = ["a", "b when ended"].map(|text| text.parse().unwrap());
    let decide = |with: &[&str], b: ParentView| {
        let mut parents = Known::default();
        parents.learn(name("a"), view(job(1), &[ended(FIRE, FireState::Succeeded)]));
        parents.learn(name("b"), b);
        let with = with.iter().map(|job| name(job)).collect();
        follow_rerun(&both, &parents.0, &parents.1, &FollowedRerun { with, ..followed() })
    };
    let after = || JobConfiguration::builder("b", 1).depends_on(["a"]).build().unwrap();
    let noted = DependencyRecord::from(AT + 1).with_rerun(followed());
    let part =
        |record: DependencyRecord, items: &[FireRecord]| ParentView { decided: Some(record), ..view(after(), items) };
    assert_eq!(decide(&[], view(job(1), &[ran_before()])), Following::Run, "it takes no part, and had failed");
    assert_eq!(decide(&["b"], view(after(), &[ran_before()])), Following::Wait, "its note is not known yet");
    assert_eq!(decide(&["b"], part(noted.clone(), &[ran_before()])), Following::Wait, "nothing is decided on it");
    let decided = noted.after_rerun(RERUN, None, AT + 70_000);
    assert_eq!(decide(&["b"], part(decided.clone(), &[ran_before()])), Following::Wait, "it has not begun");
    assert_eq!(decide(&["b"], part(decided, &[ended(FIRE, FireState::Failed)])), Following::Run);
    let unmet = Unmet::new(name("a"), When::Succeeded, ParentEnd::Failed);
    let left_out = noted.after_rerun(RERUN, Some(unmet), AT + 70_000);
    let expected = Following::Skip(Unmet::new(name("b"), When::Ended, ParentEnd::Skipped));
    assert_eq!(decide(&["b"], part(left_out, &[ran_before()])), expected);
    let hourly = JobConfiguration::builder("b", 1).cron("0 0 * * * ?").build().unwrap();
    let expected = Following::Skip(Unmet::new(name("b"), When::Ended, ParentEnd::NoFire));
    assert_eq!(decide(&[], view(hourly, &[FireRecord::empty()])), expected);
}

#[test]
fn the_node_keeps_the_latest_re_runs_and_those_that_wait_longest_of_all() {
    let mut record = DependencyRecord::from(5);
    for asked in 0..20 {
        record = record.with_rerun(FollowedRerun::new(Rerun::new(AT, asked), name("a"), vec![]));
        if asked > 0 {
            record = record.after_rerun(Rerun::new(AT, asked), None, 7);
        }
    }
    let asked: Vec<i64> = record.reruns.iter().map(|known| known.rerun.asked).collect();
    assert_eq!((asked.len(), asked[0], asked[1]), (KEPT_RERUNS, 0, 5));
    let text = String::from_utf8(record.to_bytes()).unwrap();
    assert!(text.contains(r#"{"of":1700000005000,"asked":19,"from":"a","decided":7}"#), "{text}");
    assert_eq!(DependencyRecord::parse(text.as_bytes()), Some(record.clone()));
    assert_eq!(record.after(9, None, 9).reruns, record.reruns);
}
