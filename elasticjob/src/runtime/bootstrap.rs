//! Starting a job by hand: the API below the starter.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use uuid::Uuid;

use super::driver::Job;
use super::environment::JobEnvironment;
use super::handle::{JobHandle, OneOffJob, ScheduleJob, ShutdownMode};
use super::mailbox::Mailbox;
use super::running_jobs::AlreadyThere;
use super::supervisor::{Reader, supervised};
use crate::api::ItemHandler;
use crate::config::{BoundOptions, Invalid, JobConfiguration, unread};
use crate::engine::{Identity, JobEngine};
use crate::ident::JobName;
use crate::job_status::{Activity, JobStatus};
use crate::log::{apart, error, warn};
use crate::operations::{OperationError, closed_cycle, unequal_totals};
use crate::random::random_u64;
use crate::registry::RegistryCenter;
use crate::registry::layout::JobPath;
use crate::spi::Catalog;

/// How long a job may take to join its group.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a new job that cannot follow another one item by item waits for jobs that start beside it and may change that.
const OTHERS_START: Duration = Duration::from_secs(3);

/// How often it looks meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// How long a shutdown waits for error handlers at the least. They must be able to report what fails at the end of the
/// grace time.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A job that cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A job of this kind needs a schedule, or must not have one.
    #[error("job '{job}': {reason}")]
    Kind {
        /// The job.
        job: JobName,
        /// The reason.
        reason: &'static str,
    },
    /// Settings that this version, or this program, does not support.
    #[error("job '{job}': {}", .refused.join("; "))]
    Unsupported {
        /// The job.
        job: JobName,
        /// The settings.
        refused: Vec<String>,
    },
    /// The configuration in the registry cannot be used. The job was started all the same: it joins its group as soon
    /// as the configuration is corrected. Shut the job down to give up.
    #[error(
        "job '{job}' waits: its configuration in the registry cannot be used: {why}; correct it there, or start once with \
         `overwrite: true`"
    )]
    WaitsForConfiguration {
        /// The job.
        job: JobName,
        /// The reason why the configuration cannot be used.
        why: String,
    },
    /// It was started before.
    #[error("job '{job}' was started before")]
    StartedBefore {
        /// The job.
        job: JobName,
    },
    /// The group refused the job.
    #[error("job '{job}' did not start: {why}")]
    Refused {
        /// The job.
        job: JobName,
        /// Why, and what to do.
        why: String,
    },
    /// The registry center did not answer.
    #[error("job '{job}' did not start: the registry center did not answer within {} s", START_TIMEOUT.as_secs())]
    TimedOut {
        /// The job.
        job: JobName,
    },
}

/// The parts that both kinds of bootstraps share.
struct Bootstrap {
    name: JobName,
    environment: JobEnvironment,
    handle: JobHandle,
    /// Properties that no code reads.
    unread: Vec<Invalid>,
    /// Boxed, so that it takes no place here after the start, nor in the task that drives it.
    job: Option<Box<Job>>,
}

impl fmt::Debug for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bootstrap")
            .field("job", &self.name)
            .field("started", &self.job.is_none())
            .finish_non_exhaustive()
    }
}

/// Makes the job leave when its start is dropped, times out or fails, however far the start has come.
struct UnlessJoined<'a>(Option<&'a JobHandle>);

impl Drop for UnlessJoined<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.0 {
            handle.shutdown(ShutdownMode::Now);
        }
    }
}

/// Refuses a job that would wait for itself, over the jobs that it runs after, and one that is new in the registry center and
/// cannot follow another one item by item.
///
/// It borrows no engine, as [`enter`] does not.
fn refuse_cycle(name: &JobName, job: &Job) -> impl Future<Output = Result<(), StartError>> + Send + use<> {
    let configuration = job.engine.local_configuration().clone();
    let (name, registry) = (name.clone(), job.registry.clone());
    async move {
        if configuration.depends_on().is_empty() {
            return Ok(());
        }
        let refused = async {
            match closed_cycle(&*registry, &configuration).await? {
                None => unequal_when_new(&*registry, &configuration).await,
                cycle => Ok::<_, OperationError>(cycle),
            }
        };
        match tokio::time::timeout(START_TIMEOUT, refused).await {
            Ok(Ok(Some(problem))) => Err(StartError::Unsupported { job: name, refused: vec![problem.to_string()] }),
            // The start says by itself that the registry center is away.
            _ => Ok(()),
        }
    }
}

