//! The application: the started jobs with their registry centers, and their shutdown.

mod builder;
mod carried;
mod centers;
mod console;
mod dump;
mod jobs;
mod metrics;
mod run;
mod signals;
mod start;
mod tracing;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::__private::log::{apart, error, info, warn};
use elasticjob::ident::JobName;
use elasticjob::operations::dump::DumpPort;
use elasticjob::registry::{RegistryCenter, SessionState};
use elasticjob::runtime::{Activity, JobStatus, OneOffJob, ScheduleJob, ShutdownMode};
use elasticjob::trace::Tracing;
use futures_util::StreamExt;
use futures_util::future::{join_all, select_all};
use futures_util::stream::FuturesUnordered;
use tokio::sync::watch;

pub use builder::ElasticJobAppBuilder;
use carried::CarriedRun;
use console::ConsolePort;
use jobs::{Handle, Job};
use metrics::MetricsPort;
pub use signals::Signals;

use crate::AppError;
use crate::settings::DEFAULT;

/// The started jobs of a program.
///
/// [`ElasticJobAppBuilder::run`] makes one and ends it. One of [`ElasticJobAppBuilder::start`] is ended with
/// [`until_shutdown`](Self::until_shutdown) or [`shutdown`](Self::shutdown). When it is only dropped, the
/// jobs end with the process, and their instance stays in the registry until its session expires.
pub struct ElasticJobApp {
    /// Behind a lock that is never waited for: so references to an application can be used on any thread.
    jobs: Mutex<Vec<Job>>,
    handles: BTreeMap<String, Handle>,
    /// The registry centers of the settings. The owner of a registry center that was given to the builder closes it.
    /// Those that the application closes.
    own_centers: Vec<Arc<dyn RegistryCenter>>,
    /// Those that its jobs belong to.
    job_centers: Vec<Arc<dyn RegistryCenter>>,
    tracings: BTreeMap<String, Tracing>,
    dump: Option<DumpPort>,
    console: Option<ConsolePort>,
    metrics: Option<MetricsPort>,
    /// The items of a carried job that the program was started for, in place of its jobs.
    carried: Option<CarriedRun>,
    enabled: bool,
    grace: Duration,
}

/// How long a shutdown waits for the storage of tracing after all jobs have left.
const TRACING_GRACE: Duration = Duration::from_secs(3);

impl ElasticJobApp {
    /// An application that reads the settings of this process.
    pub fn builder() -> ElasticJobAppBuilder {
        ElasticJobAppBuilder::new()
    }

    /// An application that has made none of the jobs of its program.
    fn without_jobs(grace: Duration) -> Self {
        Self {
            jobs: Mutex::default(),
            handles: BTreeMap::new(),
            own_centers: Vec::new(),
            job_centers: Vec::new(),
            tracings: BTreeMap::new(),
            dump: None,
            console: None,
            metrics: None,
            carried: None,
            enabled: true,
            grace,
        }
    }

    /// Whether jobs were started: the setting `elasticjob.enabled`.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The tracing of `elasticjob.tracing`, `None` when it is not set. It counts the events that were written, and
    /// those that were lost.
    pub fn tracing(&self) -> Option<&Tracing> {
        self.tracings.get(DEFAULT)
    }

    /// The tracing of `elasticjob.tracings` that has this name; `None` where there is none, or no job refers to it.
    pub fn tracing_named(&self, name: &str) -> Option<&Tracing> {
        self.tracings.get(name)
    }

    /// The address of the dump port, `None` when `elasticjob.dump.port` is not set. With port 0 it has the port that
    /// was free.
    pub fn dump_address(&self) -> Option<SocketAddr> {
        self.dump.as_ref().map(DumpPort::address)
    }

    /// The address of the start page of the console, `None` when `elasticjob.console.port` is not set. With port 0 it has
    /// the port that was free.
    pub fn console_url(&self) -> Option<&str> {
        self.console.as_ref().map(ConsolePort::url)
    }

