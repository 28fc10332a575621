//! Shared by the tests: two processes, each at a server of its own.

use std::env;
use std::path::Path;
use std::time::Duration;

use elasticjob_tests::group::{Group, Program, WorkerProgram};
use elasticjob_tests::records::{Ending, FaultKind, History, Run, now_us};
use elasticjob_tests::worker::JobPlan;
use elasticjob_tests::zookeeper::{EnsembleSettings, ZookeeperEnsemble};

pub const JOB: &str = "worker";

/// Each process has two of them: the run of the even one looks at its token, that of the odd one has to be dropped.
pub const ITEMS: u32 = 4;

const CRON: &str = "0/2 * * * * ?";

/// The session time-out to ask for; the servers grant from 4 s to 40 s.
pub fn session_timeout() -> Duration {
    let seconds = env::var("ELASTICJOB_TEST_SESSION_SECONDS").ok();
    let seconds = seconds.map(|seconds| seconds.parse().expect("a number of seconds"));
    Duration::from_secs(seconds.unwrap_or(4))
}

/// Everything that is waited for happens within this, or never.
pub fn limit() -> Duration {
    Duration::from_secs(60) + 3 * session_timeout()
}

/// A process at a follower, and one at another server.
pub struct Pair {
    pub ensemble: ZookeeperEnsemble,
    pub leader: usize,
    pub follower: usize,
    pub group: Group<WorkerProgram>,
    /// The process at the follower.
    pub one: u32,
    pub other: u32,
    /// The fire from which on runs last longer than a session.
    from_ms: i64,
}

impl Pair {
    /// Starts them, the other one at the server that `place` chooses from the leader and the two followers.
    pub async fn start(settings: EnsembleSettings, place: fn(usize, [usize; 2]) -> usize) -> Self {
        let ensemble = ZookeeperEnsemble::start(settings).await.expect("the ensemble starts");
        let leader = ensemble.leader().await.expect("a server leads");
        let [follower, second] = ensemble.others(leader)[..] else { panic!("three servers") };
        let address = |member: usize| ensemble.member(member).connect_string();
        let run_ms = u64::try_from((3 * session_timeout()).as_millis()).expect("a short time");
        let job = JobPlan {
            cron: CRON.to_owned(),
            failover: true,
            stubborn: true,
            // A write that the server cannot pass on would hold up the reads behind it.
            misfire: false,
            ..JobPlan::each_second(JOB, ITEMS, run_ms)
        };
        let worker: (&str, &[&str]) = (env!("CARGO_BIN_EXE_worker"), &[]);
        let program = WorkerProgram::new(worker, address(follower), "ensemble", vec![job], session_timeout());
        let mut group = Group::new(program.quick_at_first());
        let at = |address: String| {
            move |program: &WorkerProgram, records: &Path, _: Option<&str>| program.command(records, Some(&address))
        };
        let one = group.start_command(at(address(follower))).await;
        let other = group.start_command(at(address(place(leader, [follower, second])))).await;
        group.wait_split(JOB, ITEMS, &[one, other], 0, limit()).await;
        let from_ms = (now_us() / 1_000_000 + 2) * 1_000;
        group.program().pace().expect("they are quick at first").slow_down_from(from_ms).expect("the pace can be told");
        Self { ensemble, leader, follower, group, one, other, from_ms }
    }

    /// Waits until both are in the midst of runs of all items; returns those of the process at the follower.
    pub async fn mid_run(&self) -> Vec<Run> {
        let of_one = |history: &History| {
            let slow = history.runs.iter().filter(|run| run.scheduled_ms >= self.from_ms && run.end.is_none());
            let (one, other): (Vec<Run>, Vec<Run>) = slow.cloned().partition(|run| run.pid == self.one);
            (one.len() + other.len() == ITEMS as usize && !one.is_empty()).then_some(one)
        };
        self.group.wait("long runs of all items", limit(), of_one).await
    }

    /// Cuts the process at the follower off from the leader; its own connection goes on.
    pub fn cut(&mut self) {
        self.group.note(FaultKind::CutOff { pid: self.one }, now_us());
        self.ensemble.cut(self.leader, self.follower);
    }

    /// Mends that.
    pub fn mend(&mut self) {
        self.ensemble.mend(self.leader, self.follower);
        self.group.note_end(FaultKind::CutOff { pid: self.one });
    }

    /// Waits until the other process has begun these items.
    pub async fn taken_over(&self, runs: &[Run]) -> Vec<Run> {
        let taken = |history: &History| {
            let find = |lost: &Run| {
                let by_other = |run: &&Run| run.pid == self.other && run.item == lost.item && run.token > lost.token;
                history.runs.iter().find(by_other).cloned()
            };
            runs.iter().map(find).collect::<Option<Vec<Run>>>()
        };
        self.group.wait("the items at the other process", limit(), taken).await
    }

    /// Fails unless each of the runs was cut off before its item was begun again; tells how long before.
    pub fn check_cut_off_before(&self, lost: &[Run], taken: &[Run]) {
        let history = self.group.history();
        for (lost, taken) in lost.iter().zip(taken) {
            let run = history.runs.iter().find(|run| (run.pid, run.number) == (lost.pid, lost.number));
            let end = run.and_then(|run| run.end);
            let Some((ended_us, ending @ (Ending::Cancelled | Ending::Dropped))) = end else {
                panic!("item {} is begun again while {lost:?} goes on\n{}", lost.item, self.group.logs());
            };
            let ahead_ms = (taken.began_us - ended_us) / 1_000;
            println!("item {}: {ending:?} {ahead_ms} ms before it was begun again", lost.item);
            assert!(ahead_ms >= 0, "{lost:?} and {taken:?} at a time\n{}", self.group.logs());
        }
    }

    /// Waits until both have items again, and fails if anything was wrong so far.
    pub async fn come_together(&self) {
        let from_ms = now_us() / 1_000 + 3_600_000;
        self.group.program().pace().expect("a pace").slow_down_from(from_ms).expect("the pace can be told");
        self.group.wait_split(JOB, ITEMS, &[self.one, self.other], now_us() / 1_000, limit()).await;
        let wrong = self.group.full_history().check(&[], &[]).violations();
        assert!(wrong.is_empty(), "{wrong:?}\n{}", self.group.logs());
    }
}
