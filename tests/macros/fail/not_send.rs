use std::rc::Rc;

use elasticjob::api::ShardingContext;
use elasticjob::elastic_job;

#[elastic_job]
async fn holds_an_rc(context: ShardingContext) {
    let count = Rc::new(1);
    context.cancelled().await;
    drop(count);
}

fn main() {}
