//! The builder of an application: everything besides its settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use elasticjob::api::{
    Beans, ItemHandler, JobErrorHandler, JobListener, JobType, OnceJobListener, PoolSizeProvider, ShardingStrategy,
};
use elasticjob::registry::RegistryCenter;
use elasticjob::spi::{Catalog, CatalogBuilder};
use elasticjob::trace::TracingStorage;

use super::ElasticJobApp;
use super::run::run;
use super::start::start;
use crate::AppError;
use crate::plan::PlanError;
use crate::settings::Sources;

/// Collects the values that jobs receive and the sources of settings.
#[must_use = "an application starts with `run` or `start`"]
pub struct ElasticJobAppBuilder {
    pub(super) sources: Sources,
    pub(super) beans: Beans,
    pub(super) names: BTreeSet<String>,
    pub(super) registry_centers: BTreeMap<String, Arc<dyn RegistryCenter>>,
    pub(super) given: BTreeMap<String, ItemHandler>,
    pub(super) only: Vec<String>,
    pub(super) catalog: CatalogBuilder,
    pub(super) wrong: Vec<PlanError>,
    #[cfg(feature = "metrics")]
    pub(super) metrics: Option<crate::metrics::Metrics>,
}

/// What is given is shown by name: values of the application may be secret.
impl fmt::Debug for ElasticJobAppBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElasticJobAppBuilder")
            .field("sources", &self.sources)
            .field("names", &self.names)
            .field("registry_centers", &self.registry_centers.keys())
            .field("given", &self.given.keys())
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

impl ElasticJobAppBuilder {
    pub(super) fn new() -> Self {
        Self {
            sources: Sources::of_process(),
            beans: Beans::default(),
            names: BTreeSet::new(),
            registry_centers: BTreeMap::new(),
            given: BTreeMap::new(),
            only: Vec::new(),
            catalog: Catalog::builder(),
            wrong: Vec::new(),
            #[cfg(feature = "metrics")]
            metrics: None,
        }
    }

