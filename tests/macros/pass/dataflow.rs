//! Dataflow jobs in the forms there are, without a warning under lints that forbid much.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused, clippy::all, clippy::pedantic, rust_2018_idioms, unreachable_pub)]
#![allow(clippy::unused_async, reason = "the functions of these jobs wait for nothing")]
#![no_implicit_prelude]

use ::elasticjob::api::{Inject, JobResult, ShardingContext};
use ::elasticjob::elastic_job;
use ::std::result::Result;
use ::std::string::String;
use ::std::vec::Vec;

/// An order.
#[derive(Debug)]
pub struct Order;

/// Names that the generated code uses itself, a type that is its own bean, and an alias.
#[derive(Debug)]
pub struct Orders;

type Batch = Vec<Order>;

#[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 1, elastic_job_type = "DATAFLOW")]
impl Orders {
    /// What there is to do.
    ///
    /// # Errors
    /// Never.
    pub async fn fetch(beans: ShardingContext, data: Inject<Self>) -> Result<Vec<Order>, String> {
        let (_, _) = (beans, data);
        Result::Ok(Self::nothing())
    }

    fn nothing() -> Vec<Order> {
        Vec::new()
    }

    #[deprecated]
    async fn process(arg0: ShardingContext, #[bean("mine")] missing: Inject<Self>, data: Batch) -> JobResult {
        let (_, _, _) = (arg0, missing, data);
        Result::Ok(())
    }
}

mod inner {
    /// Without arguments.
    #[derive(Debug)]
    pub(super) struct Plain;
}

#[elastic_job(name = "plain")]
impl inner::Plain {
    async fn fetch() -> Vec<Vec<u8>> {
        Vec::new()
    }

    async fn process(_: Vec<Vec<u8>>) {}
}

#[::core::prelude::v1::test]
fn both_jobs_are_known() {
    let names: ::std::collections::BTreeSet<&str> =
        ::std::iter::Iterator::collect(::std::iter::Iterator::map(::elasticjob::spi::JOBS.iter(), |job| job.name));
    ::std::assert!(::std::iter::Iterator::eq(names.iter(), &["Orders", "plain"]));
}
