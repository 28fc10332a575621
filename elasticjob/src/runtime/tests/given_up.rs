//! Starts that are given up while code of the last job of the same name goes on: the next job must not begin beside it.

use std::sync::atomic::Ordering;

use tokio::time::{advance, pause, resume, sleep};

use super::recreated_job::{Stubborn, stubborn};
use super::remote::Remote;
use super::*;
use crate::registry::SessionState;
use crate::runtime::{ShutdownMode, StartError};

/// How long a test waits for a start before it gives the start up: by then the start cannot go on.
const A_WHILE: Duration = Duration::from_millis(300);

/// A job whose blocking code goes on after it has left.
struct Left {
    environment: JobEnvironment,
    memory: MemoryRegistry,
    remote: Arc<Remote>,
    registry: Arc<dyn RegistryCenter>,
    code: Stubborn,
}

impl Left {
    async fn new() -> Self {
        let left = Self::leaving().await;
        soon(async {
            while !children(&left.registry, "/left/instances").await.is_empty() {
                sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        assert_eq!(left.live(), 1, "its code goes on");
        left
    }

    /// Asks the job to leave; the job waits for its code.
    async fn leaving() -> Self {
        let environment = environment();
        let memory = MemoryRegistry::new();
        let remote = Remote::of(memory.connect_with_timeout(Duration::from_millis(500)));
        let registry: Arc<dyn RegistryCenter> = remote.clone();
        let mut left = Self { environment, memory, remote, registry, code: stubborn() };
        let mut job = left.bootstrap("a");
        job.schedule().await.unwrap();
        soon(left.code.begun.recv()).await.unwrap();
        // The test does not wait for the shutdown.
        let _ = timeout(Duration::ZERO, job.shutdown(ShutdownMode::Now)).await;
        left
    }

    fn live(&self) -> u32 {
        self.code.live.load(Ordering::SeqCst)
    }

    fn bootstrap(&self, class: &str) -> ScheduleJobBootstrap {
        let configuration = each_second("left", 1).elastic_job_class(class).build().unwrap();
        let handler = self.code.handler.clone();
        ScheduleJobBootstrap::new(&self.environment, self.registry.clone(), configuration, handler).unwrap()
    }

    /// Starts a job and drops the start after a while.
    async fn give_up(&self) {
        let given_up = timeout(A_WHILE, self.bootstrap("a").schedule()).await;
        assert!(given_up.is_err(), "{given_up:?}");
    }

    /// Starts a job that gives up by itself when its time is over.
    async fn time_out(&self) -> StartError {
        let mut job = self.bootstrap("a");
        let start = job.schedule();
        tokio::pin!(start);
        assert!(timeout(A_WHILE, &mut start).await.is_err());
        pause();
        advance(Duration::from_secs(31)).await;
        resume();
        soon(start).await.expect_err("it cannot start")
    }

    fn cut(&self) -> crate::registry::SessionId {
        let SessionState::Connected { id, .. } = *self.registry.session().borrow() else { panic!("it is connected") };
        self.memory.suspend(id);
        id
    }

    /// The next job starts, and begins the item after the code that goes on has returned, not before.
    async fn next_job_respects_it(mut self) {
        let mut job = self.bootstrap("a");
        soon(job.schedule()).await.unwrap();
        let mut status = job.handle().status();
        let mut fires_seen = 0;
        soon(async {
            while fires_seen < 3 {
                status.changed().await.unwrap();
                fires_seen += u32::from(status.borrow_and_update().last_skip.is_some());
                assert_eq!(self.live(), 1, "two live runs");
            }
        })
        .await;
        assert_eq!(self.code.begun.try_recv().ok(), None);
        self.code.let_go.send(()).unwrap();
        soon(self.code.begun.recv()).await.unwrap();
        assert_eq!(self.live(), 1);
        drop(self.code.let_go);
        soon(job.shutdown(ShutdownMode::Now)).await;
        assert_eq!(children(&self.registry, "/left/instances").await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn dropped_while_the_last_job_is_leaving() {
    let left = Left::leaving().await;
    left.give_up().await;
    left.next_job_respects_it().await;
}

#[tokio::test]
async fn dropped_while_the_last_job_cannot_hand_over() {
    let left = Left::new().await;
    let session = left.cut();
    left.give_up().await;
    left.give_up().await;
    left.memory.resume(session);
    left.next_job_respects_it().await;
}

#[tokio::test]
async fn timed_out_while_the_last_job_cannot_hand_over() {
    let left = Left::new().await;
    let session = left.cut();
    match left.time_out().await {
        StartError::Refused { why, .. } => assert!(why.contains("could not be deleted"), "{why}"),
        other => panic!("{other:?}"),
    }
    left.memory.resume(session);
    left.next_job_respects_it().await;
}

#[tokio::test]
async fn dropped_while_it_registers() {
    let left = Left::new().await;
    left.remote.is_broken.store(true, Ordering::Relaxed);
    left.give_up().await;
    left.remote.is_broken.store(false, Ordering::Relaxed);
    left.next_job_respects_it().await;
}

#[tokio::test]
async fn timed_out_while_it_registers() {
    let left = Left::new().await;
    left.remote.is_broken.store(true, Ordering::Relaxed);
    assert!(matches!(left.time_out().await, StartError::TimedOut { .. }));
    left.remote.is_broken.store(false, Ordering::Relaxed);
    left.next_job_respects_it().await;
}

#[tokio::test]
async fn refused_by_the_group() {
    let left = Left::new().await;
    match soon(left.bootstrap("b").schedule()).await {
        Err(StartError::Refused { why, .. }) => assert!(why.contains("belongs to class 'a'"), "{why}"),
        other => panic!("{other:?}"),
    }
    left.next_job_respects_it().await;
}
