//! The figures that have a goal, measured in one run: before, now, of a peer, and the most that the machine gives.

mod case;
mod fires;
mod instances;
mod one_process;
mod table;
mod traces;

use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use self::case::{CASES, Case, Subject};
pub use self::table::table;
use crate::java_peer::{JavaPeer, target_folder};
use crate::measure::beside;
use crate::zookeeper::ZookeeperServer;

/// Memory of the server: it keeps its last 500 requests, which are long where thousands of jobs fire together.
const SERVER_MEBIBYTES: u32 = 1_024;

/// How to measure.
#[derive(Debug)]
pub struct Plan {
    /// How long fires are measured.
    pub seconds: u32,
    /// How often each party takes its turn.
    pub rounds: u32,
    /// Only cases whose name contains this.
    pub only: String,
    /// The folder of programs that were built before a change.
    pub before: Option<PathBuf>,
    /// The program that fires schedules with other schedulers of one process.
    pub rivals: Option<PathBuf>,
}

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Party {
    /// This implementation before a change.
    Before,
    /// This implementation.
    Now,
    /// Another one: the Java release, or a scheduler of one process.
    Peer,
    /// The same work without an implementation: what the server, the database or the runtime gives at most.
    Limit,
}

impl Party {
    const ALL: [Self; 4] = [Self::Before, Self::Now, Self::Peer, Self::Limit];
}

/// The server and the programs.
struct Stage {
    server: ZookeeperServer,
    java: Option<JavaPeer>,
    plan: Plan,
}

impl Stage {
    /// A program of this implementation, of that party; `None` where there is none from before.
    fn program(&self, party: Party, name: &str) -> io::Result<Option<Command>> {
        match party {
            Party::Before => Ok(self.plan.before.as_ref().map(|folder| Command::new(folder.join(name)))),
            _ => beside(name).map(Command::new).map(Some),
        }
    }
}

/// What was measured of a case: of each party a line for each round.
#[derive(Debug)]
pub struct Measured {
    case: &'static Case,
    lines: [Vec<Value>; 4],
}

impl Measured {
    fn of(&self, party: Party) -> &[Value] {
        &self.lines[party as usize]
    }
}

/// Measures, and keeps all lines in the target folder of Cargo as `goals.json`.
///
/// # Errors
/// When something is not installed, one of the programs fails, or what has to happen does not.
pub async fn measure(plan: Plan) -> io::Result<Vec<Measured>> {
    let cases: Vec<&'static Case> = CASES.iter().filter(|case| case.name.contains(&plan.only)).collect();
    let java = cases.iter().any(|case| matches!(case.subject, Subject::Fires { beside_java: true }));
    let java = java.then(|| JavaPeer::build().map(JavaPeer::unbounded)).transpose()?;
    let stage = Stage { server: ZookeeperServer::with_memory(SERVER_MEBIBYTES)?, java, plan };
    let mut all = Vec::new();
    for case in cases {
        let mut measured = Measured { case, lines: Default::default() };
        for round in 1..=stage.plan.rounds {
            eprintln!("{}, round {round} of {}", case.name, stage.plan.rounds);
            for party in Party::ALL {
                measured.lines[party as usize].extend(line(&stage, case, party).await?);
            }
        }
        all.push(measured);
    }
    let lines: Vec<Value> = all
        .iter()
        .map(|measured| {
            let [before, now, peer, limit] = &measured.lines;
            json!({ "case": measured.case.name, "before": before, "now": now, "peer": peer, "limit": limit })
        })
        .collect();
    std::fs::write(target_folder()?.join("goals.json"), serde_json::to_string_pretty(&lines)?)?;
    Ok(all)
}

/// One round of one party; `None` where it takes no part.
async fn line(stage: &Stage, case: &Case, party: Party) -> io::Result<Option<Value>> {
    match case.subject {
        Subject::Fires { beside_java } => fires::measure(stage, case, party, beside_java),
        Subject::Instances(count) => instances::measure(stage, case, party, count).await,
        Subject::OneProcess => one_process::measure(stage, case, party),
        Subject::Traces => traces::measure(stage, party),
    }
}
