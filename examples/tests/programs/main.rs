//! The examples as processes: their output and log, and their end after a signal.

mod embedding;
mod example;
mod kinds;
#[cfg(feature = "tracing-sqlite")]
mod tracing_sqlite;
