//! The runtime of the program ends while its jobs go on.

use std::future::pending;
use std::time::Instant;

use tokio::runtime::{Builder, Handle, Runtime};

use super::*;
use crate::job_status::Activity;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A job whose runs wait for ever: they end with the runtime.
async fn waiting(environment: &JobEnvironment, registry: &Arc<dyn RegistryCenter>) -> ScheduleJobBootstrap {
    let (began, mut begun) = mpsc::unbounded_channel();
    let handler = item_handler(move |_| {
        let _ = began.send(());
        pending::<()>()
    });
    let job = scheduled(environment, registry, each_second("cut", 2).failover(true), handler).await;
    soon(begun.recv()).await.unwrap();
    job
}

#[test]
fn jobs_leave_and_hand_their_items_over_and_none_joins() {
    let (program, observer) = (runtime(), runtime());
    let server = MemoryRegistry::new();
    let (environment, registry, job) = program.block_on(async {
        let (environment, registry) = (environment(), connect(&server));
        let job = waiting(&environment, &registry).await;
        (environment, registry, job)
    });
    program.shutdown_background();
    observer.block_on(async {
        soon(job.handle().status().wait_for(|status| status.activity == Activity::Stopped)).await.unwrap();
        assert!(children(&registry, "/cut/instances").await.is_empty());
        assert_eq!(
            children(&registry, "/cut/leader/failover/items").await,
            ["0", "1"],
            "other instances take them over"
        );

        let before = registry.requests().requests;
        let until = Instant::now() + Duration::from_millis(1_500);
        // Neither the next fire nor a takeover by this process comes.
        tokio::time::sleep_until(until.into()).await;
        let configuration = each_second("late", 1).build().unwrap();
        let mut late = ScheduleJobBootstrap::new(&environment, registry.clone(), configuration, reporter().0).unwrap();
        let problem = soon(late.schedule()).await.unwrap_err().to_string();
        assert!(problem.contains("the tokio runtime that its environment was made in has ended"), "{problem}");
        assert_eq!(registry.requests().requests, before);
    });
}

#[tokio::test]
async fn an_environment_that_is_gone_leaves_no_task_on_the_runtime_of_the_program() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    drop(environment());
    let deadline = Instant::now() + LIMIT;
    while tasks() > before {
        assert!(Instant::now() < deadline, "{} tasks", tasks());
        tokio::task::yield_now().await;
    }
}
