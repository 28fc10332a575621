//! An own kind of jobs: a trait says what the author of a job writes, and one executor runs all jobs that implement it.
//! `own_kind.yaml` has the options of each job.
//!
//! ```text
//! cargo run --bin own_kind
//! ```

use std::path::Path;
use std::sync::Arc;

use elasticjob_starter::prelude::*;

/// The part of a report that its author writes.
trait Report: Send + Sync {
    fn title(&self) -> &str;
    fn lines(&self, region: &str) -> Vec<String>;
}

/// Runs reports: prints them, and fails where a report is empty.
struct Reports;

impl JobClass for Reports {
    type Job = dyn Report;

    async fn process(&self, report: &Self::Job, context: ShardingContext) -> JobResult {
        let region = context.sharding_parameter().unwrap_or("everywhere");
        let lines = report.lines(region);
        if lines.is_empty() {
            return Err(format!("{} of {region} is empty", report.title()).into());
        }
        println!("{} of {region}: {}", report.title(), lines.join(", "));
        Ok(())
    }
}

struct Orders;

impl Report for Orders {
    fn title(&self) -> &str {
        "orders"
    }

    fn lines(&self, region: &str) -> Vec<String> {
        vec![format!("3 open in {region}"), "7 settled".to_owned()]
    }
}

struct Complaints;

impl Report for Complaints {
    fn title(&self) -> &str {
        "complaints"
    }

    fn lines(&self, _: &str) -> Vec<String> {
        vec!["none".to_owned()]
    }
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let reports = Arc::new(Reports);
    ElasticJobApp::builder()
        .job("orders", classed_item_handler(reports.clone(), Arc::new(Orders)))
        .job("complaints", classed_item_handler(reports, Arc::new(Complaints)))
        .settings_from(Path::new(env!("CARGO_MANIFEST_DIR")).join("own_kind.yaml"))
        .run()
        .await
}
