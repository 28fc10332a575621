//! The starter in one process: settings and what is wrong with them, job functions and extensions that are linked, and
//! applications on the embedded registry from start to shutdown.
//!
//! `#[elastic_job]` and the macros of extensions collect what a whole program has. So each file starts only its own jobs
//! (`only_jobs_of`); an extension that a file links is there for all of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![cfg(unix)]

mod dump;
mod listeners;
mod macro_jobs;
mod own_strategy;
mod references;
mod runs;
mod settings;
mod signals;
mod stored;
mod tracing;
mod wrong_jobs;
mod wrong_settings;
