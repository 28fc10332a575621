//! Writes registrations. Each write says what it found: REST answers with it.

mod copy;
mod dependencies;
mod removal;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use elasticjob::config::Message;
use elasticjob::ident::JobName;
use elasticjob::operations::OperationError;
use elasticjob::registry::{CommitError, CreateMode, NodeData, Refusal, RegistryCenter, RegistryError, Transaction};
use elasticjob::runtime::JobEnvironment;
use serde::Serialize;
use serde_json::Value;

use super::nodes::{DIRECTORIES, JOBS, Node, TAKEN};
use super::registrations::Registrations;
use super::stops::{Running, wish};
use crate::carrier::{Carrier, digest};
use crate::model::{App, CarriedJob, ExecutionType, Problem, Problems, camel_case, unmasked};
use crate::texts;
use copy::DiskCopy;

/// How often a write is tried when other clients write the same.
const ATTEMPTS: usize = 8;

/// A registration was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Its content cannot be used.
    Invalid(#[from] Problems),
    /// There is no such application.
    NoSuchApp(String),
    /// There is no such job.
    NoSuchJob(JobName),
    /// It is registered already.
    AppExists(String),
    /// It is registered already.
    JobExists(JobName),
    /// Other clients wrote each time.
    Contended,
    /// The registry center did not answer a read.
    Read(#[from] RegistryError),
    /// The jobs that a job runs after could not be looked at.
    Unchecked {
        /// The job.
        job: JobName,
        /// Why.
        why: OperationError,
    },
    /// A scheduler of the same registry center has another carrier.
    OtherCarrier {
        /// The carrier of this one.
        carrier: String,
        /// That of the other one.
        other: String,
        /// The other one.
        scheduler: String,
    },
    /// A scheduler of the registry center has a carrier that keeps its launches at another place.
    OtherPlace {
        /// The place of this one.
        place: String,
        /// That of the other one.
        other: String,
        /// The other one.
        scheduler: String,
    },
    /// A transaction was not applied, or it is not known whether it was.
    Write(#[from] CommitError),
    /// The copy on disk, which an embedded registry needs, cannot be written.
    NotKept {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
}

impl StoreError {
    /// The message: what was not done, why, and what helps.
    pub fn message(&self) -> Message {
        match self {
            Self::Invalid(problems) => problems.message(),
            Self::NoSuchApp(name) => texts::app_not_registered(name),
            Self::NoSuchJob(job) => texts::job_not_registered(job.as_str()),
            Self::AppExists(name) => texts::app_exists(name),
            Self::JobExists(job) => texts::job_exists(job.as_str()),
            Self::Contended => texts::registration_contended(),
            Self::Read(error) => error.message(),
            Self::Unchecked { job, why } => texts::parents_unchecked(job.as_str(), why.message()),
            Self::OtherCarrier { carrier, other, scheduler } => texts::other_carrier(carrier, scheduler, other),
            Self::OtherPlace { place, other, scheduler } => texts::other_place(place, scheduler, other),
            Self::Write(error) => error.message(),
            Self::NotKept { path, cause } => texts::not_kept(path.display().to_string(), cause.to_string()),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// The registrations, for writers. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    registry: Arc<dyn RegistryCenter>,
    carrier: Arc<dyn Carrier>,
    /// That of the jobs: what it has, they can name.
    environment: JobEnvironment,
    /// The copy of an embedded registry, which forgets with its process.
    copy: Option<Arc<DiskCopy>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("registry", &self.registry)
            .field("carrier", &self.carrier.type_name())
            .field("copy", &self.copy.as_ref().map(|copy| copy.path()))
            .finish()
    }
}

impl Store {
    pub(super) fn new(
        registry: Arc<dyn RegistryCenter>,
        carrier: Arc<dyn Carrier>,
        environment: JobEnvironment,
        copy: Option<PathBuf>,
    ) -> Self {
        Self { registry, carrier, environment, copy: copy.map(|path| Arc::new(DiskCopy::new(path))) }
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
        for (path, data) in copy.kept()? {
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

    /// The times at which the jobs were registered, in milliseconds since 1970 by the clock of the registry center.
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

    /// Changes the fields of an application that are given; the others stay, and what runs goes on. The carrier has to be able to
    /// carry each job of it as before: what it cannot is told with the name of the job.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn change_app(&self, change: Value) -> Result<(), StoreError> {
        self.change_app_and(change, Running::GoesOn).await
    }

    /// The same, with what becomes of what runs of all of its jobs.
    pub(crate) async fn change_app_and(&self, change: Value, running: Running) -> Result<(), StoreError> {
        let name = name_in(&change, "appName")?;
        let path = Node::App(name.clone()).path();
        for _ in 0..ATTEMPTS {
            let Some(old) = self.registry.get(&path).await? else { return Err(StoreError::NoSuchApp(name)) };
            let app = App::from_json(merged(value_of(&old), &change))?;
            self.carries_jobs_of(&app).await?;
            let mut transaction = Transaction::new();
            transaction.set(path.as_str(), text_of(&app).as_str(), Some(old.stat.version));
            if running == Running::IsStopped {
                wish(&*self.registry, &mut transaction, &Node::StoppedApp(name.clone())).await?;
            }
            if self.commit(transaction).await? {
                return self.keep().await;
            }
        }
        Err(StoreError::Contended)
    }

    /// Registers a job.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::NoSuchApp`], [`StoreError::JobExists`], or the registry center fails.
    pub async fn add_job(&self, job: Value) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let (job, app) = self.checked(job.clone()).await?;
            let name = job.job_name.clone();
            let path = Node::Job(name.clone()).path();
            if self.registry.get(&path).await?.is_some() {
                return Err(StoreError::JobExists(name));
            }
            let mut transaction = Transaction::new();
            self.follows(&mut transaction, &job, None).await?;
            transaction.create(path, text_of(&job).as_str(), CreateMode::Persistent);
            Self::joins(&mut transaction, &job, app);
            let disabled = Node::DisabledJob(name.clone()).path();
            match (job.disabled, self.registry.get(&disabled).await?) {
                (true, None) => drop(transaction.create(disabled, "", CreateMode::Persistent)),
                // An earlier job of this name left it.
                (false, Some(_)) => drop(transaction.delete(disabled, None)),
                (true, Some(_)) | (false, None) => {}
            }
            if self.commit(transaction).await? {
                return self.keep().await;
            }
        }
        Err(StoreError::Contended)
    }

    /// Changes the fields of a job that are given; the others stay. What runs goes on.
    ///
    /// # Errors
    /// [`StoreError::Invalid`], [`StoreError::NoSuchJob`], [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn change_job(&self, change: Value) -> Result<(), StoreError> {
        self.change_job_and(change, Running::GoesOn).await
    }

    /// The same, with what becomes of what runs.
    pub(crate) async fn change_job_and(&self, change: Value, running: Running) -> Result<(), StoreError> {
        let name = job_name(&name_in(&change, "jobName")?)?;
        let path = Node::Job(name.clone()).path();
        for _ in 0..ATTEMPTS {
            let Some(old) = self.registry.get(&path).await? else { return Err(StoreError::NoSuchJob(name)) };
            let (job, app) = self.checked(merged(value_of(&old), &change)).await?;
            self.switches_nothing(&name, &change).await?;
            let mut transaction = Transaction::new();
            self.follows(&mut transaction, &job, serde_json::from_value(value_of(&old)).ok().as_ref()).await?;
            transaction.set(path.as_str(), text_of(&job).as_str(), Some(old.stat.version));
            if running == Running::IsStopped {
                wish(&*self.registry, &mut transaction, &Node::StoppedJob(name.clone())).await?;
            }
            Self::joins(&mut transaction, &job, app);
            if self.commit(transaction).await? {
                return self.keep().await;
            }
        }
        Err(StoreError::Contended)
    }

    /// Refuses a change by which a job would be disabled or enabled. To disable it stops what runs, and both are done by operators.
    async fn switches_nothing(&self, name: &JobName, change: &Value) -> Result<(), StoreError> {
        let Some(disabled) = change.get("disabled") else { return Ok(()) };
        let is_disabled = self.registry.get(&Node::DisabledJob(name.clone()).path()).await?.is_some();
        // The default is false.
        match disabled.as_bool().unwrap_or_default() == is_disabled {
            true => Ok(()),
            false => Err(Problems(vec![Problem::new("disabled", texts::disabled_is_switched())]).into()),
        }
    }

    /// Writes the application of a job as it is, so that a removal of the application that has not seen the job is refused.
    fn joins(transaction: &mut Transaction, job: &CarriedJob, app: NodeData) {
        transaction.set(Node::App(job.app_name.clone()).path(), app.data, Some(app.stat.version));
    }

    /// Disables or enables an application with all of its jobs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchApp`], or the registry center fails.
    pub async fn switch_app(&self, name: &str, enabled: bool) -> Result<(), StoreError> {
        let (app, mark) = (Node::App(name.to_owned()), Node::DisabledApp(name.to_owned()));
        self.switch(app, mark, enabled, || StoreError::NoSuchApp(name.to_owned())).await
    }

    /// Disables or enables a job.
    ///
    /// # Errors
    /// [`StoreError::NoSuchJob`], or the registry center fails.
    pub async fn switch_job(&self, name: &JobName, enabled: bool) -> Result<(), StoreError> {
        let (job, mark) = (Node::Job(name.clone()), Node::DisabledJob(name.clone()));
        self.switch(job, mark, enabled, || StoreError::NoSuchJob(name.clone())).await
    }

    /// Makes or deletes the mark that something is disabled, as long as it is registered.
    async fn switch(
        &self,
        of: Node,
        mark: Node,
        enabled: bool,
        missing: impl Fn() -> StoreError,
    ) -> Result<(), StoreError> {
        let mut transaction = Transaction::new();
        let registered = transaction.check(of.path(), None);
        match enabled {
            true => transaction.delete(mark.path(), None),
            false => transaction.create(mark.path(), "", CreateMode::Persistent),
        };
        match self.registry.commit(transaction).await {
            Err(CommitError::Refused { index, reason: Refusal::NoNode, .. }) if index == registered => Err(missing()),
            // It is so already.
            Ok(_) | Err(CommitError::Refused { reason: Refusal::NoNode | Refusal::NodeExists, .. }) => {
                self.keep().await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A job whose name is free, whose application is registered, and which the carrier can carry and this program can start, with the
    /// application.
    async fn checked(&self, job: Value) -> Result<(CarriedJob, NodeData), StoreError> {
        let job = CarriedJob::from_json(job)?;
        if TAKEN.contains(&job.job_name.as_str()) {
            return Err(Problems(vec![Problem::new("jobName", texts::name_of_node())]).into());
        }
        let node = self.registry.get(&Node::App(job.app_name.clone()).path()).await?;
        let node = node.ok_or_else(|| StoreError::NoSuchApp(job.app_name.clone()))?;
        let app: App = serde_json::from_str(node.data.text().unwrap_or_default())
            .map_err(|error| Problems(vec![Problem::new("appName", texts::app_unusable(error.to_string()))]))?;
        let mut problems = self.carrier.check(&app, &job);
        problems.extend(self.problems_at_start(&job));
        if problems.is_empty() { Ok((job, node)) } else { Err(Problems(problems).into()) }
    }

    /// What keeps this program from starting a job, as the type of an error handler that it does not have. The program of a `DAEMON`
    /// job has its own.
    fn problems_at_start(&self, job: &CarriedJob) -> Vec<Problem> {
        if job.job_execution_type == ExecutionType::Daemon {
            return Vec::new();
        }
        let (catalog, configuration) = (self.environment.catalog(), job.configuration());
        let of_catalog = catalog.problems(&configuration).into_iter();
        let of_host = catalog.error_handlers().problems_at_start(&configuration);
        let of_size = configuration.problems_of_size();
        let all = of_catalog.chain(of_host).chain(of_size);
        all.map(|problem| Problem::new(camel_case(&problem.setting), problem.reason)).collect()
    }

    /// Asks the carrier whether it can carry each job of an application as the application will be. What is wrong with the job alone
    /// was so before, and does not refuse a change of the application.
    async fn carries_jobs_of(&self, app: &App) -> Result<(), StoreError> {
        let all = self.registrations().await?;
        let before = all.apps.get(&app.app_name);
        // Jobs of an application often have the same problem, which is told once for all of them.
        let mut problems: Vec<(Problem, Vec<&JobName>)> = Vec::new();
        for job in all.jobs.values().filter(|job| job.app_name == app.app_name) {
            let known = before.map(|before| self.carrier.check(before, job)).unwrap_or_default();
            let is_new = |problem: &Problem| !known.iter().any(|known| known.field == problem.field);
            for problem in self.carrier.check(app, job).into_iter().filter(is_new) {
                match problems.iter_mut().find(|(told, _)| *told == problem) {
                    Some((_, jobs)) => jobs.push(&job.job_name),
                    None => problems.push((problem, vec![&job.job_name])),
                }
            }
        }
        let told =
            problems.into_iter().map(|(problem, jobs)| Problem::new(problem.field, of_jobs(&jobs, problem.reason)));
        let told: Vec<Problem> = told.collect();
        if told.is_empty() { Ok(()) } else { Err(Problems(told).into()) }
    }

    /// Returns whether it was applied; else another client wrote the same since it was read.
    async fn commit(&self, transaction: Transaction) -> Result<bool, StoreError> {
        match self.registry.commit(transaction).await {
            Ok(_) => Ok(true),
            Err(CommitError::Refused {
                reason: Refusal::BadVersion | Refusal::NoNode | Refusal::NodeExists, ..
            }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn create(&self, path: &str, data: &str) -> Result<(), StoreError> {
        let mut transaction = Transaction::new();
        transaction.create(path, data, CreateMode::Persistent);
        self.registry.commit(transaction).await?;
        Ok(())
    }

    /// Writes the copy on disk, where there is one.
    async fn keep(&self) -> Result<(), StoreError> {
        let Some(copy) = &self.copy else { return Ok(()) };
        copy.write(&*self.registry).await
    }
}

/// The same problem of these jobs, of which the first five are named.
fn of_jobs(jobs: &[&JobName], reason: Message) -> Message {
    const NAMED: usize = 5;
    let (named, others) = jobs.split_at(jobs.len().min(NAMED));
    let names = named.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    match (named, others.len()) {
        ([one], 0) => texts::of_job(one.as_str(), reason),
        (_, 0) => texts::of_jobs(names, reason),
        (_, more) => texts::of_more_jobs(names, more, reason),
    }
}

/// What a node says; one that cannot be read says nothing.
fn value_of(node: &NodeData) -> Value {
    serde_json::from_str(node.data.text().unwrap_or_default()).unwrap_or(Value::Null)
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
    let missing = || Problems(vec![Problem::new(field, texts::missing_name())]);
    Ok(change.get(field).and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)?)
}

fn job_name(name: &str) -> Result<JobName, StoreError> {
    let wrong =
        |error: elasticjob::ident::InvalidIdent| Problems(vec![Problem::new("jobName", error.message().clone())]);
    Ok(JobName::new(name).map_err(wrong)?)
}
