use elasticjob::fire::ExecutionSource;

use super::super::fixture::{JOB, S, cut_off, each_second, frozen, history, instance, killed, open, run, skip};
use super::*;
use crate::records::{Ending, Fault, FaultKind, Reason, Run, Skip};

/// What became of the fires of the seconds from 1 on.
fn account(history: &History, seconds: i64) -> Verdict {
    let verdict = history.check(&[each_second(seconds)], &[]);
    let not_begun = verdict.explained.values().chain(verdict.lost_to_fault.values()).sum::<usize>();
    assert_eq!(verdict.fires, verdict.begun + verdict.lost.len() + not_begun);
    verdict
}

/// What became of the fire of second 30 of a job that fires each half minute, and of which none is lost.
fn far_apart(history: &History) -> Verdict {
    let one = Expected { survives: true, ..Expected::every(30_000, JOB, 1, 0, 30_000) };
    history.check(&[Expected { until_ms: 60_000, ..one }], &[])
}

fn counts(reasons: &std::collections::BTreeMap<String, usize>) -> Vec<(&str, usize)> {
    reasons.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}

/// Processes 1 and 2 are there from the beginning, and the first owns the item.
fn watched(runs: &[Run], faults: &[Fault]) -> History {
    let mut history = history(runs, faults);
    history.observed.came(0, JOB, &instance(1));
    history.observed.came(0, JOB, &instance(2));
    history.observed.owned(0, JOB, 0, Some(instance(1)));
    history
}

/// The first is gone at a second, and the other owns the item from another one on.
fn taken_over(mut history: History, gone: i64, owned: i64) -> History {
    history.observed.went(gone, JOB, &instance(1));
    history.observed.owned(owned, JOB, 0, Some(instance(2)));
    history
}

#[test]
fn a_fire_that_nobody_began_is_lost() {
    let verdict = account(&history(&[run(1, 1), run(2, 4)], &[]), 4);
    assert_eq!((verdict.fires, verdict.begun), (4, 2));
    assert_eq!(verdict.lost.len(), 2);
    for (lost, (at, since)) in verdict.lost.iter().zip([(2_000, 1_000), (3_000, 2_000)]) {
        let owner = format!("nobody began item 0 of {JOB} of {at}, and its owner could; owners: [Some(1) from ");
        let run = format!("runs: [1 of -{since} ms NormalTrigger from -{since} ms, Some(\"Finished at ");
        assert!(lost.starts_with(&owner) && lost.contains(&run), "{lost}");
    }
}

#[test]
fn a_kill_of_its_owner_costs_it_and_for_no_longer_than_that_takes() {
    let runs = [run(1, 1), run(2, 15)];
    let kill = |pid| account(&history(&runs, &[killed(pid, S + 1)]), 15);
    assert_eq!(kill(2).lost.len(), 13, "not the owner");
    // Session 4 s, tick 2.5 s, settle 3 s.
    assert_eq!((counts(&kill(1).lost_to_fault), kill(1).lost.len()), (vec![("killed", 9)], 4));
    assert_eq!(kill(1).not_looked_at, 0);
}

#[test]
fn a_kill_some_time_after_the_fire_does_not_cost_it() {
    let runs = [run(1, 1), run(2, 15)];
    let kill = |at| account(&history(&runs, &[killed(1, at)]), 2).lost.len();
    assert_eq!([2 * S, 3 * S - S / 4, 3 * S + 1].map(kill), [0, 0, 1]);
}

#[test]
fn the_new_owner_of_an_item_has_to_begin_what_comes_once_it_has_settled() {
    let runs = [run(1, 1), run(2, 15)];
    let of = |owned| account(&taken_over(watched(&runs, &[killed(1, S + 1)]), 4 * S, owned), 14);
    let verdict = of(4 * S);
    assert_eq!((counts(&verdict.lost_to_fault), verdict.lost.len()), (vec![("killed", 3), ("moved", 2)], 8));
    assert_eq!(verdict.not_looked_at, 2, "why the new owner did not begin is not known");
    let calm = account(&taken_over(watched(&runs, &[]), 20 * S, 4 * S), 14);
    assert_eq!(calm.lost.len(), 13, "the item moved, and nothing was done to the group");
    // The item lay about without an owner: at first that is of the kill, for some time it may be.
    assert_eq!(counts(&of(9 * S).lost_to_fault)[..1], [("killed", 6)]);
}

