//! Plays seeds of the simulator: `fuzz --seeds N [--seed S] [--bug NAME] [--threads T] [--all]`.
//!
//! The last line is JSON. Exit code 0, 1 after a violation (its history is printed), 2 for wrong usage. With `--bug` a
//! bug is planted, and finding it is the violation. With `--all` it does not stop at a violation, and names each in a
//! line instead of printing its history.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use elasticjob::engine::Bug;
use elasticjob::testing::sim::{FaultCounts, Violation, play};
use elasticjob_tests::usage::arguments;

const USAGE: &str = "usage: fuzz --seeds N [--seed S] [--bug NAME] [--threads T] [--all]";

struct Arguments {
    seeds: u64,
    first: u64,
    bug: Option<Bug>,
    threads: u64,
    all: bool,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments { seeds: 0, first: 0, bug: None, threads: 2, all: false };
    while let Some(name) = arguments.next() {
        if name == "--all" {
            parsed.all = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--seeds" => parsed.seeds = number()?,
            "--seed" => parsed.first = number()?,
            "--threads" => parsed.threads = number()?.max(1),
            "--bug" => parsed.bug = Some(value.parse()?),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    if parsed.seeds == 0 { Err("--seeds is missing, or 0".to_owned()) } else { Ok(parsed) }
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let started = Instant::now();
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let results: Vec<Results> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(|| work(&arguments, &next, &stop))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let mut total = Results::default();
    for mut results in results {
        total.faults.add(&results.faults);
        total.seeds += results.seeds;
        total.bad.append(&mut results.bad);
    }
    let failed = total.bad.first_key_value().map(|(seed, _)| *seed);
    if arguments.all {
        for (seed, what) in &total.bad {
            println!("violation in seed {seed}: {what}");
        }
    } else if let Some(seed) = failed {
        report(seed, arguments.bug);
    }
    let seconds = started.elapsed().as_secs_f64();
    let line = serde_json::json!({
        "seeds": total.seeds,
        "seeds_per_s": (total.seeds as f64 / seconds).round(),
        "faults": total.faults.0,
        "violations": total.bad.len(),
        "seed": failed,
    });
    println!("{line}");
    if failed.is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

/// What a worker saw.
#[derive(Default)]
struct Results {
    seeds: u64,
    faults: FaultCounts,
    /// What is wrong with which seed.
    bad: BTreeMap<u64, String>,
}

/// Plays seeds until there are none left, or one of them is bad.
fn work(arguments: &Arguments, next: &AtomicU64, stop: &AtomicBool) -> Results {
    let mut results = Results::default();
    while !stop.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= arguments.seeds {
            break;
        }
        let seed = arguments.first.wrapping_add(index);
        let played = play(seed, arguments.bug, false);
        results.faults.add(&played.faults);
        results.seeds += 1;
        if let Some(Violation { what, .. }) = played.violation {
            results.bad.insert(seed, what);
            stop.store(!arguments.all, Ordering::Relaxed);
        }
    }
    results
}

/// Plays a bad seed again with its history.
fn report(seed: u64, bug: Option<Bug>) {
    if let Some(Violation { what, history }) = play(seed, bug, true).violation {
        for line in history {
            println!("{line}");
        }
        println!("violation in seed {seed}: {what}");
        println!("play it again: cargo run --release -p elasticjob-tests --bin fuzz -- --seeds 1 --seed {seed}");
    }
}
