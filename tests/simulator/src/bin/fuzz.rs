//! Plays seeds of the simulator: `fuzz --seeds N [--seed S] [--minutes M] [--bug NAME] [--threads T] [--all] [--planted] [--hash]
//! [--hours H]`.
//!
//! The last line is JSON. Exit code 0, 1 after a violation (its history is printed), 2 for wrong usage. With `--bug` a
//! bug is planted, and finding it is the violation. With `--all` it does not stop at a violation, and names each in a
//! line when it is found instead of printing its history. With `--minutes` it stops after that time, and says how many it
//! played. With `--planted` every bug that can be planted is, one after the other, and exit
//! code 1 says that one of them was not found: it would slip through. The seed that `planted.json` notes for a bug is played
//! first, and all seeds only where that does not find it. Exit code 1 also says that of 1,000 seeds or more 15 %
//! of the items of fires were not looked at: then the search says too little. `--hash` adds a hash of what happened in all
//! histories, without what the engines say of it: a change of the engine that changes nothing has the same. With `--hours`
//! each seed is played for so many hours of simulated time, once with and once without the faults that end processes, and exit
//! code 1 says that something grew with the time.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use elasticjob::testing::Bug;
use elasticjob::testing::invariants::Fates;
use elasticjob::testing::sim::{FaultCounts, Growth, Keep, Violation, endure, play};
use elasticjob_test_usage::arguments;

const USAGE: &str = "usage: fuzz --seeds N [--seed S] [--minutes M] [--bug NAME] [--threads T] [--all] [--planted] [--hash] [--hours H]";

/// The seed that found each planted bug: the first of all when it was noted.
const NOTED: &str = include_str!("../../planted.json");

/// From this number of seeds on, the share that is not looked at says something.
const MANY_SEEDS: u64 = 1_000;

/// At most so many percent of the items of fires may be not looked at: neither begun nor explained nor demanded.
const MOST_NOT_LOOKED_AT_PERCENT: f64 = 15.0;

struct Arguments {
    seeds: u64,
    first: u64,
    until: Option<Instant>,
    bug: Option<Bug>,
    threads: u64,
    all: bool,
    planted: bool,
    keep: Keep,
    hours: u64,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments {
        seeds: 0,
        first: 0,
        until: None,
        bug: None,
        threads: 2,
        all: false,
        planted: false,
        keep: Keep::Nothing,
        hours: 0,
    };
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--all" => parsed.all = true,
            "--planted" => parsed.planted = true,
            "--hash" => parsed.keep = Keep::Hash,
            _ => {
                let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
                parsed.set(&name, &value)?;
            }
        }
    }
    if parsed.seeds == 0 { Err("--seeds is missing, or 0".to_owned()) } else { Ok(parsed) }
}

