use elasticjob::elastic_job;

#[elastic_job(time_zone = "Asia/Shangai")]
async fn misspelled() {}

#[elastic_job(time_zone = "CST")]
async fn abbreviated() {}

#[elastic_job(time_zone = "GMT+25:00")]
async fn too_far() {}

fn main() {}
