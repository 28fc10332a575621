//! Reasons on which the console insists: with the option `require_reason` nothing is disabled, shut down, removed, changed or
//! cancelled without one. Every route that changes something declares its rule, as it declares its permission: see
//! [`Routes`](crate::router::Routes).

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use crate::api::body::{parsed, read};
use crate::api::{Problem, is_api};
use crate::app::App;
use crate::here::Here;
use crate::pages;

/// The name of the field, or of the parameter, with the reason.
pub(crate) const REASON: &str = "reason";

/// When a request has to say why, on a console that insists on reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasonRule {
    /// Never: it is no action that needs a reason.
    Free,
    /// Always, in its query; a dry run changes nothing.
    InQuery,
    /// Always, in its body: JSON, or the form of a page.
    InBody,
    /// In its body, where this field of the body has one of these values.
    InBodyWhere(&'static str, &'static [&'static str]),
}

impl ReasonRule {
    /// Of a form with buttons that run, enable and disable.
    pub(crate) const TO_DISABLE: Self = Self::InBodyWhere("action", &["disable"]);
    /// Of a form that also cancels runs.
    pub(crate) const TO_DISABLE_OR_CANCEL: Self = Self::InBodyWhere("action", &["disable", "cancel"]);
    /// Of a form that previews a change and saves it.
    pub(crate) const TO_SAVE: Self = Self::InBodyWhere("action", &["save"]);
    /// Of a state that is set.
    pub(crate) const TO_SWITCH_OFF: Self = Self::InBodyWhere("enabled", &["false"]);

    /// The rule for readers of the API; `None` where there is none.
    pub(crate) fn described(self) -> Option<String> {
        match self {
            Self::Free => None,
            Self::InQuery => Some("in the query, unless it is a dry run".to_owned()),
            Self::InBody => Some("in the body".to_owned()),
            Self::InBodyWhere(field, values) => {
                Some(format!("in the body, where its {field} is {}", values.join(" or ")))
            }
        }
    }

    /// Whether a request with this query and these fields of its body lacks its reason.
    fn is_broken_by(self, query: &[(String, String)], body: &[(String, String)]) -> bool {
        match self {
            Self::Free => false,
            Self::InQuery => one(query, REASON).is_empty() && one(query, "dryRun") != "true",
            Self::InBody => one(body, REASON).is_empty(),
            Self::InBodyWhere(field, values) => one(body, REASON).is_empty() && values.contains(&one(body, field)),
        }
    }
}

/// The value of a field; empty where there is none. Handlers take the first one, too, or refuse several.
fn one<'f>(fields: &'f [(String, String)], name: &str) -> &'f str {
    fields.iter().find(|(one, _)| one == name).map_or("", |(_, value)| value.trim())
}

fn pairs(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text).into_owned().collect()
}

/// The fields of a JSON object. What is none is refused here: a handler may take a list of values for its fields.
fn members(json: &[u8]) -> Result<Vec<(String, String)>, Problem> {
    let members = parsed::<Map<String, Value>>(json)?;
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(members.into_iter().map(|(name, value)| (name, text(value))).collect())
}

/// Lets a request pass that says why, or need not. A page asks for the reason that lacks, and keeps what else was sent.
pub(crate) async fn insist(State((app, rule)): State<(App, ReasonRule)>, request: Request, next: Next) -> Response {
    if !app.options.require_reason || rule == ReasonRule::Free {
        return next.run(request).await;
    }
    let is_api = is_api(request.uri().path());
    let (mut parts, body) = request.into_parts();
    let here = match Here::from_request_parts(&mut parts, &app).await {
        Ok(here) => here,
        Err(refused) => return refused,
    };
    let (parts, body) = match read(Request::from_parts(parts, body), &app).await {
        Ok(read) => read,
        Err(problem) if is_api => return problem.into_response(),
        Err(problem) => return pages::error::problem(&here, &problem),
    };
    let query = pairs(parts.uri.query().unwrap_or_default().as_bytes());
    let fields = match rule {
        // Its body has no part in it, and may be anything.
        ReasonRule::InQuery => Ok(Vec::new()),
        _ if is_api => members(&body),
        _ => Ok(pairs(&body)),
    };
    match fields {
        Err(problem) => problem.into_response(),
        Ok(fields) if !rule.is_broken_by(&query, &fields) => {
            next.run(Request::from_parts(parts, Body::from(body))).await
        }
        Ok(_) if is_api => Problem::no_reason(rule).into_response(),
        Ok(fields) => pages::reason::ask(&here, parts.uri.path(), fields),
    }
}

#[cfg(test)]
mod tests;
