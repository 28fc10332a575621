//! The job and the other names in the path of a route.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use elasticjob::ident::JobName;
use serde::Deserialize;

use super::Problem;
use crate::app::App;
use crate::here::Here;

/// The registry center and the job of the path.
#[derive(Debug, Clone)]
pub(crate) struct OfJob {
    pub(crate) here: Here,
    pub(crate) job: JobName,
}

#[derive(Deserialize)]
struct Named {
    job: String,
}

impl FromRequestParts<App> for OfJob {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let here = Here::from_request_parts(parts, app).await?;
        let named = Path::<Named>::from_request_parts(parts, app).await;
        let named = named.map_err(|wrong| Problem::bad_request(wrong.to_string()).into_response())?;
        let job = JobName::new(named.0.job).map_err(|wrong| Problem::bad_request(wrong.to_string()).into_response())?;
        Ok(Self { here, job })
    }
}
