//! The group as an observer of the registry saw it.

use std::collections::BTreeMap;

use serde::Serialize;

/// Instances and owners as they came and went, by the clock of the machine that all run on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Observed {
    /// When instances were in the group.
    pub presences: Vec<Presence>,
    /// The owners of an item of a job, in order.
    #[serde(skip)]
    pub owners: BTreeMap<(String, u32), Vec<Owner>>,
    /// From when to when the observer had no connection, or had not read again after it, in microseconds since 1970: what came and
    /// went meanwhile has a time at its end. The last one may go on.
    pub blind: Vec<(i64, i64)>,
}

/// From when on an item had an owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// In microseconds since 1970.
    pub from_us: i64,
    /// The instance, `None` while it has none.
    pub instance: Option<String>,
}

/// From when to when a process owned an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenure {
    /// In microseconds since 1970.
    pub from_us: i64,
    /// When the next one did, or the item had none.
    pub until_us: i64,
    /// The process, `None` while the item has no owner.
    pub owner: Option<u32>,
}

/// When an instance was in the group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Presence {
    /// The job.
    pub job: String,
    /// The instance.
    pub instance: String,
    /// When its node was there, in microseconds since 1970.
    pub from_us: i64,
    /// When the server removed its node.
    pub until_us: Option<i64>,
}

impl Observed {
    /// An instance is there.
    pub fn came(&mut self, at_us: i64, job: &str, instance: &str) {
        if !self.presences.iter().any(|one| one.is_of(job, instance) && one.until_us.is_none()) {
            let (job, instance) = (job.to_owned(), instance.to_owned());
            self.presences.push(Presence { job, instance, from_us: at_us, until_us: None });
        }
    }

    /// An instance is gone.
    pub fn went(&mut self, at_us: i64, job: &str, instance: &str) {
        let there = |one: &&mut Presence| one.is_of(job, instance) && one.until_us.is_none();
        if let Some(presence) = self.presences.iter_mut().find(there) {
            presence.until_us = Some(at_us);
        }
    }

    /// An item has an owner, or none.
    pub fn owned(&mut self, at_us: i64, job: &str, item: u32, instance: Option<String>) {
        let owners = self.owners.entry((job.to_owned(), item)).or_default();
        if owners.last().is_none_or(|last| last.instance != instance) {
            owners.push(Owner { from_us: at_us, instance });
        }
    }

    /// The observer cannot see from now on, or sees again.
    pub fn sees(&mut self, at_us: i64, sees: bool) {
        let open = self.blind.last_mut().filter(|(_, until)| *until == i64::MAX);
        match (open, sees) {
            (Some((_, until)), true) => *until = at_us,
            (None, false) => self.blind.push((at_us, i64::MAX)),
            (Some(_), false) | (None, true) => {}
        }
    }

    /// Whether anything was watched.
    pub fn is_empty(&self) -> bool {
        self.presences.is_empty()
    }

    /// The owners of an item, from when to when, in order; the last one still does.
    pub fn tenures(&self, job: &str, item: u32) -> Vec<Tenure> {
        let owners = self.owners.get(&(job.to_owned(), item)).map_or(&[][..], Vec::as_slice);
        let until = owners.iter().skip(1).map(|next| next.from_us).chain([i64::MAX]);
        let tenure = |(owner, until_us): (&Owner, i64)| {
            let (from_us, owner) = (owner.from_us, owner.instance.as_deref().and_then(pid_of));
            Tenure { from_us, until_us, owner }
        };
        owners.iter().zip(until).map(tenure).collect()
    }

    /// The processes with an instance of a job at a time.
    pub fn online(&self, job: &str, at_us: i64) -> impl Iterator<Item = u32> {
        let online = move |one: &&Presence| one.from_us <= at_us && one.until_us.is_none_or(|until| until > at_us);
        let of_job = self.presences.iter().filter(move |one| one.job == job);
        of_job.filter(online).filter_map(|one| pid_of(&one.instance))
    }

    /// Whether a process had an instance of a job at a time.
    pub fn was_there(&self, job: &str, pid: u32, at_us: i64) -> bool {
        self.online(job, at_us).any(|online| online == pid)
    }

    /// When the instance of a process was removed that was there at a time.
    pub fn removed_us(&self, job: &str, pid: u32, at_us: i64) -> Option<i64> {
        let of_process = |one: &&Presence| one.job == job && pid_of(&one.instance) == Some(pid);
        let there = |one: &&Presence| one.from_us <= at_us && one.until_us.is_none_or(|until| until > at_us);
        self.presences.iter().filter(of_process).filter(there).find_map(|one| one.until_us)
    }
}

impl Presence {
    fn is_of(&self, job: &str, instance: &str) -> bool {
        self.job == job && self.instance == instance
    }
}

/// The process that an instance id names: `ip@-@pid`, or `ip@-@pid-4hex`.
pub fn pid_of(instance: &str) -> Option<u32> {
    let (_, process) = instance.split_once("@-@")?;
    process.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_process() {
        assert_eq!(pid_of("10.0.0.1@-@7"), Some(7));
        assert_eq!(pid_of("10.0.0.1@-@7-00ff"), Some(7));
        assert_eq!(pid_of("job"), None);
    }

    #[test]
    fn it_knows_who_was_there_and_who_owned_what() {
        let mut observed = Observed::default();
        observed.came(10, "job", "h@-@1");
        observed.came(12, "job", "h@-@1");
        observed.went(20, "job", "h@-@1");
        observed.came(30, "job", "h@-@1");
        assert_eq!(observed.presences.len(), 2);
        assert_eq!(Vec::from_iter(observed.online("job", 15)), [1]);
        assert_eq!(observed.online("job", 25).count() + observed.online("other", 15).count(), 0);
        assert_eq!(observed.removed_us("job", 1, 15), Some(20));
        assert_eq!(observed.removed_us("job", 1, 35), None);

        for (at, owner) in [(10, Some("h@-@1")), (15, Some("h@-@1")), (20, None), (30, Some("h@-@2"))] {
            observed.owned(at, "job", 0, owner.map(str::to_owned));
        }
        for (at, sees) in [(5, true), (40, false), (45, false), (50, true), (55, true), (60, false)] {
            observed.sees(at, sees);
        }
        assert_eq!(observed.blind, [(40, 50), (60, i64::MAX)]);

        let tenure = |from_us, until_us, owner| Tenure { from_us, until_us, owner };
        let tenures = [tenure(10, 20, Some(1)), tenure(20, 30, None), tenure(30, i64::MAX, Some(2))];
        assert_eq!(observed.tenures("job", 0), tenures);
        assert_eq!(observed.tenures("job", 1), []);
    }
}
