//! Our cron dialect against Quartz itself: random expressions, zones and start times, compared fire by fire.

mod expression;
mod known;
mod quartz;
mod row;

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use elasticjob::testing::rng::Rng;

pub use self::known::Known;
pub use self::row::{Answer, Row};
use crate::java_peer::JavaPeer;

/// What a comparison showed.
#[derive(Debug, Default)]
pub struct Comparison {
    /// How many expressions both refuse.
    pub refused: usize,
    /// How many both take, with the same fires.
    pub alike: usize,
    /// How many differ in a way that `docs/cron.md` lists.
    pub known: BTreeMap<Known, usize>,
    /// Those that differ otherwise.
    pub different: Vec<Difference>,
}

/// A row that we and Quartz answer differently.
#[derive(Debug)]
pub struct Difference {
    row: Row,
    ours: Answer,
    quartz: Answer,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n    ours:   {}\n    Quartz: {}", self.row, self.ours, self.quartz)
    }
}

/// Compares so many rows, which the seed decides.
///
/// # Errors
/// When the Java program does not answer.
pub fn compare(peer: &JavaPeer, seed: u64, rows: usize) -> io::Result<Comparison> {
    let mut rng = Rng::new(seed);
    let rows: Vec<Row> = (0..rows).map(|_| Row::random(&mut rng)).collect();
    let mut comparison = Comparison::default();
    for (row, quartz) in rows.iter().zip(quartz::answers(peer, &rows)?) {
        let ours = row.our_answer();
        match (&ours, &quartz) {
            (Answer::Refused(_), Answer::Refused(_)) => comparison.refused += 1,
            (Answer::Fires(ours), Answer::Fires(quartz)) if ours == quartz => comparison.alike += 1,
            _ => match Known::explains(row, &ours, &quartz) {
                Some(known) => *comparison.known.entry(known).or_default() += 1,
                None => comparison.different.push(Difference { row: row.clone(), ours, quartz }),
            },
        }
    }
    Ok(comparison)
}
