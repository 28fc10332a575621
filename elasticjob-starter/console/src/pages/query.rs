//! The query of the address of a page.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use serde::de::DeserializeOwned;

use super::error;
use crate::api::Problem;
use crate::app::App;
use crate::here::Who;

/// A query; a page in the language of the reader says what is wrong with one that cannot be read.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        let wrong = match read.map_err(|wrong| wrong.body_text()) {
            Ok(axum::extract::Query(query)) => return Ok(Self(query)),
            Err(wrong) => wrong,
        };
        let who = Who::from_request_parts(parts, app).await?;
        Err(error::problem_of_console(&who, &Problem::bad_request(wrong)))
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::registry::memory::MemoryRegistry;

    use crate::testing::{call, console_of, cookie_of, request};

    #[tokio::test]
    async fn a_query_that_cannot_be_read_is_said_in_the_language_of_the_reader() {
        let console = console_of(&MemoryRegistry::new());
        let viewer = cookie_of(&console, "viewer").await;
        let mut wrong = request("GET", "/r/default/jobs?nothing=1", Some(&viewer));
        wrong.headers_mut().insert("accept-language", "zh-CN".parse().expect("a value"));
        let page = call(&console, wrong).await;
        assert_eq!(page.status, 400);
        assert!(
            page.body.contains("路径、参数或请求体的一部分无法理解") && page.body.contains("nothing"),
            "{}",
            page.body
        );
    }
}