#[test]
fn what_waits_for_its_assignment_is_lost_with_who_waits() {
    // The owner is gone, and the only other one is killed half a second after the fire.
    let runs = [run(1, 1), run(3, 40)];
    let history = taken_over(watched(&runs, &[killed(1, S), killed(2, 8 * S + S / 2)]), 5 * S - S / 10, 20 * S);
    assert_eq!(account(&history, 8).lost.len(), 0);
    assert_eq!(account(&taken_over(watched(&runs, &[]), 5 * S - S / 10, 20 * S), 8).lost.len(), 7, "nothing was done");
}

#[test]
fn a_mark_stays_when_its_process_is_killed_before_the_end_of_the_run_is_written() {
    // The run ends half a second after its begin.
    let of = |kill| {
        let mut history = taken_over(watched(&[run(1, 1), run(2, 9)], &[killed(1, kill)]), 5 * S, S);
        history.skips = vec![skip(2, 4, &[0], Reason::RunsElsewhere)];
        history.check(&[Expected { fires_ms: vec![4_000], ..each_second(4) }], &[])
    };
    let verdict = of(S + S / 2 + S / 10);
    assert_eq!((counts(&verdict.lost_to_fault), verdict.lost.len()), (vec![("runs_elsewhere", 1)], 0));
    assert_eq!(of(3 * S).lost.len(), 1, "it had written the end by then");
}

#[test]
fn a_mark_stays_when_its_run_is_cut_off_together_with_its_process() {
    let cancelled = Run { end: Some((2 * S, Ending::Cancelled)), ..run(1, 1) };
    let of = |cut| {
        let mut history = taken_over(watched(&[cancelled.clone(), run(2, 9)], &[cut]), 5 * S, 0);
        history.skips = vec![skip(2, 4, &[0], Reason::RunsElsewhere)];
        history.check(&[Expected { fires_ms: vec![4_000], ..each_second(4) }], &[]).lost.len()
    };
    assert_eq!([of(cut_off(1, S + 1, 9 * S)), of(cut_off(1, S + 1, S + 2))], [0, 1]);
}

#[test]
fn a_frozen_or_cut_off_owner_costs_fires_as_long_as_that_lasts() {
    let runs = [run(1, 1), run(1, 9)];
    let of = |fault| {
        counts(&account(&history(&runs, &[fault]), 9).lost_to_fault)
            .into_iter()
            .map(|(name, n)| (name.to_owned(), n))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(frozen(1, S + 1, 3 * S)), [("frozen".to_owned(), 4)]);
    assert_eq!(of(cut_off(1, S + 1, 3 * S)), [("cut_off".to_owned(), 4)]);
    assert_eq!(of(frozen(2, S + 1, 3 * S)), []);
}

#[test]
fn an_outage_costs_fires_of_all() {
    let outage = |until_us| Fault { kind: FaultKind::Outage, from_us: S + 1, at_us: S + 1, until_us };
    let of = |until| account(&history(&[run(1, 1), run(1, 9)], &[outage(until)]), 9);
    assert_eq!((counts(&of(2 * S).lost_to_fault), of(2 * S).lost.len()), (vec![("registry_away", 3)], 4));
}

#[test]
fn a_fire_far_from_the_next_one_is_begun_late_whatever_became_of_its_owner() {
    let runs = [run(1, 1), Run { scheduled_ms: 90_000, ..run(2, 90) }];
    let lost = |history: &History| far_apart(history).lost.len();
    let outage = |until_us| Fault { kind: FaultKind::Outage, from_us: 29 * S, at_us: 29 * S, until_us };
    assert_eq!(lost(&taken_over(watched(&runs, &[killed(1, 29 * S)]), 33 * S, 33 * S)), 1, "killed");
    assert_eq!(lost(&watched(&runs, &[outage(40 * S)])), 1, "the registry was away");
    assert_eq!(lost(&watched(&runs, &[frozen(1, 29 * S, 40 * S)])), 1, "frozen");
    // No instance lived long enough before the next one.
    assert_eq!(lost(&watched(&runs, &[outage(53 * S)])), 0);
    let all = [killed(1, 29 * S), killed(2, 29 * S)];
    assert_eq!(counts(&far_apart(&watched(&runs, &all)).explained), [("no_instance", 1)]);
    // One of them lived, and never came to own the item.
    assert_eq!(lost(&watched(&runs, &all[..1])), 1);
}

