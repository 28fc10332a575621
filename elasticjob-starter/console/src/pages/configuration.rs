//! The configuration of a job, with secrets masked.

use askama::Template;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use elasticjob::operations::StoredConfiguration;
use serde_json::Value;

use super::job::{Head, named};
use super::outcome::{Said, Tone};
use super::query::Query;
use super::{Layout, error, page};
use crate::access::Role;
use crate::here::Here;
use crate::service::configurations::exported::exported;
use crate::service::versions;
use crate::text::t;

#[derive(Template)]
#[template(path = "configuration.html")]
struct ConfigurationPage {
    layout: Layout,
    head: Head,
    settings: Rows,
    props: Rows,
    /// Parts of the stored text that have no effect.
    ignored: Vec<String>,
    overwrite: bool,
    /// Whether the registration of a carried job decides, so that nothing can be changed here.
    is_carried: bool,
    may_edit: bool,
    said: Option<Said>,
    stored: String,
}

/// Names with their texts.
pub(super) type Rows = Vec<(String, String)>;

/// The settings and the properties, each with its text.
pub(super) fn rows(stored: &StoredConfiguration) -> (Rows, Rows) {
    let Ok(Value::Object(settings)) = serde_json::to_value(stored.masked_settings()) else {
        return (Vec::new(), Vec::new());
    };
    let (mut rows, mut props) = (Vec::new(), Vec::new());
    for (key, value) in settings {
        match value {
            Value::Null => {}
            Value::Object(of_props) => props.extend(of_props.into_iter().map(|(key, value)| (key, text(&value)))),
            value => rows.push((key, text(&value))),
        }
    }
    (rows, props)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The configurations of jobs as a file.
pub(crate) async fn export(here: Here, Query(query): Query<Vec<(String, String)>>) -> Response {
    match exported(&here, &query).await {
        Ok(file) => file,
        Err(problem) => error::problem(&here, &problem),
    }
}

pub(crate) async fn show(here: Here, headers: HeaderMap, Path((_, name)): Path<(String, String)>) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let stored = match here.views().configuration(&job).await {
        Ok(stored) => stored,
        Err(wrong) => return error::problem(&here, &wrong.into()),
    };
    // The log says why where it is not noted, and the page is of use without its history.
    versions::note(&here, &job, &stored).await.ok();
    let (settings, props) = rows(&stored);
    let shown = page(&ConfigurationPage {
        layout: Layout::of(&here),
        head: Head::of(&here, &job, "configuration"),
        settings,
        props,
        ignored: stored.ignored.iter().map(ToString::to_string).collect(),
        overwrite: stored.configuration.overwrite(),
        is_carried: stored.is_carried(),
        may_edit: here.may(Role::Editor, &job) && !stored.is_carried(),
        said: Said::of(&here.app, &headers),
        stored: stored.masked_text(),
    });
    Said::forget(&here.app, shown)
}
