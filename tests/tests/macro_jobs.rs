//! What `#[elastic_job]` registers: found from everywhere in the program, bound to what the application provides.

use std::sync::{Arc, Mutex};

use elasticjob::api::{Beans, Inject, ItemRun, JobDescriptor, JobResult, ShardingContext};
use elasticjob::config::JobConfiguration;
use elasticjob::elastic_job;
use elasticjob::ident::{InstanceId, JobName, TaskId};
use elasticjob::spi::JOBS;

type Log = Mutex<Vec<String>>;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2, params = "0=Beijing,1=Shanghai")]
async fn log_parameter(
    context: ShardingContext,
    log: Inject<Log>,
    #[bean("greeting")] greeting: Inject<String>,
) -> JobResult {
    let parameter = context.sharding_parameter().ok_or("no parameter")?;
    log.lock().map_err(|_| "poisoned")?.push(format!("{} {parameter}", *greeting));
    Ok(())
}

mod nested {
    pub mod deeper {
        use elasticjob::elastic_job;

        #[elastic_job(name = "renamed job")]
        async fn private() {}
    }
}

mod starter {
    #[elasticjob_starter::elastic_job]
    async fn from_the_starter() {}
}

#[elastic_job]
#[cfg(any())]
async fn left_out(nothing: NoSuchType) {}

#[elastic_job]
#[cfg(all())]
async fn kept() {}

fn job(name: &str) -> &'static JobDescriptor {
    let names: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
    JOBS.iter().find(|job| job.name == name).unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

#[test]
fn jobs_of_modules_and_function_bodies_are_registered_and_no_others() {
    #[elastic_job]
    async fn in_a_body() {}

    let mut names: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["from_the_starter", "in_a_body", "kept", "log_parameter", "renamed job"]);
}

#[test]
fn a_descriptor_tells_where_the_function_is() {
    let job = job("renamed job");
    assert_eq!(job.function, "macro_jobs::nested::deeper::private");
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
    let job = job("log_parameter");
    let handler = (job.bind)(&beans).expect("everything is provided");
    handler(context(job, 1)).await.expect("item 1 has a parameter");
    handler(context(job, 0)).await.expect("item 0 has a parameter");
    let log = beans.get::<Log>().expect("it was provided");
    assert_eq!(*log.lock().expect("nobody panicked"), ["hello Shanghai", "hello Beijing"]);
}

#[test]
fn all_that_is_missing_is_told_together() {
    let Err(missing) = (job("log_parameter").bind)(&Beans::default()) else { panic!("nothing was provided") };
    let missing: Vec<&str> = missing.iter().map(|bean| bean.argument).collect();
    assert_eq!(missing, ["log", "greeting"]);
}
