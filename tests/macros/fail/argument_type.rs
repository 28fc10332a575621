use elasticjob::api::{Inject, ShardingContext};
use elasticjob::elastic_job;

#[elastic_job]
async fn wrong_argument(_context: ShardingContext, _count: u32) {}

#[elastic_job]
async fn argument_of_one_thread(_shared: Inject<std::rc::Rc<u32>>) {}

fn main() {}
