//! Errors as `application/problem+json` (RFC 9457), each with a code that never changes.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use chrono::SecondsFormat;
use elasticjob::config::{Message, MessageArgument};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::operations::{NotRerun, OperationError};
use elasticjob::registry::{CommitError, RegistryError};
use elasticjob::schedule::ScheduleError;
use elasticjob::trace::ReadError;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::code::Code;
use crate::access::{Invalid, LONGEST_REASON, NotChanged, Permission, REASON, ReasonRule};
use crate::registries::Registry;
use crate::store::StoreError;
use crate::streams::NoPlace;
use crate::text::Text;
use crate::texts;
use crate::translated;

fn as_text<S: Serializer>(message: &Message, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(message.as_str())
}

/// An error of the API.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Where the console explains it: a path on its host, with its base path.
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    #[serde(serialize_with = "as_text")]
    #[schema(value_type = String)]
    detail: Message,
    #[schema(value_type = String)]
    code: Code,
    /// Further members for programs, by name.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    more: Map<String, Value>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: Code, title: &'static str, detail: impl Into<Message>) -> Self {
        let (kind, status) = (format!("/help/problems#{code}"), status.as_u16());
        Self { kind, title, status, detail: detail.into(), code, more: Map::new() }
    }

    /// The same below the base path of the console, as an answer has it: once.
    pub(super) fn below(mut self, base_path: &str) -> Self {
        self.kind.insert_str(0, base_path);
        self
    }

    pub(crate) fn traces_unreadable(why: impl Into<Message>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, Code::TracesUnreadable, "The traces cannot be read", why)
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn detail(&self) -> &Message {
        &self.detail
    }

    /// With the name of the registry center, for a request that is about several.
    pub(crate) fn of_registry(self, registry: &Registry) -> Self {
        let mut problem = self.while_away(registry);
        problem.detail = texts::of_registry(registry.name(), problem.detail);
        problem
    }

    /// With the reason why the registry center was not reached so far, where that is what is wrong: the error of a read has it as an
    /// English text.
    pub(crate) fn while_away(mut self, registry: &Registry) -> Self {
        if matches!(self.code, Code::RegistryUnreachable)
            && let Some(why) = registry.problem()
        {
            self.detail = texts::registry_away(why);
        }
        self
    }

    /// The detail in the language of the reader.
    pub(crate) fn told(&self, text: &Text) -> String {
        translated::shown(text, &self.detail)
    }

    pub(crate) fn code(&self) -> &'static str {
        self.code.as_str()
    }

    pub(crate) fn not_logged_in() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Code::NotLoggedIn, "Not logged in", texts::not_logged_in())
    }

    pub(crate) fn invalid_token(invalid: Invalid) -> Self {
        let (code, detail) = match invalid {
            Invalid::Unknown => (Code::UnknownToken, texts::unknown_token()),
            Invalid::Expired(end) => {
                (Code::ExpiredToken, texts::expired_token(end.to_rfc3339_opts(SecondsFormat::Secs, true)))
            }
            Invalid::OwnerMayNot => (Code::TokenWithoutOwner, texts::token_without_owner()),
        };
        Self::new(StatusCode::UNAUTHORIZED, code, "The token does not count", detail)
    }

    pub(crate) fn forbidden(permission: Permission, read_only: bool) -> Self {
        let detail = match (permission, read_only) {
            (Permission::Has(role) | Permission::HasForSome(role), false) => texts::role_needed(role.to_string()),
            (Permission::Has(role) | Permission::HasForSome(role), true) => {
                texts::role_needed_read_only(role.to_string())
            }
            (Permission::Known | Permission::KnownOrNear | Permission::Public, false) => texts::no_role(),
            (Permission::Known | Permission::KnownOrNear | Permission::Public, true) => texts::no_role_read_only(),
        };
        Self::new(StatusCode::FORBIDDEN, Code::Forbidden, "Not allowed", detail)
    }

    /// A job runs after the one that is run again, and the caller may not operate it; `None` where the caller may not even know
    /// its name.
    pub(crate) fn forbidden_after(job: Option<&JobName>) -> Self {
        let other = job.map_or_else(|| texts::another_job().into(), |job| MessageArgument::from(job.as_str()));
        let detail = texts::forbidden_after(other);
        Self::new(StatusCode::FORBIDDEN, Code::Forbidden, "Not allowed", detail)
    }

    /// A caller without a secret under a name that is not one of the console.
    pub(crate) fn misnamed(remedy: String) -> Self {
        Self::new(StatusCode::MISDIRECTED_REQUEST, Code::WrongHost, "Not a name of the console", remedy)
    }

    /// A change that a page of another origin made a browser send.
    pub(crate) fn foreign_origin() -> Self {
        let title = "A page of another origin sent it";
        Self::new(StatusCode::FORBIDDEN, Code::ForeignOrigin, title, texts::foreign_origin())
    }

    pub(crate) fn no_such_registry(name: &str) -> Self {
        let detail = texts::no_such_registry(name);
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchRegistry, "No such registry center", detail)
    }

    pub(crate) fn no_such_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchRoute, "No such route", "the API has no such route")
    }

    pub(crate) fn no_such_item(job: &JobName, item: ShardingItem) -> Self {
        let detail = texts::item_unknown(job.as_str(), item);
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchItem, "No such item", detail)
    }

    /// No record of a run of an item of that job has this id.
    pub(crate) fn no_such_run(id: &str) -> Self {
        let id: String = id.chars().take(40).collect();
        let detail = texts::no_such_run(id);
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchRun, "No such run", detail)
    }

    /// No run of an item has this id, or it is one of a job that the caller may not see.
    pub(crate) fn no_such_run_to_see(id: &str) -> Self {
        let id: String = id.chars().take(40).collect();
        let detail = texts::no_such_run_to_see(id);
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchRun, "No such run", detail)
    }

    /// A job that is chosen and not there, or one that the caller may not see.
    pub(crate) fn no_such_job_to_see(job: &str) -> Self {
        let job: String = job.chars().take(100).collect();
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchJob, "No such job", texts::no_such_job_to_see(job))
    }

    pub(crate) fn no_such_version(job: &JobName, id: i64) -> Self {
        let detail = texts::no_such_version(job.as_str(), id);
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchVersion, "No such version", detail)
    }

    pub(crate) fn no_such_server(server: &str) -> Self {
        let detail = texts::no_such_server(server);
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchServer, "No such server", detail)
    }

    pub(crate) fn no_such_alarm(id: &str) -> Self {
        let detail = texts::no_such_alarm(id.escape_default().to_string());
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchAlarm, "No such alarm", detail)
    }

    pub(crate) fn no_such_node(path: &str) -> Self {
        let detail = texts::no_such_node(format!("{path:?}"));
        Self::new(StatusCode::NOT_FOUND, Code::NoSuchNode, "No such node", detail)
    }

    /// An action without a reason, on a console that insists on one.
    pub(crate) fn no_reason(rule: ReasonRule) -> Self {
        let detail = texts::no_reason(LONGEST_REASON);
        let problem = match rule.is_in_query() {
            true => json!({ "parameter": REASON, "detail": detail.as_str() }),
            false => json!({ "pointer": format!("/{REASON}"), "detail": detail.as_str() }),
        };
        let title = "A reason is needed";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Code::ReasonRequired, title, detail)
            .with("problems", json!([problem]))
    }

    /// A configuration with problems: each with its setting, a property as `props.KEY`.
    pub(crate) fn invalid_configuration<'a>(
        detail: Message,
        problems: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let pointer = |setting: &str| match setting.strip_prefix("props.") {
            Some(key) => format!("/props/{}", key.replace('~', "~0").replace('/', "~1")),
            None => format!("/{setting}"),
        };
        let problems: Vec<Value> =
            problems.map(|(setting, why)| json!({ "pointer": pointer(setting), "detail": why })).collect();
        let title = "The configuration cannot be used";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidConfiguration, title, detail)
            .with("problems", json!(problems))
    }

    pub(crate) fn wrong_method() -> Self {
        let detail = "the API has this address, and not with this method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, Code::WrongMethod, "Wrong method", detail)
    }

    pub(crate) fn too_large() -> Self {
        let detail = "the body is longer than the console reads";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, "Too large", detail)
    }

    /// A key of idempotency that came with another request before.
    pub(crate) fn key_reused() -> Self {
        let detail = "this Idempotency-Key came with another body before: send a new key with a new request";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Code::KeyReused, "The key was used before", detail)
    }

    /// A request with the same key of idempotency that is not answered yet.
    pub(crate) fn key_in_use() -> Self {
        let detail = "a request with this Idempotency-Key is not answered yet: send it again later";
        Self::new(StatusCode::CONFLICT, Code::KeyInUse, "The first request is not answered yet", detail)
    }

    /// Whether the same request can succeed a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.code, Code::Contended | Code::RegistryUnreachable | Code::KeyInUse | Code::TracesBusy)
    }

    /// Whether it may have been done: the answer of the registry center was lost.
    pub(crate) fn is_unknown(&self) -> bool {
        self.more.get("outcome").is_some_and(|outcome| outcome == "unknown")
    }

    /// With the part of the expression that is wrong, in bytes from its begin.
    pub(crate) fn wrong_schedule(wrong: &ScheduleError) -> Self {
        let title = "The expression or the zone cannot be used";
        let problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, Code::WrongSchedule, title, wrong.message());
        match wrong {
            ScheduleError::Cron(wrong) => problem.with("offset", wrong.span.start).with("end", wrong.span.end),
            _ => problem,
        }
    }

    /// A change without the version that it is a change of.
    pub(crate) fn no_version() -> Self {
        let detail = "send the header If-Match with the ETag of the configuration that was read";
        Self::new(StatusCode::PRECONDITION_REQUIRED, Code::NoVersion, "If-Match is missing", detail)
    }

    /// A part of the path, a parameter or the body cannot be understood.
    pub(crate) fn bad_request(detail: impl Into<Message>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::BadRequest, "The request cannot be understood", detail)
    }

    /// No database with traces is configured.
    pub(crate) fn not_traced() -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::NotTraced, "No traces", texts::not_traced())
    }
}

