//! The problems that each route can answer with.

use crate::access::{Permission, ReasonRule};
use crate::api::Code;
use crate::router::Declared;

/// Status and code.
type Answer = (u16, Code);

const REGISTRY: [Answer; 3] =
    [(404, Code::NoSuchRegistry), (502, Code::RegistryRefused), (503, Code::RegistryUnreachable)];
const CALLER: [Answer; 3] = [(401, Code::NotLoggedIn), (403, Code::Forbidden), (421, Code::WrongHost)];
const WRITE: [Answer; 1] = [(409, Code::Contended)];
const TRIGGER: [Answer; 3] = [(409, Code::NoEnabledInstance), (409, Code::KeyInUse), (422, Code::KeyReused)];
const STORED: [Answer; 2] = [(404, Code::NoConfiguration), (409, Code::UnreadableConfiguration)];
const EDIT: [Answer; 4] =
    [(409, Code::CarriedJob), (412, Code::ChangedMeanwhile), (422, Code::InvalidConfiguration), (428, Code::NoVersion)];

/// Routes about what the data file keeps.
const KEPT: [&str; 1] = ["/api/v1/access"];

const ACCOUNT: [Answer; 4] =
    [(400, Code::BadRequest), (409, Code::NotKept), (422, Code::InvalidAccount), (503, Code::DataUnusable)];

/// The problems of a route, in ascending order of their status.
pub(super) fn problems_of(route: &Declared) -> Vec<Answer> {
    let has = |part: &str| route.path.contains(part);
    let ends = |part: &str| route.path.ends_with(part);
    let mut codes = Vec::new();
    if route.permission != Permission::Public {
        codes.extend(CALLER);
    }
    if route.method != "GET" {
        codes.push((403, Code::ForeignOrigin));
    }
    if has("{registry}") {
        codes.extend(REGISTRY);
    }
    if has("{job}") {
        codes.push((404, Code::NoSuchJob));
    }
    if has("{item}") {
        codes.push((404, Code::NoSuchItem));
    }
    if has("{run}") {
        codes.extend([
            (404, Code::NoSuchRun),
            (404, Code::NotTraced),
            (502, Code::TracesUnreadable),
            (503, Code::TracesBusy),
        ]);
    }
    if has("{") || ends("/previews") || ends("/access") {
        codes.push((400, Code::BadRequest));
    }
    if route.path.contains("/api/v1/users") || route.path.contains("/api/v1/tokens") {
        match (route.method, has("{name}")) {
            ("GET", _) => {}
            (_, false) => codes.extend(ACCOUNT.iter().chain(&[(409, Code::NameTaken)])),
            (_, true) => codes.extend(ACCOUNT.iter().chain(&[(404, Code::UnknownName), (409, Code::OfSettings)])),
        }
    }
    if has("/users/{name}") && matches!(route.method, "PUT" | "DELETE") {
        codes.push((409, Code::LastAdministrator));
    }
    if ends("/me/password") {
        codes.extend(ACCOUNT);
        codes.extend([
            (409, Code::NoPassword),
            (409, Code::OfSettings),
            (422, Code::WrongPassword),
            (429, Code::TooManyAttempts),
        ]);
    }
    if has("/sessions/{name}") {
        codes.push((404, Code::UnknownName));
    }
    if KEPT.iter().any(|path| route.path.starts_with(path)) {
        codes.push((503, Code::DataUnusable));
    }
    if matches!(route.method, "POST" | "PUT" | "PATCH") {
        codes.push((413, Code::TooLarge));
    }
    if route.reason != ReasonRule::Free {
        codes.push((422, Code::ReasonRequired));
    }
    if ends("/configuration") {
        codes.extend(STORED);
    }
    match (route.method, route.path.rsplit('/').next()) {
        ("GET", Some("executions" | "states" | "decisions" | "audit" | "past" | "fires" | "{fire}")) => {
            codes.extend([(404, Code::NotTraced), (502, Code::TracesUnreadable), (503, Code::TracesBusy)]);
        }
        ("GET", Some("graph" | "timeline" | "schedule")) => {
            codes.extend([(502, Code::TracesUnreadable), (503, Code::TracesBusy)]);
        }
        ("GET", Some("configurations")) => codes.push((404, Code::NoSuchJob)),
        ("POST", Some("checks")) if has("data-sources") => codes.push((404, Code::NotTraced)),
        ("PUT", Some("acknowledgement")) => codes.extend([(404, Code::NoSuchAlarm), (503, Code::DataUnusable)]),
        ("GET", Some("events")) => codes.extend([(429, Code::TooManyStreams), (503, Code::TooManyStreams)]),
        ("GET", Some("nodes")) => codes.extend([(400, Code::BadRequest), (404, Code::NoSuchNode)]),
        ("GET", Some("{server}")) => codes.push((404, Code::NoSuchServer)),
        ("POST", Some("triggers")) => codes.extend(TRIGGER.iter().chain(&WRITE)),
        ("POST", Some("reruns")) => {
            codes.extend(TRIGGER.iter().chain(&WRITE));
            codes.extend([(404, Code::NoConfiguration), (404, Code::NoSuchFire), (409, Code::NotRerun)]);
        }
        ("POST", Some("cancellations")) => codes.extend([(409, Code::NothingRuns), (409, Code::Contended)]),
        ("POST", Some("previews")) => codes.push((422, Code::WrongSchedule)),
        ("PUT" | "PATCH", Some("configuration")) => codes.extend(EDIT),
        ("GET", Some("{version}")) => {
            codes.extend([(404, Code::NoSuchVersion), (502, Code::TracesUnreadable)]);
            codes.extend([(503, Code::TracesBusy), (503, Code::DataUnusable)]);
        }
        ("GET", Some("versions")) => {
            codes.extend([(502, Code::TracesUnreadable), (503, Code::TracesBusy), (503, Code::DataUnusable)]);
        }
        ("POST", Some("restorations")) => {
            codes.extend(STORED.iter().chain(&EDIT));
            codes.extend([(404, Code::NoSuchVersion), (503, Code::DataUnusable)]);
        }
        ("PUT", Some("state")) | ("POST", Some("shutdowns")) => {
            codes.push((404, Code::NothingMatched));
            codes.extend(WRITE);
        }
        ("DELETE", Some("{server}")) => {
            codes.extend([(404, Code::NothingMatched), (409, Code::InstancesOnline)]);
            codes.extend(WRITE);
        }
        ("DELETE", Some("{job}")) => codes.extend([(409, Code::InstancesOnline), (409, Code::Contended)]),
        _ => {}
    }
    codes.sort_unstable_by_key(|(status, code)| (*status, code.as_str()));
    codes.dedup();
    codes
}
