//! Measures `Schedule::next_after`: prints one JSON line with nanoseconds per call, for single schedules and for a mixed
//! list of thousands. Run it in release mode.

use std::hint::black_box;
use std::time::Instant;

use elasticjob::schedule::Schedule;
use serde_json::{Map, Value, json};

const FROM_MS: i64 = 1_709_208_000_000;
const CASES: [(&str, &str); 7] = [
    ("0/5 * * * * ?", "UTC"),
    ("0/5 * * * * ?", "America/New_York"),
    ("0 0/15 8-18 ? * MON-FRI", "GMT+8:00"),
    ("0 30 2 * * ?", "Europe/Berlin"),
    ("0 15 10 LW * ?", "UTC"),
    ("0 0 12 ? * 6#3", "Asia/Shanghai"),
    ("0 0 0 29 2 ?", "UTC"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ns_per_next = Map::new();
    let mut mixed = Vec::new();
    for (cron, zone) in CASES {
        let schedule = Schedule::parse(cron, Some(zone))?;
        ns_per_next.insert(format!("{cron} {zone}"), iterate(&schedule, 1_000_000));
        for offset in 0..700 {
            mixed.push((schedule.clone(), FROM_MS + offset * 60_000));
        }
    }
    let rounds = 100;
    let started = Instant::now();
    for _ in 0..rounds {
        for (schedule, at) in &mut mixed {
            *at = schedule.next_after(black_box(*at)).unwrap_or(FROM_MS);
        }
    }
    let mixed_ns = nanoseconds_each(started, rounds * mixed.len());
    println!("{}", json!({"ns_per_next": ns_per_next, "mixed_schedules": mixed.len(), "mixed_ns_per_next": mixed_ns}));
    Ok(())
}

fn iterate(schedule: &Schedule, count: usize) -> Value {
    let mut at = FROM_MS;
    let started = Instant::now();
    for _ in 0..count {
        at = schedule.next_after(black_box(at)).unwrap_or(FROM_MS);
    }
    nanoseconds_each(started, count)
}

fn nanoseconds_each(started: Instant, count: usize) -> Value {
    let nanoseconds = started.elapsed().as_nanos() as f64 / count as f64;
    json!((nanoseconds * 10.0).round() / 10.0)
}
