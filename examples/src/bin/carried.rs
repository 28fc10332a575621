//! One program for ElasticJob-Lite and for both kinds of jobs of ElasticJob-Cloud: nothing in its code says which it is.
//!
//! ```text
//! cargo run --bin carried
//! ```
//!
//! Started by hand it is Lite: it schedules by itself, and shares its items with other processes of it, if there is a ZooKeeper.
//! Registered at a scheduler (`cargo run -p elasticjob-cli -- cloud --carrier process --no-authentication`) it is carried, and what
//! is registered wins over the schedule and the parameters below. As a `TRANSIENT` job each item of a fire is a process, which runs that
//! item and ends:
//!
//! ```text
//! curl -d '{"appName":"settle","appURL":"file://'"$PWD"'/target/debug/carried","bootstrapScript":"./carried","cpuCount":0}' \
//!     localhost:8899/api/app --next -d '{"jobName":"settle","appName":"settle","jobExecutionType":"TRANSIENT",
//!     "cron":"0/10 * * * * ?","shardingTotalCount":2,"shardingItemParameters":"0=north,1=south","cpuCount":0.1,"memoryMB":64}' \
//!     localhost:8899/api/job/register
//! curl 'localhost:8899/api/job/settle/log?item=1'
//! ```
//!
//! As a `DAEMON` job it is a process that stays and schedules by itself, `instances` of them where the scheduler has a ZooKeeper.
//! Without one, one process runs all items:
//!
//! ```text
//! curl -X DELETE localhost:8899/api/job/settle/deregister
//! curl -d '{"jobName":"settle","appName":"settle","jobExecutionType":"DAEMON","cron":"0/10 * * * * ?","shardingTotalCount":2,
//!     "shardingItemParameters":"0=north,1=south","cpuCount":0.1,"memoryMB":64,"instances":1}' localhost:8899/api/job/register
//! curl 'localhost:8899/api/job/settle/log?process=0'
//! ```

use elasticjob_starter::prelude::*;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 3, params = "0=Beijing,1=Shanghai,2=Guangzhou")]
async fn settle(context: ShardingContext) {
    let (item, total) = (context.sharding_item(), context.sharding_total_count());
    let (region, fire) = (context.sharding_parameter().unwrap_or("everywhere"), context.scheduled_at().to_rfc3339());
    println!("settle fire={fire} item={item} of={total} region={region} process={}", std::process::id());
}

#[tokio::main]
async fn main() -> Result<(), AppError> {
    init_logging()?;
    ElasticJobApp::builder().run().await
}
