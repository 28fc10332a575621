//! Calls of listeners, and what must hold of those of a fire.

use std::collections::{BTreeMap, BTreeSet};

use elasticjob::fire::{ExecutionSource, Hook};

use super::{Ending, History, Run};

/// Whom a listener is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listener {
    /// Each instance that runs items, by itself.
    EveryInstance,
    /// The group: one instance calls it.
    Once,
}

/// A call of a listener that returned, when it is one before the items, or began, when it is one after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// When, in microseconds since 1970.
    pub at_us: i64,
    /// The process.
    pub pid: u32,
    /// The job.
    pub job: String,
    /// The listener.
    pub listener: Listener,
    /// Which of its hooks.
    pub hook: Hook,
    /// The scheduled time of the fire, in milliseconds since 1970.
    pub scheduled_ms: i64,
    /// Why the items of the process are run.
    pub source: ExecutionSource,
}

/// What was recorded of one fire of a job.
#[derive(Debug)]
pub struct Round<'a> {
    history: &'a History,
    /// The runs of its items.
    pub runs: Vec<&'a Run>,
    calls: Vec<&'a Call>,
}

impl History {
    /// The fires of a job that any process began.
    pub fn rounds(&self, job: &str) -> BTreeMap<i64, Round<'_>> {
        let mut rounds = BTreeMap::new();
        let fresh = || Round { history: self, runs: Vec::new(), calls: Vec::new() };
        for run in self.runs.iter().filter(|run| run.job == job) {
            rounds.entry(run.scheduled_ms).or_insert_with(fresh).runs.push(run);
        }
        for call in self.calls.iter().filter(|call| call.job == job) {
            rounds.entry(call.scheduled_ms).or_insert_with(fresh).calls.push(call);
        }
        rounds
    }
}

