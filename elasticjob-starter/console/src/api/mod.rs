//! The REST API below `/api/v1`. Times are RFC 3339 in UTC with milliseconds, durations are milliseconds.

mod jobs;
mod problem;

use crate::access::{Permission, Role};
use crate::routes::Routes;

pub(crate) use problem::Problem;

/// Whether a path, below the base path, belongs to the API.
pub(crate) fn is_api(path: &str) -> bool {
    path.starts_with("/api/")
}

/// Adds the routes of the API.
pub(crate) fn declare(routes: Routes) -> Routes {
    routes.get("/api/v1/registries/{registry}/jobs", Permission::Has(Role::Viewer), jobs::list)
}
