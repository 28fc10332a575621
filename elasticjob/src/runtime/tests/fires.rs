use std::collections::BTreeMap;
use std::thread;

use super::super::clock::{Clock, SystemClock};
use super::super::{Activity, ShutdownMode};
use super::*;
use crate::api::JobResult;
use crate::job_status::JobStatus;

/// How late a fire may be begun on a machine that is busy with other tests.
const LATENESS_MS: i64 = 5_000;

/// How many fires of a job are over, and how many requests were made for them.
async fn counted(job: &ScheduleJobBootstrap, registry: &Arc<dyn RegistryCenter>, fires: u64) -> (u64, u64) {
    let mut status = job.handle().status();
    loop {
        let is_idle = |status: &JobStatus| status.activity == Activity::Idle && status.fires >= fires;
        let idle = soon(status.wait_for(is_idle)).await.unwrap().clone();
        let requests = registry.requests().requests;
        // Otherwise some of the requests may be of the next fire.
        if *status.borrow() == idle {
            return (idle.fires, requests);
        }
    }
}

/// Requests that a job makes from the end of one fire to the end of a later one, per fire.
async fn requests_per_fire(configuration: JobConfigurationBuilder) -> u64 {
    const FIRES: u64 = 2;
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, _runs) = reporter();
    let job = scheduled(&environment, &registry, configuration, handler).await;
    let (first, before) = counted(&job, &registry, 1).await;
    let (last, after) = counted(&job, &registry, first + FIRES).await;
    (after - before) / (last - first)
}

#[tokio::test]
async fn a_monitored_fire_costs_two_requests_also_with_failover_and_an_unmonitored_one_none() {
    let budget = || each_second("budget", 3);
    let requests = tokio::join!(
        requests_per_fire(budget()),
        requests_per_fire(budget().failover(true)),
        requests_per_fire(budget().monitor_execution(false)),
    );
    assert_eq!(requests, (2, 2, 0));
}

#[tokio::test]
async fn all_items_of_an_async_job_start_together() {
    // More than the pool of any machine has room for: none would come to an end.
    const ITEMS: u32 = 400;
    let environment = environment();
    let registry = environment.embedded_registry();
    let all = Arc::new(tokio::sync::Barrier::new(ITEMS as usize));
    let (together, mut told) = tokio::sync::mpsc::unbounded_channel();
    let handler = item_handler(move |_| {
        let (all, together) = (all.clone(), together.clone());
        async move {
            all.wait().await;
            let _ = together.send(());
        }
    });
    let mut job = scheduled(&environment, &registry, each_second("together", ITEMS), handler).await;
    for _ in 0..ITEMS {
        soon(told.recv()).await.unwrap();
    }
    // So many items each second would take a processor from the other tests of this process.
    job.shutdown(ShutdownMode::Now).await;
}

#[tokio::test]
async fn each_item_of_a_fire_runs_once_and_not_before_its_time() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (handler, mut runs) = reporter();
    let _job = scheduled(&environment, &registry, each_second("punctual", 2), handler).await;
    let mut begun: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    let mut tokens = Vec::new();
    for _ in 0..6 {
        let context = soon(runs.recv()).await.unwrap();
        let scheduled = context.scheduled_at().timestamp_millis();
        let late = SystemClock.wall_ms() - scheduled;
        assert!(late >= 0, "{late} ms late");
        assert!(begun.last_key_value().is_none_or(|(last, _)| *last <= scheduled), "{scheduled} after {begun:?}");
        begun.entry(scheduled).or_default().push(context.sharding_item());
        if context.sharding_item() == 0 {
            tokens.push(context.fencing_token().unwrap());
        }
    }
    assert!(begun.len() == 3 && begun.keys().all(|fire| fire % 1_000 == 0), "{begun:?}");
    assert!(begun.values_mut().all(|items| {
        items.sort_unstable();
        *items == [0, 1]
    }));
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_job_that_blocks_every_thread_of_the_program_does_not_delay_the_coordination_of_another() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (started, has_started) = std::sync::mpsc::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let blocking = item_handler(move |_| {
        let _ = started.send(());
        let _ = released.lock().unwrap().recv_timeout(LIMIT);
        async {}
    });
    let (handler, _runs) = reporter();
    let other = scheduled(&environment, &registry, each_second("other", 1), handler).await;
    let _blocking = scheduled(&environment, &registry, each_second("blocking", 1), blocking).await;
    let mut status = other.handle().status();
    // On a thread of its own: the threads of the program are all blocked.
    let begun_late = thread::spawn(move || {
        has_started.recv_timeout(LIMIT).unwrap();
        let seen = status.borrow_and_update().last_fire;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let next = runtime.block_on(soon(
            status.wait_for(|status| status.last_fire > seen && matches!(status.activity, Activity::Running(_))),
        ));
        let late = SystemClock.wall_ms() - next.unwrap().last_fire.unwrap();
        let _ = release.send(());
        late
    });
    let late = tokio::task::spawn_blocking(move || begun_late.join().unwrap()).await.unwrap();
    assert!((0..LATENESS_MS).contains(&late), "begun {late} ms late");
}

#[tokio::test]
async fn a_panicking_item_has_failed_and_the_next_fire_runs() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let (sender, mut runs) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let _ = sender.send(context.scheduled_at());
        let fails = || -> JobResult { panic!("as planned") };
        async move { fails() }
    });
    let job = scheduled(&environment, &registry, each_second("panicking", 1), handler).await;
    let first = soon(runs.recv()).await.unwrap();
    soon(job.handle().status().wait_for(|status| status.fires >= 1)).await.unwrap();
    let record = registry.get("/panicking/sharding/0/fire").await.unwrap().unwrap();
    let record = record.data.text().unwrap();
    assert!(record.contains(r#""state":"FAILED""#) && record.contains("as planned"), "{record}");
    assert!(soon(runs.recv()).await.unwrap() > first);
}

#[tokio::test]
async fn two_jobs_of_one_process_share_the_items_under_ids_of_their_own() {
    let environment = environment();
    let shared = MemoryRegistry::new();
    let registries = [connect(&shared), connect(&shared)];
    let (handler, mut runs) = reporter();
    let first = scheduled(&environment, &registries[0], each_second("twins", 4), handler.clone()).await;
    let second = scheduled(&environment, &registries[1], each_second("twins", 4), handler).await;
    let [one, two] = [&first, &second].map(|job| job.handle().status().borrow().instance.clone());
    assert_eq!(&one, environment.instance_id());
    let suffix = two.to_string().strip_prefix(&format!("{one}-")).map(str::to_owned);
    assert!(suffix.is_some_and(|suffix| suffix.len() == 4 && suffix.chars().all(|c| c.is_ascii_hexdigit())), "{two}");
    let mut fires: BTreeMap<_, BTreeMap<u32, String>> = BTreeMap::new();
    loop {
        let context = soon(runs.recv()).await.unwrap();
        let fire = fires.entry(context.scheduled_at()).or_default();
        let before = fire.insert(context.sharding_item(), context.instance_id().to_string());
        assert_eq!(before, None, "an item of a fire runs once");
        let halves = fire.values().filter(|instance| **instance == one.to_string()).count();
        if fire.len() == 4 && halves == 2 {
            return;
        }
        assert!(fires.len() < 10, "{fires:?}");
    }
}
