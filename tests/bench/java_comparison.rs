//! Measures jobs of this implementation and of the Java release in turn on one ZooKeeper: `java_comparison [--seconds S]
//! [--rounds R] [--only CASE]`. The programs `bench` and `worker` have to be beside this one.
//!
//! Prints tables; exit code 0, 1 when it failed, 2 for wrong usage.

use std::process::ExitCode;

use elasticjob_test_usage::{arguments, positive, run};
use elasticjob_tests::java_comparison::{Plan, measure, tables};

const USAGE: &str = "usage: java_comparison [--seconds S] [--rounds R] [--only CASE]";

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Plan, String> {
    let mut plan = Plan { seconds: 10, rounds: 3, only: String::new() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--seconds" => plan.seconds = positive(&name, &value)?,
            "--rounds" => plan.rounds = positive(&name, &value)?,
            "--only" => plan.only = value,
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
    run(async { Ok(tables(&measure(&plan).await?)) })
}
