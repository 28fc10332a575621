//! Notes in the registry center of the jobs of which a place has processes: which `DAEMON` jobs are kept there, and which
//! `TRANSIENT` ones have run there.
//!
//! A scheduler may end between the removal of a job and the end of its processes. The registration is gone then: only the note
//! tells the next scheduler of the place what to end.

use std::sync::Arc;

use elasticjob::ident::JobName;
use elasticjob::log::warn;
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction};
use serde::{Deserialize, Serialize};

use super::nodes::Node;
use super::registrations::Registered;
use super::registry_failure::RegistryFailure;
use crate::carrier::digest;
use crate::model::{App, CarriedJob};

/// The notes of a place about one type of jobs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Kept {
    registry: Arc<dyn RegistryCenter>,
    /// The directory of its nodes.
    directory: &'static str,
    place: String,
}

/// What a node says: the processes were started with it.
#[derive(Serialize, Deserialize)]
struct Written {
    app: App,
    job: CarriedJob,
    /// For operators: the name of the node has a digest of it alone.
    place: Option<String>,
}

impl Kept {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>, directory: &'static str, place: &str) -> Self {
        Self { registry, directory, place: place.to_owned() }
    }

    /// All jobs of which something is kept here.
    pub(super) async fn all(&self) -> Result<Vec<Registered>, RegistryError> {
        let names = self.registry.children(self.directory).await?.unwrap_or_default();
        let mut all = Vec::new();
        let prefix = prefix(&self.place);
        for name in names.iter().filter(|name| name.starts_with(&prefix)) {
            let path = format!("{}/{name}", self.directory);
            let Some(node) = self.registry.get(&path).await? else { continue };
            match serde_json::from_str(node.data.text().unwrap_or_default()) {
                Ok(Written { app, job, .. }) => all.push(Registered { app: Arc::new(app), job: Arc::new(job) }),
                Err(error) => warn!("{path} cannot be read, and what it names is not ended: {error}"),
            }
        }
        Ok(all)
    }

    /// Notes that a job is about to have processes here.
    pub(super) async fn note(&self, registered: &Registered) -> Result<(), RegistryFailure> {
        let path = self.path(&registered.job.job_name);
        let (mut app, mut job) = (App::clone(&registered.app), CarriedJob::clone(&registered.job));
        // What is not needed to end them may have secrets. The address of the package stays, as the registration has it.
        app.env.clear();
        job.env.clear();
        job.props.clear();
        let written = Written { app, job, place: Some(self.place.clone()) };
        let text = serde_json::to_string(&written).expect("texts and numbers have a JSON form");
        let known = self.registry.get(&path).await?;
        if known.as_ref().is_some_and(|node| node.data.text() == Some(text.as_str())) {
            return Ok(());
        }
        let mut transaction = Transaction::new();
        match known {
            Some(_) => transaction.set(path, text.as_str(), None),
            None => transaction.create(path, text.as_str(), CreateMode::Persistent),
        };
        Ok(self.commit(transaction).await?)
    }

    /// Nothing is left here of a job that is removed. Where it is registered again, another scheduler may have noted it: the note
    /// stays.
    pub(super) async fn delete_of_removed(&self, name: &JobName) -> Result<(), CommitError> {
        let registration = Node::Job(name.clone()).path();
        let mut transaction = Transaction::new();
        // Made and deleted: refused where it is there.
        transaction.create(registration.as_str(), "", CreateMode::Persistent);
        transaction.delete(registration, None);
        transaction.delete(self.path(name), None);
        self.commit(transaction).await
    }

    /// Nothing of a job is kept any more.
    pub(super) async fn delete(&self, name: &JobName) -> Result<(), CommitError> {
        let mut transaction = Transaction::new();
        transaction.delete(self.path(name), None);
        self.commit(transaction).await
    }

    /// Another scheduler of the place may have written the same.
    async fn commit(&self, transaction: Transaction) -> Result<(), CommitError> {
        match self.registry.commit(transaction).await {
            Ok(_) | Err(CommitError::Refused { reason: Refusal::NodeExists | Refusal::NoNode, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn path(&self, name: &JobName) -> String {
        format!("{}/{}", self.directory, self::name(&self.place, name))
    }
}

/// The name of the node of a job at a place.
pub(super) fn name(place: &str, job: &JobName) -> String {
    format!("{}{job}", prefix(place))
}

/// The job in the name of a node.
pub(super) fn job_of(name: &str) -> Option<&str> {
    name.split_once('-').map(|(_, job)| job)
}

/// What the names of the nodes of a place begin with.
fn prefix(place: &str) -> String {
    format!("{}-", digest(&[place]))
}

#[cfg(test)]
mod tests {
    use elasticjob::registry::memory::MemoryRegistry;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_note_has_neither_variables_nor_properties() {
        let app = json!({ "appName": "app", "appURL": "https://apps.example.com/app.tar.gz",
                          "bootstrapScript": "bin/start", "env": { "TOKEN": "hunter2" } });
        let job = json!({ "jobName": "job", "appName": "app", "jobExecutionType": "TRANSIENT", "shardingTotalCount": 1,
                          "cpuCount": 0.1, "memoryMB": 16, "cron": "0 0 3 * * ?", "env": { "TOKEN": "hunter2" },
                          "props": { "email.password": "hunter2" } });
        let (app, job) = (App::from_json(app).unwrap(), CarriedJob::from_json(job).unwrap());
        let registered = Registered { app: Arc::new(app), job: Arc::new(job) };
        let registry: Arc<dyn RegistryCenter> = Arc::new(MemoryRegistry::new().connect());
        let mut directory = Transaction::new();
        directory.create("/kept", "", CreateMode::Persistent);
        registry.commit(directory).await.unwrap();
        let kept = Kept::new(registry.clone(), "/kept", "here");
        kept.note(&registered).await.unwrap();
        let node = registry.get(&kept.path(&registered.job.job_name)).await.unwrap().unwrap();
        let text = node.data.text().unwrap();
        assert!(!text.contains("hunter2") && text.contains("bin/start"), "{text}");
        assert_eq!(kept.all().await.unwrap().len(), 1);
    }
}
