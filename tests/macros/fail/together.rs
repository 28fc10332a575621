use elasticjob::elastic_job;

#[elastic_job(failover = true, monitor_execution = false)]
async fn unmonitored_failover() {}

#[elastic_job(elastic_job_class = "org.acme.Sync", elastic_job_type = "SCRIPT")]
async fn class_and_type() {}

fn main() {}
