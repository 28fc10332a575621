//! The texts that a job is described with, and what is wrong with them.
//!
//! The attribute `#[elastic_job]` checks them when a program is compiled, the library when it starts; both take the
//! rules from here, so that they cannot differ. This package knows neither clocks, nor the rules of time zones, nor the
//! registry, and stays light because the attribute is compiled for the host before anything else.
//!
//! | module | text |
//! |---|---|
//! | [`cron`] | `0 0/5 * * * ?` |
//! | [`zone_name`] | `Asia/Shanghai`, `GMT+8:00` |
//! | [`node_name`] | names of jobs, and what else becomes a node of the registry |
//! | [`item_parameters`] | `0=Beijing,1=Shanghai` |
//! | [`job_settings`] | `cron`, `sharding_total_count`: the settings of a job |
//! | [`job_option`] | the same as options of the attribute, and two about the attribute itself |
//! | [`suggest`] | the known name that a mistyped one may mean |
//!
//! Use the library (`elasticjob`), which exports what a program needs; this package makes no promise of its own.

pub mod calendar;
pub mod cron;
pub mod item_parameters;
pub mod job_option;
pub mod job_settings;
pub mod node_name;
pub mod suggest;
pub mod zone_name;
