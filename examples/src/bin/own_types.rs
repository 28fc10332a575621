//! An own type of jobs and an own error handler. `own_types.yaml` names both, and has the options of each job.
//!
//! ```text
//! cargo run --bin own_types
//! ```

use std::path::Path;

use elasticjob_starter::elasticjob::config::{Invalid, JobConfiguration};
use elasticjob_starter::prelude::*;

const TABLE: &str = "truncate.table";
const DUTY: &str = "pager.duty";

/// Empties tables.
struct Truncate;

impl JobType for Truncate {
    fn type_name(&self) -> &str {
        "TRUNCATE"
    }

    /// A job without a table is not started, and a change that removes the table is refused.
    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        let missing = || Invalid::prop(TABLE, "is missing: give the name of the table");
        configuration.prop(TABLE).is_none().then(missing).into_iter().collect()
    }

    async fn process(&self, context: ShardingContext) -> JobResult {
        let table = context.prop(TABLE).ok_or("no table")?;
        if table == "ledger" {
            return Err("nobody empties the ledger".into());
        }
        println!("part {} of table {table} is empty", context.sharding_item());
        Ok(())
    }
}

/// Calls the person on duty.
struct Pager;

impl JobErrorHandler for Pager {
    fn type_name(&self) -> &str {
        "PAGER"
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        println!("{}: {} of {} failed", failure.prop(DUTY).unwrap_or("everybody"), failure.what, failure.job_name());
        Ok(())
    }
}

// The library finds them by their type names as soon as they are linked.
register_job_type!(Truncate);
register_error_handler!(Pager);

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("own_types.yaml");
    ElasticJobApp::builder().settings_from(settings).run().await
}