impl From<OperationError> for Problem {
    fn from(error: OperationError) -> Self {
        use OperationError as E;
        let detail = error.message();
        let problem = |status, code, title| Self::new(status, code, title, detail.clone());
        match &error {
            // The error names other jobs, and the caller may not see them all.
            E::NoSuchJob { .. } => Self::new(StatusCode::NOT_FOUND, Code::NoSuchJob, "No such job", error.of_its_job()),
            E::NoConfiguration { .. } => {
                problem(StatusCode::NOT_FOUND, Code::NoConfiguration, "The job has no configuration")
            }
            E::NoSuchItem { .. } => problem(StatusCode::NOT_FOUND, Code::NoSuchItem, "No such item"),
            E::NothingMatched { .. } => problem(StatusCode::NOT_FOUND, Code::NothingMatched, "Nothing is meant"),
            E::NoEnabledInstance { .. } => {
                problem(StatusCode::CONFLICT, Code::NoEnabledInstance, "No instance can run it")
            }
            E::NothingToCancel { .. } => {
                problem(StatusCode::CONFLICT, Code::NothingRuns, "Nothing runs that could be cancelled")
            }
            E::NotRerun {
                why:
                    NotRerun::NotMonitored
                    | NotRerun::TriggerWaits(_)
                    | NotRerun::FollowerIsBehind(_)
                    | NotRerun::Unusable(_),
                ..
            } => problem(StatusCode::CONFLICT, Code::NotRerun, "The fire cannot be run again now"),
            E::NotRerun { why: NotRerun::NotAllowed(_), .. } => Self::forbidden_after(None),
            E::NotRerun { .. } => problem(StatusCode::NOT_FOUND, Code::NoSuchFire, "No such fire"),
            E::InstancesOnline { instances, .. } => {
                let online: Vec<&str> = instances.iter().map(|id| id.as_str()).collect();
                problem(StatusCode::CONFLICT, Code::InstancesOnline, "Instances are online")
                    .with("instances", json!(online))
            }
            E::Invalid { problems, .. } => {
                let problems = problems.iter().map(|wrong| (wrong.setting.as_ref(), wrong.reason.as_str()));
                Self::invalid_configuration(detail.clone(), problems)
            }
            E::CarriedJob { .. } => {
                problem(StatusCode::CONFLICT, Code::CarriedJob, "The registration of the carried job decides")
            }
            E::Unreadable { .. } => {
                problem(StatusCode::CONFLICT, Code::UnreadableConfiguration, "The stored configuration cannot be used")
            }
            E::ChangedMeanwhile { .. } => {
                problem(StatusCode::PRECONDITION_FAILED, Code::ChangedMeanwhile, "Another user changed it meanwhile")
            }
            E::Contended { done } => {
                problem(StatusCode::CONFLICT, Code::Contended, "Others write the same nodes").with("done", *done)
            }
            E::Write { reason: CommitError::Unknown { .. }, done } => problem(
                StatusCode::SERVICE_UNAVAILABLE,
                Code::RegistryUnreachable,
                "The answer of the registry center was lost",
            )
            .with("outcome", "unknown")
            .with("done", *done),
            E::Read(RegistryError::NoAnswer { .. }) | E::Write { .. } if error.is_unreachable() => problem(
                StatusCode::SERVICE_UNAVAILABLE,
                Code::RegistryUnreachable,
                "The registry center is not reached",
            ),
            _ => problem(StatusCode::BAD_GATEWAY, Code::RegistryRefused, "The registry center refused"),
        }
    }
}

