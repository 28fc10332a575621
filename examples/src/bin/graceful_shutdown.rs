//! The effect of a shutdown on items that run: `kill -TERM` this program, or press Ctrl-C, while both items run.
//!
//! ```text
//! cargo run --bin graceful_shutdown
//! ELASTICJOB_REG_CENTER_SERVER_LISTS=localhost:2181 cargo run --bin graceful_shutdown      # in two terminals
//! ```
//!
//! `short` ends within the grace time of the shutdown (`elasticjob.shutdown.grace` in `graceful_shutdown.yaml`, 3
//! seconds) and is finished. `long` does not: it is cut off and, as failover is on, handed over. Another process on the
//! same ZooKeeper begins it again at once, with the source `FAILOVER`. A second signal cuts off both at once.

use std::path::Path;
use std::time::Duration;

use elasticjob_starter::prelude::*;

#[elastic_job(cron = "0/10 * * * * ?", sharding_total_count = 2, params = "0=short,1=long", failover = true)]
async fn export(context: ShardingContext) -> JobResult {
    let name = context.sharding_parameter().ok_or("the item has no parameter")?;
    let steps = if name == "short" { 4 } else { 240 };
    println!("{name} begins, scheduled at {}, source {}", context.scheduled_at().to_rfc3339(), context.source());
    for step in 1..=steps {
        // The future is dropped here when it is cut off. The job has to find out by itself how far it has come: a real
        // job would store the step here.
        tokio::time::sleep(Duration::from_millis(500)).await;
        println!("{name} has done step {step} of {steps}");
    }
    println!("{name} is done");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("graceful_shutdown.yaml");
    ElasticJobApp::builder().settings_from(settings).run().await?;
    println!("the program has left");
    Ok(())
}
