use elasticjob::elastic_job;

#[elastic_job(crom = "0/5 * * * * ?")]
async fn misspelled() {}

#[elastic_job(shardingTotalCount = 3)]
async fn camel_case() {}

#[elastic_job(sharding-total-count = 3)]
async fn kebab_case() {}

#[elastic_job(error_handler = "LOG")]
async fn shortened() {}

#[elastic_job(retries = 3)]
async fn unknown() {}

#[elastic_job(disabled = true, overwrite = true, disabled = false)]
async fn repeated() {}

#[elastic_job(params = "0=a", sharding_item_parameters = "0=b")]
async fn short_and_long() {}

#[elastic_job("0/5 * * * * ?")]
async fn without_name() {}

#[elastic_job(failover)]
async fn without_value() {}

#[elastic_job(failover = true, , misfire = true)]
async fn nothing_between_commas() {}

fn main() {}
