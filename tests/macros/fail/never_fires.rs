use elasticjob::elastic_job;

#[elastic_job(cron = "0 0 0 30 2 ?")]
async fn on_the_30th_of_february() {}

#[elastic_job(cron = "0 0 0 31 4,6,9,11 ?")]
async fn on_the_31st_of_short_months() {}

#[elastic_job(cron = "0 0 0 29 2 ? 2025,2026,2027")]
async fn on_leap_days_of_other_years() {}

fn main() {}
