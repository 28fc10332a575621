//! Every item of every fire was begun, or it is known why not.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::history::us;
use super::begun_twice::may_be_lost;
use super::{Expected, Verdict};
use crate::records::{Ending, Fault, FaultKind, History, Reason, Run, Skip};

/// An owner may have changed so shortly before a fire that somebody else still decided on it, or so shortly after that
/// the next one did.
const HANDOVER: Duration = Duration::from_millis(1_500);

/// How long the end of an item waits for that of others before it is written, with the time to write it.
const END_WRITTEN: Duration = Duration::from_millis(950);

/// How long a fire waits for the assignment of its items.
const HELD: Duration = Duration::from_secs(5);

/// How far the clocks of what is recorded and what decides may be apart.
const HAIR: Duration = Duration::from_millis(100);

pub(super) fn check(history: &History, expected: &[Expected], verdict: &mut Verdict) {
    for Expected { job, items, fires_ms } in expected {
        let of_job = history.runs.iter().filter(|run| run.job == *job);
        let begun: BTreeSet<(i64, u32)> = of_job.map(|run| (run.scheduled_ms, run.item)).collect();
        for (at_ms, item) in fires_ms.iter().flat_map(|at| (0..*items).map(move |item| (*at, item))) {
            verdict.fires += 1;
            if begun.contains(&(at_ms, item)) {
                verdict.begun += 1;
            } else {
                let fire = Fire { history, job, item, at_ms };
                verdict.not_begun(fire.explanation(), format!("nobody began item {item} of {job} of {at_ms}"));
            }
        }
    }
}

/// An item of a scheduled fire that nobody began.
struct Fire<'a> {
    history: &'a History,
    job: &'a str,
    item: u32,
    at_ms: i64,
}

impl Fire<'_> {
    fn explanation(&self) -> Option<String> {
        if self.nobody_lives() {
            return Some("no_instance".to_owned());
        }
        let owners = self.owners();
        let skips = self.history.skips.iter().filter(|skip| {
            let by_owner = owners.contains(&Some(skip.pid)) || skip.reason == Reason::ServerDisabled;
            by_owner && skip.covers(self.job, self.item, self.at_ms)
        });
        let said = skips.filter(|skip| self.is_true(skip)).map(|skip| skip.reason.name()).next();
        said.map(|reason| format!("skipped_{reason}")).or_else(|| self.fault(&owners))
    }

    fn at_us(&self) -> i64 {
        self.at_ms * 1_000
    }

    /// Who owned the item around the fire: as the registry showed it, or else who ran it last.
    fn owners(&self) -> Vec<Option<u32>> {
        let at = self.at_us();
        if !self.history.observed.is_empty() {
            return self.history.observed.owners_between(self.job, self.item, at - us(HAIR), at + us(HANDOVER));
        }
        let before = self.history.runs.iter().filter(|run| run.job == self.job && run.item == self.item);
        let last = before.filter(|run| run.scheduled_ms < self.at_ms && run.began_us <= at);
        vec![last.max_by_key(|run| run.began_us).map(|run| run.pid)]
    }

    /// Whether no instance was in the group that was neither stopped nor separated from it.
    fn nobody_lives(&self) -> bool {
        let at = self.at_us();
        let separated = |pid| {
            let mut own = self.history.faults.iter().filter(|fault| fault.pid() == Some(pid) && fault.separates(pid));
            own.any(|fault| {
                fault.from_us <= at && (fault.until_us >= at || matches!(fault.kind, FaultKind::Killed { .. }))
            })
        };
        !self.history.observed.is_empty() && self.history.observed.online(self.job, at).all(separated)
    }

    /// Whether what an owner said of the fire agrees with what else is known.
    fn is_true(&self, skip: &Skip) -> bool {
        let (history, at) = (self.history, self.at_us());
        let of_job = || history.runs.iter().filter(|run| run.job == self.job);
        match skip.reason {
            Reason::StillRunning => of_job().filter(|run| run.pid == skip.pid).any(|run| goes_on(run, skip.at_us)),
            Reason::RunsElsewhere => {
                let mut of_item = of_job().filter(|run| run.item == self.item);
                // The mark of a dead process lives as long as its session.
                of_item.any(|run| {
                    run.began_us <= skip.at_us + us(HAIR)
                        && self.mark_gone_us(run.pid, history.ended_us(run)) >= skip.at_us
                })
            }
            Reason::AwaitingFailover => {
                let mut of_item = of_job().filter(|run| run.item == self.item && run.scheduled_ms < self.at_ms);
                of_item.any(|run| may_be_lost(history, run) && !self.is_made_good(run))
            }
            Reason::ServerDisabled => {
                let mut disabled = history.faults.iter().filter(|fault| fault.kind == FaultKind::Disabled);
                disabled.any(|fault| within(history.reach(fault), at))
            }
            // Its items stay with it until its last run is over.
            Reason::Leaving => {
                let left = FaultKind::Left { pid: skip.pid };
                let mut leaving = history.faults.iter().filter(|fault| fault.kind == left && fault.touches(at, at));
                let mut own = of_job().filter(|run| run.pid == skip.pid);
                leaving.next().is_some() && own.any(|run| goes_on(run, skip.at_us))
            }
            Reason::AlreadyBegun
            | Reason::BeginUnknown
            | Reason::Refused
            | Reason::NotBegunInTime
            | Reason::RegistryLost
            | Reason::Missed => history.is_disturbed(at),
            Reason::ItemDisabled | Reason::Other(_) => false,
        }
    }

    /// Whether a lost run was done again before the fire.
    fn is_made_good(&self, lost: &Run) -> bool {
        let again = |run: &&Run| (&run.job, run.item, run.scheduled_ms) == (&lost.job, lost.item, lost.scheduled_ms);
        let mut again = self.history.runs.iter().filter(again);
        again.any(|run| matches!(run.end, Some((at, Ending::Finished)) if at < self.at_us() - us(HANDOVER)))
    }

    /// When the mark of a run is gone that ended, or was stopped, at that time. Who is kept from writing the end leaves it
    /// there.
    fn mark_gone_us(&self, pid: u32, ended_us: i64) -> i64 {
        let written = ended_us.saturating_add(us(END_WRITTEN));
        let kept = |fault: &&Fault| fault.separates(pid) && fault.touches(ended_us, written);
        let kept = self.history.faults.iter().filter(kept);
        kept.map(|fault| self.history.gone_by(pid, fault.from_us)).max().unwrap_or(written)
    }

    /// What was done to an owner, or to the registry.
    fn fault(&self, owners: &[Option<u32>]) -> Option<String> {
        let (history, at) = (self.history, self.at_us());
        // Who is killed may not have come to a fire that it held for its items.
        let held = |fault: &Fault| if matches!(fault.kind, FaultKind::Killed { .. }) { us(HELD) } else { 0 };
        let near = history.faults.iter().filter(|fault| {
            let (from, until) = history.reach(fault);
            within((from - held(fault), until), at)
        });
        let name = |kind: &FaultKind| match kind {
            FaultKind::Outage => Some("registry_away"),
            FaultKind::Killed { pid } if owners.contains(&Some(*pid)) => Some("killed"),
            FaultKind::Frozen { pid } if owners.contains(&Some(*pid)) => Some("frozen"),
            FaultKind::CutOff { pid } if owners.contains(&Some(*pid)) => Some("cut_off"),
            _ => None,
        };
        let found = near.filter_map(|fault| name(&fault.kind)).next();
        let unassigned = || (owners.contains(&None) && history.is_disturbed(at)).then_some("unassigned");
        found.or_else(unassigned).map(str::to_owned)
    }
}