#[test]
fn a_fire_that_the_end_of_the_records_cuts_short_is_not_missed() {
    let runs = [run(1, 1), Run { scheduled_ms: 90_000, ..run(2, 90) }];
    let history = watched(&runs, &[killed(1, 29 * S)]);
    let of = |until_ms| Expected { until_ms, survives: true, ..Expected::every(30_000, JOB, 1, 0, 30_000) };
    let lost = |until_ms| history.check(&[of(until_ms)], &[]).lost.len();
    assert_eq!([lost(31_000), lost(45_000)], [0, 1]);
}

#[test]
fn without_any_live_instance_it_is_explained() {
    let mut history = watched(&[run(1, 1), run(3, 4)], &[killed(1, S + 1), killed(2, 0)]);
    history.observed.went(3 * S, JOB, &instance(1));
    history.observed.came(4 * S - 1, JOB, &instance(3));
    history.observed.owned(4 * S - 1, JOB, 0, Some(instance(3)));
    assert_eq!(counts(&account(&history, 4).explained), [("no_instance", 2)]);
    history.faults = vec![frozen(1, S + 1, 2 * S + 1), killed(2, 0)];
    history.observed.presences[0].until_us = None;
    let verdict = account(&history, 4);
    assert_eq!(
        (counts(&verdict.explained), counts(&verdict.lost_to_fault)),
        (vec![("no_instance", 1)], vec![("frozen", 1)])
    );
}

#[test]
fn a_skip_explains_when_the_owner_said_it_and_it_is_true() {
    let long = Run { end: Some((3 * S, Ending::Finished)), ..run(1, 1) };
    let said = |skip: Skip| account(&History { skips: vec![skip], ..history(&[long.clone(), run(1, 4)], &[]) }, 4);
    let still = |pid, second| said(skip(pid, second, &[], Reason::StillRunning));
    assert_eq!((counts(&still(1, 2).explained), still(1, 2).lost.len()), (vec![("still_running", 1)], 1));
    assert_eq!(still(2, 2).lost.len(), 2, "not the owner");
    assert_eq!(said(skip(1, 2, &[1], Reason::StillRunning)).lost.len(), 2, "another item");
    assert_eq!(said(skip(1, 2, &[], Reason::Other("the moon".to_owned()))).lost.len(), 2);
    let short = history(&[run(1, 1), run(1, 4)], &[]);
    let skips = vec![skip(1, 2, &[], Reason::StillRunning)];
    assert_eq!(account(&History { skips, ..short }, 4).lost.len(), 2, "nothing ran");
}

#[test]
fn that_an_item_runs_elsewhere_explains_as_long_as_that_run() {
    let source = ExecutionSource::Failover;
    let long = Run { end: Some((3 * S, Ending::Finished)), source, ..run(2, 1) };
    let of = |second: i64| {
        let skips = vec![skip(1, second, &[0], Reason::RunsElsewhere)];
        let fires = Expected { fires_ms: vec![second * 1_000], ..each_second(second) };
        History { skips, ..watched(std::slice::from_ref(&long), &[]) }.check(&[fires], &[]).lost.len()
    };
    assert_eq!([of(2), of(3), of(5)], [0, 0, 1]);
}

#[test]
fn a_begin_that_is_under_way_is_a_run_where_a_later_fire_takes_the_place_of_what_fell_into_it() {
    let of = |began_us: i64, runs: &[Run]| {
        let made_up = Run { began_us, source: ExecutionSource::Misfire, ..run(1, 1) };
        let runs: Vec<Run> = runs.iter().cloned().chain([run(1, 0), made_up]).collect();
        account(&History { skips: vec![skip(1, 2, &[], Reason::StillRunning)], ..history(&runs, &[]) }, 2)
    };
    assert_eq!(counts(&of(2 * S + S / 5, &[run(1, 3)]).explained), [("still_running", 1)]);
    assert_eq!(of(2 * S + S / 5, &[]).lost.len(), 1, "nothing takes its place");
    assert_eq!(of(8 * S, &[run(1, 3)]).lost.len(), 1, "it did not begin");
}

#[test]
fn that_the_fire_was_begun_is_a_lie_unless_a_later_one_was() {
    let said = vec![skip(1, 2, &[0], Reason::AlreadyBegun)];
    let of = |runs: &[Run], faults: &[Fault]| account(&History { skips: said.clone(), ..history(runs, faults) }, 3);
    let lie = of(&[run(1, 1), run(1, 3)], &[killed(1, 2 * S + S / 2)]);
    assert!(lie.lost.len() == 1 && lie.lost[0].contains("says that one did"), "{lie:?}");
    let early = Run { began_us: 2 * S, ..run(1, 3) };
    let overtaken = of(&[run(1, 1), early], &[killed(1, 2 * S + S / 2)]);
    assert_eq!(counts(&overtaken.lost_to_fault), [("killed", 1)]);
}

