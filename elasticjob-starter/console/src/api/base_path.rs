//! The `type` of a problem leads to the help also where the console has a base path, of which the code that refuses knows nothing.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Problem;
use crate::app::App;

/// Writes a problem again that is the answer, with the base path.
pub(crate) async fn of_problems(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let problem = response.extensions_mut().remove::<Problem>();
    let base_path = app.options.base_path.as_str();
    match problem.filter(|_| !base_path.is_empty()) {
        None => response,
        Some(problem) => {
            let (mut parts, _) = response.into_parts();
            // That of the body before; the server sets it again.
            parts.headers.remove(CONTENT_LENGTH);
            Response::from_parts(parts, Json(problem.below(base_path)).into_response().into_body())
        }
    }
}