/// Whether a run goes on at a time as its process sees it: for that it also does while it is frozen.
fn goes_on(run: &Run, at_us: i64) -> bool {
    run.began_us <= at_us + us(HAIR) && run.end.is_none_or(|(ended, _)| ended >= at_us - us(HAIR))
}

fn within((from, until): (i64, i64), at: i64) -> bool {
    (from..=until).contains(&at)
}

#[cfg(test)]
mod tests {
    use elasticjob::engine::ExecutionSource;

    use super::super::fixture::{JOB, S, cut_off, frozen, history, instance, killed, open, run, skip};
    use super::*;

    /// What became of the fires of the seconds from 1 on.
    fn account(history: &History, seconds: i64) -> Verdict {
        let fires_ms = (1..=seconds).map(|second| second * 1_000).collect();
        history.check(&[Expected { job: JOB.to_owned(), items: 1, fires_ms }], &[])
    }

    fn explained(verdict: &Verdict) -> Vec<(&str, usize)> {
        assert_eq!(verdict.fires, verdict.begun + verdict.lost.len() + verdict.explained.values().sum::<usize>());
        verdict.explained.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
    }

    #[test]
    fn a_fire_that_nobody_began_is_lost() {
        let verdict = account(&history(&[run(1, 1), run(2, 4)], &[]), 4);
        assert_eq!((verdict.fires, verdict.begun), (4, 2));
        assert_eq!(
            verdict.lost,
            [format!("nobody began item 0 of {JOB} of 2000"), format!("nobody began item 0 of {JOB} of 3000")]
        );
    }

    #[test]
    fn it_is_explained_when_its_owner_was_killed_and_for_no_longer_than_that_takes() {
        let runs = [run(1, 1), run(2, 15)];
        let kill = |pid| account(&history(&runs, &[killed(pid, S + 1)]), 15);
        assert_eq!(kill(2).lost.len(), 13, "not the owner");
        // Session 4 s, tick 2.5 s, settle 3 s.
        assert_eq!((explained(&kill(1)), kill(1).lost.len()), (vec![("killed", 9)], 4));
    }

