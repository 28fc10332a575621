//! Errors of tracing to a database. No text has a password.

use elasticjob_syntax::message::Message;

use super::source::Database;
use crate::schedule::TimeZoneError;

/// Tracing to a database cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RdbError {
    /// The URL of the database is not understood. It may have a password, so it is not shown.
    #[error("the URL of the database is not valid: {reason}")]
    Url {
        /// The reason, and what to write instead.
        reason: String,
    },
    /// The driver of the database is not part of the program.
    #[error(
        "tracing to {database} is not built in: add the feature `{}` to the dependency that brings it in Cargo.toml, for \
         example elasticjob-starter = {{ ..., features = [\"{}\"] }}",
        database.feature(),
        database.feature()
    )]
    NotBuiltIn {
        /// The database.
        database: Database,
    },
    /// The database was not reached, or refused the connection.
    #[error("{at} cannot be used for tracing: {why}")]
    Connect {
        /// The database.
        at: Message,
        /// The answer of the database.
        why: Message,
    },
    /// A table is missing and cannot be created, or cannot be read.
    #[error("table {table} in {at} cannot be created or read: {why}; create it by hand, or let the user create tables")]
    Table {
        /// The database.
        at: String,
        /// The table.
        table: &'static str,
        /// The answer of the database.
        why: String,
    },
    /// A table has another shape than the one of ElasticJob.
    #[error(
        "table {table} in {at} is not the one of ElasticJob: it has no column {}; rename or drop it, a right one is created then",
        missing.join(", ")
    )]
    Columns {
        /// The database.
        at: String,
        /// The table.
        table: &'static str,
        /// The columns that it does not have.
        missing: Vec<&'static str>,
    },
    /// The connections of a pool do not show times in UTC.
    #[error(
        "{at} cannot be used for tracing: its sessions have another time zone than +00:00, which sqlx sets by default"
    )]
    SessionZone {
        /// The pool.
        at: String,
    },
    /// The time zone of the process is not understood.
    #[error(transparent)]
    TimeZone(#[from] TimeZoneError),
}
