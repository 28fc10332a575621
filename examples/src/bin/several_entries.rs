//! Several jobs from one function: each entry of `elasticjob.jobs` in `several_entries.yaml` is a job with its own
//! schedule, items and parameter.

use std::path::Path;

use elasticjob_starter::prelude::*;
use tracing::info;

/// Without options of its own the function is only the code of the jobs that name it.
#[elastic_job]
async fn clean_up(context: ShardingContext) {
    let table = context.job_parameter();
    info!("{}: item {} of table {table} is cleaned up", context.job_name(), context.sharding_item());
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("several_entries.yaml");
    ElasticJobApp::builder().settings_from(settings).run().await
}
