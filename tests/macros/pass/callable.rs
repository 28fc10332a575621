//! A job function stays a function.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use elasticjob::api::Inject;
use elasticjob::elastic_job;

#[elastic_job(cron = "0 0 3 * * ?")]
async fn sum(#[bean("left")] left: Inject<u32>, right: Inject<u32>) -> Result<(), String> {
    if *left + *right == 5 { Ok(()) } else { Err("no".to_owned()) }
}

#[test]
fn a_job_function_stays_a_function() {
    let future = pin!(sum(Inject::new(2), Inject::new(3)));
    let result = future.poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(result, Poll::Ready(Ok(())));
}