impl Round<'_> {
    /// The calls of a hook of a listener, of one process or of all.
    pub fn calls(&self, listener: Listener, hook: Hook, pid: Option<u32>) -> impl Iterator<Item = &Call> {
        let wanted =
            move |call: &Call| (call.listener, call.hook) == (listener, hook) && pid.is_none_or(|pid| call.pid == pid);
        self.calls.iter().copied().filter(move |call| wanted(call))
    }

    /// Whether all items were run to their end, at their time, where they belong.
    pub fn is_whole(&self, items: u32) -> bool {
        let is_regular =
            |run: &&Run| run.source == ExecutionSource::NormalTrigger && matches!(run.end, Some((_, Ending::Finished)));
        let run: BTreeSet<u32> = self.runs.iter().map(|run| run.item).collect();
        run.len() == items as usize
            && self.runs.len() == run.len()
            && self.runs.iter().copied().all(|run| is_regular(&run))
    }

    /// The calls that a whole fire must have and that were not recorded.
    pub fn missing(&self) -> Vec<String> {
        let pids: BTreeSet<u32> = self.runs.iter().map(|run| run.pid).collect();
        let of_all = [Hook::Before, Hook::After].map(|hook| (Listener::Once, hook, None));
        let of_each = pids
            .into_iter()
            .flat_map(|pid| [Hook::Before, Hook::After].map(|hook| (Listener::EveryInstance, hook, Some(pid))));
        let is_missing =
            |(listener, hook, pid): &(Listener, Hook, Option<u32>)| self.calls(*listener, *hook, *pid).next().is_none();
        of_all.into_iter().chain(of_each).filter(is_missing).map(|missing| format!("not called: {missing:?}")).collect()
    }

    /// What must not be, whatever happens to the processes.
    pub fn violations(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut seen: BTreeSet<(Listener, Hook, Option<u32>)> = BTreeSet::new();
        for call in &self.calls {
            let by = (call.listener == Listener::EveryInstance).then_some(call.pid);
            // Lost items are taken over one by one, with calls of their own.
            let may_repeat = by.is_some() && call.source == ExecutionSource::Failover;
            if !may_repeat && !seen.insert((call.listener, call.hook, by)) {
                wrong.push(format!("called twice: {call:?}"));
            }
            let concerned =
                self.runs.iter().filter(|run| by.is_none_or(|pid| run.pid == pid && run.source == call.source));
            for run in concerned {
                let ended_us = self.history.ended_us(run);
                match call.hook {
                    Hook::Before if call.listener == Listener::Once && run.began_us < call.at_us => {
                        wrong.push(format!("began before the call returned: {run:?}, {call:?}"));
                    }
                    Hook::After if run.began_us < call.at_us && ended_us > call.at_us => {
                        wrong.push(format!("had not ended when it was called: {run:?}, {call:?}"));
                    }
                    _ => {}
                }
            }
            let has_items = |run: &&Run| (run.pid, run.source) == (call.pid, call.source);
            if by.is_some() && call.hook == Hook::After && !self.runs.iter().copied().any(|run| has_items(&run)) {
                wrong.push(format!("called by an instance without items: {call:?}"));
            }
        }
        for run in &self.runs {
            let before = self.calls(Listener::EveryInstance, Hook::Before, Some(run.pid));
            if !before.into_iter().any(|call| call.source == run.source && call.at_us <= run.began_us) {
                wrong.push(format!("began without a call before it: {run:?}"));
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    /// A run that goes on for a second.
    fn run(pid: u32, item: u32, began_us: i64) -> Run {
        Run {
            pid,
            number: u64::from(item),
            job: "job".to_owned(),
            item,
            scheduled_ms: 1_000,
            source: ExecutionSource::NormalTrigger,
            token: None,
            instance: format!("10.0.0.1@-@{pid}"),
            began_us,
            end: Some((began_us + SECOND, Ending::Finished)),
            refused: 0,
        }
    }

    fn call(listener: Listener, hook: Hook, pid: u32, at_us: i64) -> Call {
        let (job, source) = ("job".to_owned(), ExecutionSource::NormalTrigger);
        Call { at_us, pid, job, listener, hook, scheduled_ms: 1_000, source }
    }

    /// Two processes with an item each.
    fn good() -> History {
        let (every, once) = (Listener::EveryInstance, Listener::Once);
        let before = [(every, 1, 1), (every, 2, 3), (once, 2, 4)].map(|(l, pid, at)| call(l, Hook::Before, pid, at));
        let after = [(every, 1, 10), (every, 2, 12), (once, 1, 15)];
        let after = after.map(|(l, pid, at)| call(l, Hook::After, pid, SECOND + at));
        let calls = before.into_iter().chain(after).collect();
        History { runs: vec![run(1, 0, 5), run(2, 1, 6)], calls, ..History::default() }
    }

    fn told(history: &History) -> (Vec<String>, Vec<String>) {
        let rounds = history.rounds("job");
        (rounds[&1_000].missing(), rounds[&1_000].violations())
    }

    #[test]
    fn a_good_round_has_every_call_and_nothing_wrong() {
        let history = good();
        assert_eq!(told(&history), (vec![], vec![]));
        assert!(history.rounds("job")[&1_000].is_whole(2));
        assert!(!history.rounds("job")[&1_000].is_whole(3));
    }

    #[test]
    fn each_call_that_is_left_out_is_told() {
        for index in 0..good().calls.len() {
            let mut history = good();
            history.calls.remove(index);
            assert_eq!(told(&history).0.len(), 1, "{index}");
        }
    }

    #[test]
    fn a_second_call_is_wrong_and_only_for_lost_items_of_one_instance_it_is_not() {
        for index in 0..good().calls.len() {
            let mut history = good();
            history.calls.push(history.calls[index].clone());
            assert!(told(&history).1.iter().any(|wrong| wrong.starts_with("called twice")), "{index}");
            let source = ExecutionSource::Failover;
            for item in 5..7 {
                history = good();
                history.runs.push(Run { source, ..run(1, item, 3 * SECOND) });
                history.calls.extend(
                    [2, 3].map(|s| Call { source, ..call(Listener::EveryInstance, Hook::Before, 1, s * SECOND) }),
                );
            }
            assert_eq!(told(&history).1, [""; 0]);
        }
    }

    #[test]
    fn calls_at_the_wrong_time_or_for_nothing_are_wrong() {
        let wrong = |change: fn(&mut History)| {
            let mut history = good();
            change(&mut history);
            told(&history)
                .1
                .into_iter()
                .map(|wrong| wrong.split(':').next().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(wrong(|history| history.calls[0].at_us = 6), ["began without a call before it"]);
        assert_eq!(wrong(|history| history.calls[2].at_us = 6), ["began before the call returned"]);
        assert_eq!(wrong(|history| history.calls[3].at_us = SECOND), ["had not ended when it was called"]);
        assert_eq!(wrong(|history| history.calls[5].at_us = SECOND), ["had not ended when it was called"; 2]);
        assert_eq!(wrong(|history| history.calls[4].pid = 3), ["called by an instance without items"]);
    }
}
