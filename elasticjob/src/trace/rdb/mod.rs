//! The storage `RDB`: the tables `JOB_EXECUTION_LOG` and `JOB_STATUS_TRACE_LOG` of ElasticJob in a database, so that
//! programs which read them for Java jobs can read them for Rust jobs, and the table `JOB_DECISION_LOG`, which Java does
//! not have. Where the logs of runs are kept, they are in the table `JOB_RUN_LOG`.
//!
//! The storage creates the tables when they are missing. They have four columns more than the tables of ElasticJob,
//! `run_id`, `scheduled_at`, `instance_id` and `attempt`, as the last ones. The storage adds them to tables that lack them, and Java
//! leaves them empty. Where the user of the database may not add them, rows are written without them.
//!
//! Times: PostgreSQL and SQLite keep the wall-clock time of one zone, by default that of the host, as Java writes it.
//! MySQL keeps the instant, which each reader sees in the zone of its session.

#[cfg(feature = "tracing-postgres")]
mod by_column;
#[cfg(any(feature = "tracing-sqlite", feature = "tracing-mysql"))]
mod by_row;
mod cells;
mod connect;
mod dialect;
mod error;
mod extras;
mod insert;
#[cfg(feature = "tracing-mysql")]
mod mysql;
#[cfg(feature = "tracing-postgres")]
mod postgres;
mod reader;
mod rows;
mod select;
mod source;
#[cfg(feature = "tracing-sqlite")]
mod sqlite;
mod store;
mod tls;
mod turns;
mod wall_time;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use elasticjob_syntax::message::Message;

/// The library of the pools: a program that provides a pool must use the same version of it.
pub use sqlx;

pub use error::RdbError;
pub use reader::RdbTraceReader;
pub use source::{DataSource, Database};

use super::RDB;
use super::event::JobEvent;
use super::storage::{TracingStorage, WriteError};
use crate::schedule::TimeZone;
use crate::texts;
use extras::Extra;
use source::Use;
use store::Store;

/// The options of the tables: how rows are written, and for how long they are kept.
///
/// Later releases have more options: begin with [`default`](Self::default), and set fields.
///
/// ```
/// use elasticjob::trace::rdb::{RdbOptions, Retention};
///
/// let mut options = RdbOptions::default();
/// options.retention.days = Some(30);
/// options.run_log = Some(Retention::default());
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct RdbOptions {
    /// The zone of times in PostgreSQL and SQLite; default: that of the host.
    pub time_zone: Option<TimeZone>,
    /// The time for which rows are kept; default: for ever.
    pub retention: Retention,
    /// Keeps the logs of runs, and for how long; default: there is no table for them. What is logged is chosen by
    /// [`TracingConfiguration::run_log`](super::TracingConfiguration::run_log).
    pub run_log: Option<Retention>,
}

/// The time for which rows are kept. Every 10 minutes the storage removes rows that are too old, 1,000 rows at a time. The
/// [`default`](Self::default) keeps them for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// Rows that began more than this number of days ago are removed. Default: no row is removed for its age.
    pub days: Option<u32>,
    /// The largest number of rows of a table: when it has more, the oldest ones are removed. Default: any number is kept.
    pub rows: Option<u64>,
}

/// Writes events to a database.
pub struct RdbTracingStorage {
    store: Box<dyn Calls>,
    at: String,
}

/// A pool of connections of the application.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RdbPool {
    /// SQLite.
    #[cfg(feature = "tracing-sqlite")]
    Sqlite(sqlx::SqlitePool),
    /// PostgreSQL.
    #[cfg(feature = "tracing-postgres")]
    Postgres(sqlx::PgPool),
    /// MySQL or MariaDB. Its connections must have the session zone that sqlx gives them, `+00:00`.
    #[cfg(feature = "tracing-mysql")]
    MySql(sqlx::MySqlPool),
}

