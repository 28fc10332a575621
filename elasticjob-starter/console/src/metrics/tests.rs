//! Tests of what a scrape shows, and to whom.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{Request, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

use crate::access::{Grant, OwnAddress, Role, Token, TokenHash};
use crate::testing::{call, console_of, request, start_job, with_users};
use crate::{Console, ConsoleOptions, Registry};

/// A scrape by a program of this host.
fn near() -> Request<Body> {
    let mut request = request("GET", "/metrics", None);
    request.headers_mut().insert(HOST, "127.0.0.1:8899".parse().expect("a value"));
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 50_000))));
    request.extensions_mut().insert(OwnAddress(SocketAddr::from(([127, 0, 0, 1], 8_899))));
    request
}

#[tokio::test]
async fn a_program_of_this_host_sees_all_jobs_without_a_login() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let mut answer = call(&console, near()).await;
    // Its items are assigned a moment after its start.
    let begun = std::time::Instant::now();
    while answer.body.contains("status=\"sharding_flag\"} 1.0") && begun.elapsed().as_secs() < 60 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        answer = call(&console, near()).await;
    }
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!(answer.headers[CONTENT_TYPE], elasticjob_openmetrics::OPENMETRICS);
    for line in [
        "elasticjob_console_registry_up{registry=\"default\"} 1.0",
        "elasticjob_console_streams 0.0",
        "elasticjob_job_info{job_name=\"settle\",registry=\"default\",cron=\"0 0 0 1 1 ?\",time_zone=\"UTC\",sharding_total_count=\"2\"} 1.0",
        "elasticjob_job_status{job_name=\"settle\",registry=\"default\",status=\"ok\"} 1.0",
        "elasticjob_job_status{job_name=\"settle\",registry=\"default\",status=\"crashed\"} 0.0",
        "elasticjob_job_items{job_name=\"settle\",registry=\"default\",state=\"pending\"} 2.0",
        "elasticjob_job_instances{job_name=\"settle\",registry=\"default\"} 1.0",
        "elasticjob_job_leader{job_name=\"settle\",registry=\"default\"} 1.0",
        "elasticjob_job_overdue_items{job_name=\"settle\",registry=\"default\"} 0.0",
        "elasticjob_console_logins_total{result=\"refused\"} 0",
        "elasticjob_job_refusing_instances{job_name=\"settle\",registry=\"default\"} 0.0",
        "elasticjob_job_daemon_ends{job_name=\"settle\",registry=\"default\"} 0.0",
        "elasticjob_job_waiting_items{job_name=\"settle\",registry=\"default\"} 0.0",
        "elasticjob_job_failed_items{job_name=\"settle\",registry=\"default\"} 0.0",
    ] {
        assert!(answer.body.lines().any(|it| it == line), "{line} is not in\n{}", answer.body);
    }
    let next = answer.body.lines().find(|it| it.starts_with("elasticjob_job_next_fire_timestamp_seconds{"));
    assert!(next.is_some(), "{}", answer.body);
    for begin in [
        "elasticjob_job_configuration_changed_timestamp_seconds{job_name=\"settle\"",
        "elasticjob_server_instances{registry=\"default\",server=",
        "elasticjob_server_disabled_jobs{registry=\"default\",server=",
    ] {
        assert!(answer.body.lines().any(|it| it.starts_with(begin)), "{begin}: {}", answer.body);
    }
    assert!(!answer.body.contains("elasticjob_job_last_fire_timestamp_seconds{"), "it never ran");
    assert!(answer.body.ends_with("# EOF\n"));
}

#[tokio::test]
async fn a_client_that_accepts_the_older_format_alone_gets_it() {
    let mut request = near();
    request.headers_mut().insert(ACCEPT, "text/plain".parse().expect("a value"));
    let answer = call(&console_of(&MemoryRegistry::new()), request).await;
    assert_eq!(answer.headers[CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
    assert!(!answer.body.contains("# EOF"));
}

#[tokio::test]
async fn a_program_of_another_host_needs_a_token_and_sees_its_jobs_alone() {
    let memory = MemoryRegistry::new();
    let _settle = start_job(&memory, "settle", &JobSettings::default()).await;
    let _report = start_job(&memory, "report", &JobSettings::default()).await;
    let (secret, hash) = TokenHash::new_token().expect("there are random bytes");
    let grant = Grant::everywhere(Role::Viewer).jobs("rep*");
    let tokens = vec![Token::new("prometheus", hash, [grant])];
    let options = ConsoleOptions { tokens, ..with_users() };
    let console = Console::new(options, [Registry::new("default", std::sync::Arc::new(memory.connect()))]);
    let console = console.expect("the options are right");
    let refused = call(&console, request("GET", "/metrics", None)).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "a program cannot follow to the login");
    let mut scrape = request("GET", "/metrics", None);
    scrape.headers_mut().insert(AUTHORIZATION, format!("Bearer {secret}").parse().expect("a value"));
    let page = call(&console, scrape).await.body;
    assert!(page.contains("job_name=\"report\"") && !page.contains("settle"), "{page}");
}

#[tokio::test]
async fn what_is_overdue_is_left_out_where_a_java_instance_takes_part() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let java = memory.connect();
    let mut transaction = Transaction::new();
    let data = "jobInstanceId: 10.0.0.9@-@1\nserverIp: 10.0.0.9\n";
    transaction.create("/settle/instances/10.0.0.9@-@1", data, CreateMode::Ephemeral);
    java.commit(transaction).await.expect("it joins");
    let answer = call(&console_of(&memory), near()).await;
    assert!(
        answer.body.contains("elasticjob_job_instances{job_name=\"settle\",registry=\"default\"} 2.0"),
        "{}",
        answer.body
    );
    assert!(!answer.body.contains("elasticjob_job_overdue_items{"), "{}", answer.body);
}
