//! The description of the API, as OpenAPI 3.1.

use axum::Json;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;

use super::{actions, configuration, history, jobs, registries, schedules, servers};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "elasticjob console",
        version = "1",
        description = "Looks at the jobs of registry centers, and operates \
        them. Errors are application/problem+json with a code that never changes. A change needs the role that its path \
        is for; see the page about the console in the documentation."
    ),
    paths(
        registries::list,
        registries::me,
        jobs::list,
        jobs::one,
        jobs::items,
        jobs::item,
        jobs::why,
        actions::trigger,
        actions::switch_job,
        actions::switch_item,
        actions::switch_server,
        actions::switch_server_of_job,
        actions::shut_down_job,
        actions::shut_down_server,
        actions::shut_down_server_of_job,
        actions::remove_job,
        actions::remove_server,
        actions::remove_server_of_job,
        actions::bulk,
        configuration::get,
        configuration::put,
        configuration::patch,
        servers::list,
        servers::one,
        history::executions,
        history::states,
        history::decisions,
        schedules::preview,
    )
)]
struct Api;

/// The document.
pub(crate) fn document() -> Document {
    Api::openapi()
}

pub(crate) async fn show() -> Json<Document> {
    Json(document())
}
