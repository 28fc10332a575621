//! The environment that all jobs of a process share.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::address::{AddressError, AddressPreference, host_address};
use super::clock::{Clock, SystemClock};
use super::failures::Failures;
use super::handle::CallerTrace;
use super::proofs::Proofs;
use super::running_jobs::Members;
use super::system::SystemRuntime;
use super::timers::Timers;
use super::user_runtime;
use crate::api::JobObserver;
use crate::clock::Now;
use crate::engine::AGES;
use crate::executor::Launcher;
use crate::ident::InstanceId;
use crate::registry::memory::MemoryRegistry;
#[cfg(feature = "zookeeper")]
use crate::registry::zookeeper::ZookeeperRegistryCenter;
use crate::registry::zookeeper::{ConnectError, ZookeeperConfiguration};
use crate::registry::{Moment, RegistryCenter};
use crate::schedule::{TimeZone, TimeZoneError};
use crate::spi::{Catalog, CatalogError};
use crate::trace::{Tracing, TracingConfiguration};

/// The default grace time of a shutdown: how long running items may go on.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(25);

/// The pause before the coordination of a job that ended by a bug starts again; doubled for each further end in a row.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// The environment that the jobs of a process share: the runtime of coordination, timers, the address of the host.
///
/// Coordination has a thread of its own, so that jobs which block the threads of the program cost neither the session
/// with the registry center nor the punctuality of other jobs. Cheap to clone; it lives as long as a clone of it or a
/// running job.
#[derive(Clone)]
pub struct JobEnvironment {
    shared: Arc<Shared>,
    shutdown_grace: Duration,
    tracing: Option<Tracing>,
    observer: Option<Arc<dyn JobObserver>>,
    caller: CallerTrace,
}

struct Shared {
    system: SystemRuntime,
    user: Handle,
    launcher: Launcher,
    timers: Timers,
    clock: Arc<dyn Clock>,
    /// The origin of the time that engines count.
    origin: Duration,
    instance: InstanceId,
    local_zone: TimeZone,
    restart_pause: Duration,
    catalog: Catalog,
    members: Arc<Members>,
    proofs: Proofs,
    failures: Failures,
}

/// The environment cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// The thread for coordination could not be started.
    #[error("cannot start the thread for coordination: {0}")]
    Runtime(#[from] io::Error),
    /// There is no address for the instance id.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The time zone of the process is not understood.
    #[error(transparent)]
    TimeZone(#[from] TimeZoneError),
    /// Two own implementations have the same name.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The call was made outside of a tokio runtime.
    #[error("no tokio runtime runs here: make the environment inside of one, for example under #[tokio::main]")]
    NoRuntime,
}

/// Builds a [`JobEnvironment`].
#[derive(Debug, Clone, Default)]
pub struct JobEnvironmentBuilder {
    interface: Option<String>,
    ip: Option<String>,
    shutdown_grace: Option<Duration>,
    restart_pause: Option<Duration>,
    catalog: Option<Catalog>,
}

impl JobEnvironmentBuilder {
    /// The network interface whose address names this host, by name.
    #[must_use]
    pub fn preferred_network_interface(mut self, interface: Option<String>) -> Self {
        self.interface = interface;
        self
    }

    /// The address that names this host: the beginning of it, or a pattern such as `192\.168\..*`.
    #[must_use]
    pub fn preferred_network_ip(mut self, ip: Option<String>) -> Self {
        self.ip = ip;
        self
    }

    /// The grace time of a shutdown: how long running items may go on before they are cut off. Default 25 s, at most
    /// 100 years.
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.shutdown_grace = Some(grace.min(AGES));
        self
    }

    /// The pause before the coordination of a job that ended by a bug starts again for the first time.
    #[cfg(test)]
    pub(super) fn restart_pause(mut self, pause: Duration) -> Self {
        self.restart_pause = Some(pause);
        self
    }

    /// The implementations that jobs can name in their settings. Default: the built-in ones and those that were linked
    /// into the program.
    #[must_use]
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// Starts the thread for coordination. Items run on the tokio runtime that calls this. When that runtime ends, the jobs
    /// leave, as nothing of them can run any more.
    ///
    /// # Errors
    /// See [`EnvironmentError`].
    pub fn build(self) -> Result<JobEnvironment, EnvironmentError> {
        let user = Handle::try_current().map_err(|_| EnvironmentError::NoRuntime)?;
        let preference = AddressPreference::new(self.interface.as_deref(), self.ip.as_deref())?;
        let ip = host_address(&preference)?;
        let local_zone = TimeZone::local()?;
        let catalog = self.catalog.map_or_else(|| Catalog::builder().build(), Ok)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let system = SystemRuntime::start()?;
        let shared = Shared {
            timers: Timers::start(system.handle(), clock.clone()),
            launcher: Launcher::start(system.handle(), user.clone()),
            system,
            failures: Failures::new(catalog.error_handlers().clone(), user.clone()),
            user,
            origin: clock.mono(),
            clock,
            instance: InstanceId::of_process(&ip.to_string(), std::process::id()),
            local_zone,
            restart_pause: self.restart_pause.unwrap_or(RESTART_PAUSE),
            catalog,
            members: Arc::default(),
            proofs: Proofs::default(),
        };
        user_runtime::watch(&shared.user, shared.system.handle(), &shared.members);
        let shutdown_grace = self.shutdown_grace.unwrap_or(SHUTDOWN_GRACE);
        Ok(JobEnvironment { shared: Arc::new(shared), shutdown_grace, tracing: None, observer: None, caller: || None })
    }
}

