//! Tests of when a fire is over, how it ended, and what follows for the jobs after it.

use super::*;
use crate::config::Dependency;
use crate::config::When;
use crate::engine::dependencies::{Decided, DecidedItems, Decision, decide};
use crate::fire::{Attempt, ExecutionSource, Fire, ItemEnd};
use crate::ident::InstanceId;
use crate::ident::ShardingItem;
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
        scheduled_since: Some(AT),
        items: (0..).zip(items).collect(),
        ..ParentView::default()
    }
}

fn knowing(views: impl IntoIterator<Item = (&'static str, ParentView)>) -> Parents {
    let mut parents = Parents::default();
    views.into_iter().for_each(|(job, view)| parents.learn(name(job), view));
    parents
}

/// What is decided for a job after these ones, from before the first fire on.
fn decided(dependencies: &[&str], parents: &Parents) -> Vec<(i64, Option<ParentEnd>)> {
    let of = |decided: Decided| match decided.decision {
        Decision::Runs => (decided.at, None),
        Decision::Skipped(unmet) => (decided.at, Some(unmet.end)),
        Decision::Items(items) => panic!("{items:?}"),
    };
    decided_after(dependencies, 2, parents, &DependencyRecord::from(AT - 1)).into_iter().map(of).collect()
}

/// What is decided for a job of so many items after these ones, where that was decided before.
fn decided_after(dependencies: &[&str], total: u32, parents: &Parents, before: &DependencyRecord) -> Vec<Decided> {
    let dependencies: Vec<Dependency> = dependencies.iter().map(|text| text.parse().unwrap()).collect();
    let unseen = parents.unseen(&dependencies, before, |_| false);
    decide(&dependencies, total, parents, before, &unseen, |_| false)
}

/// The items that are released, those that are skipped with how the item before them ended, and whether that is all.
type Items = (Vec<ShardingItem>, Vec<(ShardingItem, ParentEnd)>, bool);

/// The items of the first fire that are decided now.
fn items(decided: &[Decided]) -> Items {
    let [Decided { at: AT, decision: Decision::Items(DecidedItems { released, skipped, is_whole }) }] = decided else {
        panic!("{decided:?}")
    };
    let skipped = skipped.iter().map(|(item, unmet)| (*item, unmet.end)).collect();
    (released.iter().copied().collect(), skipped, *is_whole)
}

fn after_items(before: &DependencyRecord, decided: &[Decided]) -> DependencyRecord {
    decided.iter().fold(before.clone(), |record, Decided { at, decision }| match decision {
        Decision::Runs => record.after(*at, None, *at),
        Decision::Skipped(unmet) => record.after(*at, Some(unmet.clone()), *at),
        Decision::Items(items) => record.after_items(*at, items, *at),
    })
}

#[test]
fn an_item_is_released_when_the_item_with_its_number_has_ended_as_it_has_to() {
    let (running, none) = (begun(&FireRecord::empty(), AT), FireRecord::empty());
    let failed = ended(&none, AT, FireState::Failed);
    let decide = |records: [&FireRecord; 3]| {
        let parents = knowing([("a", view(every_five(3), records.map(Clone::clone)))]);
        decided_after(&["a items same"], 3, &parents, &DependencyRecord::from(AT - 1))
    };
    let done = succeeded(AT);
    assert_eq!(decide([&running, &none, &running]), []);
    assert_eq!(decide([&failed, &none, &running]), [], "with the first that may begin");
    assert_eq!(items(&decide([&done, &none, &running])), (vec![0], vec![], false));
    assert_eq!(items(&decide([&done, &failed, &running])), (vec![0], vec![(1, ParentEnd::Failed)], false));
    assert_eq!(items(&decide([&done, &failed, &done])), (vec![0, 2], vec![(1, ParentEnd::Failed)], true));
    assert_eq!(items(&decide([&done, &done, &done])), (vec![0, 1, 2], vec![], true));
    let skipped = decide([&failed, &failed, &failed]);
    assert!(matches!(&skipped[..], [Decided { at: AT, decision: Decision::Skipped(_) }]), "{skipped:?}");
}

#[test]
fn the_next_fire_waits_until_all_items_of_the_one_before_it_are_decided() {
    let slow = begun(&FireRecord::empty(), AT);
    let first = DependencyRecord::from(AT - 1);
    let mut parents = knowing([("a", view(every_five(2), [succeeded(AT), slow.clone()]))]);
    let decide = |parents: &Parents, before: &DependencyRecord| decided_after(&["a items same"], 2, parents, before);
    let decided = decide(&parents, &first);
    let record = after_items(&first, &decided);
    assert_eq!(items(&decided), (vec![0], vec![], false));
    parents.learn(name("a"), view(every_five(2), [succeeded(NEXT), slow]));
    assert_eq!(decide(&parents, &record), [], "item 0 has ended the next one");
    // A leader that comes now has not seen how item 0 ended for the first one: that is in the record.
    let after = knowing([("a", view(every_five(2), [succeeded(NEXT), succeeded(AT)]))]);
    let decided = decide(&after, &record);
    assert_eq!(items(&decided), (vec![1], vec![], true));
    let record = after_items(&record, &decided);
    let next = decide(&after, &record);
    let DecidedItems { released, is_whole, .. } = match &next[..] {
        [Decided { at: NEXT, decision: Decision::Items(items) }] => items,
        other => panic!("{other:?}"),
    };
    assert_eq!((released.iter().copied().collect::<Vec<_>>(), *is_whole), (vec![0], false));
}

#[test]
fn an_open_fire_is_decided_to_its_end_also_where_the_job_before_it_has_forgotten_it() {
    let first = DependencyRecord::from(AT - 1);
    let parents = knowing([("a", view(every_five(2), [succeeded(AT), begun(&FireRecord::empty(), AT)]))]);
    let record = after_items(&first, &decided_after(&["a items same"], 2, &parents, &first));
    let gone_on = |configuration| knowing([("a", view(configuration, [succeeded(NEXT), succeeded(NEXT)]))]);
    let other_schedule = JobConfiguration::builder("a", 2).cron("0 0 3 * * ?").build().unwrap();
    for parents in [gone_on(every_five(2)), gone_on(other_schedule)] {
        let decided = decided_after(&["a items same"], 2, &parents, &record);
        assert_eq!(items(&decided), (vec![], vec![(1, ParentEnd::Unknown)], true));
    }
}

#[test]
fn totals_that_differ_are_waited_for_and_items_that_come_or_go_are_a_part_of_the_fire() {
    let first = DependencyRecord::from(AT - 1);
    let of = |total, records: Vec<FireRecord>| knowing([("a", view(every_five(total), records))]);
    let parents = of(3, vec![succeeded(AT), succeeded(AT), begun(&FireRecord::empty(), AT)]);
    assert_eq!(decided_after(&["a items same"], 2, &parents, &first), []);
    let record = after_items(&first, &decided_after(&["a items same"], 3, &parents, &first));
    let fewer = of(2, vec![succeeded(AT), succeeded(AT), begun(&FireRecord::empty(), AT)]);
    assert_eq!(decided_after(&["a items same"], 3, &fewer, &record), []);
    assert_eq!(items(&decided_after(&["a items same"], 2, &fewer, &record)), (vec![], vec![], true));
    let more = of(4, vec![succeeded(AT), succeeded(AT), succeeded(AT), FireRecord::empty()]);
    assert_eq!(items(&decided_after(&["a items same"], 4, &more, &record)), (vec![2], vec![], false));
}

#[test]
fn a_fire_that_is_open_is_decided_as_a_whole_where_the_items_follow_no_items_any_more() {
    let first = DependencyRecord::from(AT - 1);
    let running = knowing([("a", view(every_five(2), [succeeded(AT), begun(&FireRecord::empty(), AT)]))]);
    let record = after_items(&first, &decided_after(&["a items same"], 2, &running, &first));
    assert_eq!(decided_after(&["a"], 2, &running, &record), []);
    let over = knowing([("a", view(every_five(2), [succeeded(AT), succeeded(AT)]))]);
    assert_eq!(decided_after(&["a"], 2, &over, &record), [Decided { at: AT, decision: Decision::Runs }]);
}

#[test]
fn an_item_that_is_no_part_of_the_fire_before_is_none_of_this_one() {
    let mut disabled = view(every_five(2), [succeeded(AT), FireRecord::empty()]);
    disabled.items.get_mut(&1).unwrap().disabled = true;
    let parents = knowing([("a", disabled)]);
    let decided = decided_after(&["a when ended items same"], 2, &parents, &DependencyRecord::from(AT - 1));
    assert_eq!(items(&decided), (vec![0], vec![(1, ParentEnd::Skipped)], true));
}

#[test]
fn with_all_items_of_another_job_it_waits_for_both() {
    let every = |records: [FireRecord; 2]| view(every_five(2), records);
    let first = DependencyRecord::from(AT - 1);
    let decide = |a: [FireRecord; 2], b: [FireRecord; 2]| {
        let parents = knowing([("a", every(a)), ("b", every(b))]);
        decided_after(&["a items same", "b"], 2, &parents, &first)
    };
    let (running, failed) = (begun(&FireRecord::empty(), AT), ended(&FireRecord::empty(), AT, FireState::Failed));
    let (done, half) = ([succeeded(AT), succeeded(AT)], [succeeded(AT), running.clone()]);
    assert_eq!(decide(done.clone(), half.clone()), []);
    assert_eq!(items(&decide(half.clone(), done.clone())), (vec![0], vec![], false));
    assert_eq!(decide(half, [succeeded(AT), failed.clone()]), [], "it is skipped when both are over");
    let skipped = decide(done, [succeeded(AT), failed]);
    assert!(matches!(&skipped[..], [Decided { at: AT, decision: Decision::Skipped(_) }]), "{skipped:?}");
}

#[test]
fn an_item_that_was_skipped_for_the_item_before_it_is_skipped_by_the_item_after_it() {
    let after = || JobConfiguration::builder("a", 2).depends_on(["root items same"]).build().unwrap();
    let unmet = crate::engine::dependencies::record::Unmet::new(name("root"), When::Succeeded, ParentEnd::Failed);
    let decision = DecidedItems { released: [0].into(), skipped: [(1, unmet)].into(), is_whole: true };
    let record = DependencyRecord::from(AT - 1).after_items(AT, &decision, AT);
    // The owner of item 1 has not written yet that it is skipped.
    let view = ParentView { decided: Some(record), ..view(after(), [succeeded(AT), FireRecord::empty()]) };
    let parents = knowing([("a", view)]);
    let first = DependencyRecord::from(AT - 1);
    for dependency in ["a items same", "a when failed items same", "a when ended items same"] {
        let decided = decided_after(&[dependency], 2, &parents, &first);
        let skipped = match &decided[..] {
            [Decided { decision: Decision::Items(items), .. }] => items.skipped.get(&1).map(|unmet| unmet.end),
            [Decided { decision: Decision::Skipped(unmet), .. }] => Some(unmet.end),
            other => panic!("{other:?}"),
        };
        assert!(matches!(skipped, Some(ParentEnd::Skipped | ParentEnd::Succeeded)), "{dependency}: {decided:?}");
    }
    assert_eq!(decided(&["a"], &parents), [(AT, Some(ParentEnd::Failed))]);
    assert_eq!(decided(&["a when ended"], &parents), [(AT, None)]);
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
        // How it ended for this fire is not known any more.
        (succeeded(NEXT), false, vec![(AT, Some(ParentEnd::Unknown))]),
    ] {
        let mut view = view(every_five(1), [succeeded(AT), last.clone()]);
        view.items.get_mut(&1).unwrap().marked = marked;
        let of_fire = decided(&["a"], &knowing([("a", view)]));
        assert_eq!(of_fire.into_iter().filter(|(at, _)| *at == AT).collect::<Vec<_>>(), expected, "{last:?}");
    }
}
