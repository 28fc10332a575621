//! Distributed scheduled jobs.
