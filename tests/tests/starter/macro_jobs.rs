//! Tests of jobs of `#[elastic_job]`: found from all parts of the program, bound to what the application provides.

use std::sync::{Arc, Mutex};

use chrono::DateTime;
use elasticjob::api::{
    Beans, Inject, ItemHandler, ItemRun, ItemWork, JobDescriptor, JobKind, JobResult, RunInfo, ShardingContext,
};
use elasticjob::config::JobConfiguration;
use elasticjob::elastic_job;
use elasticjob::fire::{ExecutionSource, Fire, RunKey};
use elasticjob::ident::{InstanceId, JobName};
use elasticjob::runtime::{OneOffJob, ScheduleJob};
use elasticjob::spi::JOBS;

type Log = Mutex<Vec<String>>;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2)]
async fn greet(context: ShardingContext, log: Inject<Log>, #[bean("greeting")] greeting: Inject<String>) -> JobResult {
    log.lock().map_err(|_| "poisoned")?.push(format!("{} {}", *greeting, context.sharding_item()));
    Ok(())
}

mod nested {
    pub mod deeper {
        use elasticjob::elastic_job;

        #[elastic_job(name = "renamed job")]
        async fn private() {}
    }
}

#[elastic_job]
async fn reindex(#[bean("reindexJobBean")] _job: OneOffJob, _log: Inject<Log>, _unnamed: ScheduleJob) {}

/// The orders of a shop.
struct Orders;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2, props = { "streaming.process" = "true" })]
impl Orders {
    const PAGE: usize = 2;

    async fn fetch(open: Inject<Open>) -> Result<Vec<u32>, String> {
        let mut open = open.lock().map_err(|_| "poisoned")?;
        let page = open.len().min(Self::PAGE);
        Ok(open.drain(..page).collect())
    }

    async fn process(context: ShardingContext, open: Inject<Open>, log: Inject<Log>, orders: Vec<u32>) -> JobResult {
        drop(open);
        log.lock().map_err(|_| "poisoned")?.push(format!("{} {orders:?}", context.sharding_item()));
        Ok(())
    }
}

/// Orders that are not processed yet.
type Open = Mutex<Vec<u32>>;

/// It has no await.
#[elastic_job(cron = "0 0 3 * * ?", sharding_total_count = 1)]
fn compact(context: ShardingContext, log: Inject<Log>) -> Result<(), &'static str> {
    log.lock().map_err(|_| "poisoned")?.push(format!("compacted {}", context.sharding_item()));
    Ok(())
}

mod starter {
    #[elasticjob_starter::elastic_job]
    async fn from_the_starter() {}
}

#[elastic_job]
#[cfg(not(test))]
async fn left_out(nothing: NoSuchType) {}

#[elastic_job]
#[cfg_attr(test, cfg(not(test)))]
async fn left_out_on_condition(nothing: NoSuchType) {}

#[elastic_job]
#[cfg(test)]
async fn kept() {}

/// The jobs of this file among those of the program.
fn jobs() -> impl Iterator<Item = &'static JobDescriptor> {
    JOBS.static_slice().iter().filter(|job| job.function.starts_with(concat!(module_path!(), "::")))
}

fn job(name: &str) -> &'static JobDescriptor {
    let names: Vec<&str> = jobs().map(|job| job.name).collect();
    jobs().find(|job| job.name == name).unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

fn context(job: &str, item: u32) -> ShardingContext {
    context_of(JobConfiguration::builder(job, 2).build().expect("name and count are valid"), item)
}

fn context_of(configuration: JobConfiguration, item: u32) -> ShardingContext {
    let instance = InstanceId::of_process("192.0.2.2", 1);
    ShardingContext::new(ItemRun {
        run: Arc::new(RunInfo::new(
            RunKey::new(Fire::Scheduled(0), ExecutionSource::NormalTrigger),
            Arc::new(configuration),
            instance,
            vec![item],
            DateTime::UNIX_EPOCH.fixed_offset(),
        )),
        item,
        fencing_token: None,
        attempt: 1,
        stop: Default::default(),
        cancellation: Default::default(),
        cut: Default::default(),
        lease: Default::default(),
    })
}