    /// Provides a value to the jobs that have an argument `Inject<T>` of its type. A later value of that type replaces
    /// it.
    pub fn provide<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.beans.provide(value);
        self
    }

    /// Provides a value to the jobs that have an argument `#[bean("name")] value: Inject<T>`. Using a name twice is an
    /// error at start.
    pub fn provide_named<T: Send + Sync + 'static>(mut self, name: impl Into<String>, value: T) -> Self {
        let name = name.into();
        if !self.beans.provide_named(name.clone(), value) {
            let provided = || "a provided value".to_owned();
            self.wrong.push(PlanError::DuplicateBean { bean: name.clone(), first: provided(), second: provided() });
        }
        self.names.insert(name);
        self
    }

    /// Adds the code of a job that has no attribute, such as a job of an
    /// [own kind](elasticjob::api::classed_item_handler). `elasticjob.jobs` configures the job of that name, and other
    /// jobs that name it in `elastic-job-class`. A later call with the same name replaces the code.
    pub fn job(mut self, name: impl Into<String>, code: ItemHandler) -> Self {
        self.given.insert(name.into(), code);
        self
    }

    /// Starts only those job functions of the program that are in this module or below it, or the function of this path:
    /// `only_jobs_of(module_path!())`. A further call adds a further module. Without a call the application starts all
    /// that are linked into the program. So a test starts the jobs that it is about, and one program can be several
    /// services. Settings of a job that is left out are an error, as those of a job that does not exist.
    pub fn only_jobs_of(mut self, module: impl Into<String>) -> Self {
        self.only.push(module.into());
        self
    }

    /// Adds a registry center for the jobs that name it: `registry-center-ref: name` in the settings, or
    /// `#[elastic_job(registry_center = "name")]`. A later call with the same name replaces it. It stays open when the
    /// application shuts down.
    pub fn registry_center(mut self, name: impl Into<String>, center: Arc<dyn RegistryCenter>) -> Self {
        self.registry_centers.insert(name.into(), center);
        self
    }

    /// Adds a listener that every instance calls, for the jobs that name its type: `job-listener-types` in the
    /// settings, `listeners = ["..."]` in the attribute. For a listener that needs nothing of the application
    /// [`register_listener!`](crate::register_listener) is enough.
    pub fn listener(mut self, listener: impl JobListener) -> Self {
        self.catalog = self.catalog.listener(listener);
        self
    }

    /// Adds a once listener, in the same way as [`listener`](Self::listener) adds the other kind.
    pub fn once_listener(mut self, listener: impl OnceJobListener) -> Self {
        self.catalog = self.catalog.once_listener(listener);
        self
    }

    /// Adds a sharding strategy that jobs can name in `job-sharding-strategy-type`, in addition to the built-in ones
    /// and those that [`register_sharding_strategy!`](crate::register_sharding_strategy) links. A name that is taken is
    /// an error at start.
    pub fn sharding_strategy(mut self, strategy: impl ShardingStrategy + 'static) -> Self {
        self.catalog = self.catalog.sharding_strategy(strategy);
        self
    }

    /// Adds a pool that jobs can name in `job-executor-thread-pool-size-provider-type`, in addition to the built-in
    /// ones and those that [`register_pool_size_provider!`](crate::register_pool_size_provider) links. A
    /// name that is taken is an error at start.
    pub fn pool_size_provider(mut self, pool: impl PoolSizeProvider + 'static) -> Self {
        self.catalog = self.catalog.pool_size_provider(pool);
        self
    }

    /// Adds a storage that `elasticjob.tracing.type` can name, in addition to `RDB` and those that
    /// [`register_tracing_storage!`](crate::register_tracing_storage) links. A name that is taken is an error at start.
    pub fn tracing_storage(mut self, storage: impl TracingStorage) -> Self {
        self.catalog = self.catalog.tracing_storage(storage);
        self
    }

    /// Adds an error handler that jobs can name in `job-error-handler-type`, in addition to the built-in ones and those
    /// that [`register_error_handler!`](crate::register_error_handler) links. A name that is taken is an error at
    /// start.
    pub fn error_handler(mut self, handler: impl JobErrorHandler) -> Self {
        self.catalog = self.catalog.error_handler(handler);
        self
    }

    /// Adds a type of jobs that settings can name in `elastic-job-type`, in addition to the built-in ones and those
    /// that [`register_job_type!`](crate::register_job_type) links. A name that is taken is an error at start.
    pub fn job_type(mut self, executor: impl JobType) -> Self {
        self.catalog = self.catalog.job_type(executor);
        self
    }

    /// Counts what the jobs do in these metrics, which the program serves itself. `elasticjob.metrics.port` serves them as
    /// well.
    #[cfg(feature = "metrics")]
    pub fn metrics(mut self, metrics: crate::metrics::Metrics) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Reads this file, or the files in this folder, instead of the files in the usual places.
    pub fn settings_from(mut self, location: impl Into<PathBuf>) -> Self {
        self.sources = self.sources.location(location);
        self
    }

    /// Activates a profile before the profiles of `elasticjob.profiles.active`.
    pub fn profile(mut self, profile: impl Into<String>) -> Self {
        self.sources = self.sources.profile(profile);
        self
    }

    /// Uses these as the arguments of the program. The name of the program is not among them.
    pub fn args<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.sources = self.sources.arguments(arguments);
        self
    }

    /// Uses these variables as the environment of the program.
    pub fn env<N: Into<String>, V: Into<String>>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self {
        self.sources = self.sources.environment(variables);
        self
    }

    /// Replaces all sources of settings, including those of earlier calls of [`settings_from`](Self::settings_from),
    /// [`profile`](Self::profile), [`args`](Self::args) and [`env`](Self::env).
    pub fn sources(mut self, sources: Sources) -> Self {
        self.sources = sources;
        self
    }

    /// Starts the jobs and waits for SIGTERM or Ctrl-C: [`start`](Self::start) and
    /// [`until_shutdown`](ElasticJobApp::until_shutdown) in one. It hears of signals from its first moment on. When one comes
    /// while jobs still start, those that run already may finish within the grace time, the others give up their start, the
    /// instance leaves the registry, and the result is `Ok`. So is the result of a signal before any job was started.
    ///
    /// # Errors
    /// The errors of [`start`](Self::start) and of [`until_shutdown`](ElasticJobApp::until_shutdown).
    pub async fn run(self) -> Result<(), AppError> {
        self.run_with(async |_| std::future::pending().await).await
    }

    /// The same with a part of the program that runs beside the jobs, from when all have started: a web server that triggers
    /// one-off jobs, for example. It gets the started application, and is dropped when the shutdown begins. When it returns, the
    /// application shuts down as after a signal.
    ///
    /// A program that a scheduler of carried jobs started for some items does not run this part.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and the error that `program` returned.
    ///
    /// # Examples
    /// ```no_run
    /// # use elasticjob_starter::prelude::*;
    /// # async fn request() {}
    /// # async fn example() -> Result<(), AppError> {
    /// // Triggers the one-off job `reindex` at each request.
    /// ElasticJobApp::builder()
    ///     .run_with(async |app| {
    ///         let job = app.one_off_job("reindexOneOffJobBootstrap")?;
    ///         loop {
    ///             request().await;
    ///             job.execute().await?;
    ///         }
    ///     })
    ///     .await
    /// # }
    /// ```
    pub async fn run_with<E: From<AppError>>(
        self,
        program: impl AsyncFnOnce(&ElasticJobApp) -> Result<(), E>,
    ) -> Result<(), E> {
        run(self, program).await
    }

    /// Reads the settings, starts all scheduled jobs, and makes the one-off jobs ready. Job functions run on the tokio
    /// runtime that calls this. It leaves signals alone: one that comes meanwhile ends the process at once, also the jobs that
    /// run already, unless the program handles signals by itself. [`run`](Self::run) hears of them.
    ///
    /// # Errors
    /// [`AppError::Invalid`] with all problems of settings and jobs, before any connection to a registry center;
    /// [`AppError::Connect`] when a registry center is not reached; [`AppError::Start`] when it refuses a job. Jobs
    /// that were started by then are shut down again.
    ///
    /// A job whose configuration in the registry center cannot be used does not keep other jobs from starting. It is
    /// logged and reported to its error handler, its status says why it waits, and it starts by itself when the
    /// configuration is corrected. When that applies to all jobs, it is an error, [`AppError::NoneStarted`].
    pub async fn start(self) -> Result<ElasticJobApp, AppError> {
        start(self).await
    }
}
