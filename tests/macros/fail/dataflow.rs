use elasticjob::api::{Dataflow, Inject, ShardingContext};
use elasticjob::elastic_job;

struct Empty;

#[elastic_job]
impl Empty {}

struct OfTrait;

#[elastic_job]
impl Dataflow for OfTrait {
    type Item = u8;
}

struct Generic<T>(T);

#[elastic_job]
impl<T> Generic<T> {
    async fn fetch() -> Vec<T> {
        vec![]
    }

    async fn process(_data: Vec<T>) {}
}

struct Methods;

#[elastic_job(cron = "0 0 25 * * ?")]
impl Methods {
    fn fetch(&self, _context: &ShardingContext) {}

    #[cfg(unix)]
    async fn process() {}
}

struct Arguments;

#[elastic_job(elastic_job_type = "SIMPLE", props = { "streaming.process" = "yes" })]
impl Arguments {
    async fn fetch() -> Vec<u8> {
        vec![]
    }

    async fn process(_data: Vec<u8>, _count: Inject<u32>) {}
}

#[elastic_job(elastic_job_type = "DATAFLOW")]
async fn one_function() {}

#[elastic_job(elastic_job_type = "HTTP")]
async fn a_type_without_code() {}

fn main() {}