    /// The address of the metrics port, `None` when `elasticjob.metrics.port` is not set. With port 0 it has the port that
    /// was free.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(MetricsPort::address)
    }

    /// The handle of a one-off job by its bean name: `job-bootstrap-bean-name`, else the name of the job and
    /// `OneOffJobBootstrap`.
    ///
    /// # Errors
    /// [`AppError::NoSuchJob`] with the names that exist; [`AppError::Disabled`] when no job was started.
    pub fn one_off_job(&self, bean: &str) -> Result<OneOffJob, AppError> {
        match self.handles.get(bean) {
            Some(Handle::OneOff(job)) => Ok(job.clone()),
            _ => Err(self.no_such_job(bean, "one-off job", |handle| matches!(handle, Handle::OneOff(_)))),
        }
    }

    /// The handle of a job with a schedule by its bean name: `job-bootstrap-bean-name`, else the name of the job and
    /// `ScheduleJobBootstrap`.
    ///
    /// # Errors
    /// [`AppError::NoSuchJob`] with the names that exist; [`AppError::Disabled`] when no job was started.
    pub fn schedule_job(&self, bean: &str) -> Result<ScheduleJob, AppError> {
        match self.handles.get(bean) {
            Some(Handle::Schedule(job)) => Ok(job.clone()),
            _ => Err(self.no_such_job(bean, "scheduled job", |handle| matches!(handle, Handle::Schedule(_)))),
        }
    }

    fn no_such_job(&self, bean: &str, wanted: &'static str, is_wanted: impl Fn(&Handle) -> bool) -> AppError {
        if !self.enabled {
            return AppError::Disabled { bean: bean.to_owned() };
        }
        let names: Vec<&str> =
            self.handles.iter().filter(|(_, handle)| is_wanted(handle)).map(|(name, _)| name.as_str()).collect();
        let mut known = match self.handles.get(bean) {
            Some(Handle::OneOff(_)) => "it is a one-off job: ask for it with `one_off_job`; ".to_owned(),
            Some(Handle::Schedule(_)) => "it is a scheduled job: ask for it with `schedule_job`; ".to_owned(),
            None => String::new(),
        };
        known.push_str(&if names.is_empty() {
            "there is none".to_owned()
        } else {
            format!("known: {}", names.join(", "))
        });
        AppError::NoSuchJob { bean: bean.to_owned(), wanted, known }
    }

    /// Waits for SIGTERM or Ctrl-C, then shuts down: running items may finish within the grace time
    /// (`elasticjob.shutdown.grace`), and the instance leaves the registry. Error handlers may report failures until
    /// that time is over, for 3 s at the least. A signal during the shutdown cuts items off at once. The same signal
    /// again within a second does not count: some programs send one to the process and one to its group.
    ///
    /// It hears of signals from its call on. One that comes while [`start`](ElasticJobAppBuilder::start) still goes on ends the
    /// process at once, with its runs: [`run`](ElasticJobAppBuilder::run) hears of that one too.
    ///
    /// # Errors
    /// [`AppError::Signals`] when signals cannot be received; [`AppError::RegistryClosed`] when the registry center is
    /// closed for good meanwhile, for example because it refuses the digest after it was away; [`AppError::JobFailed`]
    /// when the coordination of a job ended by a bug several times in a row: the other jobs have the grace time then, too.
    /// A supervisor that restarts the program then starts all jobs again.
    ///
    /// A program that a scheduler of carried jobs started runs the items that it was started for, and is then over:
    /// [`AppError::Carried`] when one of them failed.
    pub async fn until_shutdown(self) -> Result<(), AppError> {
        self.until_shutdown_or(std::future::pending()).await
    }

    /// The same, but it also shuts down when `end` completes.
    ///
    /// # Errors
    /// The errors of [`until_shutdown`](Self::until_shutdown).
    pub async fn until_shutdown_or(mut self, end: impl Future<Output = ()>) -> Result<(), AppError> {
        let mut signals = Signals::listen()?;
        if let Some(run) = self.carried.take() {
            return run.run(self.grace, &mut signals).await;
        }
        let end = async {
            end.await;
            Ok(())
        };
        let ended = self.ended(&mut signals, end).await;
        self.leave_for(ended, signals).await
    }

    /// Waits until there is a reason to shut down. `program` is what runs beside the jobs.
    async fn ended<E>(&self, signals: &mut Signals, program: impl Future<Output = Result<(), E>>) -> End<E> {
        tokio::select! {
            signal = signals.next() => End::Signal(signal),
            ended = program => End::Program(ended),
            () = closed(self.job_centers.clone()) => End::RegistryClosed,
            (job, why) = failed(self.statuses()) => End::JobFailed { job, why },
        }
    }

    /// Shuts down for this reason. A further signal cuts off what still runs.
    async fn leave_for<E: From<AppError>>(mut self, end: End<E>, mut signals: Signals) -> Result<(), E> {
        let (why, ended) = match end {
            End::Signal(signal) => (signal, Ok(())),
            End::Program(ended) => ("the program ends", ended),
            End::RegistryClosed => {
                self.leave(ShutdownMode::Now).await;
                return Err(AppError::RegistryClosed.into());
            }
            End::JobFailed { job, why } => {
                let (name, panic) = (job.clone(), why.clone());
                apart(move || {
                    error!("shutting down: the coordination of job '{name}' ended by a bug again and again: {panic}");
                });
                ("a job has failed", Err(AppError::JobFailed { job, why }.into()))
            }
        };
        let grace = self.grace;
        apart(move || info!("shutting down: {why}; running items have {grace:?} to finish"));
        tokio::select! {
            () = self.leave(ShutdownMode::Graceful) => return ended,
            signal = signals.after(why) => {
                apart(move || warn!("{signal} during the shutdown: running items are cut off"));
            }
        }
        self.leave(ShutdownMode::Now).await;
        ended
    }

    /// Shuts down: running items may finish within the grace time, and the instance leaves the registry.
    pub async fn shutdown(mut self) {
        self.leave(ShutdownMode::Graceful).await;
    }

    fn jobs_mut(&mut self) -> &mut [Job] {
        self.jobs.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn statuses(&self) -> Vec<(JobName, watch::Receiver<JobStatus>)> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Job::status).collect()
    }

    async fn leave(&mut self, mode: ShutdownMode) {
        join_all(self.jobs_mut().iter_mut().map(|job| job.shutdown(mode))).await;
        // It stays open until then, as it shows what delays a shutdown.
        if let Some(dump) = self.dump.take() {
            dump.close().await;
        }
        if let Some(console) = self.console.take() {
            console.close().await;
        }
        if let Some(metrics) = self.metrics.take() {
            metrics.close().await;
        }
        join_all(self.own_centers.iter().map(|registry| registry.close())).await;
        join_all(self.tracings.values().map(|tracing| tracing.close(TRACING_GRACE))).await;
    }
}

