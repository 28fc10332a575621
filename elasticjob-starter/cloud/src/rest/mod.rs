//! The REST API of ElasticJob-Cloud below `/api`, with its paths and JSON, and with status codes that say what happened.
//!
//! Every route stands in the table `ROUTES` (`rest/routes.rs`) with the role that it needs; the description of the API is made from it.

mod answer;
mod apps;
mod audit;
#[cfg(test)]
mod audit_tests;
mod events;
#[cfg(test)]
mod events_tests;
mod fails;
#[cfg(test)]
mod fields_tests;
mod guard;
#[cfg(test)]
mod guard_tests;
mod jobs;
mod logs;
mod openapi;
mod openapi_answers;
#[cfg(test)]
mod openapi_tests;
mod operate;
#[cfg(test)]
mod pages_tests;
#[cfg(test)]
mod refusals_tests;
mod routes;
mod statistics;
mod tasks;
#[cfg(test)]
mod tasks_tests;
#[cfg(test)]
mod tests;
mod times;

use std::sync::Arc;

use axum::Router;
use elasticjob::trace::AnyTraceReader;
use elasticjob_console::Access;

use crate::scheduler::Scheduler;

/// The library of the router: a program that takes it from here has the same version.
pub use axum;
pub use openapi::document as openapi_document;

/// The parts with which the API works.
#[derive(Debug, Clone)]
pub struct Api {
    /// The scheduler.
    pub scheduler: Arc<Scheduler>,
    /// Users, tokens and roles.
    pub access: Access,
    /// The name of the registry center in the grants of users.
    pub registry: Arc<str>,
    /// The traces, for events and statistics.
    pub traces: Option<Arc<AnyTraceReader>>,
}

impl Api {
    /// All routes, to be merged into the server.
    pub fn router(self) -> Router {
        routes::router(self)
    }
}
