//! The job and the other names in the path of a route.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use elasticjob::ident::JobName;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Problem;
use crate::app::App;
use crate::here::Here;

/// The registry center and the job of the path.
#[derive(Debug, Clone)]
pub(crate) struct OfJob {
    pub(crate) here: Here,
    pub(crate) job: JobName,
}

/// Names in the path. Those that cannot be read are a problem like all others.
#[derive(Debug, Clone)]
pub(crate) struct Names<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Names<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        match Path::<T>::from_request_parts(parts, app).await {
            Ok(Path(names)) => Ok(Self(names)),
            Err(wrong) => Err(Problem::bad_request(wrong.body_text()).into_response()),
        }
    }
}

#[derive(Deserialize)]
struct Job {
    job: String,
}

impl FromRequestParts<App> for OfJob {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let here = Here::from_request_parts(parts, app).await?;
        let Names(named) = Names::<Job>::from_request_parts(parts, app).await?;
        let job =
            JobName::new(named.job).map_err(|wrong| Problem::bad_request(wrong.message().clone()).into_response())?;
        Ok(Self { here, job })
    }
}