impl JobEnvironment {
    /// Starts to build an environment.
    pub fn builder() -> JobEnvironmentBuilder {
        JobEnvironmentBuilder::default()
    }

    /// A registry center inside this process. No other process sees it.
    pub fn embedded_registry(&self) -> Arc<dyn RegistryCenter> {
        Arc::new(MemoryRegistry::new().connect())
    }

    /// Connects to ZooKeeper.
    ///
    /// # Errors
    /// [`ConnectError`] within the configured time; at once without the feature `zookeeper`.
    pub async fn connect_zookeeper(
        &self,
        config: ZookeeperConfiguration,
    ) -> Result<Arc<dyn RegistryCenter>, ConnectError> {
        #[cfg(feature = "zookeeper")]
        return Ok(Arc::new(ZookeeperRegistryCenter::connect(config, self.system()).await?));
        #[cfg(not(feature = "zookeeper"))]
        return Err(ConnectError::Invalid(config.problems()));
    }

    /// The id of this process among the instances of a job.
    pub fn instance_id(&self) -> &InstanceId {
        &self.shared.instance
    }

    /// The implementations that jobs can name in their settings.
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Traces the jobs that are made in the returned environment from now on. Jobs that were made before stay as they
    /// were. Events are written on the tokio runtime that the environment was built in.
    #[must_use]
    pub fn with_tracing(self, configuration: TracingConfiguration) -> Self {
        Self { tracing: Some(Tracing::start(configuration, &self.shared.user)), ..self }
    }

    /// Lets an observer hear of the jobs that are made in the returned environment from now on, for example to count
    /// what they do. Without one nothing is counted.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn JobObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Asks this for the trace context of the code that triggers a job by its handle, of the jobs that are made in the returned
    /// environment from now on: the runs know it from [`Fire::trace_parent`](crate::fire::Fire::trace_parent).
    #[must_use]
    pub fn with_caller_trace(self, caller: CallerTrace) -> Self {
        Self { caller, ..self }
    }

    /// Gives the jobs that are made in the returned environment from now on this grace time of a shutdown, in place of the one that
    /// the environment was built with. At most 100 years.
    #[must_use]
    pub fn with_shutdown_grace(self, grace: Duration) -> Self {
        Self { shutdown_grace: grace.min(AGES), ..self }
    }

    pub(super) fn caller(&self) -> CallerTrace {
        self.caller
    }

    pub(super) fn observer(&self) -> Option<&Arc<dyn JobObserver>> {
        self.observer.as_ref()
    }

    /// The tracing, where it is configured. [Close](Tracing::close) it when the jobs have left.
    pub fn tracing(&self) -> Option<&Tracing> {
        self.tracing.as_ref()
    }

    /// The runtime of coordination, for registry centers.
    pub fn system(&self) -> &Handle {
        self.shared.system.handle()
    }

    /// The runtime of the program.
    pub(super) fn user(&self) -> &Handle {
        &self.shared.user
    }

    /// What starts items on the runtime of the program.
    pub(super) fn launcher(&self) -> &Launcher {
        &self.shared.launcher
    }

    pub(super) fn timers(&self) -> &Timers {
        &self.shared.timers
    }

    pub(super) fn now(&self) -> Now {
        now(&*self.shared.clock, self.shared.origin)
    }

    /// Tells the time as [`now`](Self::now) does, without the environment.
    pub(super) fn time(&self) -> impl Fn() -> Now + Send + Sync + use<> {
        let (clock, origin) = (self.shared.clock.clone(), self.shared.origin);
        move || now(&*clock, origin)
    }

    /// The time of an engine by the clock of the timers.
    pub(super) fn by_clock(&self, mono: Duration) -> Duration {
        self.shared.origin + mono
    }

    /// A moment as the time of an engine.
    pub(super) fn at(&self, moment: Moment) -> Now {
        Now { mono: moment.mono.saturating_sub(self.shared.origin), wall: moment.wall_ms }
    }

    /// The zone of jobs that name no zone.
    pub(super) fn local_zone(&self) -> TimeZone {
        self.shared.local_zone
    }

    /// Where failures are reported.
    pub(super) fn failures(&self) -> &Failures {
        &self.shared.failures
    }

    pub(super) fn members(&self) -> &Members {
        &self.shared.members
    }

    pub(super) fn proofs(&self) -> &Proofs {
        &self.shared.proofs
    }

    pub(super) fn shutdown_grace(&self) -> Duration {
        self.shutdown_grace
    }

    pub(super) fn restart_pause(&self) -> Duration {
        self.shared.restart_pause
    }
}

impl fmt::Debug for JobEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobEnvironment").field("instance", &self.shared.instance).finish_non_exhaustive()
    }
}

fn now(clock: &dyn Clock, origin: Duration) -> Now {
    // The wall clock is read last: a pause between the two readings makes a proof look older, not younger.
    let mono = clock.mono().saturating_sub(origin);
    Now { mono, wall: clock.wall_ms() }
}
