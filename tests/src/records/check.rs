//! The checks over the runs of all processes.

use std::collections::{BTreeMap, BTreeSet};

use super::Run;

/// What a test did to its processes: it ends runs, and explains fires that nobody began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A process was killed or frozen. Its runs end there, as far as anybody else is concerned.
    Stopped {
        /// The process.
        pid: u32,
        /// Just before the signal, in microseconds since 1970.
        from_us: i64,
        /// When it had stopped for sure.
        at_us: i64,
        /// Until when its items may be without a run.
        excused_until_us: i64,
    },
    /// The registry was away from the begin to the end of this time: nothing could begin.
    Outage {
        /// In microseconds since 1970.
        from_us: i64,
        /// With the time that the processes had for coming back.
        excused_until_us: i64,
    },
}

/// All runs and all faults of a test.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The runs of all processes.
    pub runs: Vec<Run>,
    /// What was done to them.
    pub faults: Vec<Fault>,
}

impl History {
    /// The processes that began each item of a scheduled fire.
    pub fn owners(&self, scheduled_ms: i64) -> BTreeMap<u32, u32> {
        self.runs.iter().filter(|run| run.scheduled_ms == scheduled_ms).map(|run| (run.item, run.pid)).collect()
    }

    /// The scheduled fires that were begun by anybody, in order.
    pub fn fires(&self) -> BTreeSet<i64> {
        self.runs.iter().map(|run| run.scheduled_ms).collect()
    }

    /// What must never be: an item of a fire begun twice, an item that two processes run at the same time, and a fencing
    /// token that does not grow.
    pub fn violations(&self) -> Vec<String> {
        [self.begun_twice(), self.overlaps(), self.tokens_that_shrink()].concat()
    }

    /// The items of fires that nobody began, while their owner was neither stopped nor still busy with an earlier fire: a
    /// fire that falls into a running one is skipped for all items of an instance, and what it takes over late runs long.
    pub fn lost(&self, items: u32, fires_ms: impl IntoIterator<Item = i64>) -> Vec<String> {
        let begun: BTreeSet<(i64, u32)> = self.runs.iter().map(|run| (run.scheduled_ms, run.item)).collect();
        let all = fires_ms.into_iter().flat_map(|at| (0..items).map(move |item| (at, item)));
        let lost = all.filter(|(at, item)| !begun.contains(&(*at, *item)));
        let lost = lost.filter(|(at, item)| !self.is_excused(*at, *item) && !self.is_owner_busy(*at, *item));
        lost.map(|(at, item)| format!("nobody began item {item} of {at}")).collect()
    }

    fn begun_twice(&self) -> Vec<String> {
        let mut begun: BTreeMap<(i64, u32), &Run> = BTreeMap::new();
        let mut twice = Vec::new();
        for run in &self.runs {
            if let Some(first) = begun.insert((run.scheduled_ms, run.item), run) {
                twice.push(format!("an item of a fire was begun twice: {first:?} and {run:?}"));
            }
        }
        twice
    }

    fn overlaps(&self) -> Vec<String> {
        let follow = |(first, second): &(&Run, &Run)| self.ended_us(first) > second.began_us;
        let pairs = self.successive().into_iter().filter(follow);
        pairs.map(|(first, second)| format!("two runs of an item at a time: {first:?} and {second:?}")).collect()
    }

    fn tokens_that_shrink(&self) -> Vec<String> {
        let shrink = |(first, second): &(&Run, &Run)| first.token.is_some() && second.token <= first.token;
        let pairs = self.successive().into_iter().filter(shrink);
        pairs.map(|(first, second)| format!("a token does not grow: {first:?} and {second:?}")).collect()
    }

    /// Each run with the one of the same item that began next.
    fn successive(&self) -> Vec<(&Run, &Run)> {
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by_key(|run| (run.item, run.began_us));
        let neighbours = runs.windows(2).map(|pair| (pair[0], pair[1]));
        neighbours.filter(|(first, second)| first.item == second.item).collect()
    }

    /// When a run ended as far as others are concerned.
    fn ended_us(&self, run: &Run) -> i64 {
        let stopped = self.faults.iter().filter_map(|fault| match fault {
            Fault::Stopped { pid, at_us, .. } if *pid == run.pid && *at_us >= run.began_us => Some(*at_us),
            _ => None,
        });
        stopped.chain(run.end.map(|(at, _)| at)).min().unwrap_or(i64::MAX)
    }

    /// Whether the process that ran the item last runs anything of an earlier fire at that time.
    fn is_owner_busy(&self, at_ms: i64, item: u32) -> bool {
        let before = |run: &&Run| run.scheduled_ms < at_ms && run.began_us < at_ms * 1_000;
        let last = self.runs.iter().filter(before).filter(|run| run.item == item).max_by_key(|run| run.began_us);
        last.is_some_and(|last| {
            let of_owner = self.runs.iter().filter(before).filter(|run| run.pid == last.pid);
            of_owner.map(|run| self.ended_us(run)).any(|ended| ended >= at_ms * 1_000)
        })
    }

