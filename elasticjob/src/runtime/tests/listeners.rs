use std::sync::Mutex;

use super::super::{Activity, ShutdownMode, StartError};
use super::*;
use crate::api::{JobError, JobListener, JobResult, ListenerContext, OnceJobListener};
use crate::spi::{Catalog, CatalogBuilder};

/// The events of a test, in order: calls of listeners as `name before`, runs of items as `item 0`.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// A handler that writes its item.
    fn handler(&self) -> ItemHandler {
        let log = self.clone();
        item_handler(move |context: ShardingContext| {
            log.add(format!("item {}", context.sharding_item()));
            async {}
        })
    }
}

struct Logging {
    name: &'static str,
    order: i32,
    log: Log,
    fails: bool,
}

impl Logging {
    fn called(&self, hook: &str, context: &ListenerContext) -> JobResult {
        let items: Vec<u32> = context.sharding_items().map(|(item, _)| item).collect();
        self.log.add(format!("{} {hook} {items:?}", self.name));
        if self.fails { Err(JobError::message("as planned")) } else { Ok(()) }
    }
}

impl JobListener for Logging {
    fn type_name(&self) -> &str {
        self.name
    }

    fn order(&self) -> i32 {
        self.order
    }

    async fn before_job_executed(&self, context: &ListenerContext) -> JobResult {
        self.called("before", context)
    }

    async fn after_job_executed(&self, context: &ListenerContext) -> JobResult {
        self.called("after", context)
    }
}

impl OnceJobListener for Logging {
    fn type_name(&self) -> &str {
        self.name
    }

    fn order(&self) -> i32 {
        self.order
    }

    async fn at_last_started(&self, context: &ListenerContext) -> JobResult {
        self.called("before", context)
    }

    async fn at_last_completed(&self, context: &ListenerContext) -> JobResult {
        self.called("after", context)
    }
}

fn environment_of(catalog: CatalogBuilder) -> JobEnvironment {
    JobEnvironment::builder().catalog(catalog.build().unwrap()).build().unwrap()
}

/// Waits until so many scheduled fires are over.
async fn fired(job: &ScheduleJobBootstrap, fires: u64) {
    soon(job.handle().status().wait_for(|status| status.fires >= fires)).await.unwrap();
}

#[tokio::test]
async fn listeners_stand_around_the_items_in_their_order_and_a_failing_one_changes_nothing() {
    let log = Log::default();
    let logging = |name, order, fails| Logging { name, order, log: log.clone(), fails };
    let catalog = Catalog::builder()
        .listener(logging("last", i32::MAX, false))
        .once_listener(logging("group", 5, false))
        .listener(logging("first", 1, true));
    let environment = environment_of(catalog);
    let registry = environment.embedded_registry();
    let types = ["last", "group", "first"];
    let configuration =
        types.into_iter().fold(each_second("ordered", 2), |builder, name| builder.job_listener_type(name));
    let mut job = scheduled(&environment, &registry, configuration, log.handler()).await;
    fired(&job, 1).await;
    job.shutdown(ShutdownMode::Graceful).await;
    let mut told = log.take();
    told.truncate(8);
    told[3..5].sort_unstable();
    let expected = [
        "first before [0, 1]",
        "group before [0, 1]",
        "last before [0, 1]",
        "item 0",
        "item 1",
        "first after [0, 1]",
        "group after [0, 1]",
        "last after [0, 1]",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_group_calls_once_for_a_fire() {
    let log = Log::default();
    let once = Logging { name: "group", order: 0, log: log.clone(), fails: false };
    let environment = environment_of(Catalog::builder().once_listener(once));
    let shared = MemoryRegistry::new();
    let mut jobs = Vec::new();
    for _ in 0..3 {
        let configuration = each_second("together", 3).job_listener_type("group");
        jobs.push(scheduled(&environment, &connect(&shared), configuration, log.handler()).await);
    }
    // A fire in which each of the instances has an item.
    let mut status = jobs[0].handle().status();
    loop {
        log.take();
        let fires = status.borrow_and_update().fires;
        soon(status.wait_for(|status| status.fires > fires && status.activity == Activity::Idle)).await.unwrap();
        let told = log.take();
        let of = |what: &str| told.iter().filter(|line| line.contains(what)).count();
        if told.len() == 5 && told[0].ends_with("before [0]") {
            assert_eq!((of("item"), of("before"), of("after")), (3, 1, 1), "{told:?}");
            assert!(told[0].contains("before") && told[4].contains("after"), "{told:?}");
            break;
        }
        assert!(fires < 15, "no fire was shared: {told:?}");
    }
    for job in &mut jobs {
        job.shutdown(ShutdownMode::Graceful).await;
    }
}

#[tokio::test]
async fn a_listener_that_the_program_does_not_have_is_named_with_those_it_has() {
    let log = Log::default();
    let known = Logging { name: "audit", order: 0, log: log.clone(), fails: false };
    let environment = environment_of(Catalog::builder().listener(known));
    let configuration = each_second("unknown", 1).job_listener_type("adit").build().unwrap();
    let registry = environment.embedded_registry();
    let error = ScheduleJobBootstrap::new(&environment, registry, configuration, log.handler()).unwrap_err();
    assert!(matches!(error, StartError::Unsupported { .. }));
    assert_eq!(
        error.to_string(),
        "job 'unknown': job-listener-types: there is no listener 'adit' in this program; there are audit (added by the \
         program)"
    );
}

#[tokio::test]
async fn a_listener_that_hangs_is_cut_off_by_a_shutdown_that_does_not_wait() {
    struct Hanging(mpsc::UnboundedSender<()>);
    impl JobListener for Hanging {
        fn type_name(&self) -> &str {
            "hanging"
        }

        async fn before_job_executed(&self, _: &ListenerContext) -> JobResult {
            let _ = self.0.send(());
            std::future::pending().await
        }
    }
    let (called, mut calls) = mpsc::unbounded_channel();
    let environment = environment_of(Catalog::builder().listener(Hanging(called)));
    let registry = environment.embedded_registry();
    let (handler, mut runs) = reporter();
    let configuration = each_second("cut-off", 1).job_listener_type("hanging");
    let mut job = scheduled(&environment, &registry, configuration, handler).await;
    soon(calls.recv()).await.unwrap();
    soon(job.shutdown(ShutdownMode::Now)).await;
    assert!(runs.try_recv().is_err(), "the item never started");
    let record = registry.get("/cut-off/sharding/0/fire").await.unwrap().unwrap();
    let record = record.data.text().unwrap();
    assert!(record.contains(r#""state":"CANCELLED""#), "{record}");
    assert!(children(&registry, "/cut-off/instances").await.is_empty());
}