#[test]
fn what_was_decided_against_while_the_server_was_disabled_may_be_said_to_be_decided() {
    let disabled = Fault { kind: FaultKind::Disabled, from_us: 2 * S, at_us: 2 * S, until_us: 3 * S };
    let of = |refused: i64, faults: &[Fault]| {
        let skips = vec![skip(2, refused, &[0], Reason::ServerDisabled), skip(1, 2, &[0], Reason::AlreadyBegun)];
        let told = skips.into_iter().map(|skip| Skip { from_ms: 2_000, until_ms: 2_000, ..skip }).collect();
        account(&History { skips: told, ..history(&[run(1, 1), run(1, 3)], faults) }, 3)
    };
    assert_eq!(counts(&of(2, &[disabled]).explained), [("server_disabled", 1)]);
    assert_eq!(of(2, &[]).lost.len(), 1, "it was not disabled");
    assert!(of(5, &[disabled]).lost[0].contains("says that one did"), "it was decided later");
}

#[test]
fn a_fire_that_waits_for_a_leader_that_was_killed_is_lost_when_the_next_one_comes_and_no_later() {
    let of = |second: i64, faults: &[Fault]| {
        let mut history = watched(&[run(1, 1), run(1, 20)], faults);
        history.observed.came(0, JOB, &instance(3));
        history.skips = vec![skip(1, second, &[], Reason::NotBegunInTime)];
        let verdict = history.check(&[Expected { fires_ms: vec![second * 1_000], ..each_second(second) }], &[]);
        (verdict.lost.len(), verdict.not_looked_at)
    };
    assert_eq!(of(4, &[killed(3, 2 * S)]), (0, 1));
    assert_eq!(of(4, &[killed(4, 2 * S)]), (1, 0), "it was not there");
    assert_eq!(of(15, &[killed(3, 2 * S)]), (1, 0), "there is another leader by then");
    // Where the next fire is far off, it begins without the assignment.
    let mut far = watched(&[run(1, 1)], &[killed(2, 28 * S)]);
    far.skips = vec![skip(1, 30, &[], Reason::NotBegunInTime)];
    assert_eq!(far_apart(&far).lost.len(), 1);
}

#[test]
fn who_runs_an_item_regularly_owns_it_also_where_the_watch_missed_that() {
    let runs = |source| [run(1, 1), Run { source, ..run(2, 3) }, run(1, 9)];
    let of = |source| account(&watched(&runs(source), &[frozen(2, 4 * S - 1, 7 * S)]), 6);
    let regular = of(ExecutionSource::NormalTrigger);
    assert_eq!(
        (counts(&regular.lost_to_fault), regular.lost.len()),
        (vec![("frozen", 3)], 1),
        "second 2 was of the first"
    );
    assert_eq!(of(ExecutionSource::Failover).lost.len(), 4, "an item is taken over by who does not own it");
}

#[test]
fn that_a_lost_run_comes_first_costs_it_until_it_was_done_again_or_had_to_be() {
    let awaiting = |second| skip(2, second, &[], Reason::AwaitingFailover);
    let of = |second: i64, runs: &[Run], faults: &[Fault]| {
        let history = History { skips: vec![awaiting(second)], ..history(runs, faults) };
        history.check(&[Expected { fires_ms: vec![second * 1_000], ..each_second(second) }], &[]).lost.len()
    };
    let owner = |second: i64| Run { scheduled_ms: second * 1_000 - 500, ..run(2, second - 1) };
    let again = Run { scheduled_ms: 1_000, source: ExecutionSource::Failover, ..run(2, 5) };
    let faults = [killed(1, S + 1)];
    assert_eq!(of(8, &[open(1, 1), owner(8)], &faults), 0);
    assert_eq!(of(8, &[open(1, 1), owner(8)], &[]), 1, "nothing was lost");
    assert_eq!(of(8, &[open(1, 1), again, owner(8)], &faults), 1, "it was done again");
    assert_eq!(of(14, &[open(1, 1), owner(14)], &faults), 1, "it had to be done again by then");
    let at_its_end = |second: i64| second * S + S * 6 / 10;
    assert_eq!(of(8, &[run(1, 1), owner(8)], &[killed(1, at_its_end(1))]), 0, "its end was not written any more");
    assert_eq!(of(8, &[run(1, 1), owner(8)], &[killed(1, 3 * S)]), 1, "its end was written");
    let again_in_vain = Run { scheduled_ms: 1_000, source: ExecutionSource::Failover, ..run(3, 5) };
    let both = [killed(1, at_its_end(1)), killed(3, at_its_end(5))];
    assert_eq!(of(9, &[run(1, 1), again_in_vain, owner(9)], &both), 0, "nor was that of the next one");
}

