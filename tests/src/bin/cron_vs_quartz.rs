//! Compares our cron dialect with Quartz itself: `cron_vs_quartz --rows N [--seed S]`. Needs Maven and a JDK.
//!
//! The last line is one JSON object. Exit code 0, 1 when something differs that is not listed in `docs/cron.md`, 2 for
//! wrong usage.

use std::process::ExitCode;

use elasticjob_test_usage::arguments;
use elasticjob_tests::cron_vs_quartz::compare;
use elasticjob_tests::java_peer::JavaPeer;
use elasticjob_tests::records::now_us;
use serde_json::{Map, json};

const USAGE: &str = "usage: cron_vs_quartz --rows N [--seed S]";

struct Arguments {
    rows: usize,
    seed: u64,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments { rows: 0, seed: now_us().unsigned_abs() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let wrong = |error| format!("{name} {value}: {error}");
        match name.as_str() {
            "--rows" => parsed.rows = value.parse().map_err(wrong)?,
            "--seed" => parsed.seed = value.parse().map_err(wrong)?,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if parsed.rows == 0 { Err("--rows is missing, or 0".to_owned()) } else { Ok(parsed) }
}

fn main() -> ExitCode {
    let Arguments { rows, seed } = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let comparison = match JavaPeer::build().and_then(|peer| compare(&peer, seed, rows)) {
        Ok(comparison) => comparison,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(1);
        }
    };
    for difference in &comparison.different {
        println!("{difference}");
    }
    let known: Map<_, _> = comparison.known.iter().map(|(known, count)| (format!("{known:?}"), json!(count))).collect();
    let (alike, refused, different) = (comparison.alike, comparison.refused, comparison.different.len());
    println!(
        "{}",
        json!({ "rows": rows, "seed": seed, "alike": alike, "refused": refused, "known": known, "different": different })
    );
    ExitCode::from(u8::from(different > 0))
}
