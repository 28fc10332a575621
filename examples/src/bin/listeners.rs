//! Listeners: code that runs before and after the items of a fire, on every host or once for all hosts.
//!
//! ```text
//! cargo run --bin listeners
//! ELASTICJOB_REG_CENTER_SERVER_LISTS=localhost:2181 cargo run --bin listeners      # in several terminals
//! ```
//!
//! `workspace` belongs to the host: every process that has items of a fire creates a folder for them before they start,
//! and removes it after they have ended. `statement` belongs to the fire: one process of the group opens it before any
//! item starts, and closes it when the last item has ended, wherever that item runs.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use elasticjob_starter::prelude::*;

#[elastic_job(
    cron = "0/5 * * * * ?",
    sharding_total_count = 3,
    params = "0=Beijing,1=Shanghai,2=Guangzhou",
    listeners = ["workspace", "statement"],
)]
async fn settlement(context: ShardingContext) -> JobResult {
    let region = context.sharding_parameter().ok_or("the item has no parameter")?;
    fs::write(workspace(context.job_name().as_str()).join(region), "settled")?;
    println!("{} {region} is settled", context.scheduled_at().to_rfc3339());
    Ok(())
}

fn workspace(job: &str) -> PathBuf {
    std::env::temp_dir().join(format!("elasticjob-{job}-{}", std::process::id()))
}

struct Workspace;

impl JobListener for Workspace {
    fn type_name(&self) -> &str {
        "workspace"
    }

    /// It is called before the other listener: a smaller number comes first.
    fn order(&self) -> i32 {
        1
    }

    async fn before_job_executed(&self, context: &ListenerContext) -> JobResult {
        fs::create_dir_all(workspace(context.job_name().as_str()))?;
        Ok(())
    }

    async fn after_job_executed(&self, context: &ListenerContext) -> JobResult {
        fs::remove_dir_all(workspace(context.job_name().as_str()))?;
        println!("{} the workspace of {} is removed", context.scheduled_at().to_rfc3339(), context.instance_id());
        Ok(())
    }
}

// It needs nothing of the application. The library finds it by its type name as soon as it is linked.
register_listener!(Workspace);

/// It needs to know where statements go, so the application adds it.
struct Statement {
    title: String,
}

impl OnceJobListener for Statement {
    fn type_name(&self) -> &str {
        "statement"
    }

    fn order(&self) -> i32 {
        2
    }

    /// When a process hangs, the others go on without an opened statement after this time.
    fn started_timeout(&self) -> Duration {
        Duration::from_secs(30)
    }

    /// When an item hangs, the processes that are done stop waiting after this time, and are ready for the next fire.
    fn completed_timeout(&self) -> Duration {
        Duration::from_secs(300)
    }

    async fn at_last_started(&self, context: &ListenerContext) -> JobResult {
        println!("{} {} is opened", context.scheduled_at().to_rfc3339(), self.title);
        Ok(())
    }

    async fn at_last_completed(&self, context: &ListenerContext) -> JobResult {
        println!("{} {} is closed", context.scheduled_at().to_rfc3339(), self.title);
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    let statement = Statement { title: "the statement".to_owned() };
    ElasticJobApp::builder().once_listener(statement).run().await
}
