//! Long histories: what an engine remembers must not grow with the time that it runs.
//!
//! A leak is small in a history of minutes. So a group is played for hours, full of faults, and measured once a minute: each
//! process with all that its engine, its mirror and its connection hold, and the tree of the server. What is measured is the
//! length of the text that a derived `Debug` makes. It has an entry for each entry of each collection, so a collection that is
//! added later is measured too.

use std::collections::BTreeMap;

use super::Keep;
use super::host::Millis;
use super::world::World;

/// How often the sizes are taken.
const LOOK: Millis = 60_000;

/// In how many windows the time of a history is divided. What is going on at the moment makes a process larger, so the smallest
/// size of each window counts.
const WINDOWS: u64 = 12;

/// A part that lived for so many windows says something about growth.
const SHORTEST: usize = 7;

/// How much larger a part may be at the end: sessions and times get longer numbers.
const TOLERANCE_PERCENT: usize = 10;

/// How much larger it may be in any case: of few sessions one more is many percent.
const TOLERANCE: usize = 4;

/// Faults that end a process or its engine, as `World::inject` numbers them. Without these, the same engines live for the whole
/// history.
const ENDS: [u64; 9] = [0, 1, 11, 12, 21, 22, 30, 31, 32];

/// The growth of a part of a simulated group.
#[derive(Debug)]
pub struct Growth {
    /// The part.
    pub what: String,
    /// Its smallest size in each window of its life.
    pub sizes: Vec<usize>,
}

impl Growth {
    /// Whether it lived long enough to say something.
    pub fn is_long(&self) -> bool {
        self.sizes.len() >= SHORTEST
    }

    /// Whether it was larger in each of its last windows than in any of its first ones. Among the first is not that in which it
    /// starts.
    pub fn has_grown(&self) -> bool {
        let part = self.sizes.len() / 3;
        let first = self.sizes[1..].iter().take(part).max();
        let last = self.sizes.iter().rev().take(part).min();
        let (Some(first), Some(last)) = (first, last) else { return false };
        self.is_long() && *last > first * (100 + TOLERANCE_PERCENT) / 100 + TOLERANCE
    }
}

/// Plays hours of one seed, with or without faults that end processes.
///
/// # Errors
/// The invariant that does not hold, and why.
pub fn endure(seed: u64, hours: u64, ends: bool) -> Result<Vec<Growth>, String> {
    let mut world = World::new(seed, None, Keep::Nothing);
    world.spares_processes = !ends;
    world.faults_until = hours * 3_600_000;
    let window = (world.faults_until / WINDOWS).max(LOOK);
    let mut parts: BTreeMap<String, BTreeMap<Millis, usize>> = BTreeMap::new();
    for at in (LOOK..world.faults_until).step_by(LOOK as usize) {
        world.run_until(at)?;
        for (part, size) in world.sizes() {
            let smallest = parts.entry(part).or_default().entry(at / window).or_insert(size);
            *smallest = size.min(*smallest);
        }
    }
    Ok(parts.into_iter().map(|(what, sizes)| Growth { what, sizes: sizes.into_values().collect() }).collect())
}

impl World {
    /// Whether a fault is left out, as it would end a process that has to live for long.
    pub(super) fn is_spared(&self, fault: u64) -> bool {
        self.spares_processes && ENDS.contains(&fault)
    }

    /// The sizes of the processes and of the server's tree.
    fn sizes(&self) -> Vec<(String, usize)> {
        let processes = self.hosts.iter().enumerate().filter_map(|(host, of)| Some((host, of.process.as_ref()?)));
        let size = |process: &dyn std::fmt::Debug| format!("{process:?}").len();
        let processes =
            processes.map(|(host, process)| (format!("process {} of host {host}", process.life), size(process)));
        let nodes = self.tree.paths().iter().map(String::len).sum();
        processes.chain([("tree".to_owned(), nodes), ("sessions".to_owned(), self.tree.sessions().count())]).collect()
    }
}
