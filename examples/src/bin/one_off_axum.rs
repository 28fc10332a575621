//! A one-off job that an HTTP request triggers: `curl -X POST localhost:3000/reindex`.
//!
//! The job is found by its bean name, here from a handler of axum and as an argument of another job.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use elasticjob_starter::prelude::*;
use tokio::net::TcpListener;
use tracing::info;

#[elastic_job(sharding_total_count = 2, params = "0=products,1=customers", job_bootstrap_bean_name = "reindexJobBean")]
async fn reindex(context: ShardingContext) {
    info!("the index of {} is built", context.sharding_parameter().unwrap_or("everything"));
}

/// Runs the one-off job every night too.
#[elastic_job(cron = "0 0 3 * * ?", sharding_total_count = 1)]
async fn nightly(#[bean("reindexJobBean")] reindex: OneOffJob) -> JobResult {
    reindex.execute().await?;
    Ok(())
}

async fn trigger(State(job): State<OneOffJob>) -> (StatusCode, String) {
    match job.execute().await {
        Ok(Triggered::Queued) => (StatusCode::ACCEPTED, "reindexing\n".to_owned()),
        Ok(Triggered::AlreadyPending) => (StatusCode::ACCEPTED, "reindexing was asked for already\n".to_owned()),
        Err(problem) => (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    init_logging()?;
    ElasticJobApp::builder().run_with(serve).await
}

/// Serves until the program is stopped, beside the jobs.
async fn serve(app: &ElasticJobApp) -> Result<(), Box<dyn std::error::Error>> {
    let router = Router::new().route("/reindex", post(trigger)).with_state(app.one_off_job("reindexJobBean")?);
    let address = std::env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&address).await?;
    info!("listening at {}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}
