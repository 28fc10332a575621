use elasticjob::api::{Inject, ShardingContext};
use elasticjob::elastic_job;

#[elastic_job]
async fn generic<T>(_value: Inject<T>) {}

#[elastic_job]
async fn generic_lifetime<'a>() {}

#[elastic_job]
async unsafe fn not_safe() {}

#[elastic_job]
async extern "C" fn foreign() {}

#[elastic_job]
async fn borrowed(_context: &ShardingContext) {}

#[elastic_job]
async fn any(_value: impl Send) {}

#[elastic_job]
async fn taken_apart((_a, _b): (ShardingContext, ShardingContext)) {}

#[elastic_job]
async fn conditional(#[cfg(unix)] _context: ShardingContext) {}

#[elastic_job]
async fn for_ever() -> ! {
    std::process::exit(0)
}

struct Service;

impl Service {
    #[elastic_job]
    async fn method(&self) {}
}

#[elastic_job]
struct NoFunction;

fn main() {}
