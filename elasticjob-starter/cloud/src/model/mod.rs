//! Registrations: applications and their jobs.

mod app;
mod description;
mod fields;
mod job;
mod secrets;
mod slurm;

#[cfg(unix)]
pub(crate) use app::is_loopback;
pub(crate) use app::needs_image;
pub use app::{App, Source, SourceScheme};
pub use fields::{Problem, Problems};
#[cfg(test)]
pub(crate) use job::BUILT;
pub(crate) use job::camel_case;
pub use job::{CarriedJob, ExecutionType};
pub(crate) use secrets::{mask, mask_address, unmasked};
pub use slurm::SlurmSettings;