    #[test]
    fn a_mark_stays_when_its_process_is_killed_before_the_end_of_the_run_is_written() {
        // The run ends half a second after its begin.
        let mut history = history(&[run(1, 1), run(2, 9)], &[killed(1, S + S / 2 + S / 10)]);
        history.observed.came(0, JOB, &instance(1));
        history.observed.came(0, JOB, &instance(2));
        history.observed.went(5 * S, JOB, &instance(1));
        history.observed.owned(0, JOB, 0, Some(instance(1)));
        history.observed.owned(S, JOB, 0, Some(instance(2)));
        history.skips = vec![skip(2, 4, &[0], Reason::RunsElsewhere)];
        assert!(explained(&account(&history, 4)).contains(&("skipped_runs_elsewhere", 1)));
    }

    #[test]
    fn a_mark_stays_when_its_run_is_cut_off_together_with_its_process() {
        let cancelled = Run { end: Some((2 * S, Ending::Cancelled)), ..run(1, 1) };
        let of = |faults: &[Fault]| {
            let mut history = history(&[cancelled.clone(), run(2, 9)], faults);
            history.observed.came(0, JOB, &instance(1));
            history.observed.came(0, JOB, &instance(2));
            history.observed.went(5 * S, JOB, &instance(1));
            history.observed.owned(0, JOB, 0, Some(instance(2)));
            history.skips = vec![skip(2, 4, &[0], Reason::RunsElsewhere)];
            account(&history, 4).explained.get("skipped_runs_elsewhere").copied()
        };
        assert_eq!(of(&[cut_off(1, S + 1, 9 * S)]), Some(1));
        assert_eq!(of(&[cut_off(1, S + 1, S + 2)]), None);
    }

    #[test]
    fn a_fire_that_its_owner_held_when_it_was_killed_is_explained() {
        let runs = [run(1, 1), run(2, 9)];
        let kill = |second: i64| account(&history(&runs, &[killed(1, second * S + 1)]), 2).lost.len();
        assert_eq!([7, 8].map(kill), [0, 1], "it holds a fire for five seconds, and is asked within one");
    }

    #[test]
    fn the_registry_shows_how_long_a_killed_owner_explains() {
        let mut history = history(&[run(1, 1), run(2, 15)], &[killed(1, S + 1)]);
        history.observed.came(0, JOB, &instance(1));
        history.observed.came(0, JOB, &instance(2));
        history.observed.went(4 * S, JOB, &instance(1));
        history.observed.owned(0, JOB, 0, Some(instance(1)));
        assert_eq!(explained(&account(&history, 15)), [("killed", 6)]);
        history.observed.owned(4 * S, JOB, 0, Some(instance(2)));
        assert_eq!(explained(&account(&history, 15)), [("killed", 3)]);
    }

    #[test]
    fn a_frozen_or_cut_off_owner_explains_as_long_as_that_lasts() {
        let runs = [run(1, 1), run(1, 9)];
        assert_eq!(explained(&account(&history(&runs, &[frozen(1, S + 1, 3 * S)]), 9)), [("frozen", 5)]);
        assert_eq!(explained(&account(&history(&runs, &[cut_off(1, S + 1, 3 * S)]), 9)), [("cut_off", 5)]);
    }

    #[test]
    fn an_outage_explains_for_all() {
        let outage = Fault { kind: FaultKind::Outage, from_us: S + 1, at_us: S + 1, until_us: 2 * S };
        assert_eq!(explained(&account(&history(&[run(1, 1), run(1, 9)], &[outage]), 9)), [("registry_away", 4)]);
    }

    #[test]
    fn without_any_live_instance_it_is_explained() {
        let mut history = history(&[run(1, 1), run(2, 4)], &[killed(1, S + 1)]);
        history.observed.came(0, JOB, &instance(1));
        history.observed.went(3 * S, JOB, &instance(1));
        history.observed.came(4 * S - 1, JOB, &instance(2));
        history.observed.owned(0, JOB, 0, Some(instance(1)));
        history.observed.owned(4 * S - 1, JOB, 0, Some(instance(2)));
        assert_eq!(explained(&account(&history, 4)), [("no_instance", 2)]);
        history.faults = vec![frozen(1, S + 1, 2 * S + 1)];
        history.observed.presences[0].until_us = None;
        assert_eq!(explained(&account(&history, 4)), [("frozen", 1), ("no_instance", 1)], "it is back before second 3");
    }