impl From<NoPlace> for Problem {
    fn from(none: NoPlace) -> Self {
        let (status, detail) = match none {
            NoPlace::Full(most) => (StatusCode::SERVICE_UNAVAILABLE, texts::streams_full(most)),
            NoPlace::OfCaller(most) => (StatusCode::TOO_MANY_REQUESTS, texts::streams_of_caller(most)),
        };
        Self::new(status, Code::TooManyStreams, "Too many streams", detail)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let title = "The data file cannot be used";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Code::DataUnusable, title, error.message())
    }
}

impl From<NotChanged> for Problem {
    fn from(error: NotChanged) -> Self {
        use NotChanged as N;
        let title = "It is not changed";
        let (status, code) = match &error {
            N::NotKept => (StatusCode::CONFLICT, Code::NotKept),
            N::Unknown(_) => (StatusCode::NOT_FOUND, Code::UnknownName),
            N::Exists(_) => (StatusCode::CONFLICT, Code::NameTaken),
            N::OfSettings(_) => (StatusCode::CONFLICT, Code::OfSettings),
            N::LastAdministrator(_) => (StatusCode::CONFLICT, Code::LastAdministrator),
            N::Name(_) | N::Grants | N::Password(_) | N::NoUser(_) | N::MoreThanOwner(_) | N::Days(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidAccount)
            }
            N::NoPassword(_) => (StatusCode::CONFLICT, Code::NoPassword),
            N::WrongPassword => (StatusCode::UNPROCESSABLE_ENTITY, Code::WrongPassword),
            N::Slowed(_) => (StatusCode::TOO_MANY_REQUESTS, Code::TooManyAttempts),
            N::ReadOnly | N::ByToken(_) => (StatusCode::FORBIDDEN, Code::Forbidden),
            N::Store(error) => return error.clone().into(),
        };
        Self::new(status, code, title, error.message())
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        let (is_busy, detail) = (matches!(error, ReadError::TooManyReaders { .. }), unread_traces(error));
        match is_busy {
            true => Self::new(StatusCode::SERVICE_UNAVAILABLE, Code::TracesBusy, "Too many reads of traces", detail),
            false => Self::traces_unreadable(detail),
        }
    }
}

/// The message of a read of traces that failed: why, and what helps.
pub fn unread_traces(error: ReadError) -> Message {
    match error {
        ReadError::TooManyReaders { at, connections, waited } => {
            texts::traces_busy(at, connections, waited.as_secs().to_string())
        }
        ReadError::TooSlow { limit } => texts::traces_slow(limit.as_secs().to_string()),
        ReadError::NotReached { at, since, why } => {
            texts::traces_not_reached(at, since.to_rfc3339_opts(SecondsFormat::Secs, true), why)
        }
        ReadError::Unavailable { at, why } => texts::traces_away(at, why),
        ReadError::NoTable { at, table } => texts::traces_without_table(at, table),
        ReadError::NoColumn { at, table, column } => texts::traces_without_column(at, table, column),
        // A reason that a later release of the library has.
        error => error.to_string().into(),
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, may_pass) = (self.status(), self.may_pass());
        let mut response = (status, Json(&self)).into_response();
        response.extensions_mut().insert(self);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if may_pass {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
