//! Starts the jobs of a program from its settings.

mod plan;
pub mod settings;

pub use plan::PlanError;