    #[test]
    fn a_skip_explains_when_the_owner_said_it_and_it_is_true() {
        let long = Run { end: Some((3 * S - 1, Ending::Finished)), ..run(1, 1) };
        let of = |runs: &[Run], skips: &[Skip]| account(&History { skips: skips.to_vec(), ..history(runs, &[]) }, 3);
        let busy = skip(1, 2, &[], Reason::StillRunning);
        assert_eq!(
            explained(&of(&[long.clone(), run(1, 3)], std::slice::from_ref(&busy))),
            [("skipped_still_running", 1)]
        );
        let short = Run { end: Some((2 * S - S / 2, Ending::Finished)), ..run(1, 1) };
        assert_eq!(of(&[short, run(1, 30)], &[busy]).lost.len(), 2, "it was not running");
        let of_another = skip(2, 2, &[], Reason::StillRunning);
        assert_eq!(of(&[long.clone(), run(1, 3)], &[of_another]).lost.len(), 1);
        let of_another_item = skip(1, 2, &[1], Reason::StillRunning);
        assert_eq!(of(&[long, run(1, 3)], &[of_another_item]).lost.len(), 1);
    }

    #[test]
    fn that_an_item_runs_elsewhere_explains_while_its_mark_may_be_there() {
        let elsewhere = skip(2, 4, &[0], Reason::RunsElsewhere);
        let owner = Run { end: Some((3 * S + 1, Ending::Finished)), ..run(2, 3) };
        let of = |other: Run, faults: &[Fault]| {
            let runs = [other, owner.clone(), run(2, 5)];
            account(&History { skips: vec![elsewhere.clone()], ..history(&runs, faults) }, 5).lost.len()
        };
        // Seconds 1 and 2 have another owner.
        assert_eq!(of(open(1, 1), &[]), 1);
        assert_eq!(of(run(1, 1), &[]), 2);
        assert_eq!(of(open(1, 1), &[killed(1, S + 1)]), 0);
    }

    #[test]
    fn that_a_lost_run_comes_first_explains_until_it_was_done_again() {
        let awaiting = skip(2, 8, &[], Reason::AwaitingFailover);
        let of = |runs: &[Run], faults: &[Fault]| {
            let history = History { skips: vec![awaiting.clone()], ..history(runs, faults) };
            let fires_ms = vec![8_000];
            history.check(&[Expected { job: JOB.to_owned(), items: 1, fires_ms }], &[]).lost.len()
        };
        let owner = Run { scheduled_ms: 7_000, began_us: 7 * S, ..run(2, 7) };
        let again = Run { scheduled_ms: 1_000, source: ExecutionSource::Failover, ..run(2, 5) };
        let faults = [killed(1, S + 1)];
        assert_eq!(of(&[open(1, 1), owner.clone()], &faults), 0);
        assert_eq!(of(&[open(1, 1), owner.clone()], &[]), 1, "nothing was lost");
        assert_eq!(of(&[open(1, 1), again, owner], &faults), 1, "it was done again");
    }

    #[test]
    fn a_leaving_process_explains_what_falls_into_its_runs_and_nothing_else() {
        let leaving = skip(1, 2, &[], Reason::Leaving);
        let left = Fault { until_us: 3 * S, kind: FaultKind::Left { pid: 1 }, ..killed(1, S + 1) };
        let of = |end: i64, faults: &[Fault]| {
            let long = Run { end: Some((end, Ending::Finished)), ..run(1, 1) };
            account(&History { skips: vec![leaving.clone()], ..history(&[long, run(2, 3)], faults) }, 3).lost.len()
        };
        assert_eq!(of(3 * S - 1, &[left]), 0);
        assert_eq!(of(3 * S - 1, &[]), 1, "it was not asked to leave");
        assert_eq!(of(2 * S - S / 2, &[left]), 1, "nothing ran");
    }

    #[test]
    fn weak_reasons_explain_only_where_something_was_disturbed() {
        let late = skip(1, 2, &[], Reason::NotBegunInTime);
        let of = |faults: &[Fault]| {
            account(&History { skips: vec![late.clone()], ..history(&[run(1, 1), run(1, 3)], faults) }, 3)
        };
        assert_eq!(of(&[]).lost.len(), 1);
        assert_eq!(explained(&of(&[killed(2, S)])), [("skipped_not_begun_in_time", 1)]);
        assert_eq!(of(&[killed(2, 4 * S)]).lost.len(), 1);
    }

    #[test]
    fn a_disabled_server_explains_for_all_as_long_as_it_is() {
        let disabled = Fault { kind: FaultKind::Disabled, from_us: 2 * S, at_us: 2 * S, until_us: 2 * S };
        let skips = vec![skip(2, 3, &[], Reason::ServerDisabled), skip(2, 7, &[], Reason::ServerDisabled)];
        let verdict = account(&History { skips, ..history(&[run(1, 1), run(1, 2), run(1, 8)], &[disabled]) }, 8);
        assert_eq!((explained(&verdict), verdict.lost.len()), (vec![("skipped_server_disabled", 1)], 4));
    }
}
