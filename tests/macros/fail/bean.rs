use elasticjob::api::Inject;
use elasticjob::elastic_job;

#[elastic_job]
async fn unnamed(#[bean] _value: Inject<u32>) {}

#[elastic_job]
async fn assigned(#[bean = "pool"] _value: Inject<u32>) {}

#[elastic_job]
async fn not_quoted(#[bean(pool)] _value: Inject<u32>) {}

#[elastic_job]
async fn blank(#[bean(" ")] _value: Inject<u32>) {}

#[elastic_job]
async fn twice(#[bean("a")] #[bean("b")] _value: Inject<u32>) {}

fn main() {}
