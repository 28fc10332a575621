use elasticjob::elastic_job;

#[elastic_job(name = " ")]
async fn blank() {}

#[elastic_job(name = "orders/sync")]
async fn with_slash() {}

#[elastic_job(name = "orders@-@sync")]
async fn with_delimiter() {}

#[elastic_job(name = "..")]
async fn dots() {}

fn main() {}