/// Job that is new in the registry center, and has another number of items than a job that it follows item by item. One that is
/// there already starts: an operator may be about to change both, and no fire begins before they are equal. So may a job of
/// this program that starts at this moment.
async fn unequal_when_new(
    registry: &dyn RegistryCenter,
    configuration: &JobConfiguration,
) -> Result<Option<Invalid>, OperationError> {
    let config = JobPath::Config.absolute(configuration.job_name());
    for _ in 0..OTHERS_START.as_millis() / LOOK_AGAIN.as_millis() {
        if registry.get(&config).await?.is_some() {
            return Ok(None);
        }
        match unequal_totals(registry, configuration).await? {
            None => return Ok(None),
            Some(_) => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
    unequal_totals(registry, configuration).await
}

/// The configuration and the handler of a job of a type.
fn of_type(
    environment: &JobEnvironment,
    job_type: &str,
    configuration: JobConfiguration,
) -> Result<(JobConfiguration, ItemHandler), StartError> {
    let refuse = |why: String| StartError::Unsupported { job: configuration.job_name().clone(), refused: vec![why] };
    if let Some(other) = configuration.job_type().filter(|named| *named != job_type) {
        return Err(refuse(format!(
            "elastic-job-type: its configuration names '{other}', and its bootstrap '{job_type}'"
        )));
    }
    match environment.catalog().job_types().get(job_type) {
        Ok(found) => Ok((configuration.of_type(job_type), found.handler().clone())),
        Err(unknown) => Err(refuse(format!("elastic-job-type: {unknown}"))),
    }
}

/// Warns of a job that runs commands or asks addresses while everyone who reaches the registry center can write it.
fn warn_of_open(name: &JobName, job: &Job) {
    let runs_commands = job.handler.bound_options().iter().any(|bound| matches!(bound, BoundOptions::Command(_)));
    if !runs_commands || !job.registry.is_open() {
        return;
    }
    let local = job.engine.local_configuration();
    let is_allowed = job.handler.bound_options().iter().any(|bound| bound.is_allowed_by(local));
    let job = name.clone();
    apart(move || match is_allowed {
        true => error!(
            %job,
            "everyone who reaches the registry center can have this host run any command or ask any address: \
             `...from-registry` is set, and the namespace is open; close it as the warning about the namespace says (docs/security.md)"
        ),
        false => warn!(
            %job,
            "everyone who reaches the registry center decides when this job runs, and with which parameters, and it runs \
             commands or sends requests: the namespace is open; close it as the warning about the namespace says (docs/security.md)"
        ),
    });
}

/// The options that the registry center does not decide alone. Usually all jobs of a process share the list.
fn bound_options(catalog: &Catalog, handler: &ItemHandler) -> Arc<[BoundOptions]> {
    let (known, own) = (catalog.bound_options(), handler.bound_options());
    match own.iter().all(|bound| known.contains(bound)) {
        true => known.clone(),
        false => known.iter().chain(own).copied().collect(),
    }
}

/// Waits until the last job of this name has left, and takes its place. Returns the last job where its code may go on.
///
/// It borrows no engine, which may not be used by two threads: so a start can be awaited on any thread.
async fn enter(
    name: &JobName,
    environment: &JobEnvironment,
    handle: &JobHandle,
    registry: &Arc<dyn RegistryCenter>,
) -> Result<Option<JobHandle>, StartError> {
    let entering = environment.members().enter(registry, name, handle);
    let why = match tokio::time::timeout(START_TIMEOUT, entering).await {
        Ok(Ok(last)) => return Ok(last),
        Ok(Err(AlreadyThere)) => {
            "a job of this name runs in this process already; shut it down first, or give this one another name"
                .to_owned()
        }
        Err(_) => {
            let waited = START_TIMEOUT.as_secs();
            format!("the last job of this name in this process is still leaving, after {waited} s")
        }
    };
    Err(StartError::Refused { job: name.clone(), why })
}

impl Bootstrap {
    fn new(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        configuration: JobConfiguration,
        handler: ItemHandler,
    ) -> Result<Self, StartError> {
        let name = configuration.job_name().clone();
        let catalog = environment.catalog();
        let wrong = [
            catalog.problems(&configuration),
            catalog.error_handlers().problems_at_start(&configuration),
            handler.problems_of_program(&configuration),
            configuration.problems_of_size(),
        ];
        let wrong = wrong.concat();
        let refused: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        if !refused.is_empty() {
            return Err(StartError::Unsupported { job: name, refused });
        }
        let options = [handler.options(), catalog.error_handlers().options(&configuration)];
        let unread = options.iter().flat_map(|names| unread(&configuration, names)).collect();
        let instance = environment.instance_id().clone();
        let identity = Identity {
            base: instance.clone(),
            instance: instance.clone(),
            suffix: random_u64() as u16,
            candidate: Uuid::new_v4().to_string(),
            nonce: random_u64() as u32,
        };
        let strategies = catalog.sharding_strategies().clone();
        let engine = JobEngine::new(identity, Arc::new(configuration), strategies);
        let engine = engine
            .with_listeners(catalog.known_listeners().clone())
            .with_check(catalog.check().and(handler.check()))
            .with_bound_options(bound_options(catalog, &handler))
            .with_namespace(registry.namespace_bytes());
        let engine = Box::new(engine);
        let not_started = JobStatus { activity: Activity::NotStarted, ..engine.status() };
        let (status, receiver) = watch::channel(not_started);
        let mailbox = Arc::new(Mailbox::new());
        let handle = JobHandle::new(name.clone(), mailbox.clone(), receiver);
        let job = Box::new(Job { environment: environment.clone(), registry, handler, engine, mailbox, status });
        Ok(Self { name, environment: environment.clone(), handle, unread, job: Some(job) })
    }

    async fn start(&mut self) -> Result<(), StartError> {
        let Some(job) = self.job.take() else { return Err(StartError::StartedBefore { job: self.name.clone() }) };
        for unread in std::mem::take(&mut self.unread) {
            let job = self.name.clone();
            apart(move || warn!(%job, "{unread}"));
        }
        warn_of_open(&self.name, &job);
        refuse_cycle(&self.name, &job).await?;
        // When the start is given up halfway, this closes the mailbox, so that the next job of this name does not wait
        // for it.
        let reader = Reader::of(&job);
        let last = enter(&self.name, &self.environment, &self.handle, &job.registry).await?;
        let (started, outcome) = oneshot::channel();
        // From here on the task owns the place of the job. It notices when the bootstrap does not wait for the outcome
        // any more.
        self.environment.system().spawn(supervised(job, last, started, reader));
        let mut gives_up = UnlessJoined(Some(&self.handle));
        match tokio::time::timeout(START_TIMEOUT, outcome).await {
            Ok(Ok(Ok(()))) => {
                gives_up.0 = None;
                self.joined()
            }
            Ok(Ok(Err(why))) => Err(StartError::Refused { job: self.name.clone(), why }),
            Ok(Err(_)) => Err(StartError::Refused {
                job: self.name.clone(),
                why: "its coordination ended; the log says why, unless the program is being stopped".to_owned(),
            }),
            Err(_) if self.handle.status().activity == Activity::NotStarted => Err(StartError::Refused {
                job: self.name.clone(),
                why: format!(
                    "what the last job of this name left in the registry center could not be deleted within {} s; the log says \
                     why",
                    START_TIMEOUT.as_secs()
                ),
            }),
            Err(_) => Err(StartError::TimedOut { job: self.name.clone() }),
        }
    }

    /// `Ok` when the job is in its group; an error when it waits for a configuration.
    fn joined(&self) -> Result<(), StartError> {
        let status = self.handle.status();
        match (status.activity, status.refused_configuration) {
            (Activity::Joining, Some(why)) => {
                Err(StartError::WaitsForConfiguration { job: self.name.clone(), why: why.to_string() })
            }
            _ => Ok(()),
        }
    }

    async fn shutdown(&mut self, mode: ShutdownMode) {
        self.job = None;
        let asked = Instant::now();
        self.handle.shutdown(mode);
        self.handle.stopped().await;
        let left = match mode {
            ShutdownMode::Graceful => self.environment.shutdown_grace().saturating_sub(asked.elapsed()),
            ShutdownMode::Now => Duration::ZERO,
        };
        self.environment.failures().told(&self.name, left.max(LAST_WORDS)).await;
    }
}

/// A job with a schedule, before and after its start.
///
/// # Examples
/// ```
/// use elasticjob::api::{ShardingContext, item_handler};
/// use elasticjob::config::JobConfiguration;
/// use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap, ShutdownMode};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let environment = JobEnvironment::builder().build()?;
/// let registry = environment.embedded_registry();
/// let configuration = JobConfiguration::builder("sync-orders", 3).cron("0/5 * * * * ?").build()?;
/// let handler = item_handler(|context: ShardingContext| async move {
///     println!("item {}", context.sharding_item());
/// });
/// let mut job = ScheduleJobBootstrap::new(&environment, registry, configuration, handler)?;
/// job.schedule().await?;
/// job.shutdown(ShutdownMode::Graceful).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ScheduleJobBootstrap(Bootstrap);

impl ScheduleJobBootstrap {
    /// Makes the job without starting it. Nothing is written to the registry yet.
    ///
    /// # Errors
    /// [`StartError`] when the configuration has no schedule, or asks for something that this program does not have.
    pub fn new(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        configuration: JobConfiguration,
        handler: ItemHandler,
    ) -> Result<Self, StartError> {
        if !configuration.fires_by_itself() {
            let job = configuration.job_name().clone();
            return Err(StartError::Kind { job, reason: "a scheduled job needs `cron` or `depends-on`" });
        }
        Bootstrap::new(environment, registry, configuration, handler).map(Self)
    }

    /// Makes a job of a type that the environment's [catalog](JobEnvironment::catalog) has, which needs no code: `SCRIPT`,
    /// `HTTP`, or an own one.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new); the type does not exist, or the configuration names another type.
    ///
    /// # Examples
    /// ```
    /// # use elasticjob::config::JobConfiguration;
    /// # use elasticjob::runtime::{JobEnvironment, ScheduleJobBootstrap};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let environment = JobEnvironment::builder().build()?;
    /// # let registry = environment.embedded_registry();
    /// let backup = JobConfiguration::builder("backup", 1).cron("0 30 2 * * ?").prop("script.command.line", "/opt/backup.sh");
    /// let job = ScheduleJobBootstrap::of_type(&environment, registry, "SCRIPT", backup.build()?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn of_type(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        job_type: &str,
        configuration: JobConfiguration,
    ) -> Result<Self, StartError> {
        let (configuration, handler) = of_type(environment, job_type, configuration)?;
        Self::new(environment, registry, configuration, handler)
    }

    /// The handle. It can be used before the start: until then it answers that the job is not running.
    pub fn handle(&self) -> ScheduleJob {
        ScheduleJob::new(self.0.handle.clone())
    }

    /// Joins the group and follows the schedule from now on. Completes when the instance is registered. Dropping the
    /// future before that gives the start up: the job leaves again, as by [`ShutdownMode::Now`].
    ///
    /// # Errors
    /// [`StartError`] says why the group refused the job. After [`StartError::WaitsForConfiguration`] the job still
    /// tries to join.
    pub async fn schedule(&mut self) -> Result<(), StartError> {
        self.0.start().await
    }

    /// Leaves the group and completes when the job has left. Items that run may finish first, see [`ShutdownMode`].
    /// Then it waits for error handlers that still report failures: for the rest of the grace time, and 3 s at the
    /// least. Failures that they have not reported by then are logged.
    pub async fn shutdown(&mut self, mode: ShutdownMode) {
        self.0.shutdown(mode).await;
    }
}

/// A job without a schedule, before and after its start. It runs when it is asked to, see [`OneOffJob::execute`].
#[derive(Debug)]
pub struct OneOffJobBootstrap(Bootstrap);

impl OneOffJobBootstrap {
    /// Makes the job without starting it. Nothing is written to the registry yet.
    ///
    /// # Errors
    /// [`StartError`] when the configuration has a schedule, or asks for something that this program does not have.
    pub fn new(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        configuration: JobConfiguration,
        handler: ItemHandler,
    ) -> Result<Self, StartError> {
        if configuration.fires_by_itself() {
            let job = configuration.job_name().clone();
            return Err(StartError::Kind { job, reason: "a one-off job must not have `cron` or `depends-on`" });
        }
        Bootstrap::new(environment, registry, configuration, handler).map(Self)
    }

    /// Makes a job of a type, as [`ScheduleJobBootstrap::of_type`] does.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new); the type does not exist, or the configuration names another type.
    pub fn of_type(
        environment: &JobEnvironment,
        registry: Arc<dyn RegistryCenter>,
        job_type: &str,
        configuration: JobConfiguration,
    ) -> Result<Self, StartError> {
        let (configuration, handler) = of_type(environment, job_type, configuration)?;
        Self::new(environment, registry, configuration, handler)
    }

    /// The handle. It can be used before the start: until then it answers that the job is not running.
    pub fn handle(&self) -> OneOffJob {
        OneOffJob::new(self.0.handle.clone())
    }

    /// Joins the group. Completes when the instance is registered. Dropping the future before that gives the start up:
    /// the job leaves again, as by [`ShutdownMode::Now`].
    ///
    /// # Errors
    /// [`StartError`] says why the group refused the job. After [`StartError::WaitsForConfiguration`] the job still
    /// tries to join.
    pub async fn start(&mut self) -> Result<(), StartError> {
        self.0.start().await
    }

    /// Leaves the group and completes when the job has left. Items that run may finish first, see [`ShutdownMode`].
    /// Then it waits for error handlers that still report failures: for the rest of the grace time, and 3 s at the
    /// least. Failures that they have not reported by then are logged.
    pub async fn shutdown(&mut self, mode: ShutdownMode) {
        self.0.shutdown(mode).await;
    }
}
