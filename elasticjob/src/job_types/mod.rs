//! The types of jobs that are built in.

mod command_line;
mod context_json;
#[cfg(unix)]
mod process_group;
mod script;

use std::sync::Arc;

use crate::api::JobType;
use crate::by_type::{ByType, TypeOrigin};

pub use script::SCRIPT;

/// The types of jobs that a process has.
pub type JobTypes = ByType<JobType>;

impl JobTypes {
    /// Those of ElasticJob.
    pub fn built_in() -> Self {
        let mut types = Self::new("type of jobs");
        let script = JobType::new(script::Script);
        types.add(SCRIPT, TypeOrigin::BuiltIn, Arc::new(script)).expect("the first one");
        types
    }
}
