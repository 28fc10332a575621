//! Histories of schedulers over a modelled carrier: answers get lost, the engine is away, events are missed, places are lost,
//! schedulers are killed and cut off. One seed gives the whole history, on a clock that only the histories move.
//!
//! The code under test is what waits for items: `Launches`, `Hub` and `Marks`. Which scheduler has an item, and that no other one
//! has it at the same time, is the engine's: it is searched by the simulator of the library.

mod carrier;
mod checks;
mod engine;
mod history;

use checks::Counts;
use history::{Bug, History};

/// Names the number of histories to play, as for the simulator of the library. `tests/run` sets it.
const VARIABLE: &str = "ELASTICJOB_FUZZ_SEEDS";

/// The histories that are played where nothing else is asked for, so that `cargo test` is short.
const SEEDS: u64 = 300;

/// The number of histories that is enough to find each bug.
const SEEDS_OF_BUG: u64 = 3_000;

/// The most histories that are played.
const MOST_SEEDS: u64 = SEEDS_OF_BUG;

/// The most items in a thousand that may count as lost although nothing of theirs arrived: about 16 do. As many may run
/// beside the next fire, as their launch arrived after their stop: fewer than one does.
const NEVER_ARRIVED: u32 = 25;

/// One history with two schedulers at a time for so many of others: it takes longer.
const OTHERS_FOR_A_SPLIT: u64 = 6;

/// At least as many as the counts of all histories need to mean something, and not more than a build without optimization plays
/// within minutes.
fn seeds() -> u64 {
    let Ok(asked) = std::env::var(VARIABLE) else { return SEEDS };
    let asked: u64 = asked.parse().unwrap_or_else(|_| panic!("{VARIABLE} is {asked:?}: give a number"));
    asked.clamp(SEEDS, MOST_SEEDS)
}

/// Plays a history of schedulers one after the other.
fn play(seed: u64, bug: Option<Bug>) -> Result<Counts, String> {
    on_a_clock_of_its_own(seed, async { History::new(seed, bug).play().await })
}

/// Plays a history of two schedulers at a time.
fn play_split(seed: u64, bug: Option<Bug>) -> Result<Counts, String> {
    on_a_clock_of_its_own(seed, async { History::new(seed, bug).play_split().await })
}

fn on_a_clock_of_its_own(seed: u64, history: impl Future<Output = Result<Counts, String>>) -> Result<Counts, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let played = runtime.block_on(history);
    played.map_err(|violation| format!("seed {seed}: {violation}"))
}

#[test]
fn items_run_once_and_every_end_is_told_whatever_fails() {
    let seeds = seeds();
    let played: Vec<Result<Counts, String>> = (0..seeds).map(|seed| play(seed, None)).collect();
    let found: Vec<&str> = played.iter().filter_map(|played| played.as_ref().err().map(String::as_str)).collect();
    assert!(found.is_empty(), "{} of {seeds} histories:\n{}", found.len(), found.join("\n"));
    let sum = |of: fn(&Counts) -> u32| played.iter().flatten().map(of).sum::<u32>();
    let (items, lost) = (sum(|counts| counts.items), sum(|counts| counts.never_arrived));
    let cancelled = sum(|counts| counts.cancelled);
    println!("{items} items of fires, {lost} of them lost before they arrived, {cancelled} cancelled");
    assert!(cancelled * 20 > items, "{cancelled} of {items}");
    let late = sum(|counts| counts.arrived_late);
    assert!(late * 1_000 <= items * NEVER_ARRIVED, "{late} of {items}");
    assert!(sum(|counts| counts.refused) > 0, "launches are refused");
    assert!(lost > 0 && lost * 1_000 <= items * NEVER_ARRIVED, "{lost} of {items}");
}

#[test]
fn what_another_scheduler_runs_is_not_forgotten() {
    let seeds = seeds().div_ceil(OTHERS_FOR_A_SPLIT);
    let played: Vec<Result<Counts, String>> = (0..seeds).map(|seed| play_split(seed, None)).collect();
    let found: Vec<&str> = played.iter().filter_map(|played| played.as_ref().err().map(String::as_str)).collect();
    assert!(found.is_empty(), "{} of {seeds} histories:\n{}", found.len(), found.join("\n"));
    let forgetful = played.iter().flatten().filter(|counts| counts.forgotten > 0).count() as u64;
    assert!(forgetful * 10 > seeds * 9, "what has ended is forgotten, in {forgetful} of {seeds}");
}

#[test]
fn each_planted_bug_is_found() {
    for bug in Bug::ALL {
        let play = if *bug == Bug::ForgetsWhatOthersRun { play_split } else { play };
        let found = (0..SEEDS_OF_BUG).find(|seed| play(*seed, Some(*bug)).is_err());
        assert!(found.is_some(), "{bug:?} was not found in {SEEDS_OF_BUG} histories");
    }
}

#[test]
fn a_seed_gives_the_same_history_again() {
    for seed in 0..20 {
        let play = || play(seed, Some(Bug::TakesAnErrorForALoss));
        assert_eq!(play(), play(), "seed {seed}");
    }
}
