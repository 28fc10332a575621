//! Simulates large deployments: `scale [--quick] [--most JOBS] [--seed S] [--write FOLDER]`.
//!
//! The engines and the tree are the production ones, time is virtual, and the servers are queues with the rates that
//! `docs/scale.md` states. It prints tables, and JSON in the last line. With `--write docs` it draws the curves into
//! `docs/pictures/scale`. With `--quick` it plays a few small deployments, with `--most` none of
//! more jobs. The same seed gives the same figures.

mod chart;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use elasticjob::testing::scale::{Alignment, CostOfFire, Deployment, Rates, Report, cost_of_fire, play};
use elasticjob_test_usage::arguments;

use chart::{Chart, Line};

const USAGE: &str = "usage: scale [--quick] [--most JOBS] [--seed S] [--write FOLDER]";

/// Instances of one job.
const INSTANCES: [u32; 5] = [1, 3, 10, 30, 100];
/// Processes, jobs, instances of each job, and the slices of which one is played.
const DEPLOYMENTS: [(u32, u32, u32, u32); 6] = [
    (1_000, 1_000, 3, 20),
    (1_000, 3_000, 3, 50),
    (1_000, 10_000, 3, 100),
    (1_000, 30_000, 3, 100),
    (100, 1_000, 3, 10),
    (1_000, 100_000, 3, 100),
];
/// Those of `--quick`.
const QUICK: [(u32, u32, u32, u32); 2] = [(100, 1_000, 3, 10), (1_000, 10_000, 3, 100)];

#[derive(Default)]
struct Arguments {
    quick: bool,
    most: Option<u32>,
    seed: u64,
    write: Option<PathBuf>,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments::default();
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--quick" => parsed.quick = true,
            "--most" => parsed.most = Some(value()?.parse().map_err(|error| format!("--most: {error}"))?),
            "--seed" => parsed.seed = value()?.parse().map_err(|error| format!("--seed: {error}"))?,
            "--write" => parsed.write = Some(value()?.into()),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(parsed)
}

fn main() -> ExitCode {
    let arguments = match arguments(parse, USAGE) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let instances = if arguments.quick { &INSTANCES[..4] } else { &INSTANCES[..] };
    let deployments = if arguments.quick { &QUICK[..] } else { &DEPLOYMENTS[..] };
    let base = Deployment {
        processes: 1,
        jobs: 1,
        instances: 1,
        items: 8,
        alignment: Alignment::Aligned,
        rates: Rates::default(),
        slices: 1,
        seed: arguments.seed,
    };
    let of_one_job = |instances: u32, items| Deployment { processes: instances, instances, items, ..base };
    // With an item each, an instance watches the owners of all others: to play that takes long.
    let with_items = instances.iter().filter(|n| (8..=30).contains(*n)).map(|n| of_one_job(*n, *n));
    let one_job: Vec<Deployment> = instances.iter().map(|n| of_one_job(*n, 8)).chain(with_items).collect();
    let of_many = |(processes, jobs, instances, slices): &(u32, u32, u32, u32), alignment| {
        let (processes, jobs, instances, slices) = (*processes, *jobs, *instances, *slices);
        Deployment { processes, jobs, instances, items: instances, slices, alignment, ..base }
    };
    let many: Vec<Deployment> = deployments
        .iter()
        .filter(|of| arguments.most.is_none_or(|most| of.1 <= most))
        .flat_map(|of| [of_many(of, Alignment::Aligned), of_many(of, Alignment::Spread)])
        .collect();
    let costs = in_two_threads(&one_job, |deployment| {
        let cost = cost_of_fire(deployment);
        eprintln!("{}", row_of_cost(&cost));
        cost
    });
    costs.iter().for_each(|cost| println!("{}", row_of_cost(cost)));
    let reports = in_two_threads(&many, |deployment| {
        let report = play(deployment);
        eprintln!("{}", row_of(&report));
        report
    });
    println!("{HEADINGS}");
    reports.iter().for_each(|report| println!("{}", row_of(report)));
    if let Some(folder) = &arguments.write
        && let Err(error) = draw(&folder.join("pictures/scale"), &costs, &reports)
    {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::from(1);
    }
    println!("{}", serde_json::json!({ "seed": arguments.seed, "one_job": costs, "deployments": reports }));
    ExitCode::SUCCESS
}

