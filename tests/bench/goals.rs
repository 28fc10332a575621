//! Measures the figures that have a goal in one run, in turn: `goals [--seconds S] [--rounds R] [--only CASE] [--before FOLDER]
//! [--rivals PROGRAM]`. The programs `bench`, `registry_limit` and `trace_bench` have to be beside this one; `tests/bench/goals`
//! builds all.
//!
//! Prints a table; exit code 0, 1 when it failed, 2 for wrong usage.

use std::process::ExitCode;

use elasticjob_test_usage::{arguments, positive, run};
use elasticjob_tests::goals::{Plan, measure, table};

const USAGE: &str = "usage: goals [--seconds S] [--rounds R] [--only CASE] [--before FOLDER] [--rivals PROGRAM]";

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan { seconds: 8, rounds: 3, only: String::new(), before: None, rivals: None };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--seconds" => plan.seconds = positive(&name, &value)?,
            "--rounds" => plan.rounds = positive(&name, &value)?,
            "--only" => plan.only = value,
            "--before" => plan.before = Some(value.into()),
            "--rivals" => plan.rivals = Some(value.into()),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(plan)
}

fn main() -> ExitCode {
    let plan = match arguments(parse, USAGE) {
        Ok(plan) => plan,
        Err(code) => return code,
    };
    run(async { Ok(table(&measure(plan).await?)) })
}
