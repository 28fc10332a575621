//! The examples as processes: what they print and log, and that they end when they are told to.

mod embedding;
mod example;
mod kinds;
#[cfg(feature = "tracing-sqlite")]
mod tracing_sqlite;