impl Arguments {
    /// Whether a seed is one of those to play.
    fn plays(&self, seed: u64) -> bool {
        seed.wrapping_sub(self.first) < self.seeds
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name {
            "--seeds" => self.seeds = number()?,
            "--seed" => self.first = number()?,
            "--minutes" => self.until = Some(Instant::now() + Duration::from_secs(60 * number()?)),
            "--hours" => self.hours = number()?,
            "--threads" => self.threads = number()?.max(1),
            "--bug" => self.bug = Some(value.parse()?),
            _ => return Err(format!("unknown option {name}")),
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match () {
        () if arguments.planted => plant_all(arguments),
        () if arguments.hours > 0 => endure_all(&arguments),
        () => search(&arguments),
    }
}

/// Plays long histories, and looks for what grows in them.
fn endure_all(arguments: &Arguments) -> ExitCode {
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let work = || {
        let (mut long, mut bad) = (0, Vec::new());
        loop {
            // Two histories of each seed.
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (seed, ends) = (arguments.first.wrapping_add(index / 2), index % 2 == 1);
            if index / 2 >= arguments.seeds {
                return (long, bad);
            }
            let name = format!("seed {seed} {} ends of processes", if ends { "with" } else { "without" });
            match endure(seed, arguments.hours, ends) {
                Err(what) => bad.push(format!("violation in {name}: {what}")),
                Ok(parts) => {
                    long += parts.iter().filter(|part| part.is_long()).count();
                    let grown = parts.iter().filter(|part| part.has_grown());
                    bad.extend(grown.map(|Growth { what, sizes }| format!("{name}: {what} grew: {sizes:?}")));
                }
            }
        }
    };
    let results: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let bad: Vec<&String> = results.iter().flat_map(|(_, bad)| bad).collect();
    bad.iter().for_each(|bad| println!("{bad}"));
    let measured: usize = results.iter().map(|(long, _)| long).sum();
    let line = serde_json::json!({
        "seeds": arguments.seeds,
        "hours": arguments.hours,
        "measured": measured,
        "grown": bad.len(),
        "seconds": started.elapsed().as_secs_f64().round(),
    });
    println!("{line}");
    // What measured nothing says nothing.
    if bad.is_empty() && measured > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Plants each bug and looks for it.
fn plant_all(mut arguments: Arguments) -> ExitCode {
    arguments.all = false;
    let noted: BTreeMap<String, u64> = serde_json::from_str(NOTED).expect("planted.json maps names to seeds");
    let mut found = BTreeMap::new();
    for (name, bug) in Bug::ALL {
        arguments.bug = Some(bug);
        let known = noted.get(name).copied().filter(|seed| arguments.plays(*seed));
        let finds = |seed: &u64| play(*seed, Some(bug), Keep::Nothing).violation.is_some();
        let seed = known.filter(finds).or_else(|| play_all(&arguments).bad.first_key_value().map(|(seed, _)| *seed));
        if known != seed {
            println!("{name}: planted.json notes {}", known.map_or("none".to_owned(), |seed| seed.to_string()));
        }
        println!("{name}: {}", seed.map_or_else(|| "NOT FOUND".to_owned(), |seed| format!("found with seed {seed}")));
        found.insert(name, seed);
    }
    let missed = found.values().filter(|seed| seed.is_none()).count();
    println!("{}", serde_json::json!({ "planted": found, "not_found": missed }));
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Looks for a history that does not hold.
fn search(arguments: &Arguments) -> ExitCode {
    let started = Instant::now();
    let total = play_all(arguments);
    let failed = total.bad.first_key_value().map(|(seed, _)| *seed);
    if let Some(seed) = failed.filter(|_| !arguments.all) {
        report(seed, arguments.bug);
    }
    let seconds = started.elapsed().as_secs_f64();
    let line = serde_json::json!({
        "seeds": total.seeds,
        "seeds_per_s": (total.seeds as f64 / seconds).round(),
        "faults": total.faults.0,
        "item_fires": total.fates.item_fires,
        "begun": total.fates.begun,
        "explained": total.fates.explained,
        "not_looked_at": total.fates.not_looked_at,
        "excused_ends": total.fates.excused_ends,
        "not_looked_at_percent": total.fates.not_looked_at_percent(),
        "not_looked_at_percent_of_not_begun": total.fates.not_looked_at_percent_of_not_begun(),
        "violations": total.bad.len(),
        "seed": failed,
        "hash": (arguments.keep == Keep::Hash).then(|| format!("{:016x}", total.hash)),
    });
    println!("{line}");
    let is_blind = total.seeds >= MANY_SEEDS && total.fates.not_looked_at_percent() >= MOST_NOT_LOOKED_AT_PERCENT;
    if is_blind {
        eprintln!(
            "{MOST_NOT_LOOKED_AT_PERCENT} % of the items of fires or more were not looked at: the search says too little"
        );
    }
    if failed.is_some() || is_blind { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

/// Plays all seeds, until one is bad unless all are wanted.
fn play_all(arguments: &Arguments) -> Results {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let results: Vec<Results> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(|| work(arguments, &next, &stop))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let mut total = Results::default();
    for mut results in results {
        total.faults.add(&results.faults);
        total.seeds += results.seeds;
        total.fates.add(&results.fates);
        total.bad.append(&mut results.bad);
        total.hash = total.hash.wrapping_add(results.hash);
    }
    total
}

/// What a worker saw.
#[derive(Default)]
struct Results {
    seeds: u64,
    faults: FaultCounts,
    /// What became of the items of fires.
    fates: Fates,
    /// What is wrong with which seed.
    bad: BTreeMap<u64, String>,
    /// Of all histories, in whatever order they were played.
    hash: u64,
}

/// Plays seeds until there are none left, or one of them is bad.
fn work(arguments: &Arguments, next: &AtomicU64, stop: &AtomicBool) -> Results {
    let mut results = Results::default();
    while !stop.load(Ordering::Relaxed) {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= arguments.seeds || arguments.until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        let seed = arguments.first.wrapping_add(index);
        let played = play(seed, arguments.bug, arguments.keep);
        results.faults.add(&played.faults);
        results.seeds += 1;
        results.hash = results.hash.wrapping_add(played.hash.unwrap_or_default());
        results.fates.add(&played.fates);
        if let Some(Violation { what, .. }) = played.violation {
            if arguments.all {
                println!("violation in seed {seed}: {what}");
            }
            results.bad.insert(seed, what);
            stop.store(!arguments.all, Ordering::Relaxed);
        }
    }
    results
}

/// Plays a bad seed again with its history.
fn report(seed: u64, bug: Option<Bug>) {
    if let Some(Violation { what, history }) = play(seed, bug, Keep::Lines).violation {
        for line in history {
            println!("{line}");
        }
        println!("violation in seed {seed}: {what}");
        println!("play it again: cargo run --release -p elasticjob-simulator --bin fuzz -- --seeds 1 --seed {seed}");
    }
}
