//! When a fire of a job is over, how it ended, and what follows for the jobs after it.

use super::*;
use crate::config::Dependency;
use crate::config::When;
use crate::engine::dependencies::{Decided, decide};
use crate::fire::{Attempt, ExecutionSource, Fire, ItemEnd};
use crate::ident::InstanceId;
use crate::registry::SessionId;

const AT: i64 = 1_700_000_005_000;
const NEXT: i64 = AT + 5_000;

fn name(job: &str) -> JobName {
    JobName::new(job).unwrap()
}

fn begun(record: &FireRecord, at: i64) -> FireRecord {
    let (instance, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(1), 7, 1));
    record.begin(at, Fire::Scheduled(at), ExecutionSource::NormalTrigger, instance, attempt)
}

fn ended(record: &FireRecord, at: i64, state: FireState) -> FireRecord {
    begun(record, at).end(at + 1, &ItemEnd { state, took: 1, error: None })
}

fn succeeded(at: i64) -> FireRecord {
    ended(&FireRecord::empty(), at, FireState::Succeeded)
}

fn every_five(items: u32) -> JobConfiguration {
    JobConfiguration::builder("a", items).cron("0/5 * * * * ?").build().unwrap()
}

fn view(configuration: JobConfiguration, records: impl IntoIterator<Item = FireRecord>) -> ParentView {
    let items = records.into_iter().map(|record| ParentItem { record, written: 0, disabled: false, marked: true });
    ParentView {
        configuration: Some(configuration.into()),
        items: (0..).zip(items).collect(),
        decided: None,
        decided_at: 0,
        triggered: false,
    }
}

