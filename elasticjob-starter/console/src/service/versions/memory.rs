//! Versions in memory, for a console without a data file.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use elasticjob::ident::JobName;

use super::Version;

/// How many versions of a job are kept.
const OF_A_JOB: usize = 50;

/// How many jobs have versions; a job beyond them gets none.
const JOBS: usize = 5_000;

#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    last_id: i64,
    /// By registry center and job, the last version first.
    jobs: HashMap<(String, String), VecDeque<Version>>,
}

impl Memory {
    pub(super) fn add(&self, registry: &str, job: &JobName, version: Version) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (registry.to_owned(), job.to_string());
        if kept.jobs.len() >= JOBS && !kept.jobs.contains_key(&key) {
            return;
        }
        let Kept { last_id, jobs } = &mut *kept;
        let versions = jobs.entry(key).or_default();
        match versions.iter_mut().find(|it| (it.at, it.number) == (version.at, version.number)) {
            Some(known) if known.actor.is_empty() => {
                (known.actor, known.reason) = (version.actor, version.reason);
            }
            Some(_) => {}
            None => {
                *last_id += 1;
                versions.push_front(Version { id: *last_id, ..version });
                versions.make_contiguous().sort_by_key(|it| std::cmp::Reverse((it.at, it.number)));
                versions.truncate(OF_A_JOB);
            }
        }
    }

    pub(super) fn of_job(&self, registry: &str, job: &JobName) -> Vec<Version> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let versions = kept.jobs.get(&(registry.to_owned(), job.to_string()));
        versions.into_iter().flatten().cloned().collect()
    }
}
