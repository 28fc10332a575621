//! A program whose jobs do not fit together: everything that is wrong is said at once, before a registry center is
//! touched, and in words.

use std::path::Path;

use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;

struct Pool;

const CRON: &str = "0 0 3 1 1 ?";

#[elastic_job(cron = "0 0 3 1 1 ?", sharding_total_count = 1)]
async fn needs_a_pool(_pool: Inject<Pool>, #[bean("mail")] _mail: Inject<String>) {}

#[elastic_job(cron = "0 0 3 1 1 ?", sharding_total_count = 1)]
async fn needs_a_job(#[bean("nobody")] _job: OneOffJob, #[bean("rightScheduleJobBootstrap")] _wrong_kind: OneOffJob) {}

#[elastic_job]
async fn bare() {}

#[elastic_job(name = "right", cron = "0 0 3 1 1 ?", sharding_total_count = 1)]
async fn right_one(#[bean("rightScheduleJobBootstrap")] _itself: ScheduleJob) {}

/// A folder with this file. No server listens on the port it names: a connection would be another error.
fn sources(test: &str, jobs: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("wrong_jobs").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("elasticjob:\n  reg-center: {{server-lists: '127.0.0.1:1', namespace: x}}\n  jobs:\n{jobs}");
    std::fs::write(folder.join("application.yaml"), text).unwrap();
    Sources::in_folder(folder)
}

async fn error(sources: Sources) -> String {
    let started = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .provide(7_u8)
        .provide_named("mail", 8_u8)
        .sources(sources)
        .start()
        .await;
    started.expect_err("the jobs do not fit together").to_string()
}

fn assert_parts(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "no {part:?} in: {error}");
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_the_plan_is_said_at_once() {
    let jobs = format!(
        "    needsAPool: {{cron: '{CRON}'}}\n    needs_a_job: {{sharding-total-count: 2, job-error-handler-type: EMAIL, props: {{email.port: 1, email.username: a, email.password: b, email.from: a@b.c, email.to: a@b.c}}}}\n    \
         right: {{cron: 0 0 25 * * ?}}\n    other: {{elastic-job-type: BATCH}}\n"
    );
    let error = error(sources("plan", &jobs)).await;
    assert_parts(
        &error,
        &[
            "no job was started, 10 things are wrong:",
            "application.yaml:4: elasticjob.jobs.needsAPool: no job function 'needsAPool'",
            "did you mean 'needs_a_pool'?",
            "application.yaml:5: job 'needs_a_job': props.email.host: is missing",
            "application.yaml:6: job 'right': cron",
            "application.yaml:7: elasticjob.jobs.other.elastic-job-type: there is no type of jobs 'BATCH' in this program; there are DATAFLOW (built in), HTTP (built in), SCRIPT (built in), SIMPLE (built in)",
            "application.yaml:7: job 'other': sharding-total-count: it is missing",
            "job 'bare' (starter::wrong_jobs::bare at tests/tests/starter/wrong_jobs.rs:",
            "job 'needs_a_pool' (starter::wrong_jobs::needs_a_pool at",
            "no job has the bean name \"nobody\"",
            "available: `u8`, \"bareOneOffJobBootstrap\"",
        ],
    );
}

#[tokio::test]
async fn every_argument_that_nothing_fills_is_named_with_what_there_is() {
    let error = error(sources("arguments", "    bare: {sharding-total-count: 1}\n")).await;
    assert_parts(
        &error,
        &[
            "no job was started, 4 things are wrong:",
            "job 'needs_a_pool' (starter::wrong_jobs::needs_a_pool",
            "Inject<starter::wrong_jobs::Pool>",
            ".provide(value)",
            ".provide_named(\"mail\", value)",
            "job 'needs_a_job'",
            "no job has the bean name \"nobody\"",
            "available: `u8`, \"bareOneOffJobBootstrap\"",
        ],
    );
}

#[tokio::test]
async fn what_is_wrong_with_files_environment_arguments_jobs_and_host_is_told_in_one_round() {
    let sources = sources("settings", "    right: {corn: x}\n    bare: {sharding-total-count: 1, label: '${LABEL}'}\n")
        .arguments(["--elasticjob.enabled=perhaps", "--elasticjob.jobs.right.cron=bad"])
        .environment([
            ("ELASTICJOB_DUMP_PORT", "98888"),
            ("ELASTICJOB_PREFERRED_NETWORK_INTERFACE", "nowhere0"),
            ("ELASTICJOB_TRACING_TYPE", "OWN"),
        ]);
    let error = error(sources).await;
    assert_parts(
        &error,
        &[
            "10 things are wrong",
            "application.yaml:4: unknown key 'elasticjob.jobs.right.corn'",
            "argument --elasticjob.enabled: elasticjob.enabled: 'perhaps'",
            "application.yaml:5: elasticjob.jobs.bare.label: the placeholder `${LABEL}` has no value",
            "environment variable ELASTICJOB_DUMP_PORT: elasticjob.dump.port: '98888'",
            "environment variable ELASTICJOB_TRACING_TYPE: elasticjob.tracing.type: 'OWN'",
            "environment variable ELASTICJOB_PREFERRED_NETWORK_INTERFACE: ",
            "argument --elasticjob.jobs.right.cron: job 'right': cron: ",
            "Inject<starter::wrong_jobs::Pool>",
            "no job has the bean name \"nobody\"",
        ],
    );
}

#[tokio::test]
async fn a_disabled_application_starts_nothing_and_its_handles_say_so() {
    let sources = sources("disabled", "    right: {}\n").environment([("ELASTICJOB_ENABLED", "false")]);
    let app = ElasticJobApp::builder().only_jobs_of(module_path!()).sources(sources).start().await.unwrap();
    assert!(!app.is_enabled());
    for error in [app.one_off_job("x").unwrap_err(), app.schedule_job("rightScheduleJobBootstrap").unwrap_err()] {
        assert!(error.to_string().contains("`elasticjob.enabled` is false"), "{error}");
    }
    app.shutdown().await;
}

#[tokio::test]
async fn a_name_given_to_two_values_is_an_error() {
    let sources = sources("named", "    right: {}\n");
    let started = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .provide_named("mail", 1)
        .provide_named("mail", 2)
        .sources(sources)
        .start()
        .await;
    assert_parts(&started.unwrap_err().to_string(), &["the bean name 'mail' is taken twice"]);
}
