//! Tells the leader of a job that runs after others what the registry says of these.

use super::beside::FIRST;
use super::host::Incoming;
use super::world::World;
use crate::config::{Dependency, DependencyItems, When, wire};
use crate::engine::{DependencyRecord, Event, ParentItem, ParentView, ShardingData};
use crate::fire::FireRecord;
use crate::ident::JobName;
use crate::registry::layout::{ItemNode, JobPath};
use crate::registry::{Data, WatchEvent};
use crate::testing::rng::Rng;

/// How the fires of the first job have to end, where the second one runs after it: in half of the groups with two jobs. In half
/// of these each item follows the item with its number.
pub(super) fn draw(seed: u64) -> Option<Dependency> {
    let mut rng = Rng::new(seed ^ 0xdeb_e4d);
    rng.one_in(2).then(|| {
        let first = JobName::new(FIRST).expect("a valid name");
        let dependency = Dependency::new(first, rng.pick(&[When::Succeeded, When::Ended]));
        dependency.of_items(if rng.one_in(2) { DependencyItems::Same } else { DependencyItems::All })
    })
}

impl World {
    /// An engine names the jobs that it follows from now on.
    pub(super) fn follow(&mut self, host: usize, life: u64, jobs: Vec<JobName>) {
        if let Some(process) = self.live(host, life) {
            process.following = jobs;
        }
        self.tell_parents(host);
    }

    /// What the registry says by now of the jobs that a host follows. It is told over the connection, behind everything that is
    /// under way.
    pub(super) fn tell_parents(&mut self, host: usize) {
        let Some(process) = &self.hosts[host].process else { return };
        if process.connection.is_none() || self.is_lagging(host) {
            return;
        }
        let (life, jobs) = (process.life, process.following.clone());
        for job in jobs {
            let view = Box::new(self.view_of(&job));
            self.receive(host, life, Incoming::Event(Event::Parent { job, view }));
        }
    }

    /// Tells those that follow a job of changes of it.
    pub(super) fn publish_parents(&mut self, events: &[WatchEvent]) {
        for host in 0..self.hosts.len() {
            let followed = self.hosts[host].process.as_ref().map(|process| process.following.clone());
            let is_of = |job: &JobName, event: &WatchEvent| match event {
                WatchEvent::Gap => false,
                WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path) => {
                    JobPath::parse(job, path).is_some()
                }
            };
            if followed.unwrap_or_default().iter().any(|job| events.iter().any(|event| is_of(job, event))) {
                self.tell_parents(host);
            }
        }
    }

    fn view_of(&self, job: &JobName) -> ParentView {
        let known = |path: &JobPath| self.tree.get(&path.absolute(job)).ok().flatten();
        let read = |path: &JobPath| -> Option<Data> { Some(known(path)?.data) };
        let written = |path: &JobPath| known(path).map_or(0, |node| node.stat.mtime);
        let configuration = read(&JobPath::Config).and_then(|data| wire::from_yaml(job, &data).ok());
        let items = self.tree.children(&JobPath::Sharding.absolute(job)).ok().flatten().unwrap_or_default();
        let item = |item| ParentItem {
            record: read(&JobPath::fire(item)).map_or(FireRecord::empty(), |data| FireRecord::parse(&data)),
            written: written(&JobPath::fire(item)),
            disabled: read(&JobPath::Item(item, ItemNode::Disabled)).is_some(),
            marked: read(&JobPath::running(item)).is_some(),
        };
        let sharding = read(&JobPath::Sharding).map(|data| ShardingData::parse(&data));
        ParentView {
            scheduled_since: sharding.zip(configuration.as_ref()).and_then(|(noted, of)| noted.since(of)),
            configuration: configuration.map(Into::into),
            items: items.iter().filter_map(|name| name.parse().ok()).map(|number| (number, item(number))).collect(),
            decided: read(&JobPath::Dependencies).and_then(|data| DependencyRecord::parse(&data)),
            decided_at: written(&JobPath::Dependencies),
            triggered: self
                .tree
                .children(&JobPath::Triggers.absolute(job))
                .ok()
                .flatten()
                .is_some_and(|ids| !ids.is_empty()),
        }
    }
}