fn knowing(views: impl IntoIterator<Item = (&'static str, ParentView)>) -> Parents {
    let mut parents = Parents::default();
    views.into_iter().for_each(|(job, view)| parents.learn(name(job), view));
    parents
}

/// What is decided for a job after these ones, from before the first fire on.
fn decided(dependencies: &[&str], parents: &Parents) -> Vec<(i64, Option<ParentEnd>)> {
    let dependencies: Vec<Dependency> = dependencies.iter().map(|text| text.parse().unwrap()).collect();
    let decided = decide(&dependencies, parents, &DependencyRecord::from(AT - 1), |_| false);
    decided.into_iter().map(|Decided { at, unmet }| (at, unmet.map(|unmet| unmet.end))).collect()
}

#[test]
fn a_fire_is_decided_when_all_its_items_have_ended() {
    let running = begun(&FireRecord::empty(), AT);
    for (records, expected) in [
        (vec![succeeded(AT), running], vec![]),
        (vec![succeeded(AT), FireRecord::empty()], vec![]),
        (vec![succeeded(AT), succeeded(AT)], vec![(AT, None)]),
        (vec![succeeded(AT), ended(&FireRecord::empty(), AT, FireState::Failed)], vec![(AT, Some(ParentEnd::Failed))]),
        (
            vec![succeeded(AT), ended(&FireRecord::empty(), AT, FireState::Cancelled)],
            vec![(AT, Some(ParentEnd::Failed))],
        ),
        (vec![succeeded(AT), FireRecord::empty().skip(AT)], vec![(AT, Some(ParentEnd::Failed))]),
        (vec![succeeded(AT), FireRecord::empty().miss(AT)], vec![]),
    ] {
        assert_eq!(decided(&["a"], &knowing([("a", view(every_five(2), records.clone()))])), expected, "{records:?}");
    }
}

#[test]
fn the_end_that_is_wanted_decides() {
    let (well, badly) = (view(every_five(1), [succeeded(AT)]), {
        view(every_five(1), [ended(&FireRecord::empty(), AT, FireState::Failed)])
    });
    for (dependency, after_well, after_badly) in [
        ("a", None, Some(ParentEnd::Failed)),
        ("a when failed", Some(ParentEnd::Succeeded), None),
        ("a when ended", None, None),
    ] {
        assert_eq!(decided(&[dependency], &knowing([("a", well.clone())])), [(AT, after_well)], "{dependency}");
        assert_eq!(decided(&[dependency], &knowing([("a", badly.clone())])), [(AT, after_badly)], "{dependency}");
    }
}

#[test]
fn what_was_cut_off_is_waited_for_where_it_is_taken_over() {
    let failover = JobConfiguration::builder("a", 1).cron("0/5 * * * * ?").failover(true).build().unwrap();
    let parents = knowing([("a", view(failover, [ended(&FireRecord::empty(), AT, FireState::Cancelled)]))]);
    assert_eq!(decided(&["a"], &parents), []);
}

#[test]
fn an_end_that_was_seen_counts_after_the_item_went_on() {
    let slow = begun(&FireRecord::empty(), AT);
    let mut parents = knowing([("a", view(every_five(2), [succeeded(AT), slow.clone()]))]);
    parents.learn(name("a"), view(every_five(2), [succeeded(NEXT), slow]));
    assert_eq!(decided(&["a"], &parents), []);
    parents.learn(name("a"), view(every_five(2), [begun(&succeeded(NEXT), NEXT + 5_000), succeeded(AT)]));
    assert_eq!(decided(&["a"], &parents), [(AT, None)], "the next fire is not over");
}

#[test]
fn an_end_that_was_not_seen_is_not_taken_for_a_good_one() {
    let parents = knowing([("a", view(every_five(2), [succeeded(NEXT), succeeded(AT)]))]);
    assert_eq!(decided(&["a"], &parents), [(AT, Some(ParentEnd::Unknown))]);
    assert_eq!(decided(&["a when ended"], &parents), [(AT, None)]);
}

#[test]
fn a_run_that_was_lost_has_failed_once_its_item_goes_on() {
    let mut lost = view(every_five(1), [begun(&FireRecord::empty(), AT)]);
    lost.items.get_mut(&0).unwrap().marked = false;
    let mut parents = knowing([("a", lost)]);
    assert_eq!(decided(&["a when ended"], &parents), [], "it may begin again as long as the fire is open");
    parents.learn(name("a"), view(every_five(1), [begun(&FireRecord::empty(), NEXT)]));
    assert_eq!(decided(&["a"], &parents), [(AT, Some(ParentEnd::Failed))]);
}

#[test]
fn a_disabled_item_is_no_part_of_the_fire() {
    let mut one = view(every_five(2), [succeeded(AT), FireRecord::empty()]);
    one.items.get_mut(&1).unwrap().disabled = true;
    assert_eq!(decided(&["a"], &knowing([("a", one)])), [(AT, None)]);
}

#[test]
fn several_jobs_are_waited_for_at_the_times_that_all_of_them_have() {
    let every_ten = JobConfiguration::builder("b", 1).cron("0/10 * * * * ?").build().unwrap();
    let (odd, even) = (AT, NEXT);
    let a = view(every_five(1), [succeeded(even)]);
    let mut parents =
        knowing([("a", view(every_five(1), [succeeded(odd)])), ("b", view(every_ten.clone(), [FireRecord::empty()]))]);
    assert_eq!(decided(&["a", "b"], &parents), [], "the other job has no fire then");
    parents.learn(name("a"), a);
    assert_eq!(decided(&["a", "b"], &parents), [], "it has not run yet");
    parents.learn(name("b"), view(every_ten, [succeeded(even)]));
    assert_eq!(decided(&["a", "b"], &parents), [(even, None)]);
}

#[test]
fn a_skipped_fire_is_skipped_by_the_jobs_after_it() {
    let after = JobConfiguration::builder("a", 1).depends_on(["root"]).build().unwrap();
    let unmet = crate::engine::dependencies::record::Unmet::new(name("root"), When::Succeeded, ParentEnd::Failed);
    let record = DependencyRecord::from(AT - 1).after(AT, Some(unmet), AT);
    let skipped = ParentView { decided: Some(record), ..view(after, [FireRecord::empty()]) };
    for dependency in ["a", "a when failed", "a when ended"] {
        assert_eq!(decided(&[dependency], &knowing([("a", skipped.clone())])), [(AT, Some(ParentEnd::Skipped))]);
    }
}

#[test]
fn a_job_that_is_not_there_is_waited_for() {
    assert_eq!(decided(&["a", "b"], &knowing([("a", view(every_five(1), [succeeded(AT)]))])), []);
}

#[test]
fn an_item_that_the_job_has_no_more_is_a_part_of_the_fire_that_it_began() {
    let running = begun(&FireRecord::empty(), AT);
    for (last, marked, expected) in [
        (running.clone(), true, vec![]),
        // Lost: it is not taken over.
        (running, false, vec![(AT, Some(ParentEnd::Failed))]),
        (succeeded(AT), false, vec![(AT, None)]),
        (ended(&FireRecord::empty(), AT, FireState::Failed), false, vec![(AT, Some(ParentEnd::Failed))]),
        // It had ended before.
        (succeeded(AT - 5_000), false, vec![(AT, None)]),
    ] {
        let mut view = view(every_five(1), [succeeded(AT), last.clone()]);
        view.items.get_mut(&1).unwrap().marked = marked;
        let of_fire = decided(&["a"], &knowing([("a", view)]));
        assert_eq!(of_fire.into_iter().filter(|(at, _)| *at == AT).collect::<Vec<_>>(), expected, "{last:?}");
    }
}
