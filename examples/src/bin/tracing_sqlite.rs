//! Tracing to SQLite: the file that `tracing_sqlite.yaml` names has the result of each item. By default it is
//! `elasticjob-trace.db` in the folder for temporary files.
//!
//! ```text
//! cargo run --bin tracing_sqlite --features tracing-sqlite
//! ```

use std::path::Path;

use elasticjob_starter::prelude::*;
use tracing::info;

/// The third region fails; its row has the cause.
#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 3, params = "0=Beijing,1=Shanghai,2=Guangzhou")]
async fn settle(context: ShardingContext) -> JobResult {
    match context.sharding_parameter() {
        Some("Guangzhou") => Err(JobError::message("the ledger of Guangzhou is closed")),
        region => {
            info!("{} is settled", region.unwrap_or("everything"));
            Ok(())
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("tracing_sqlite.yaml");
    let mut tracing = None;
    let jobs = ElasticJobApp::builder().settings_from(settings);
    jobs.run_with(async |app| -> Result<(), AppError> {
        tracing = app.tracing().cloned();
        std::future::pending().await
    })
    .await?;
    if let Some(tracing) = tracing {
        let counts = tracing.counts();
        info!("{} events were written, {} lost", counts.written, counts.lost);
    }
    Ok(())
}
