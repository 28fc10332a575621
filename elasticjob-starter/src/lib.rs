//! Starts the jobs of a program from its settings.
//!
//! ```no_run
//! use elasticjob_starter::prelude::*;
//!
//! #[elastic_job(cron = "0/5 * * * * ?", sharding_total_count = 3, params = "0=Beijing,1=Shanghai,2=Guangzhou")]
//! async fn sync_orders(context: ShardingContext) -> JobResult {
//!     println!("orders of {}", context.sharding_parameter().unwrap_or("all regions"));
//!     Ok(())
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), AppError> {
//!     ElasticJobApp::builder().run().await
//! }
//! ```
//!
//! | module or type | content |
//! |---|---|
//! | [`prelude`] | the imports of a program with jobs |
//! | [`elastic_job`](macro@elastic_job) | the attribute that makes a function or an `impl` a job |
//! | [`ElasticJobApp`], [`ElasticJobAppBuilder`] | the application: from the settings to running jobs, and their end |
//! | [`settings`] | the settings of a program: files, environment, command line, and how they are read |
//! | [`AppError`], [`PlanError`], [`Problem`] | what keeps a program from starting, with all that is wrong at once |
//! | [`init_logging`], [`RunLogLayer`] | the log of a program, and the logs of runs that the traces keep |
//! | [`LocalTask`] | one item of a job, run once in this process: to try code, and in tests |
//! | `metrics` | with the feature of that name: the page that Prometheus reads |
//! | [`elasticjob`] | the library: operations, registry centers, traces, the traits of own types |
//!
//! # Features
//! | feature | on by default | content |
//! |---|---|---|
//! | `zookeeper` | yes | the ZooKeeper registry center; without it jobs run on the embedded registry of the process |
//! | `zookeeper-tls` | | TLS to ZooKeeper |
//! | `http` | yes | jobs of the type `HTTP`, the error handlers `WECHAT` and `DINGTALK` |
//! | `email` | yes | the error handler `EMAIL` |
//! | `tracing-sqlite`, `tracing-postgres`, `tracing-mysql` | | tracing to a database |
//! | `console` | | the web console in the program of the jobs |
//! | `console-data` | | the file in which that console keeps what has to outlive it |
//! | `console-oidc` | | logins of that console with the accounts of a company, by OpenID Connect |
//! | `metrics` | | metrics for Prometheus |
//! | `opentelemetry` | | a span of OpenTelemetry for each run of an item |

mod app;
mod error;
mod local_task;
mod logging;
#[cfg(feature = "metrics")]
pub mod metrics;
mod plan;
pub mod prelude;
pub mod settings;
#[cfg(feature = "opentelemetry")]
mod spans;

pub use elasticjob;
pub use elasticjob::{
    register_error_handler, register_job_type, register_listener, register_once_listener, register_pool_size_provider,
    register_sharding_strategy, register_tracing_storage,
};
/// The web console: its options are what [`ConsoleSettings::options`](settings::ConsoleSettings::options) makes of settings.
#[cfg(feature = "console")]
pub use elasticjob_console;
/// Registers a function as a job: see [`elasticjob::elastic_job`] for its options.
pub use elasticjob_macros::__starter_elastic_job as elastic_job;
/// The library whose tracer provider gets a span for each run of an item. A program must use the same version of it.
///
/// ```no_run
/// use elasticjob_starter::opentelemetry::global;
/// use elasticjob_starter::prelude::*;
/// use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     // With opentelemetry-otlp: SpanExporter::builder().with_http().build()?
///     let exporter = InMemorySpanExporter::default();
///     let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
///     global::set_tracer_provider(provider.clone());
///     ElasticJobApp::builder().run().await?;
///     provider.shutdown()?;
///     Ok(())
/// }
/// ```
#[cfg(feature = "opentelemetry")]
pub use opentelemetry;

/// The library whose layers [`RunLogLayer`] joins. A program must use the same version of it.
pub use tracing_subscriber;

/// For the other packages of elasticjob alone.
#[doc(hidden)]
pub mod __private {
    pub use crate::app::Signals;
    pub use crate::logging::patient_stderr;
}

pub use app::{ElasticJobApp, ElasticJobAppBuilder};
pub use error::{AppError, Problem};
pub use local_task::LocalTask;
pub use logging::{RunLogLayer, init_logging};
pub use plan::PlanError;
#[cfg(feature = "opentelemetry")]
pub use spans::caller_trace;

/// Programs share these between threads, and keep them in futures that move from one to another.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<ElasticJobApp>();
    is_send_and_sync::<ElasticJobAppBuilder>();
    is_send_and_sync::<AppError>();
    is_send_and_sync::<LocalTask>();
    is_send_and_sync::<PlanError>();
    is_send_and_sync::<Problem>();
    is_send_and_sync::<RunLogLayer>();
    is_send_and_sync::<settings::SettingError>();
    is_send_and_sync::<settings::Settings>();
    is_send_and_sync::<settings::Sources>();
    #[cfg(feature = "metrics")]
    is_send_and_sync::<metrics::Metrics>();
};
