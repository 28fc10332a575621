//! The built-in types of jobs.

mod command_line;
#[cfg(target_os = "linux")]
mod escaped_processes;
#[cfg(feature = "http")]
mod http;
#[cfg(unix)]
mod process_tree;
mod script;

use std::sync::Arc;

use crate::api::{AnyJobType, JobKind};
use crate::type_registry::{ByType, TypeOrigin};

/// The types of jobs that a process has.
pub type JobTypes = ByType<AnyJobType>;

impl JobTypes {
    /// The types of ElasticJob.
    pub fn built_in() -> Self {
        let mut types = Self::with_features("type of jobs", &[("HTTP", "http")]);
        let kinds = JobKind::ALL.map(AnyJobType::of_code);
        let all = kinds.into_iter().chain([
            AnyJobType::new(script::Script),
            #[cfg(feature = "http")]
            AnyJobType::new(http::Http::default()),
        ]);
        for job_type in all {
            let name = job_type.type_name().to_owned();
            types.add(&name, TypeOrigin::BuiltIn, Arc::new(job_type)).expect("each has its own name");
        }
        types
    }
}
