//! Tests of what a scrape shows.

use std::net::SocketAddr;
use std::time::Duration;

use elasticjob::api::{JobError, ShardingContext, item_handler};
use elasticjob::ident::JobName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::ElasticJobApp;
use crate::settings::Sources;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

fn builder(arguments: &[&str]) -> crate::ElasticJobAppBuilder {
    let sources = Sources::in_folder(std::env::temp_dir().join("elasticjob-no-such-folder"));
    let code = item_handler(|context: ShardingContext| async move {
        if context.sharding_item() == 0 { Ok(()) } else { Err(JobError::message("no")) }
    });
    let job = "--elasticjob.jobs.settle.sharding-total-count=2";
    let arguments = [job].into_iter().chain(arguments.iter().copied());
    ElasticJobApp::builder().sources(sources).args(arguments).job("settle", code)
}

/// The answer to a request, head and body.
async fn get(address: SocketAddr, accept: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET /metrics HTTP/1.1\r\nhost: x\r\naccept: {accept}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it takes the request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    (head.to_owned(), body.to_owned())
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|known| known == line)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scrape_shows_zeros_at_the_start_and_what_a_run_counted() {
    let app = builder(&["--elasticjob.metrics.port=0"]).start().await.expect("it starts");
    let address = app.metrics_address().expect("the port is open");
    let (head, body) = get(address, "*/*").await;
    assert!(head.contains(OPENMETRICS) && body.ends_with("# EOF\n"), "{head}\n{body}");
    let job = "job_name=\"settle\",registry=\"default\"";
    for zero in [
        format!("elasticjob_fires_total{{{job},source=\"catch_up\"}} 0"),
        format!("elasticjob_item_runs_total{{{job},result=\"failed\"}} 0"),
        format!("elasticjob_item_run_duration_seconds_count{{{job},result=\"failed\"}} 0"),
        format!("elasticjob_fire_lateness_seconds_count{{{job}}} 0"),
        format!("elasticjob_fires_skipped_total{{{job},reason=\"not_begun_in_time\"}} 0"),
        format!("elasticjob_runs_cancelled_total{{{job},reason=\"session_unproven\"}} 0"),
        format!("elasticjob_items_running{{{job}}} 0.0"),
        format!("elasticjob_configuration_refused{{{job}}} 0.0"),
        "elasticjob_registry_connected{registry=\"default\"} 1.0".to_owned(),
        "elasticjob_registry_sessions_total{registry=\"default\"} 1".to_owned(),
    ] {
        assert!(has(&body, &zero), "{zero}\n{body}");
    }
    assert!(!body.contains("elasticjob_oldest_run_start_timestamp_seconds{"), "{body}");
    app.one_off_job("settleOneOffJobBootstrap").expect("it is there").execute().await.expect("it is triggered");
    let counted = [
        format!("elasticjob_fires_total{{{job},source=\"trigger\"}} 1"),
        format!("elasticjob_item_runs_total{{{job},result=\"succeeded\"}} 1"),
        format!("elasticjob_item_runs_total{{{job},result=\"failed\"}} 1"),
        format!("elasticjob_item_run_duration_seconds_count{{{job},result=\"failed\"}} 1"),
        format!("elasticjob_elections_total{{{job}}} 1"),
        format!("elasticjob_leader{{{job}}} 1.0"),
    ];
    let mut body = String::new();
    let all = tokio::time::timeout(LIMIT, async {
        while !counted.iter().all(|line| has(&body, line)) {
            (_, body) = get(address, "text/plain").await;
        }
    });
    assert!(all.await.is_ok(), "{body}");
    assert!(body.contains("# TYPE elasticjob_fires_total counter") && !body.contains("# EOF"), "{body}");
    assert!(body.contains("elasticjob_clock_offset_seconds{registry=\"default\"} 0.0"), "{body}");
    for label in ["job=", "instance=", "namespace="] {
        assert!(!body.contains(&format!("{{{label}")) && !body.contains(&format!(",{label}")), "{label}");
    }
    app.shutdown().await;
    assert!(TcpStream::connect(address).await.is_err(), "the port is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_serves_metrics_of_its_own_without_a_port() {
    let metrics = Metrics::new();
    let app = builder(&[]).metrics(metrics.clone()).start().await.expect("it starts");
    assert_eq!(app.metrics_address(), None);
    assert!(metrics.text().contains("elasticjob_items_running{job_name=\"settle\",registry=\"default\"} 0.0"));
    app.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_an_error_that_names_the_setting() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = taken.local_addr().expect("it has an address").port();
    let started = builder(&[&format!("--elasticjob.metrics.port={port}")]).start().await;
    let error = started.map(|_| ()).expect_err("the port is taken").to_string();
    assert!(error.contains("elasticjob.metrics.port") && error.contains("another program may have it"), "{error}");
}

#[test]
fn jobs_beyond_the_bound_are_counted_together_and_their_number_is_shown() {
    let jobs: Vec<JobName> = ["a", "b", "c"].map(|name| JobName::new(name).expect("a name")).into();
    let series = Arc::new(Series::of(jobs.iter().map(|job| (job, "default")), 1));
    for job in &jobs {
        elasticjob::api::JobObserver::observe(&*series, job, &elasticjob::api::JobFact::Elected);
    }
    let metrics = Metrics::new();
    metrics.show(series);
    let text = metrics.text();
    assert!(has(&text, "elasticjob_elections_total{job_name=\"a\",registry=\"default\"} 1"), "{text}");
    assert!(has(&text, "elasticjob_elections_total{job_name=\"_other\",registry=\"_other\"} 2"), "{text}");
    assert!(has(&text, "elasticjob_metrics_other_jobs 2.0") && !text.contains("job_name=\"b\""), "{text}");
}
