//! Reasons on which the console insists: with the option `require_reason` nothing is disabled, shut down, removed, changed or
//! cancelled without one. Every route that changes something declares its rule, as it declares its permission: see
//! [`Routes`](crate::router::Routes).

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::visible::is_visible;

use crate::api::body::{parsed, read};
use crate::api::{Problem, is_api};
use crate::app::App;
use crate::here::Here;
use crate::pages;
use crate::pages::form::one;

/// The name of the field, or of the parameter, with the reason.
pub(crate) const REASON: &str = "reason";

/// The longest reason, in characters.
pub(crate) const LONGEST_REASON: usize = 200;

/// The reason that a text gives, from its first character on that a reader sees; empty where there is no such character.
pub(crate) fn given(text: &str) -> &str {
    text.trim_start_matches(|c| !is_visible(c)).trim_end()
}

/// When a request has to say why, on a console that insists on reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasonRule {
    /// Never: it is no action that needs a reason.
    Free,
    /// Always, in its query.
    InQuery,
    /// In its query, unless it is a dry run, which changes nothing.
    InQueryUnlessDry,
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
            Self::InQuery => Some("in the query".to_owned()),
            Self::InQueryUnlessDry => Some("in the query, unless it is a dry run".to_owned()),
            Self::InBody => Some("in the body".to_owned()),
            Self::InBodyWhere(field, values) => {
                Some(format!("in the body, where its {field} is {}", values.join(" or ")))
            }
        }
    }

    /// Whether the reason belongs into the query.
    pub(crate) fn is_in_query(self) -> bool {
        matches!(self, Self::InQuery | Self::InQueryUnlessDry)
    }

    /// Whether a request with this query and this body lacks its reason.
    fn is_broken_by(self, query: &[(String, String)], body: &Sent) -> bool {
        let is_in_query = || !given(one(query, REASON)).is_empty();
        match self {
            Self::Free => false,
            Self::InQuery => !is_in_query(),
            Self::InQueryUnlessDry => !is_in_query() && one(query, "dryRun") != "true",
            Self::InBody => !body.has_reason(),
            Self::InBodyWhere(field, values) => !body.has_reason() && body.may_have(field, values),
        }
    }
}

/// The body of a request. Handlers take the first value of a field of a form, and refuse several members of one name.
enum Sent {
    /// It may be anything, as the reason does not belong there.
    Anything,
    Form(Vec<(String, String)>),
    Json(Map<String, Value>),
}

impl Sent {
    fn has_reason(&self) -> bool {
        let reason = match self {
            Self::Anything => "",
            Self::Form(fields) => one(fields, REASON),
            Self::Json(members) => members.get(REASON).and_then(Value::as_str).unwrap_or_default(),
        };
        !given(reason).is_empty()
    }

    /// Whether a field has one of these values. A member that is neither a text nor a flag may have each of them: a handler takes
    /// `{"disable": null}` for `"disable"`.
    fn may_have(&self, field: &str, values: &[&str]) -> bool {
        match self {
            Self::Anything => false,
            Self::Form(fields) => values.contains(&one(fields, field).trim()),
            Self::Json(members) => match members.get(field) {
                None => false,
                Some(Value::String(text)) => values.contains(&text.trim()),
                Some(Value::Bool(flag)) => values.contains(&if *flag { "true" } else { "false" }),
                Some(_) => true,
            },
        }
    }
}

fn pairs(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text).into_owned().collect()
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
    let sent = match is_api {
        _ if rule.is_in_query() => Sent::Anything,
        // What is no object is refused here: a handler may take a list of values for its fields.
        true => match parsed(&body) {
            Ok(members) => Sent::Json(members),
            Err(problem) => return problem.into_response(),
        },
        false => Sent::Form(pairs(&body)),
    };
    match sent {
        sent if !rule.is_broken_by(&query, &sent) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Sent::Form(fields) => pages::reason::ask(&here, parts.uri.path(), fields),
        Sent::Anything | Sent::Json(_) => Problem::no_reason(rule).into_response(),
    }
}

#[cfg(test)]
mod tests;
