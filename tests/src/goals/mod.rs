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
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::case::{CASES, Case, Subject};
pub use self::table::table;
use crate::java_peer::{JavaPeer, target_folder};
use crate::measure::{beside, last_line_within};
use crate::zookeeper::ZookeeperServer;

/// Memory of the server: it keeps its last 500 requests, which are long where thousands of jobs fire together.
const SERVER_MEBIBYTES: u32 = 1_024;

/// Who takes longer has no other turn. The Java release takes 50 ms to start each job, and longer to end it.
const ONE_TURN: Duration = Duration::from_secs(100);

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

    /// How long its turn may take: who cannot keep up may never end.
    const fn patience(self) -> Duration {
        match self {
            Self::Peer => Duration::from_secs(600),
            Self::Before | Self::Now | Self::Limit => Duration::from_secs(180),
        }
    }

    /// Runs a program of this party, and reads its last line. One that takes too long is ended, and its line says so, as that of a
    /// program from before which cannot do what is measured.
    fn last_line(self, command: &mut Command) -> io::Result<Value> {
        match last_line_within(command, self.patience()) {
            Ok(line) => Ok(line.unwrap_or_else(|| json!({ NOT_WITHIN: self.patience().as_secs() }))),
            Err(error) if self == Self::Before => {
                eprintln!("before: {error}");
                Ok(json!({ FAILS: error.to_string() }))
            }
            Err(error) => Err(error),
        }
    }
}

/// Where a line says within how many seconds its program had not ended.
const NOT_WITHIN: &str = "not_within_s";

/// Where a line says why its program failed.
const FAILS: &str = "fails";

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
        let mut parties = Party::ALL.to_vec();
        for round in 1..=stage.plan.rounds {
            eprintln!("{}, round {round} of {}", case.name, stage.plan.rounds);
            let mut again = Vec::new();
            for party in parties {
                let begun = Instant::now();
                take_turn(&stage, &mut measured, party).await?;
                if begun.elapsed() < ONE_TURN {
                    again.push(party);
                }
            }
            parties = again;
        }
        all.push(measured);
        // After each case: a later one may fail.
        keep(&all)?;
    }
    Ok(all)
}

fn keep(all: &[Measured]) -> io::Result<()> {
    let line = |measured: &Measured| {
        let [before, now, peer, limit] = &measured.lines;
        json!({ "case": measured.case.name, "before": before, "now": now, "peer": peer, "limit": limit })
    };
    let lines: Vec<Value> = all.iter().map(line).collect();
    std::fs::write(target_folder()?.join("goals.json"), serde_json::to_string_pretty(&lines)?)
}

fn of(party: Party, line: Option<Value>) -> Vec<(Party, Value)> {
    line.map(|line| (party, line)).into_iter().collect()
}

/// Measures one party once. Who takes no part in the case leaves no line.
async fn take_turn(stage: &Stage, measured: &mut Measured, party: Party) -> io::Result<()> {
    let case = measured.case;
    let lines = match case.subject {
        Subject::Fires { beside_java } => of(party, fires::measure(stage, case, party, beside_java)?),
        Subject::Instances(count) => of(party, instances::measure(stage, case, party, count).await?),
        Subject::OneProcess => of(party, one_process::measure(stage, case, party)?),
        Subject::Traces => traces::measure(stage, party)?,
    };
    for (party, line) in lines {
        measured.lines[party as usize].push(line);
    }
    Ok(())
}
