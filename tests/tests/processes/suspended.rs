//! A process on a machine that is suspended in the midst of its runs, or a virtual one that is paused. Its connection is
//! lost meanwhile, and nothing tells it so: its clocks are all that it has.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob_tests::group::{Group, Program, WorkerProgram};
use elasticjob_tests::records::{Ending, History, Run, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::wrong_clock::WrongClock;
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{JOB, LIMIT, now};

/// A job whose begins ask no server, as long as the session is proven.
const UNMONITORED: &str = "unmonitored";

/// Two for each process: the run of the even one looks at its token, that of the odd one has to be dropped.
const ITEMS: u32 = 4;

/// Longer than anything that is waited for in its midst.
const RUN: Duration = Duration::from_secs(60);

/// Timers look at the clocks each second; the rest is for a busy machine.
const SOON: Duration = Duration::from_millis(2_500);

/// Clocks that had stood still, and count on, would cancel the runs 3.4 s after it went on, and later.
const SESSION_TIMEOUT: Duration = Duration::from_secs(12);

/// The machine is paused for so many seconds.
const PAUSE: i64 = 30;

/// As a server of the usual tick grants at most. Its deadline is 22.5 s after a proof.
const LONG_SESSION: Duration = Duration::from_secs(40);

/// A process whose clocks can be set, and another one.
struct Pair {
    group: Group<WorkerProgram>,
    clock: WrongClock,
    one: u32,
    other: u32,
}

impl Pair {
    /// Starts them, and waits until each runs items of both jobs; returns the long runs of the first.
    async fn mid_run(
        server: &ZookeeperServer,
        namespace: &str,
        session_timeout: Duration,
        clock: WrongClock,
        give: fn(&WrongClock, Command) -> Command,
    ) -> (Self, Vec<Run>) {
        let run_ms = u64::try_from(RUN.as_millis()).expect("a short run");
        let long = JobPlan { failover: true, stubborn: true, ..JobPlan::each_second(JOB, ITEMS, run_ms) };
        let unmonitored = JobPlan { monitored: false, ..JobPlan::each_second(UNMONITORED, ITEMS, 0) };
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let jobs = vec![long, unmonitored];
        let program = WorkerProgram::new(worker, server.connect_string(), namespace, jobs, session_timeout);
        let mut group = Group::new(program.quick_at_first());
        let with_clock = |program: &WorkerProgram, records: &Path, registry: Option<&str>| {
            give(&clock, program.command(records, registry))
        };
        let one = group.start_command(with_clock).await;
        let other = group.start().await;
        for job in [JOB, UNMONITORED] {
            group.wait_split(job, ITEMS, &[one, other], 0, LIMIT).await;
        }
        let from_ms = (now_us() / 1_000_000 + 2) * 1_000;
        group.program().pace().expect("they are quick at first").slow_down_from(from_ms).expect("the pace can be told");
        let long = |history: &History| {
            let is_long = |run: &&Run| run.job == JOB && run.scheduled_ms >= from_ms && run.end.is_none();
            let (mine, others): (Vec<Run>, Vec<Run>) =
                history.runs.iter().filter(is_long).cloned().partition(|run| run.pid == one);
            (mine.len() == 2 && others.len() == 2).then_some(mine)
        };
        let runs = group.wait("long runs of all items", LIMIT, long).await;
        (Self { group, clock, one, other }, runs)
    }

    /// Waits until these runs of the first process are cut off, with its link still silent; fails unless they are so
    /// within [`SOON`] from a moment, which its own clock tells, and the log says why.
    async fn cut_off_soon(&self, runs: &[Run], from_us: i64, why: &str) {
        let ended = |history: &History| {
            let now: Vec<Run> = runs.iter().filter_map(|run| now(history, run)).cloned().collect();
            now.iter().all(|run| run.end.is_some()).then_some(now)
        };
        for run in self.group.wait("the end of the runs", LIMIT, ended).await {
            let (ended_us, ending) = run.end.expect("it has ended");
            let after = Duration::from_micros(u64::try_from(ended_us - from_us).expect("it ended after that"));
            println!("item {}: {ending:?} {} ms after it went on", run.item, after.as_millis());
            assert!(matches!(ending, Ending::Cancelled | Ending::Dropped), "{run:?}\n{}", self.group.logs());
            assert!(after <= SOON, "{run:?}, {after:?} after it went on\n{}", self.group.logs());
        }
        self.group.wait_logged(why, LIMIT).await;
    }

    /// Waits for some fires of the other process, and fails if the first one began anything after a moment of its clock.
    async fn begins_nothing(&self, from_us: i64) {
        let there_us = now_us();
        let fires = |history: &History| {
            let of_other = |run: &&Run| run.pid == self.other && run.job == UNMONITORED && run.began_us > there_us;
            let fires = history.runs.iter().filter(of_other).count();
            (fires >= 3 * ITEMS as usize / 2).then_some(())
        };
        self.group.wait("fires of the other process", LIMIT, fires).await;
        let history = self.group.history();
        let begun: Vec<&Run> =
            history.runs.iter().filter(|run| run.pid == self.one && run.began_us > from_us).collect();
        assert!(begun.is_empty(), "{begun:?}\n{}", self.group.logs());
    }

    /// The clocks are right and the link is there again: it takes part. Fails if anything was wrong so far, with the ends of
    /// these runs, which a clock wrote that was so far ahead.
    async fn come_back(mut self, runs: &[Run], ahead_us: i64) {
        self.clock.set(0);
        self.group.mend(self.one);
        self.group.wait_split(UNMONITORED, ITEMS, &[self.one, self.other], now_us() / 1_000, LIMIT).await;
        let mut history = self.group.full_history();
        // Without monitoring an item may run beside the one that is not known to have lost it.
        history.runs.retain(|run| run.job == JOB);
        for run in
            history.runs.iter_mut().filter(|run| runs.iter().any(|cut| (cut.pid, cut.number) == (run.pid, run.number)))
        {
            run.end = run.end.map(|(at_us, ending)| (at_us - ahead_us, ending));
        }
        let wrong = history.check(&[], &[]).violations();
        assert!(wrong.is_empty(), "{wrong:?}\n{}", self.group.logs());
    }
}

/// The clocks of the process stand still while it is stopped, and `CLOCK_BOOTTIME` alone tells how long that was.
pub async fn for_long(server: Arc<ZookeeperServer>, clock: WrongClock) {
    let (mut pair, runs) =
        Pair::mid_run(&server, "suspended", SESSION_TIMEOUT, clock, WrongClock::give_with_monotonic).await;
    pair.group.freeze(pair.one);
    let (frozen, frozen_us) = (Instant::now(), now_us());
    pair.group.cut_off_silently(pair.one);
    let taken = |history: &History| {
        let taken = |lost: &Run| {
            let again = |run: &Run| run.pid == pair.other && run.item == lost.item && run.token > lost.token;
            history.runs.iter().any(again)
        };
        runs.iter().all(taken).then_some(())
    };
    pair.group.wait("the items at the other process", LIMIT, taken).await;

    let behind = frozen.elapsed();
    pair.clock.set_behind(behind);
    pair.group.thaw(pair.one);
    // Its clock goes on from where it stood.
    pair.cut_off_soon(&runs, frozen_us, "the session with the registry center can no longer be proven").await;
    pair.begins_nothing(frozen_us).await;
    pair.come_back(&runs, -i64::try_from(behind.as_micros()).expect("some seconds")).await;
}

/// All clocks of a paused virtual machine stand still. That it was paused shows when the one on the wall is set right.
pub async fn clock_set(server: Arc<ZookeeperServer>, clock: WrongClock) {
    let (mut pair, runs) = Pair::mid_run(&server, "paused", LONG_SESSION, clock, WrongClock::give).await;
    pair.group.cut_off_silently(pair.one);
    let set_us = now_us() + PAUSE * 1_000_000;
    pair.clock.set(PAUSE);
    pair.cut_off_soon(&runs, set_us, "the clock of this host leapt ahead").await;
    pair.begins_nothing(set_us).await;
    pair.come_back(&runs, PAUSE * 1_000_000).await;
}
