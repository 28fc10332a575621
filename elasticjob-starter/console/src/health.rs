//! `/healthz` and `/readyz`, for supervisors and load balancers.

use axum::extract::State;
use axum::http::StatusCode;
use elasticjob::registry::SessionState;

use crate::app::App;

/// The process answers.
pub(crate) async fn healthy() -> &'static str {
    "ok\n"
}

/// Every registry center is connected.
pub(crate) async fn ready(State(app): State<App>) -> (StatusCode, String) {
    let away = |state: SessionState| !matches!(state, SessionState::Connected { .. });
    let away: Vec<&str> = app
        .registries
        .values()
        .filter(|registry| away(*registry.center().session().borrow()))
        .map(|registry| registry.name())
        .collect();
    match away.is_empty() {
        true => (StatusCode::OK, "ok\n".to_owned()),
        false => (StatusCode::SERVICE_UNAVAILABLE, format!("not connected: {}\n", away.join(", "))),
    }
}
