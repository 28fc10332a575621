//! The benchmark of this implementation and its twin of the Java release, in turn on one server.

mod fires;
mod reshard;
mod stage;
mod table;
mod takeover;

use std::io;

use serde_json::{Value, json};

use self::stage::Stage;
use self::table::Table;
pub use self::table::tables;
use crate::java_peer::{JavaPeer, Kind, target_folder};
use crate::zookeeper::ZookeeperServer;

/// How to measure.
#[derive(Debug)]
pub struct Plan {
    /// How long fires are measured.
    pub seconds: u32,
    /// How often each takes its turn.
    pub rounds: u32,
    /// Only cases whose name contains this.
    pub only: String,
}

/// What was measured of a case, a line for each round.
#[derive(Debug)]
pub struct Measured {
    case: &'static str,
    table: Table,
    rust: Vec<Value>,
    java: Vec<Value>,
}

/// What is measured in one go.
#[derive(Debug, Clone, Copy)]
enum Experiment {
    /// One of [`fires::CASES`].
    Fires(&'static str, &'static str),
    Takeover,
    Reshard,
}

impl Experiment {
    fn all() -> impl Iterator<Item = Self> {
        let fires = fires::CASES.into_iter().map(|(case, options)| Self::Fires(case, options));
        fires.chain([Self::Takeover, Self::Reshard])
    }

    /// The cases that it measures, and where they are shown.
    fn cases(self) -> (Vec<&'static str>, Table) {
        match self {
            Self::Fires(case, _) => (vec![case], Table::Fires),
            Self::Takeover => (takeover::CASES.to_vec(), Table::Takeover),
            Self::Reshard => (reshard::CASES.to_vec(), Table::Reshard),
        }
    }

    /// A line for each of its cases.
    async fn measure(self, stage: &Stage, kind: Kind) -> io::Result<Vec<Value>> {
        match self {
            Self::Fires(_, options) => Ok(vec![fires::measure(stage, kind, options)?]),
            Self::Takeover => Ok(takeover::measure(stage, kind).await?.into()),
            Self::Reshard => Ok(reshard::measure(stage, kind).await?.into()),
        }
    }
}

/// Measures, and keeps all lines in the target folder of Cargo as `java_comparison.json`.
///
/// # Errors
/// When something is not installed, one of the programs fails, or what has to happen does not.
pub async fn measure(plan: &Plan) -> io::Result<Vec<Measured>> {
    let peer = JavaPeer::build()?.unbounded();
    let stage = Stage { server: ZookeeperServer::start()?, peer, seconds: plan.seconds };
    let mut all = Vec::new();
    for experiment in Experiment::all() {
        let (cases, table) = experiment.cases();
        if !cases.iter().any(|case| case.contains(&plan.only)) {
            continue;
        }
        let empty = |case| Measured { case, table, rust: vec![], java: vec![] };
        let mut measured: Vec<Measured> = cases.iter().copied().map(empty).collect();
        for round in 1..=plan.rounds {
            eprintln!("{}, round {round} of {}", cases.join(", "), plan.rounds);
            for kind in Kind::BOTH {
                for (case, line) in measured.iter_mut().zip(experiment.measure(&stage, kind).await?) {
                    case.lines(kind).push(line);
                }
            }
        }
        all.extend(measured.into_iter().filter(|measured| measured.case.contains(&plan.only)));
    }
    let lines: Vec<Value> =
        all.iter().map(|case| json!({ "case": case.case, "rust": case.rust, "java": case.java })).collect();
    std::fs::write(target_folder()?.join("java_comparison.json"), serde_json::to_string_pretty(&lines)?)?;
    Ok(all)
}

impl Measured {
    fn lines(&mut self, kind: Kind) -> &mut Vec<Value> {
        match kind {
            Kind::Rust => &mut self.rust,
            Kind::Java => &mut self.java,
        }
    }
}
