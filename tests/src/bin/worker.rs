//! A process of a group under test: `worker PLAN`, with the plan as JSON. See [`elasticjob_tests::worker`].
//!
//! Exit code 0, 1 when it failed, 2 for wrong usage.

use std::process::ExitCode;

use elasticjob_test_usage::arguments;
use elasticjob_tests::worker::{self, WorkerPlan};

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<WorkerPlan, String> {
    let plan = arguments.next().ok_or("the plan is missing")?;
    plan.parse().map_err(|error| format!("'{plan}' is no plan: {error}"))
}

fn main() -> ExitCode {
    match arguments(parse, "usage: worker PLAN") {
        Ok(plan) => worker::main(plan),
        Err(code) => code,
    }
}
