//! Starts the jobs of a program from its settings.

pub use elasticjob;
pub use elasticjob_macros::__starter_elastic_job as elastic_job;
