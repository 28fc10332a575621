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
                Ok(Written { app, job }) => all.push(Registered { app: Arc::new(app), job: Arc::new(job) }),
                Err(error) => warn!("{path} cannot be read, and what it names is not ended: {error}"),
            }
        }
        Ok(all)
    }

    /// Notes that a job is about to have processes here.
    pub(super) async fn note(&self, registered: &Registered) -> Result<(), RegistryError> {
        let path = self.path(&registered.job.job_name);
        let (mut app, mut job) = (App::clone(&registered.app), CarriedJob::clone(&registered.job));
        // To end them no environment is needed, and it may have secrets.
        app.env.clear();
        job.env.clear();
        let written = Written { app, job };
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
        self.commit(transaction).await
    }

    /// Nothing is left here of a job that is removed. Where it is registered again, another scheduler may have noted it: the note
    /// stays.
    pub(super) async fn delete_of_removed(&self, name: &JobName) -> Result<(), RegistryError> {
        let registration = Node::Job(name.clone()).path();
        let mut transaction = Transaction::new();
        // Made and deleted: refused where it is there.
        transaction.create(registration.as_str(), "", CreateMode::Persistent);
        transaction.delete(registration, None);
        transaction.delete(self.path(name), None);
        self.commit(transaction).await
    }

    /// Nothing of a job is kept any more.
    pub(super) async fn delete(&self, name: &JobName) -> Result<(), RegistryError> {
        let mut transaction = Transaction::new();
        transaction.delete(self.path(name), None);
        self.commit(transaction).await
    }

    /// Another scheduler of the place may have written the same.
    async fn commit(&self, transaction: Transaction) -> Result<(), RegistryError> {
        match self.registry.commit(transaction).await {
            Ok(_) | Err(CommitError::Refused { reason: Refusal::NodeExists | Refusal::NoNode, .. }) => Ok(()),
            Err(error) => Err(RegistryError::NoAnswer { why: error.to_string() }),
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
