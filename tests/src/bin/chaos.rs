//! Real processes under faults: `chaos --minutes M [--instances N] [--java J] [--seed S] [--zookeeper HOST:PORT | --ensemble]
//! [--bug NAME]`. With `--java` so many of the instances are of the Java release, which needs Maven and a JDK.
//!
//! Starts itself as workers, and its own ZooKeeper unless one is given. The last line is JSON. Exit code 0, 1 when the
//! records show a violation (it is printed, and the records are kept) or nothing could be tried, 2 for wrong usage. With
//! `--bug` the workers do something wrong behind the engine's back, and that is the violation to be found.

use std::process::ExitCode;
use std::time::Duration;

use elasticjob_test_usage::arguments;
use elasticjob_tests::chaos::{Servers, Settings, play};
use elasticjob_tests::worker::{self, WorkerPlan};

const USAGE: &str =
    "usage: chaos --minutes M [--instances N] [--java J] [--seed S] [--zookeeper HOST:PORT | --ensemble] [--bug NAME]";

/// The first argument of a worker.
const WORKER: &str = "worker";

enum Arguments {
    Play(Box<Settings>),
    Work(Box<WorkerPlan>),
}

fn parse(arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = arguments.peekable();
    if arguments.next_if(|first| first == WORKER).is_some() {
        let plan = arguments.next().ok_or("the plan of the worker is missing")?;
        let plan = plan.parse().map_err(|error| format!("'{plan}' is no plan: {error}"))?;
        return Ok(Arguments::Work(Box::new(plan)));
    }
    let program =
        std::env::current_exe().map_err(|error| format!("this program does not know where it is: {error}"))?;
    let mut settings = Settings {
        worker: (program, &[WORKER]),
        time: Duration::ZERO,
        instances: 3,
        java: 0,
        seed: 0,
        servers: Servers::One,
        bug: None,
    };
    while let Some(name) = arguments.next() {
        if name == "--ensemble" {
            settings.servers = choose(&settings.servers, Servers::Ensemble)?;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--minutes" => {
                let minutes: f64 = value.parse().map_err(|error| format!("{name} {value}: {error}"))?;
                settings.time =
                    Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| format!("{name} {value}: {error}"))?;
            }
            "--instances" => settings.instances = number()? as usize,
            "--java" => settings.java = number()? as usize,
            "--seed" => settings.seed = number()?,
            "--zookeeper" => settings.servers = choose(&settings.servers, Servers::Given(value))?,
            "--bug" => settings.bug = Some(value.parse()?),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    match (settings.time, settings.instances) {
        (Duration::ZERO, _) => Err("--minutes is missing, or 0".to_owned()),
        (_, instances) if settings.java > instances => {
            Err(format!("--java {}: there are {instances} instances in all", settings.java))
        }
        (_, 2..=6) => Ok(Arguments::Play(Box::new(settings))),
        (_, instances) => {
            Err(format!("--instances {instances}: it must be from 2 to 6, so that most of them have items"))
        }
    }
}

fn choose(chosen: &Servers, servers: Servers) -> Result<Servers, String> {
    match chosen {
        Servers::One => Ok(servers),
        _ => Err("--zookeeper and --ensemble: give one of them, once".to_owned()),
    }
}

fn main() -> ExitCode {
    let settings = match arguments(parse, USAGE) {
        Ok(Arguments::Play(settings)) => *settings,
        Ok(Arguments::Work(plan)) => return worker::main(*plan),
        Err(code) => return code,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(1);
        }
    };
    match runtime.block_on(play(settings)) {
        Ok(report) => {
            report.details().iter().for_each(|line| println!("{line}"));
            println!("{}", report.line());
            if report.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}
