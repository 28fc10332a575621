//! Delivers events to the watches of the processes. A watch reports what happens after the server has it; an instance sees
//! nothing else.

use std::collections::BTreeMap;

use super::happening::Happening;
use super::host::{Incoming, Process};
use super::world::World;
use crate::engine::{Bug, Event};
use crate::ident::JobName;
use crate::registry::WatchEvent;
use crate::registry::mirror::{WatchChanges, Watched};
use crate::testing::rng::Rng;

/// The watches of a process, each with whether the server has it on the connection of the process.
#[derive(Debug)]
pub struct SimWatches(BTreeMap<Watched, bool>);

/// In half of the histories two instances are a large group already, in a quarter three are. Drawn beside all else, so that
/// the other histories stay what they are.
pub(super) fn large_groups_from(seed: u64) -> Option<usize> {
    let mut rng = Rng::new(seed ^ 0x6c61_7267_6521);
    rng.pick(&[Some(2), Some(2), Some(3), None])
}

impl SimWatches {
    /// Of an engine that has just begun.
    pub(super) fn of_job(in_place: bool) -> Self {
        Self([(Watched::job(), in_place)].into())
    }

    /// The connection is gone, and the watches with it.
    pub(super) fn lose(&mut self) {
        self.0.values_mut().for_each(|in_place| *in_place = false);
    }

    /// The client adds all watches again, and reports the gap of each.
    pub(super) fn place_all(&mut self) -> Vec<Event> {
        self.0.values_mut().for_each(|in_place| *in_place = true);
        self.0.keys().map(Event::placed).collect()
    }

    /// How many of these are in place: each reports an event.
    fn count(&self, telling: &[Watched]) -> usize {
        telling.iter().filter(|watched| self.0.get(watched) == Some(&true)).count()
    }
}

impl World {
    /// How often each process hears of each of these events.
    pub(super) fn hearing(&self, events: &[WatchEvent]) -> Vec<Vec<usize>> {
        let mut of_job: BTreeMap<&JobName, Vec<Vec<Watched>>> = BTreeMap::new();
        let times = |host: usize| {
            let job = self.job_of(host);
            let telling =
                of_job.entry(job).or_insert_with(|| events.iter().map(|event| Watched::telling(job, event)).collect());
            let Some(process) = &self.hosts[host].process else { return vec![0; events.len()] };
            telling.iter().map(|telling| process.watches.count(telling)).collect()
        };
        (0..self.hosts.len()).map(times).collect()
    }

    /// An engine changes what it watches. A watch is on its way as every request is; one that is dropped reports nothing more.
    pub(super) fn change_watches(&mut self, host: usize, life: u64, changes: WatchChanges) {
        let now = self.now;
        for watched in changes.add {
            let delay = self.rng.below(self.latency + 1);
            let Some(process) = self.live(host, life) else { return };
            process.watches.0.insert(watched.clone(), false);
            let Some(connection) = process.connection else { continue };
            let at = process.last_out.max(now + delay);
            process.last_out = at;
            self.at(at, Happening::WatchArrives { host, life, connection, watched });
        }
        if let Some(process) = self.live(host, life) {
            let is_dropped = |watched: &Watched| changes.drop.contains(watched);
            process.watches.0.retain(|watched, _| !is_dropped(watched));
            // Nor does its client hand over what has arrived of it: the same watch may be added again at once.
            process.incoming.retain(|(_, incoming)| match incoming {
                Incoming::Event(Event::Watch(WatchEvent::Gap)) => !is_dropped(&Watched::job()),
                Incoming::Event(Event::Watching(watched)) => !is_dropped(watched),
                _ => true,
            });
        }
        if changes.drop.contains(&Watched::job()) {
            self.counts.count("hears_parts");
        }
    }

    /// The server has a watch from now on.
    pub(super) fn place_watch(&mut self, host: usize, life: u64, connection: u64, watched: &Watched) {
        let is_on = |process: &&mut Process| process.connection == Some(connection);
        let Some(process) = self.live(host, life).filter(is_on) else { return };
        let Some(in_place) = process.watches.0.get_mut(watched) else { return };
        if !std::mem::replace(in_place, true) {
            self.receive(host, life, Incoming::Event(Event::placed(watched)));
        }
    }

    /// No engine may take a node to be missing that it does not hear of. What follows from that the invariants have to find:
    /// for these bugs only they look.
    pub(super) fn check_trust(&mut self, host: usize, life: u64) -> Result<(), String> {
        if matches!(self.bug, Some(Bug::DeafLeader | Bug::KeptPicture)) {
            return Ok(());
        }
        let engine = self.live(host, life).and_then(|process| process.program.engine());
        match engine.and_then(|engine| engine.take_trusted()) {
            Some(path) => Err(format!("host {host} takes {path} to be missing, which it does not hear of")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::layout::JobPath;

    #[test]
    fn a_node_is_told_of_by_each_watch_that_is_in_place_at_or_above_it() {
        let job = JobName::new("job").unwrap();
        let mut watches = SimWatches::of_job(true);
        watches.0.insert(Watched::node(JobPath::Sharding), true);
        watches.0.insert(Watched::below(JobPath::Sharding), false);
        let telling = |path: &str| watches.count(&Watched::telling(&job, &WatchEvent::Created(path.to_owned())));
        assert_eq!([telling("/job/sharding"), telling("/job/sharding/0"), telling("/jobs")], [2, 1, 0]);
    }
}