#[test]
fn jobs_of_modules_and_function_bodies_are_registered_and_no_others() {
    #[elastic_job]
    async fn in_a_body() {}

    let mut names: Vec<&str> = jobs().map(|job| job.name).collect();
    names.sort_unstable();
    let all = ["Orders", "compact", "from_the_starter", "greet", "in_a_body", "kept", "reindex", "renamed job"];
    assert_eq!(names, all);
}

#[test]
fn a_descriptor_tells_where_the_function_is() {
    let job = job("renamed job");
    assert_eq!(job.function, "starter::macro_jobs::nested::deeper::private");
    let (file, line) = job.place.rsplit_once(':').expect("a file and a line");
    assert!(file.ends_with("macro_jobs.rs"), "{file}");
    let source: Vec<&str> = include_str!("macro_jobs.rs").lines().collect();
    let line: usize = line.parse().expect("a number");
    assert!(source[line - 1].contains("renamed job"), "line {line}");
}

#[tokio::test]
async fn a_bound_handler_runs_the_function_with_what_was_provided() {
    let mut beans = Beans::default();
    beans.provide(Log::default());
    beans.provide_named("greeting", "hello".to_owned());
    let job = job("greet");
    let handler = (job.bind)(&beans).expect("everything is provided");
    run(&handler, context(job.name, 1)).await;
    run(&handler, context(job.name, 0)).await;
    let log = beans.get::<Log>().expect("it was provided");
    assert_eq!(*log.lock().expect("nobody panicked"), ["hello 1", "hello 0"]);
}

async fn run(handler: &ItemHandler, context: ShardingContext) {
    let done = match handler.work(context) {
        ItemWork::Async(future) => future.await,
        ItemWork::Blocking(run) => run(),
    };
    done.expect("nothing fails");
}

#[tokio::test]
async fn a_dataflow_job_fetches_and_processes_with_what_each_function_needs() {
    let mut beans = Beans::default();
    beans.provide(Log::default());
    beans.provide(Open::new((1..=5).collect()));
    let job = job("Orders");
    assert_eq!((job.kind, job.function), (JobKind::Dataflow, "starter::macro_jobs::Orders"));
    let handler = (job.bind)(&beans).expect("everything is provided");
    let settings = (job.settings)();
    let configuration = JobConfiguration::from_settings(JobName::new(job.name).expect("a name"), &settings);
    run(&handler, context_of(configuration.expect("valid settings"), 1)).await;
    let log = beans.get::<Log>().expect("it was provided");
    assert_eq!(*log.lock().expect("nobody panicked"), ["1 [1, 2]", "1 [3, 4]", "1 [5]"]);
}

#[tokio::test]
async fn a_function_without_await_is_a_job_that_blocks() {
    let mut beans = Beans::default();
    beans.provide(Log::default());
    let job = job("compact");
    let handler = (job.bind)(&beans).expect("everything is provided");
    assert!(matches!(handler.work(context(job.name, 0)), ItemWork::Blocking(_)));
    run(&handler, context(job.name, 0)).await;
    let log = beans.get::<Log>().expect("it was provided");
    assert_eq!(*log.lock().expect("nobody panicked"), ["compacted 0"]);
}

#[test]
fn what_both_functions_of_a_dataflow_job_miss_is_told_once() {
    let Err(missing) = (job("Orders").bind)(&Beans::default()) else { panic!("nothing was provided") };
    let missing: Vec<&str> = missing.iter().map(|bean| bean.argument).collect();
    assert_eq!(missing, ["open", "log"]);
}

#[test]
fn all_that_is_missing_is_told_together() {
    let Err(missing) = (job("greet").bind)(&Beans::default()) else { panic!("nothing was provided") };
    let missing: Vec<&str> = missing.iter().map(|bean| bean.argument).collect();
    assert_eq!(missing, ["log", "greeting"]);
}

#[test]
fn a_handle_that_no_job_has_is_told_with_its_bean_name() {
    let mut beans = Beans::default();
    beans.provide(Log::default());
    let Err(missing) = (job("reindex").bind)(&beans) else { panic!("there are no handles") };
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 2, "{missing:#?}");
    assert!(missing[0].contains("_job") && missing[0].contains("\"reindexJobBean\""), "{}", missing[0]);
    assert!(missing[1].contains("_unnamed") && missing[1].contains("#[bean("), "{}", missing[1]);
}