/// Plays all, two at a time; the results have the same order.
fn in_two_threads<R: Send>(all: &[Deployment], play: impl Fn(&Deployment) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0..all.len());
    let take = || next.lock().ok().and_then(|mut next| next.next());
    let work = || {
        let mut done = Vec::new();
        while let Some(number) = take() {
            done.push((number, play(&all[number])));
        }
        done
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

fn row_of_cost(cost: &CostOfFire) -> String {
    let CostOfFire {
        instances,
        items,
        requests,
        operations,
        notifications,
        start_requests,
        start_notifications,
        kept,
        ..
    } = cost;
    format!(
        "| {instances} | {items} | {requests:.0} | {operations:.0} | {notifications:.0} | {start_requests:.0} | \
         {start_notifications:.0} | {} | {} |",
        kept.nodes, kept.watches
    )
}

const HEADINGS: &str = "| processes | jobs | instances | schedules | requests/s: writes, reads | transactions/s | operations/s | \
    notifications/s | worst second: writes, operations, notifications | leader, servers busy % | begun % quiet, night | \
    late ms quiet p50/p99/max | night p50/p99/max | start s | lost runs, taken over, last after s | loss s | back s | \
    rolling s | nodes | watches | MB |";

fn row_of(report: &Report) -> String {
    let seconds = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.1}"));
    let share =
        |lateness: &elasticjob::testing::scale::Lateness| 100.0 * lateness.begun as f64 / lateness.due.max(1) as f64;
    let (mean, worst, quiet, night, loss) = (&report.mean, &report.worst, &report.quiet, &report.night, &report.loss);
    format!(
        "| {} | {} | {} | {} | {}, {} | {} | {} | {} | {}, {}, {} | {:.1}, {:.1} | {:.1}, {:.1} | {:.1}/{:.1}/{:.1} | \
         {:.0}/{:.0}/{:.0} | {} | {}, {}, {:.2} | {} | {} | {} | {} | {} | {} |",
        report.processes,
        report.jobs,
        report.instances,
        report.alignment,
        mean.writes,
        mean.reads,
        mean.transactions,
        mean.operations,
        mean.notifications,
        worst.writes,
        worst.operations,
        worst.notifications,
        100.0 * report.leader_busy,
        100.0 * report.servers_busy,
        share(quiet),
        share(night),
        quiet.p50,
        quiet.p99,
        quiet.max,
        night.p50,
        night.p99,
        night.max,
        seconds(report.start_after),
        loss.lost_runs,
        loss.taken_over,
        loss.takeover_max,
        seconds(loss.settled_after),
        seconds(loss.back_after),
        seconds(report.rolling_after),
        report.kept.nodes,
        report.kept.watches,
        report.kept.memory() / 1_000_000,
    )
}

/// Draws the curves.
fn draw(folder: &Path, costs: &[CostOfFire], reports: &[Report]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let of_items = |value: fn(&CostOfFire) -> f64| {
        let shown = costs.iter().filter(|cost| cost.items == 8);
        shown.map(|cost| (f64::from(cost.instances), value(cost))).collect()
    };
    let line = |name: &str, points, is_dashed| Line { name: name.to_owned(), points, is_dashed };
    let chart = |title: &str, across: &str, up: &str, lines| Chart {
        title: title.to_owned(),
        across: across.to_owned(),
        up: up.to_owned(),
        lines,
    };
    let fire = chart(
        "One fire of one job with 8 items",
        "instances of the job",
        "per fire, or kept",
        vec![
            line("requests", of_items(|cost| cost.requests), false),
            line("notifications", of_items(|cost| cost.notifications), false),
            line("watches kept", of_items(|cost| cost.kept.watches as f64), true),
            line("nodes kept", of_items(|cost| cost.kept.nodes as f64), true),
        ],
    );
    let of_jobs = |alignment: &str, value: fn(&Report) -> f64| {
        let shown = reports.iter().filter(|of| of.processes == 1_000 && of.instances == 3 && of.alignment == alignment);
        shown.map(|report| (f64::from(report.jobs), value(report))).collect()
    };
    let load = chart(
        "1,000 processes, three instances of each job",
        "jobs",
        "per second",
        vec![
            line("operations, mean", of_jobs("spread", |of| of.mean.operations as f64), false),
            line("write requests, mean", of_jobs("spread", |of| of.mean.writes as f64), false),
            line("notifications, mean", of_jobs("spread", |of| of.mean.notifications as f64), false),
            line("operations, worst", of_jobs("aligned", |of| of.worst.operations as f64), true),
            line("write requests, worst", of_jobs("aligned", |of| of.worst.writes as f64), true),
            line("notifications, worst", of_jobs("aligned", |of| of.worst.notifications as f64), true),
        ],
    );
    let late = chart(
        "How late runs begin",
        "jobs",
        "milliseconds",
        vec![
            line("p50, spread", of_jobs("spread", |of| of.quiet.p50), false),
            line("p99, spread", of_jobs("spread", |of| of.quiet.p99), false),
            line("p50, aligned", of_jobs("aligned", |of| of.quiet.p50), true),
            line("p99, aligned", of_jobs("aligned", |of| of.quiet.p99), true),
            line("p99, aligned, 03:00", of_jobs("aligned", |of| of.night.p99), true),
        ],
    );
    let settle = chart(
        "Until all items have a live owner",
        "jobs",
        "seconds",
        vec![
            line("start of all", of_jobs("spread", |of| of.start_after.unwrap_or(0.0)), false),
            line("loss of a rack", of_jobs("spread", |of| of.loss.settled_after.unwrap_or(0.0)), false),
            line("last takeover", of_jobs("spread", |of| of.loss.takeover_max), false),
            line("rack is back", of_jobs("spread", |of| of.loss.back_after.unwrap_or(0.0)), false),
            line("rolling deployment", of_jobs("spread", |of| of.rolling_after.unwrap_or(0.0)), false),
        ],
    );
    for (name, chart) in [("fire", fire), ("load", load), ("late", late), ("settle", settle)] {
        std::fs::write(folder.join(name).with_extension("svg"), chart.svg())?;
    }
    Ok(())
}
