use elasticjob::elastic_job;

#[elastic_job(sharding_total_count = 2, params = "0=Beijing,1=Shanghai,2=Guangzhou")]
async fn more_than_items() {}

#[elastic_job(params = "0=Beijing,Shanghai")]
async fn no_item() {}

#[elastic_job(params = "a=Beijing,-1=Shanghai")]
async fn no_numbers() {}

#[elastic_job(params = "0=Beijing,0=Shanghai")]
async fn twice() {}

#[elastic_job(params = "0=,1=a=b,,2=c")]
async fn blank_and_doubled() {}

fn main() {}
