//! The problems that each route can answer with.

use crate::access::Permission;
use crate::routes::Declared;

/// Status and code.
type Code = (u16, &'static str);

const REGISTRY: [Code; 3] = [(404, "no-such-registry"), (502, "registry-refused"), (503, "registry-unreachable")];
const CALLER: [Code; 2] = [(401, "not-logged-in"), (403, "forbidden")];
const WRITE: [Code; 1] = [(409, "contended")];
const TRIGGER: [Code; 3] = [(409, "no-enabled-instance"), (409, "key-in-use"), (422, "key-reused")];
const STORED: [Code; 2] = [(404, "no-configuration"), (409, "unreadable-configuration")];
const EDIT: [Code; 3] = [(412, "changed-meanwhile"), (422, "invalid-configuration"), (428, "no-version")];

/// Routes about what the data file keeps.
const KEPT: [&str; 1] = ["/api/v1/access"];

const ACCOUNT: [Code; 4] = [(400, "bad-request"), (409, "not-kept"), (422, "invalid-account"), (503, "data-unusable")];

/// The problems of a route, in ascending order of their status.
pub(super) fn problems_of(route: &Declared) -> Vec<Code> {
    let has = |part: &str| route.path.contains(part);
    let ends = |part: &str| route.path.ends_with(part);
    let mut codes = Vec::new();
    if route.permission != Permission::Public {
        codes.extend(CALLER);
    }
    if has("{registry}") {
        codes.extend(REGISTRY);
    }
    if has("{job}") {
        codes.push((404, "no-such-job"));
    }
    if has("{item}") {
        codes.push((404, "no-such-item"));
    }
    if has("{run}") {
        codes.extend([(404, "no-such-run"), (404, "not-traced"), (502, "traces-unreadable")]);
    }
    if has("{") || ends("/previews") || ends("/access") {
        codes.push((400, "bad-request"));
    }
    if route.path.contains("/api/v1/users") || route.path.contains("/api/v1/tokens") {
        match (route.method, has("{name}")) {
            ("GET", _) => {}
            (_, false) => codes.extend(ACCOUNT.iter().chain(&[(409, "name-taken")])),
            (_, true) => codes.extend(ACCOUNT.iter().chain(&[(404, "unknown-name"), (409, "of-settings")])),
        }
    }
    if has("/users/{name}") && matches!(route.method, "PUT" | "DELETE") {
        codes.push((409, "last-administrator"));
    }
    if has("/sessions/{name}") {
        codes.push((404, "unknown-name"));
    }
    if KEPT.iter().any(|path| route.path.starts_with(path)) {
        codes.push((503, "data-unusable"));
    }
    if matches!(route.method, "POST" | "PUT" | "PATCH") {
        codes.push((413, "too-large"));
    }
    if ends("/configuration") {
        codes.extend(STORED);
    }
    match (route.method, route.path.rsplit('/').next()) {
        ("GET", Some("executions" | "states" | "decisions" | "audit" | "past" | "fires" | "{fire}" | "timeline")) => {
            codes.extend([(404, "not-traced"), (502, "traces-unreadable")]);
        }
        ("POST", Some("checks")) if has("data-sources") => codes.push((404, "not-traced")),
        ("PUT", Some("acknowledgement")) => codes.push((404, "no-such-alarm")),
        ("GET", Some("events")) => codes.push((503, "too-many-streams")),
        ("GET", Some("nodes")) => codes.extend([(400, "bad-request"), (404, "no-such-node")]),
        ("GET", Some("{server}")) => codes.push((404, "no-such-server")),
        ("POST", Some("triggers")) => codes.extend(TRIGGER.iter().chain(&WRITE)),
        ("POST", Some("cancellations")) => codes.extend([(409, "nothing-runs"), (409, "contended")]),
        ("POST", Some("previews")) => codes.push((422, "wrong-schedule")),
        ("PUT" | "PATCH", Some("configuration")) => codes.extend(EDIT),
        ("GET", Some("versions")) => codes.extend([(502, "traces-unreadable"), (503, "data-unusable")]),
        ("POST", Some("restorations")) => {
            codes.extend(STORED.iter().chain(&EDIT));
            codes.extend([(404, "no-such-version"), (503, "data-unusable")]);
        }
        ("PUT", Some("state")) | ("POST", Some("shutdowns")) => {
            codes.push((404, "nothing-matched"));
            codes.extend(WRITE);
        }
        ("DELETE", Some("{server}")) => {
            codes.extend([(404, "nothing-matched"), (409, "instances-online")]);
            codes.extend(WRITE);
        }
        ("DELETE", Some("{job}")) => codes.extend([(409, "instances-online"), (409, "contended")]),
        _ => {}
    }
    codes.sort_unstable();
    codes.dedup();
    codes
}
