//! Starts a job by hand: the API below the starter.

mod checks;
mod one_off;
mod schedule;
mod start_error;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use uuid::Uuid;

use self::checks::{bound_options, refuse_cycle, warn_of_open};
pub use self::one_off::OneOffJobBootstrap;
pub use self::schedule::ScheduleJobBootstrap;
pub use self::start_error::StartError;
use super::driver::Job;
use super::environment::JobEnvironment;
use super::handle::{JobHandle, ShutdownMode};
use super::mailbox::Mailbox;
use super::running_jobs::NoPlace;
use super::supervisor::{Reader, supervised};
use crate::api::ItemHandler;
use crate::config::{Invalid, JobConfiguration, unread};
use crate::engine::{Identity, JobEngine};
use crate::ident::JobName;
use crate::job_status::{Activity, JobStatus};
use crate::log::{apart, warn};
use crate::random::random_u64;
use crate::registry::RegistryCenter;

/// How long a job may take to join its group.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a shutdown waits for error handlers at the least. They must be able to report what fails at the end of the
/// grace time.
const LAST_WORDS: Duration = Duration::from_secs(3);

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
        Ok(Err(NoPlace::AlreadyThere)) => {
            "a job of this name runs in this process already; shut it down first, or give this one another name"
                .to_owned()
        }
        Ok(Err(NoPlace::RuntimeEnded)) => {
            "the tokio runtime that its environment was made in has ended; make an environment inside of the one that runs now"
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
        let handle = JobHandle::new(name.clone(), mailbox.clone(), receiver).called_in(environment.caller());
        let job = Box::new(Job {
            environment: environment.clone(),
            registry,
            handler,
            engine,
            mailbox,
            status,
            refusal: None,
        });
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
            ShutdownMode::Now | ShutdownMode::Restart => Duration::ZERO,
        };
        self.environment.failures().told(&self.name, left.max(LAST_WORDS)).await;
    }
}
