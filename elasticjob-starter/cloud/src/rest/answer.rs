//! Answers that are no success: a status, and JSON with every reason.

use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use elasticjob::config::Message;
use elasticjob::operations::OperationError;
use elasticjob::registry::{CommitError, RegistryError};
use elasticjob::trace::ReadError;
use elasticjob_console::{Refused, unread_traces};
use serde::Serialize;

use super::routes::BODY_LIMIT;
use crate::carrier::CarrierError;
use crate::model::{Problem, Problems};
use crate::scheduler::StoreError;
use crate::texts;

/// A request that was not fulfilled.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    status: StatusCode,
    message: Message,
    /// Each field that is wrong.
    problems: Vec<Problem>,
}

/// The body of its answer.
#[derive(Serialize)]
struct Told<'a> {
    message: &'a str,
    /// The mark by which programs tell it: it never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "<[Problem]>::is_empty")]
    problems: &'a [Problem],
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: Message) -> Self {
        Self { status, message, problems: Vec::new() }
    }

    pub(super) fn bad(message: Message) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn not_found(message: Message) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn conflict(message: Message) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self { status, message, problems } = self;
        // What is away or busy now may answer a moment later.
        let retry = (status == StatusCode::SERVICE_UNAVAILABLE).then_some([(RETRY_AFTER, "1")]);
        let told = Json(Told { message: message.as_str(), code: message.code(), problems: &problems }).into_response();
        // A page on this port says it in the language of its reader.
        let fields = problems.into_iter().map(|problem| (problem.field, problem.reason));
        (status, retry, Extension(Refused::new(message, fields)), told).into_response()
    }
}

/// Answers that the library made before a route was called, as of a body that is too long, in the form of all others.
pub(super) async fn in_own_form(answer: Response) -> Response {
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|type_| type_ == "application/json");
    if answer.status().is_success() || is_json {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    // A text of the library is short; without one the status says it.
    let text = to_bytes(body, LONGEST).await.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
    let text = text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| parts.status.to_string());
    let message = match parts.status {
        StatusCode::NOT_FOUND => texts::no_such_address(),
        StatusCode::PAYLOAD_TOO_LARGE => texts::body_too_long(BODY_LIMIT),
        // The routes answer in their own form when a role is missing.
        StatusCode::FORBIDDEN => texts::foreign_origin(),
        StatusCode::BAD_REQUEST => texts::unreadable_request(text),
        _ => text.into(),
    };
    Refusal::new(parts.status, message).into_response()
}

/// More bytes than a text of the library has.
const LONGEST: usize = 4 * 1_024;

impl From<Problems> for Refusal {
    fn from(problems: Problems) -> Self {
        let message = problems.message();
        Self { status: StatusCode::BAD_REQUEST, message, problems: problems.0 }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::Invalid(problems) => return problems.clone().into(),
            StoreError::NoSuchApp(_) | StoreError::NoSuchJob(_) => StatusCode::NOT_FOUND,
            StoreError::AppExists(_) | StoreError::JobExists(_) | StoreError::Contended => StatusCode::CONFLICT,
            StoreError::Unchecked { .. }
            | StoreError::Read(RegistryError::NoAnswer { .. })
            | StoreError::Write(CommitError::NotReached { .. } | CommitError::Unknown { .. }) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            StoreError::Read(_) | StoreError::Write(_) => StatusCode::BAD_GATEWAY,
            // Only a start meets it.
            StoreError::OtherCarrier { .. } | StoreError::OtherPlace { .. } | StoreError::NotKept { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        Self::new(status, error.message())
    }
}

impl From<OperationError> for Refusal {
    fn from(error: OperationError) -> Self {
        let status = match &error {
            OperationError::NoSuchJob { .. } | OperationError::NoConfiguration { .. } => StatusCode::NOT_FOUND,
            OperationError::NoEnabledInstance { .. }
            | OperationError::NothingToCancel { .. }
            | OperationError::NotRerun { .. }
            | OperationError::Contended { .. } => StatusCode::CONFLICT,
            _ if error.is_unreachable() => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self::new(status, error.message())
    }
}

impl From<CarrierError> for Refusal {
    fn from(error: CarrierError) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, error.message())
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        let status = match &error {
            ReadError::TooManyReaders { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self::new(status, unread_traces(error))
    }
}
