//! Removes registrations. All nodes of a job go in one transaction, as do those of an application with its jobs where they
//! fit: a process that ends in between leaves everything, or nothing.

use std::collections::BTreeSet;

use elasticjob::ident::JobName;
use elasticjob::registry::{CreateMode, Transaction};

use super::{ATTEMPTS, Store, StoreError, value_of};
use crate::scheduler::nodes::{DISABLED_APPS, DISABLED_JOBS, LAUNCHED, Node, STOPPED_APPS, STOPPED_JOBS};

/// How many jobs are removed in one transaction: each takes less than 1,000 bytes of the most that one may have.
const AT_ONCE: usize = 500;

/// The nodes beside registrations, as they are now.
struct Beside {
    disabled_apps: BTreeSet<String>,
    disabled_jobs: BTreeSet<String>,
    stopped_apps: BTreeSet<String>,
    stopped_jobs: BTreeSet<String>,
    launched: BTreeSet<String>,
}

impl Store {
    /// Removes an application with its jobs. Of more than 500 jobs the others go first: where that breaks off, the application
    /// stays with the rest, and is removed by the same call again.
    ///
    /// # Errors
    /// [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn remove_app(&self, name: &str) -> Result<(), StoreError> {
        let path = Node::App(name.to_owned()).path();
        'read: for _ in 0..ATTEMPTS {
            // The application is written with each of its jobs: one that comes after this read refuses the removal.
            let Some(app) = self.registry.get(&path).await? else { return Err(StoreError::NoSuchApp(name.to_owned())) };
            let all = self.registrations().await?;
            let jobs = all.jobs.values().filter(|job| job.app_name == name).map(|job| &job.job_name);
            let mut jobs: Vec<&JobName> = jobs.collect();
            // A registration that cannot be used says its application all the same.
            for job in all.names_of_unusable_jobs() {
                let node = self.registry.get(&Node::Job(job.clone()).path()).await?;
                if node.is_some_and(|node| value_of(&node)["appName"] == name) {
                    jobs.push(job);
                }
            }
            let beside = self.beside().await?;
            let (last, first) = jobs.split_at(jobs.len().min(AT_ONCE));
            let mut parts: Vec<Transaction> = first.chunks(AT_ONCE).map(|jobs| beside.without(jobs)).collect();
            let mut with_app = beside.without(last);
            with_app.delete(path.as_str(), Some(app.stat.version));
            leaves(&mut with_app, &Node::DisabledApp(name.to_owned()).path(), beside.disabled_apps.contains(name));
            leaves(&mut with_app, &Node::StoppedApp(name.to_owned()).path(), beside.stopped_apps.contains(name));
            parts.push(with_app);
            for part in parts {
                if !self.commit(part).await? {
                    continue 'read;
                }
            }
            return self.keep().await;
        }
        Err(StoreError::Contended)
    }

    /// Removes a job.
    ///
    /// # Errors
    /// [`StoreError::NoSuchJob`], or the registry center fails.
    pub async fn remove_job(&self, name: &JobName) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            if self.registry.get(&Node::Job(name.clone()).path()).await?.is_none() {
                return Err(StoreError::NoSuchJob(name.clone()));
            }
            let removal = self.beside().await?.without(&[name]);
            if self.commit(removal).await? {
                return self.keep().await;
            }
        }
        Err(StoreError::Contended)
    }

    async fn beside(&self) -> Result<Beside, StoreError> {
        let names = async |path| -> Result<BTreeSet<String>, StoreError> {
            Ok(self.registry.children(path).await?.unwrap_or_default().into_iter().collect())
        };
        Ok(Beside {
            disabled_apps: names(DISABLED_APPS).await?,
            disabled_jobs: names(DISABLED_JOBS).await?,
            stopped_apps: names(STOPPED_APPS).await?,
            stopped_jobs: names(STOPPED_JOBS).await?,
            launched: names(LAUNCHED).await?,
        })
    }
}

impl Beside {
    /// Removes jobs: each with the mark that it is disabled, the wish that it is stopped, and the note of what was launched of it.
    fn without(&self, jobs: &[&JobName]) -> Transaction {
        let mut transaction = Transaction::new();
        for job in jobs {
            transaction.delete(Node::Job((*job).clone()).path(), None);
            let is_disabled = self.disabled_jobs.contains(job.as_str());
            leaves(&mut transaction, &Node::DisabledJob((*job).clone()).path(), is_disabled);
            let is_stopped = self.stopped_jobs.contains(job.as_str());
            leaves(&mut transaction, &Node::StoppedJob((*job).clone()).path(), is_stopped);
            leaves(&mut transaction, &format!("{LAUNCHED}/{job}"), self.launched.contains(job.as_str()));
        }
        transaction
    }
}

/// After the transaction the node is not there. Where it is not there before, it is made and deleted: one that another client
/// makes meanwhile refuses the transaction, and is not left.
fn leaves(transaction: &mut Transaction, path: &str, is_there: bool) {
    if !is_there {
        transaction.create(path, "", CreateMode::Persistent);
    }
    transaction.delete(path, None);
}
