//! Jobs without the starter and without the attribute: the program builds the configurations, and starts and shuts down
//! the bootstraps itself.

use std::error::Error;

use elasticjob::api::{ShardingContext, item_handler};
use elasticjob::config::JobConfiguration;
use elasticjob::runtime::{JobEnvironment, OneOffJobBootstrap, ScheduleJobBootstrap, ShutdownMode};

async fn settle(context: ShardingContext) {
    println!("settling {} of {}", context.sharding_parameter().unwrap_or("everything"), context.scheduled_at());
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let environment = JobEnvironment::builder().build()?;
    // For many processes: `environment.connect_zookeeper(ZookeeperConfiguration::new("localhost:2181", "shop")).await?`
    let registry = environment.embedded_registry();

    let settlement = JobConfiguration::builder("settlement", 2)
        .cron("0/5 * * * * ?")
        .sharding_item_parameters("0=cards,1=transfers")
        .build()?;
    let mut settlement = ScheduleJobBootstrap::new(&environment, registry.clone(), settlement, item_handler(settle))?;

    let report = JobConfiguration::builder("report", 1).build()?;
    let handler = item_handler(|context: ShardingContext| async move {
        println!("report written by {}", context.instance_id());
    });
    let mut report = OneOffJobBootstrap::new(&environment, registry.clone(), report, handler)?;

    // A job of a type needs no code.
    let backup =
        JobConfiguration::builder("backup", 1).cron("0/5 * * * * ?").prop("script.command.line", "echo backup of");
    let mut backup = ScheduleJobBootstrap::of_type(&environment, registry.clone(), "SCRIPT", backup.build()?)?;

    settlement.schedule().await?;
    backup.schedule().await?;
    report.start().await?;
    report.handle().execute().await?;

    tokio::signal::ctrl_c().await?;
    settlement.shutdown(ShutdownMode::Graceful).await;
    backup.shutdown(ShutdownMode::Graceful).await;
    report.shutdown(ShutdownMode::Graceful).await;
    registry.close().await;
    Ok(())
}