impl RdbTracingStorage {
    /// Connects with connections of its own, one at a time, and creates the tables when they are missing.
    ///
    /// # Errors
    /// [`RdbError`] when the database is not reached, refuses, or has tables that are not those of ElasticJob.
    pub async fn connect(source: &DataSource, options: RdbOptions) -> Result<Self, RdbError> {
        let (pool, at) = source.open(Use::Write).await?;
        Self::prepare(pool, at, options).await
    }

    /// Uses a pool of the application, and creates the tables when they are missing.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    pub async fn on_pool(pool: impl Into<RdbPool>, options: RdbOptions) -> Result<Self, RdbError> {
        let pool = pool.into();
        let at = pool.of_application();
        Self::prepare(pool, at, options).await
    }

    async fn prepare(pool: RdbPool, at: Message, options: RdbOptions) -> Result<Self, RdbError> {
        let zone = options.time_zone.map_or_else(TimeZone::local, Ok)?;
        let store: Box<dyn Calls> = match pool {
            #[cfg(feature = "tracing-sqlite")]
            RdbPool::Sqlite(pool) => Box::new(Store::prepare(pool, &at, zone, options).await?),
            #[cfg(feature = "tracing-postgres")]
            RdbPool::Postgres(pool) => Box::new(Store::prepare(pool, &at, zone, options).await?),
            #[cfg(feature = "tracing-mysql")]
            RdbPool::MySql(pool) => Box::new(Store::prepare(pool, &at, zone, options).await?),
        };
        Ok(Self { store, at: at.into() })
    }

    /// Whether decisions are written. They are not where the account may not create their table, or write to it: the log says
    /// what an administrator has to do.
    pub fn keeps_decisions(&self) -> bool {
        self.store.keeps(Extra::Decisions)
    }

    /// Whether the logs of runs are written: [`RdbOptions::run_log`] asks for it, and the account may create their table
    /// and write to it.
    pub fn keeps_run_logs(&self) -> bool {
        self.store.keeps(Extra::Lines)
    }

    /// The name of the database, without a password.
    pub fn at(&self) -> &str {
        &self.at
    }
}

impl RdbPool {
    fn of_application(&self) -> Message {
        texts::storage_of_application(self.database().to_string())
    }

    fn database(&self) -> Database {
        match self {
            #[cfg(feature = "tracing-sqlite")]
            Self::Sqlite(_) => Database::Sqlite,
            #[cfg(feature = "tracing-postgres")]
            Self::Postgres(_) => Database::Postgres,
            #[cfg(feature = "tracing-mysql")]
            Self::MySql(_) => Database::MySql,
        }
    }
}

#[cfg(feature = "tracing-sqlite")]
impl From<sqlx::SqlitePool> for RdbPool {
    fn from(pool: sqlx::SqlitePool) -> Self {
        Self::Sqlite(pool)
    }
}

#[cfg(feature = "tracing-postgres")]
impl From<sqlx::PgPool> for RdbPool {
    fn from(pool: sqlx::PgPool) -> Self {
        Self::Postgres(pool)
    }
}

#[cfg(feature = "tracing-mysql")]
impl From<sqlx::MySqlPool> for RdbPool {
    fn from(pool: sqlx::MySqlPool) -> Self {
        Self::MySql(pool)
    }
}

impl TracingStorage for RdbTracingStorage {
    fn type_name(&self) -> &str {
        RDB
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        self.store.write(events).await
    }

    async fn clean(&self) -> Result<Option<Duration>, WriteError> {
        self.store.clean().await
    }
}

impl std::fmt::Debug for RdbTracingStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RdbTracingStorage").field("at", &self.at).finish_non_exhaustive()
    }
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, WriteError>> + Send + 'a>>;

/// A store of any database.
trait Calls: Send + Sync {
    fn write<'a>(&'a self, events: &'a [JobEvent]) -> Pending<'a, ()>;
    fn clean(&self) -> Pending<'_, Option<Duration>>;
    fn keeps(&self, extra: Extra) -> bool;
}
