//! Jobs for invoices.

use std::sync::Mutex;

use elasticjob_starter::prelude::*;

/// The ledger of invoices. The program provides it.
#[derive(Debug, Default)]
pub struct Ledger {
    booked: Mutex<Vec<String>>,
}

impl Ledger {
    fn book(&self, invoice: String) -> Result<usize, &'static str> {
        let mut booked = self.booked.lock().map_err(|_| "the ledger is closed")?;
        booked.push(invoice);
        Ok(booked.len())
    }
}

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 2, params = "0=Beijing,1=Shanghai")]
async fn write_invoices(context: ShardingContext, ledger: Inject<Ledger>) -> JobResult {
    let region = context.sharding_parameter().ok_or("the item has no parameter")?;
    let booked = ledger.book(format!("{region} {}", context.scheduled_at()))?;
    println!("invoices of {region} are written, {booked} booked so far");
    Ok(())
}