/// Why an application shuts down.
enum End<E> {
    /// A signal of this name.
    Signal(&'static str),
    /// What runs beside the jobs has ended.
    Program(Result<(), E>),
    RegistryClosed,
    JobFailed {
        job: JobName,
        why: String,
    },
}

/// Completes when a job has failed for good, with the job and the cause.
async fn failed(jobs: Vec<(JobName, watch::Receiver<JobStatus>)>) -> (JobName, String) {
    let mut failures: FuturesUnordered<_> = jobs
        .into_iter()
        .map(|(name, mut status)| async move {
            let failed = status.wait_for(|status| status.activity == Activity::Failed).await;
            // An error means that the job has left.
            failed.ok().map(|status| (name, status.trouble.as_deref().unwrap_or("the log says why").to_owned()))
        })
        .collect();
    while let Some(failure) = failures.next().await {
        if let Some(failure) = failure {
            return failure;
        }
    }
    std::future::pending().await
}

/// Completes when one of these registry centers is closed for good.
async fn closed(registries: Vec<Arc<dyn RegistryCenter>>) {
    let closed = |registry: Arc<dyn RegistryCenter>| async move {
        // An error means that the sender is gone, so no change will come.
        let _ = registry.session().wait_for(|state| *state == SessionState::Closed).await;
    };
    match registries.is_empty() {
        true => std::future::pending().await,
        false => drop(select_all(registries.into_iter().map(|registry| Box::pin(closed(registry)))).await),
    }
}

impl fmt::Debug for ElasticJobApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElasticJobApp")
            .field("enabled", &self.enabled)
            .field("beans", &self.handles.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::registry::memory::MemoryRegistry;

    use super::*;
    use crate::settings::Sources;

    #[tokio::test]
    async fn a_program_whose_registry_center_is_closed_for_good_ends_with_an_error() {
        let nothing = std::env::temp_dir().join("elasticjob-no-such-folder");
        let app = ElasticJobApp::builder().sources(Sources::in_folder(nothing)).start().await.expect("it starts");
        let registry = app.own_centers[0].clone();
        let ended = tokio::join!(app.until_shutdown(), registry.close()).0;
        assert!(matches!(ended, Err(AppError::RegistryClosed)), "{ended:?}");
    }

    #[tokio::test]
    async fn a_program_whose_own_registry_center_is_closed_for_good_ends_with_an_error() {
        let nothing = std::env::temp_dir().join("elasticjob-no-such-folder");
        let center: Arc<dyn RegistryCenter> = Arc::new(MemoryRegistry::new().connect());
        let builder = ElasticJobApp::builder().sources(Sources::in_folder(nothing));
        let app = builder.registry_center("default", center.clone()).start().await.expect("it starts");
        let ended = tokio::join!(app.until_shutdown(), center.close()).0;
        assert!(matches!(ended, Err(AppError::RegistryClosed)), "{ended:?}");
    }
}