#[test]
fn a_leaving_process_explains_what_falls_into_its_runs_and_nothing_else() {
    let leaving = skip(1, 2, &[], Reason::Leaving);
    let left = Fault { until_us: 3 * S, kind: FaultKind::Left { pid: 1 }, ..killed(1, S + 1) };
    let of = |end: i64, faults: &[Fault]| {
        let long = Run { end: Some((end, Ending::Finished)), ..run(1, 1) };
        account(&History { skips: vec![leaving.clone()], ..history(&[long, run(2, 3)], faults) }, 3)
    };
    assert_eq!(counts(&of(3 * S - 1, &[left]).explained), [("leaving", 1)]);
    assert_eq!(of(3 * S - 1, &[]).lost.len(), 1, "it was not asked to leave");
    assert_eq!(counts(&of(2 * S - S / 2, &[left]).lost_to_fault), [("left", 1)], "nothing ran");
}

#[test]
fn what_an_owner_says_names_the_loss_and_does_not_excuse_it() {
    let late = skip(1, 2, &[], Reason::NotBegunInTime);
    let of = |faults: &[Fault]| {
        account(&History { skips: vec![late.clone()], ..history(&[run(1, 1), run(1, 3)], faults) }, 3)
    };
    assert_eq!(of(&[]).lost.len(), 1);
    assert_eq!(of(&[killed(2, S)]).lost.len(), 1, "not its owner");
    assert_eq!(counts(&of(&[frozen(1, S + 1, 2 * S)]).lost_to_fault), [("not_begun_in_time", 1)]);
    assert_eq!(of(&[frozen(1, 4 * S, 5 * S)]).lost.len(), 1);
}

#[test]
fn a_disabled_server_explains_for_all_as_long_as_it_is() {
    let disabled = Fault { kind: FaultKind::Disabled, from_us: 2 * S, at_us: 2 * S, until_us: 2 * S };
    let skips = vec![skip(2, 3, &[], Reason::ServerDisabled), skip(2, 7, &[], Reason::ServerDisabled)];
    let verdict = account(&History { skips, ..history(&[run(1, 1), run(1, 2), run(1, 8)], &[disabled]) }, 8);
    let lost: Vec<&str> = verdict.lost.iter().filter_map(|lost| lost.split(' ').nth(7)).collect();
    assert_eq!(counts(&verdict.explained), [("server_disabled", 1)]);
    assert_eq!((counts(&verdict.lost_to_fault), lost.len()), (vec![("server_enabled_again", 1)], 3));
}

#[test]
fn an_owner_that_was_not_to_be_seen_may_have_been_another_one() {
    // The second is cut off. Whether the item was given to it shortly before depends on whether that was to be seen.
    let account = |blind: &[(i64, i64)], fire: i64| {
        let mut history = watched(&[run(1, 1), run(1, 9), run(1, 10)], &[cut_off(2, 2 * S, 7 * S)]);
        history.observed.blind = blind.to_vec();
        history.check(&[Expected { fires_ms: vec![fire * 1_000], ..each_second(fire) }], &[])
    };
    assert_eq!(account(&[], 6).lost.len(), 1);
    let unseen = account(&[(S, 8 * S)], 6);
    assert_eq!((counts(&unseen.lost_to_fault), unseen.not_looked_at), (vec![("unobserved", 1)], 1));

    // Nor does it show that nobody was there, or whom a fault hit.
    let killed_for_all = |blind: &[(i64, i64)]| {
        let mut history = watched(&[run(1, 1)], &[killed(1, S + S / 2), killed(2, S + S / 2)]);
        history.observed.blind = blind.to_vec();
        let verdict = history.check(&[Expected { fires_ms: vec![2_000], ..each_second(2) }], &[]);
        (verdict.explained.len(), verdict.not_looked_at)
    };
    assert_eq!(killed_for_all(&[]), (1, 0));
    assert_eq!(killed_for_all(&[(S, 3 * S)]), (0, 1));
    let seen_again = account(&[(S, 2 * S)], 6).lost;
    assert!(seen_again.len() == 1 && seen_again[0].contains("not seen: [from -5000 ms to -3900 ms]"), "{seen_again:?}");
    assert_eq!(account(&[(S, 8 * S)], 12).lost.len(), 1, "and here as well");
}
