//! Carries jobs of elasticjob: each sharding item is a process of its own, with its own CPU and memory.
//!
//! A carried job is an ordinary job whose items run elsewhere. When it fires, which items run, that each runs once, what is
//! made up for and what is taken over is decided as for every other job. What runs the processes is a
//! [`Carrier`](carrier::Carrier).
//!
//! | module | what it holds |
//! |---|---|
//! | [`model`] | applications and carried jobs, as they are registered |
//! | [`carrier`] | the seam to what runs processes; with the feature `testing` the suite that every carrier passes |
//! | [`rest`] | the REST API of ElasticJob-Cloud |
//! | [`scheduler`] | makes ordinary jobs of the registered ones |
//! | `kubernetes` | the carrier `KUBERNETES`: pods of a cluster, with the feature `kubernetes` |
//! | `process` | the carrier `PROCESS`: processes of this host, on Unix |
//! | `slurm` | the carrier `SLURM`: jobs of a Slurm cluster, with the feature `slurm`, on Unix |

pub mod carrier;
#[cfg(all(test, unix))]
mod deaf_script;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod folders;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
pub mod model;
#[cfg(unix)]
mod package;
#[cfg(unix)]
pub mod process;
pub mod rest;
pub mod scheduler;
#[cfg(any(test, feature = "testing"))]
pub mod scratch;
#[cfg(all(unix, feature = "slurm"))]
pub mod slurm;
mod texts;
#[cfg(test)]
mod told;
