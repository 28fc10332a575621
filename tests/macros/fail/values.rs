use elasticjob::elastic_job;

const SCHEDULE: &str = "0/5 * * * * ?";

#[elastic_job(cron = SCHEDULE)]
async fn constant() {}

#[elastic_job(cron = 5, name = true)]
async fn no_text() {}

#[elastic_job(sharding_total_count = "3")]
async fn quoted_number() {}

#[elastic_job(sharding_total_count = 0)]
async fn no_items() {}

#[elastic_job(sharding_total_count = -1)]
async fn fewer_than_no_items() {}

#[elastic_job(sharding_total_count = 4294967296)]
async fn too_many_items() {}

#[elastic_job(misfire = "true")]
async fn quoted_flag() {}

#[elastic_job(max_time_diff_seconds = 1.5)]
async fn no_whole_number() {}

#[elastic_job(job_listener_types = "A")]
async fn no_list() {}

#[elastic_job(job_listener_types = ["A", 7, "A", ""])]
async fn wrong_names() {}

#[elastic_job(props = ["a"])]
async fn no_properties() {}

#[elastic_job(props = { "a" = 1, "b" = "x", "b" = "y", " " = "z" })]
async fn wrong_properties() {}

#[elastic_job(cron = "", time_zone = " ", job_error_handler_type = "")]
async fn blank() {}

#[elastic_job(crate = "elasticjob")]
async fn no_path() {}

fn main() {}
