//! Jobs for invoices that are not paid.

use elasticjob_starter::prelude::*;

/// A function that blocks: it runs on the threads for blocking work. Nothing can drop it, so it checks by itself
/// whether it should end.
#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 1)]
fn print_reminders(context: ShardingContext) -> Result<(), String> {
    for page in 1..=3 {
        if context.is_stop_wanted() {
            return Err(format!("cut off before page {page}"));
        }
        println!("page {page} of the reminders is printed");
    }
    Ok(())
}