    fn is_excused(&self, at_ms: i64, item: u32) -> bool {
        let at_us = at_ms * 1_000;
        self.faults.iter().any(|fault| match fault {
            Fault::Stopped { pid, from_us, excused_until_us, .. } => {
                // The fire in whose midst it was stopped may not have begun on it.
                let of_item = self.runs.iter().filter(|run| run.item == item && run.scheduled_ms < at_ms);
                let before = of_item.filter(|run| run.began_us <= *from_us).max_by_key(|run| run.began_us);
                let owned = before.is_some_and(|run| run.pid == *pid);
                owned && (from_us - 1_000_000..=*excused_until_us).contains(&at_us)
            }
            Fault::Outage { from_us, excused_until_us } => (from_us - 1_000_000..=*excused_until_us).contains(&at_us),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::What;

    const S: i64 = 1_000_000;

    /// A run of item 0 that begins at a second and takes half of one.
    fn run(pid: u32, second: i64) -> Run {
        Run {
            item: 0,
            scheduled_ms: second * 1_000,
            token: Some(second),
            instance: format!("10.0.0.1@-@{pid}"),
            pid,
            began_us: second * S,
            end: Some((second * S + S / 2, What::End)),
            refused: 0,
        }
    }

    fn stopped(pid: u32, at_us: i64) -> Fault {
        Fault::Stopped { pid, from_us: at_us, at_us, excused_until_us: at_us + 3 * S }
    }

    fn history(runs: &[Run], faults: &[Fault]) -> History {
        History { runs: runs.to_vec(), faults: faults.to_vec() }
    }

    fn only(violations: &[String], part: &str) {
        assert!(violations.len() == 1 && violations[0].contains(part), "{violations:?}");
    }

    #[test]
    fn runs_one_after_the_other_are_fine() {
        let history = history(&[run(1, 1), run(2, 2), Run { item: 1, ..run(3, 2) }], &[]);
        assert!(history.violations().is_empty());
        assert!(history.lost(1, [1_000, 2_000]).is_empty());
    }

    #[test]
    fn an_item_of_a_fire_begun_twice_is_found() {
        let again = Run { scheduled_ms: 1_000, ..run(2, 2) };
        only(&history(&[run(1, 1), again], &[]).violations(), "begun twice");
    }

    #[test]
    fn two_runs_at_a_time_are_found_unless_the_first_was_stopped_before() {
        let long = Run { end: Some((5 * S, What::Cancelled)), ..run(1, 1) };
        only(&history(&[long.clone(), run(2, 2)], &[]).violations(), "at a time");
        only(&history(&[Run { end: None, ..run(1, 1) }, run(2, 2)], &[]).violations(), "at a time");
        assert!(history(&[long.clone(), run(2, 2)], &[stopped(1, S + 1)]).violations().is_empty());
        only(&history(&[long, run(2, 2)], &[stopped(1, 2 * S + 1)]).violations(), "at a time");
        let frozen_before = stopped(1, S - 1);
        only(&history(&[Run { end: None, ..run(1, 1) }, run(2, 2)], &[frozen_before]).violations(), "at a time");
    }

    #[test]
    fn a_token_that_does_not_grow_is_found() {
        only(&history(&[run(1, 1), Run { token: Some(1), ..run(2, 2) }], &[]).violations(), "does not grow");
    }

    #[test]
    fn a_fire_that_nobody_began_is_lost_unless_its_owner_was_stopped() {
        let runs = [run(1, 1), run(2, 4)];
        let fires = || (1..=4).map(|second| second * 1_000);
        assert_eq!(history(&runs, &[]).lost(1, fires()).len(), 2);
        assert_eq!(history(&runs, &[stopped(2, S + 1)]).lost(1, fires()).len(), 2, "not the owner");
        assert!(history(&runs, &[stopped(1, S + 1)]).lost(1, fires()).is_empty());
        only(&history(&runs, &[stopped(1, S + 1)]).lost(1, [6_000]), "item 0 of 6000");
        let outage = Fault::Outage { from_us: S + 1, excused_until_us: 2 * S };
        only(&history(&runs, &[outage]).lost(1, fires()), "item 0 of 3000");
    }

    #[test]
    fn a_fire_that_fell_into_a_run_of_its_owner_is_not_lost() {
        let other = Run { item: 1, end: Some((2 * S + 1, What::End)), ..run(1, 1) };
        let busy = [run(1, 1), other.clone(), run(1, 3)];
        assert!(history(&busy, &[]).lost(1, [2_000]).is_empty());
        let idle = [run(1, 1), Run { end: Some((2 * S - 1, What::End)), ..other.clone() }];
        only(&history(&idle, &[]).lost(1, [2_000]), "item 0 of 2000");
        only(&history(&[run(1, 1), Run { pid: 2, ..other }], &[]).lost(1, [2_000]), "item 0 of 2000");
    }
}
