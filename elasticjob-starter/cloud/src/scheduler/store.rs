//! Writes registrations. Each write says what it found: REST answers with it.

use std::path::PathBuf;
use std::sync::Arc;

use elasticjob::ident::JobName;
use elasticjob::registry::{CommitError, CreateMode, Refusal, RegistryCenter, RegistryError, Transaction};
use serde::Serialize;
use serde_json::{Value, json};

use super::nodes::{DIRECTORIES, JOBS, LAUNCHED, Node, TAKEN};
use super::registrations::Registrations;
use crate::carrier::{Carrier, digest};
#[cfg(unix)]
use crate::files::write_whole;
use crate::model::{App, CarriedJob, Problem, Problems, unmasked};

/// How often a write is tried when other clients write the same.
const ATTEMPTS: usize = 8;

/// A registration was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Its content cannot be used.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// There is no such application.
    #[error("there is no app '{0}': register it first (POST /api/app)")]
    NoSuchApp(String),
    /// There is no such job.
    #[error("there is no job '{0}': register it first (POST /api/job/register)")]
    NoSuchJob(JobName),
    /// It is registered already.
    #[error("app '{0}' is registered already: change it with PUT /api/app")]
    AppExists(String),
    /// It is registered already.
    #[error("job '{0}' is registered already: change it with PUT /api/job/update")]
    JobExists(JobName),
    /// Other clients wrote each time.
    #[error("others change the same registration again and again: try again")]
    Contended,
    /// The registry center did not answer a read.
    #[error(transparent)]
    Read(#[from] RegistryError),
    /// A transaction was not applied, or it is not known whether it was.
    #[error(transparent)]
    Write(#[from] CommitError),
    /// The copy on disk, which an embedded registry needs, cannot be written.
    #[error("the registration is in force until this process ends, and is not kept: {path} cannot be written: {cause}")]
    NotKept {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
}

/// The registrations, for writers. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    registry: Arc<dyn RegistryCenter>,
    carrier: Arc<dyn Carrier>,
    /// The copy of an embedded registry, which forgets with its process.
    copy: Option<Arc<PathBuf>>,
}

impl Store {
    pub(super) fn new(registry: Arc<dyn RegistryCenter>, carrier: Arc<dyn Carrier>, copy: Option<PathBuf>) -> Self {
        Self { registry, carrier, copy: copy.map(Arc::new) }
    }

    /// Makes the directories, and brings the copy on disk back.
    pub(super) async fn prepare(&self) -> Result<(), StoreError> {
        for path in DIRECTORIES {
            match self.create(path, "").await {
                Err(StoreError::Write(CommitError::Refused { reason: Refusal::NodeExists, .. })) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        let Some(copy) = &self.copy else { return Ok(()) };
        let kept = match std::fs::read_to_string(&**copy) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            read => read.map_err(|cause| StoreError::NotKept { path: copy.to_path_buf(), cause })?,
        };
        let kept: Vec<(String, String)> = serde_json::from_str(&kept).map_err(|error| {
            let cause = std::io::Error::new(std::io::ErrorKind::InvalidData, error);
            StoreError::NotKept { path: copy.to_path_buf(), cause }
        })?;
        for (path, data) in kept {
            self.create(&path, &data).await?;
        }
        Ok(())
    }

    /// All registrations, as they are now.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub async fn registrations(&self) -> Result<Registrations, StoreError> {
        Ok(Registrations::read(&*self.registry).await?)
    }

    /// What tells this registry center from others with the same namespace: when and by which transaction its registrations got
    /// their directory. `None` for an embedded one, which is another one in each process.
    pub(super) async fn center(&self) -> Result<Option<String>, StoreError> {
        if self.copy.is_some() {
            return Ok(None);
        }
        let node = self.registry.get(JOBS).await?;
        Ok(node.map(|node| digest(&[&node.stat.ctime.to_string(), &node.stat.czxid.to_string()])))
    }

    /// When each job was registered, in milliseconds since 1970 by the clock of the registry center.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub async fn registered_at(&self) -> Result<Vec<(JobName, i64)>, StoreError> {
        let mut times = Vec::new();
        for name in self.registry.children(JOBS).await?.unwrap_or_default() {
            let Ok(name) = JobName::new(name) else { continue };
            if let Some(node) = self.registry.get(&Node::Job(name.clone()).path()).await? {
                times.push((name, node.stat.ctime));
            }
        }
        Ok(times)
    }

    /// Registers an application.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::AppExists`], or the registry center fails.
    pub async fn add_app(&self, app: Value) -> Result<(), StoreError> {
        let app = App::from_json(app)?;
        let node = Node::App(app.app_name.clone());
        match self.create(&node.path(), &text_of(&app)).await {
            Err(StoreError::Write(CommitError::Refused { reason: Refusal::NodeExists, .. })) => {
                Err(StoreError::AppExists(app.app_name))
            }
            created => {
                created?;
                self.keep().await
            }
        }
    }

    /// Changes the fields of an application that are given; the others stay.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn change_app(&self, change: Value) -> Result<(), StoreError> {
        let name = name_in(&change, "appName")?;
        self.change(Node::App(name.clone()), |old| {
            let app = App::from_json(merged(old, &change))?;
            Ok(text_of(&app))
        })
        .await?
        .then_some(())
        .ok_or(StoreError::NoSuchApp(name))?;
        self.keep().await
    }

    /// Removes an application with its jobs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn remove_app(&self, name: &str) -> Result<(), StoreError> {
        let all = self.registrations().await?;
        if !all.apps.contains_key(name) {
            return Err(StoreError::NoSuchApp(name.to_owned()));
        }
        for job in all.jobs.values().filter(|job| job.app_name == name) {
            self.remove_nodes_of(&job.job_name).await?;
        }
        self.remove(&[Node::App(name.to_owned()), Node::DisabledApp(name.to_owned())]).await?;
        self.keep().await
    }

    /// Registers a job.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::NoSuchApp`], [`StoreError::JobExists`], or the registry center fails.
    pub async fn add_job(&self, job: Value) -> Result<(), StoreError> {
        let job = self.checked(job).await?;
        let name = job.job_name.clone();
        let mut transaction = Transaction::new();
        transaction.create(Node::Job(name.clone()).path(), text_of(&job).as_str(), CreateMode::Persistent);
        if job.disabled {
            let disabled = Node::DisabledJob(name.clone()).path();
            if self.registry.get(&disabled).await?.is_none() {
                transaction.create(disabled, "", CreateMode::Persistent);
            }
        }
        match self.registry.commit(transaction).await {
            Err(CommitError::Refused { reason: Refusal::NodeExists, .. }) => Err(StoreError::JobExists(name)),
            Err(error) => Err(error.into()),
            Ok(_) => self.keep().await,
        }
    }

    /// Changes the fields of a job that are given; the others stay. What runs goes on.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::NoSuchJob`], [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn change_job(&self, change: Value) -> Result<(), StoreError> {
        let name = job_name(&name_in(&change, "jobName")?)?;
        let all = self.registrations().await?;
        let Some(old) = all.jobs.get(&name) else { return Err(StoreError::NoSuchJob(name)) };
        let old = serde_json::to_value(&**old).unwrap_or_default();
        self.checked(merged(old, &change)).await?;
        self.change(Node::Job(name.clone()), |old| Ok(text_of(&CarriedJob::from_json(merged(old, &change))?)))
            .await?
            .then_some(())
            .ok_or(StoreError::NoSuchJob(name))?;
        self.keep().await
    }

    /// Removes a job.
    ///
    /// # Errors
    /// [`StoreError::NoSuchJob`], or the registry center fails.
    pub async fn remove_job(&self, name: &JobName) -> Result<(), StoreError> {
        if self.registry.get(&Node::Job(name.clone()).path()).await?.is_none() {
            return Err(StoreError::NoSuchJob(name.clone()));
        }
        self.remove_nodes_of(name).await?;
        self.keep().await
    }

    /// Removes the registration of a job, and the note of what was launched of it.
    async fn remove_nodes_of(&self, name: &JobName) -> Result<(), StoreError> {
        self.remove(&[Node::Job(name.clone()), Node::DisabledJob(name.clone())]).await?;
        self.delete(&format!("{LAUNCHED}/{name}")).await
    }

    /// Disables or enables an application with all of its jobs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn switch_app(&self, name: &str, enabled: bool) -> Result<(), StoreError> {
        if self.registry.get(&Node::App(name.to_owned()).path()).await?.is_none() {
            return Err(StoreError::NoSuchApp(name.to_owned()));
        }
        self.switch(Node::DisabledApp(name.to_owned()), enabled).await
    }

    /// Disables or enables a job.
    ///
    /// # Errors
    /// [`StoreError::NoSuchJob`], or the registry center fails.
    pub async fn switch_job(&self, name: &JobName, enabled: bool) -> Result<(), StoreError> {
        if self.registry.get(&Node::Job(name.clone()).path()).await?.is_none() {
            return Err(StoreError::NoSuchJob(name.clone()));
        }
        self.switch(Node::DisabledJob(name.clone()), enabled).await
    }

    async fn switch(&self, node: Node, enabled: bool) -> Result<(), StoreError> {
        if enabled {
            self.delete(&node.path()).await?;
        } else {
            match self.create(&node.path(), "").await {
                Err(StoreError::Write(CommitError::Refused { reason: Refusal::NodeExists, .. })) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        self.keep().await
    }

    /// A job whose name is free, whose application is registered, and which the carrier can carry.
    async fn checked(&self, job: Value) -> Result<CarriedJob, StoreError> {
        let job = CarriedJob::from_json(job)?;
        if TAKEN.contains(&job.job_name.as_str()) {
            let reason = "is a node of the registrations in the registry center: use another name";
            return Err(Problems(vec![Problem::new("jobName", reason)]).into());
        }
        let app = self.registry.get(&Node::App(job.app_name.clone()).path()).await?;
        let app = app.ok_or_else(|| StoreError::NoSuchApp(job.app_name.clone()))?;
        let app: App = serde_json::from_str(app.data.text().unwrap_or_default())
            .map_err(|error| Problems(vec![Problem::new("appName", format!("the app cannot be used: {error}"))]))?;
        match self.carrier.check(&app, &job) {
            problems if problems.is_empty() => Ok(job),
            problems => Err(Problems(problems).into()),
        }
    }

    /// Replaces the data of a node by what `new` makes of them. Returns whether the node exists.
    async fn change(&self, node: Node, new: impl Fn(Value) -> Result<String, StoreError>) -> Result<bool, StoreError> {
        for _ in 0..ATTEMPTS {
            let Some(old) = self.registry.get(&node.path()).await? else { return Ok(false) };
            let data = serde_json::from_str(old.data.text().unwrap_or_default()).unwrap_or(Value::Null);
            let mut transaction = Transaction::new();
            transaction.set(node.path(), new(data)?.as_str(), Some(old.stat.version));
            match self.registry.commit(transaction).await {
                Ok(_) => return Ok(true),
                Err(CommitError::Refused { reason: Refusal::BadVersion | Refusal::NoNode, .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Contended)
    }

    async fn create(&self, path: &str, data: &str) -> Result<(), StoreError> {
        let mut transaction = Transaction::new();
        transaction.create(path, data, CreateMode::Persistent);
        self.registry.commit(transaction).await?;
        Ok(())
    }

    async fn remove(&self, nodes: &[Node]) -> Result<(), StoreError> {
        for node in nodes {
            self.delete(&node.path()).await?;
        }
        Ok(())
    }

    /// Deletes a node that may be gone already.
    async fn delete(&self, path: &str) -> Result<(), StoreError> {
        let mut transaction = Transaction::new();
        transaction.delete(path, None);
        match self.registry.commit(transaction).await {
            Ok(_) | Err(CommitError::Refused { reason: Refusal::NoNode, .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the copy on disk, where there is one.
    async fn keep(&self) -> Result<(), StoreError> {
        let Some(copy) = &self.copy else { return Ok(()) };
        let all = self.registrations().await?;
        let apps = all.apps.iter().map(|(name, app)| (Node::App(name.clone()).path(), text_of(&**app)));
        let jobs = all.jobs.iter().map(|(name, job)| (Node::Job(name.clone()).path(), text_of(&**job)));
        let disabled_apps =
            all.disabled_apps.iter().map(|name| (Node::DisabledApp(name.clone()).path(), String::new()));
        let disabled_jobs =
            all.disabled_jobs.iter().map(|name| (Node::DisabledJob(name.clone()).path(), String::new()));
        let nodes: Vec<(String, String)> = apps.chain(jobs).chain(disabled_apps).chain(disabled_jobs).collect();
        write_whole(copy, &json!(nodes).to_string())
            .map_err(|cause| StoreError::NotKept { path: copy.to_path_buf(), cause })
    }
}

/// Writes a file that is there as a whole or not at all.
#[cfg(not(unix))]
fn write_whole(path: &std::path::Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, text)?;
    std::fs::rename(beside, path)
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers have a JSON form")
}

/// `old` with the fields of `change`. A secret that comes back masked stays as it is.
fn merged(mut old: Value, change: &Value) -> Value {
    let change = unmasked(&old, change.clone());
    match (&mut old, change) {
        (Value::Object(fields), Value::Object(change)) => {
            fields.extend(change);
            old
        }
        (_, change) => change,
    }
}

/// The name in a change.
fn name_in(change: &Value, field: &'static str) -> Result<String, StoreError> {
    let missing = || Problems(vec![Problem::new(field, "is missing: it says what is changed")]);
    Ok(change.get(field).and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)?)
}

fn job_name(name: &str) -> Result<JobName, StoreError> {
    let wrong = |error: elasticjob::ident::InvalidIdent| Problems(vec![Problem::new("jobName", error.to_string())]);
    Ok(JobName::new(name).map_err(wrong)?)
}
