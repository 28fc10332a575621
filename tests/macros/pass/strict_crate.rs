//! Generated code gives no warning under strict lints, and hides no name of the user's.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused, clippy::all, clippy::pedantic, rust_2018_idioms, unreachable_pub)]
#![allow(clippy::unused_async, reason = "the functions of these jobs wait for nothing")]
#![no_implicit_prelude]

use ::elasticjob::api::{Inject, JobResult, ShardingContext};
use ::elasticjob::elastic_job;

/// Names that the generated code uses itself.
///
/// # Errors
/// Never.
#[elastic_job]
pub async fn bind(beans: ShardingContext, arg0: Inject<u32>, missing: Inject<u64>) -> JobResult {
    let (_, _, _) = (beans, arg0, missing);
    ::std::result::Result::Ok(())
}

#[elastic_job(cron = "0 0 3 * * ?")]
async fn settings() {}

#[elastic_job]
async fn context(context: ShardingContext) {
    ::std::mem::drop(context);
}

#[elastic_job]
async fn arg0(_: ShardingContext, mut _count: Inject<u32>) {}

#[deprecated]
#[elastic_job]
async fn old() {}

#[elastic_job]
async fn r#match() -> ::std::result::Result<(), impl ::std::fmt::Display> {
    ::std::result::Result::<(), &str>::Ok(())
}

macro_rules! job {
    ($name:ident, $cron:literal, $count:expr, $parameter:ty) => {
        #[elastic_job(cron = $cron, sharding_total_count = $count)]
        async fn $name(_: $parameter) {}
    };
}
job!(generated, "0/5 * * * * ?", 2, ShardingContext);

/// All to the first.
#[derive(Debug)]
pub struct First;

impl ::elasticjob::api::ShardingStrategy for First {
    fn type_name(&self) -> &'static str {
        "FIRST"
    }

    fn assign(
        &self,
        _: &::elasticjob::ident::JobName,
        instances: &[::elasticjob::ident::InstanceId],
        total: u32,
    ) -> ::elasticjob::api::Assignment {
        let first = ::std::clone::Clone::clone(&instances[0]);
        ::std::convert::From::from([(first, ::std::iter::Iterator::collect(0..total))])
    }
}

::elasticjob::register_sharding_strategy!(First);

#[::core::prelude::v1::test]
fn all_are_known_by_their_names() {
    let names: ::std::collections::BTreeSet<&str> =
        ::std::iter::Iterator::collect(::std::iter::Iterator::map(::elasticjob::spi::JOBS.iter(), |job| job.name));
    let expected = ["arg0", "bind", "context", "generated", "match", "old", "settings"];
    ::std::assert!(::std::iter::Iterator::eq(names.iter(), &expected));
    ::std::assert_eq!(::elasticjob::spi::SHARDING_STRATEGIES.len(), 1);
}
