//! The texts that describe a job, and their errors.
//!
//! The attribute `#[elastic_job]` checks these texts when a program is compiled, and the library checks them when the
//! program starts. Both use the rules of this package, so that they cannot differ. This package contains no clocks, no
//! rules of time zones and no registry. It stays light because it is compiled for the host, as part of the attribute,
//! before all other code.
//!
//! | module | text |
//! |---|---|
//! | [`cron`] | `0 0/5 * * * ?` |
//! | [`zone_name`] | `Asia/Shanghai`, `GMT+8:00` |
//! | [`node_name`] | names of jobs and other texts that become a node of the registry |
//! | [`item_parameters`] | `0=Beijing,1=Shanghai` |
//! | [`job_settings`] | `cron`, `sharding_total_count`: the settings of a job |
//! | [`job_option`] | the same settings as options of the attribute, and two options about the attribute itself |
//! | [`message`] | errors as a code with arguments, for other languages; [`texts`] has those of this package |
//! | [`suggest`] | the known name that a mistyped one may mean |
//!
//! Use the library (`elasticjob`), which exports what a program needs; this package makes no promise of its own.

pub mod calendar;
pub mod cron;
pub mod item_parameters;
pub mod job_option;
pub mod job_settings;
pub mod message;
pub mod node_name;
pub mod suggest;
pub mod texts;
pub mod zone_name;
