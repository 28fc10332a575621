use elasticjob::elastic_job;

#[elastic_job(cron = "0 0 25 * * ?")]
async fn hour_out_of_range() {}

#[elastic_job(cron = "0 0 * *")]
async fn too_few_fields() {}

#[elastic_job(cron = "0 0 0 * * *")]
async fn both_days_given() {}

#[elastic_job(cron = "0 0 0 ? * ?")]
async fn no_day_given() {}

#[elastic_job(cron = "0 0 0 ? * FRY")]
async fn no_weekday() {}

#[elastic_job(cron = "0 7/100 * * * ?")]
async fn step_too_large() {}

#[elastic_job(cron = "@daily")]
async fn macro_name() {}

fn main() {}
