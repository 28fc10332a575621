//! The table of all pages and buttons, each with what does the same. A page or a button without its row fails a test.

use elasticjob::trace::{DecisionRecord, ExecutionRecord, StateRecord};
use i18n_embed_fl::fl;

use crate::access::{Permission, Role};
use crate::service::audit::ActionRecord;
use crate::service::history::{Traced, uses};
use crate::text::Text;

/// A page, or a button of pages. Tests compare method, route and button with the routes and the templates.
pub(super) struct Entry {
    /// What the entry is for: tests compare it with the routes and the templates.
    #[cfg(test)]
    pub(super) of: Of,
    /// The routes of the pages that offer it.
    pub(super) shown_on: &'static [&'static str],
    pub(super) label: fn(&Text) -> String,
    pub(super) calls: &'static [Call],
    /// Commands as [`shell_command`](elasticjob::operations::shell_command) takes them; none where the command line cannot do it.
    pub(super) commands: &'static [&'static str],
}

/// A page, or a button.
#[cfg(test)]
pub(super) struct Of {
    pub(super) method: &'static str,
    /// The route of the page, or the one that the button sends to.
    pub(super) route: &'static str,
    /// The value of the button; empty for a page, and where a form has one button.
    pub(super) button: &'static str,
}

/// A call of the API.
pub(super) struct Call {
    pub(super) method: &'static str,
    /// With names in braces, which the path of the page fills in.
    pub(super) path: &'static str,
    pub(super) needs: Permission,
    /// Whether the query of the page is that of the call as well.
    pub(super) takes_query: bool,
    /// Whether the call knows a parameter of that query.
    pub(super) knows: fn(&str) -> bool,
    pub(super) headers: &'static [&'static str],
    /// JSON; a name in upper case is filled in like one in braces.
    pub(super) body: Option<&'static str>,
}

const VIEWER: Permission = Permission::Has(Role::Viewer);
const OPERATOR: Permission = Permission::Has(Role::Operator);
const EDITOR: Permission = Permission::Has(Role::Editor);
const ADMIN: Permission = Permission::Has(Role::Admin);

const fn get(path: &'static str, needs: Permission) -> Call {
    Call { method: "GET", path, needs, takes_query: false, knows: |_| true, headers: &[], body: None }
}

/// A call that takes the query of the page.
const fn list(path: &'static str, needs: Permission) -> Call {
    Call { takes_query: true, ..get(path, needs) }
}

/// A call for records, which refuses what they do not use; the page does not, as a bookmark or a link may have more.
const fn records<T: Traced>(path: &'static str) -> Call {
    Call { knows: uses::<T>, ..list(path, VIEWER) }
}

const fn send(method: &'static str, path: &'static str, needs: Permission, body: &'static str) -> Call {
    Call { method, path, needs, takes_query: false, knows: |_| true, headers: &[], body: Some(body) }
}

/// A call without a body.
const fn plain(method: &'static str, path: &'static str, needs: Permission) -> Call {
    Call { method, ..get(path, needs) }
}

const REASON: &str = r#"{"reason": ""}"#;
const ENABLED: &str = r#"{"enabled": true, "reason": ""}"#;
const DISABLED: &str = r#"{"enabled": false, "reason": ""}"#;
/// Of an edit: the ETag that the configuration was read with.
const VERSION: &[&str] = &["If-Match: \"VERSION\""];

macro_rules! label {
    ($id:literal) => {
        |text| fl!(text.loader(), $id)
    };
    ($id:literal, $of:literal) => {
        |text| format!("{}: {}", fl!(text.loader(), $of), fl!(text.loader(), $id))
    };
}

/// A page that offers itself.
macro_rules! page {
    ($route:literal, [$($call:expr),*], [$($command:literal),*]) => {
        Entry { #[cfg(test)] of: Of { method: "GET", route: $route, button: "" }, shown_on: &[$route], label: label!("same-page"),
            calls: &[$($call),*], commands: &[$($command),*] }
    };
}

macro_rules! button {
    ($route:literal, $button:literal, on [$($page:literal),*], $label:expr, $call:expr, [$($command:literal),*]) => {
        Entry { #[cfg(test)] of: Of { method: "POST", route: $route, button: $button }, shown_on: &[$($page),*], label: $label,
            calls: &[$call], commands: &[$($command),*] }
    };
}

const BULK: Permission = Permission::HasForSome(Role::Operator);

#[rustfmt::skip]
pub(super) const TABLE: &[Entry] = &[
    page!("/r/{registry}", [get("/api/v1/registries/{registry}/overview", VIEWER)], ["elasticjob jobs"]),
    page!("/r/{registry}/jobs", [list("/api/v1/registries/{registry}/jobs", VIEWER)], ["elasticjob jobs"]),
    button!("/r/{registry}/jobs", "trigger", on ["/r/{registry}/jobs", "/r/{registry}"], label!("trigger"),
        send("POST", "/api/v1/registries/{registry}/operations", BULK, r#"{"action": "trigger", "jobs": ["JOB"], "reason": ""}"#),
        ["elasticjob trigger {job}"]),
    button!("/r/{registry}/jobs", "enable", on ["/r/{registry}/jobs", "/r/{registry}"], label!("enable"),
        send("POST", "/api/v1/registries/{registry}/operations", BULK, r#"{"action": "enable", "jobs": ["JOB"], "reason": ""}"#),
        ["elasticjob enable --job {job}"]),
    button!("/r/{registry}/jobs", "disable", on ["/r/{registry}/jobs"], label!("disable"),
        send("POST", "/api/v1/registries/{registry}/operations", BULK, r#"{"action": "disable", "jobs": ["JOB"], "reason": ""}"#),
        ["elasticjob disable --job {job}"]),
    page!("/r/{registry}/jobs/{job}",
        [get("/api/v1/registries/{registry}/jobs/{job}", VIEWER), get("/api/v1/registries/{registry}/jobs/{job}/items", VIEWER)],
        ["elasticjob status {job}", "elasticjob shards {job}"]),
    button!("/r/{registry}/jobs/{job}", "trigger", on ["/r/{registry}/jobs/{job}"], label!("trigger"),
        send("POST", "/api/v1/registries/{registry}/jobs/{job}/triggers", OPERATOR, REASON), ["elasticjob trigger {job}"]),
    button!("/r/{registry}/jobs/{job}", "trigger", on ["/r/{registry}/jobs/{job}"], label!("trigger", "server"),
        send("POST", "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/triggers", OPERATOR, REASON),
        ["elasticjob trigger --server {server} {job}"]),
    button!("/r/{registry}/jobs/{job}", "cancel", on ["/r/{registry}/jobs/{job}"], label!("cancel-runs"),
        send("POST", "/api/v1/registries/{registry}/jobs/{job}/cancellations", OPERATOR, REASON), ["elasticjob cancel --reason '' {job}"]),
    button!("/r/{registry}/jobs/{job}/items", "cancel", on ["/r/{registry}/jobs/{job}"], label!("cancel-run", "item"),
        send("POST", "/api/v1/registries/{registry}/jobs/{job}/items/{item}/cancellations", OPERATOR, REASON),
        ["elasticjob cancel --item {item} --reason '' {job}"]),
    button!("/r/{registry}/jobs/{job}", "enable", on ["/r/{registry}/jobs/{job}"], label!("enable"),
        send("PUT", "/api/v1/registries/{registry}/jobs/{job}/state", OPERATOR, ENABLED), ["elasticjob enable --job {job}"]),
    button!("/r/{registry}/jobs/{job}", "disable", on ["/r/{registry}/jobs/{job}"], label!("disable"),
        send("PUT", "/api/v1/registries/{registry}/jobs/{job}/state", OPERATOR, DISABLED), ["elasticjob disable --job {job}"]),
    button!("/r/{registry}/jobs/{job}", "enable", on ["/r/{registry}/jobs/{job}"], label!("enable", "server"),
        send("PUT", "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/state", OPERATOR, ENABLED),
        ["elasticjob enable --job {job} --server {server}"]),
    button!("/r/{registry}/jobs/{job}", "disable", on ["/r/{registry}/jobs/{job}"], label!("disable", "server"),
        send("PUT", "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/state", OPERATOR, DISABLED),
        ["elasticjob disable --job {job} --server {server}"]),
    button!("/r/{registry}/jobs/{job}/items", "enable", on ["/r/{registry}/jobs/{job}"], label!("enable", "item"),
        send("PUT", "/api/v1/registries/{registry}/jobs/{job}/items/{item}/state", OPERATOR, ENABLED),
        ["elasticjob enable --job {job} --item {item}"]),
    button!("/r/{registry}/jobs/{job}/items", "disable", on ["/r/{registry}/jobs/{job}"], label!("disable", "item"),
        send("PUT", "/api/v1/registries/{registry}/jobs/{job}/items/{item}/state", OPERATOR, DISABLED),
        ["elasticjob disable --job {job} --item {item}"]),
    button!("/r/{registry}/jobs/{job}/shutdown", "", on ["/r/{registry}/jobs/{job}"], label!("shut-down", "server"),
        send("POST", "/api/v1/registries/{registry}/jobs/{job}/servers/{server}/shutdowns", ADMIN, REASON),
        ["elasticjob shutdown --job {job} --server {server}"]),
    button!("/r/{registry}/jobs/{job}/servers/removal", "", on ["/r/{registry}/jobs/{job}"], label!("remove", "server"),
        plain("DELETE", "/api/v1/registries/{registry}/jobs/{job}/servers/{server}?reason=", ADMIN),
        ["elasticjob remove --job {job} --server {server}"]),
    button!("/r/{registry}/jobs/{job}/removal", "", on ["/r/{registry}/jobs/{job}"], label!("remove-job"),
        plain("DELETE", "/api/v1/registries/{registry}/jobs/{job}?reason=", ADMIN), ["elasticjob config remove {job}"]),
    Entry { #[cfg(test)] of: Of { method: "GET", route: "/r/{registry}/jobs/{job}/dump", button: "" }, shown_on: &["/r/{registry}/jobs/{job}"], label: label!("dump"),
        calls: &[get("/api/v1/registries/{registry}/jobs/{job}/dump", ADMIN)], commands: &["elasticjob dump {job}"] },
    page!("/r/{registry}/jobs/{job}/graph", [list("/api/v1/registries/{registry}/jobs/{job}/graph", VIEWER)], ["elasticjob graph {job}"]),
    page!("/r/{registry}/graph", [list("/api/v1/registries/{registry}/graph", VIEWER)], ["elasticjob graph"]),
    page!("/r/{registry}/jobs/{job}/why",
        [get("/api/v1/registries/{registry}/jobs/{job}/findings", VIEWER), get("/api/v1/registries/{registry}/jobs/{job}/past?at={at}", VIEWER)],
        ["elasticjob why {job}", "elasticjob why --at {at} {job}"]),
    page!("/r/{registry}/jobs/{job}/runs", [list("/api/v1/registries/{registry}/jobs/{job}/fires", VIEWER)], ["elasticjob history {job}"]),
    page!("/r/{registry}/jobs/{job}/runs/{fire}", [get("/api/v1/registries/{registry}/jobs/{job}/fires/{fire}", VIEWER)],
        ["elasticjob history {job}"]),
    button!("/r/{registry}/jobs/{job}/runs/{fire}", "rerun",
        on ["/r/{registry}/jobs/{job}/runs/{fire}", "/r/{registry}/jobs/{job}/graph", "/r/{registry}/graph"], label!("rerun"),
        send("POST", "/api/v1/registries/{registry}/jobs/{job}/fires/{fire}/reruns", OPERATOR, REASON),
        ["elasticjob rerun --fire {fire} --reason '' {job}"]),
    page!("/r/{registry}/jobs/{job}/log/{run}",
        [list("/api/v1/registries/{registry}/jobs/{job}/executions/{run}/log", VIEWER), get("/api/v1/registries/{registry}/executions/{run}", VIEWER)],
        ["elasticjob log --at 2026-11-21T03:00:00Z {job}"]),
    page!("/r/{registry}/jobs/{job}/schedule",
        [send("POST", "/api/v1/schedules/previews", Permission::Known, r#"{"cron": "CRON", "timeZone": "ZONE", "count": 20}"#),
            get("/api/v1/registries/{registry}/jobs/{job}/schedule", VIEWER)],
        ["elasticjob next --count 20 --zone {zone} {cron}", "elasticjob history {job}"]),
    page!("/r/{registry}/jobs/{job}/configuration", [get("/api/v1/registries/{registry}/jobs/{job}/configuration", VIEWER)],
        ["elasticjob config get {job}"]),
    page!("/r/{registry}/jobs/{job}/configuration/edit", [get("/api/v1/registries/{registry}/jobs/{job}/configuration", VIEWER)],
        ["elasticjob config get {job}"]),
    button!("/r/{registry}/jobs/{job}/configuration/edit", "preview", on ["/r/{registry}/jobs/{job}/configuration/edit"], label!("configuration-preview"),
        Call { headers: VERSION, ..send("PATCH", "/api/v1/registries/{registry}/jobs/{job}/configuration?dryRun=true", EDITOR, r#"{"cron": "0 0 3 * * ?"}"#) },
        ["elasticjob config set {job} cron='0 0 3 * * ?' --dry-run"]),
    button!("/r/{registry}/jobs/{job}/configuration/edit", "save", on ["/r/{registry}/jobs/{job}/configuration/edit"], label!("configuration-save"),
        Call { headers: VERSION, ..send("PATCH", "/api/v1/registries/{registry}/jobs/{job}/configuration?reason=", EDITOR, r#"{"cron": "0 0 3 * * ?"}"#) },
        ["elasticjob config set {job} cron='0 0 3 * * ?'"]),
    page!("/r/{registry}/alarms", [get("/api/v1/registries/{registry}/alarms", VIEWER)], ["elasticjob alarms"]),
    button!("/r/{registry}/alarms", "", on ["/r/{registry}/alarms"], label!("alarm-acknowledge"),
        send("PUT", "/api/v1/registries/{registry}/alarms/{alarm}/acknowledgement", BULK, REASON), []),
    page!("/r/{registry}/nodes", [list("/api/v1/registries/{registry}/nodes", ADMIN)], ["elasticjob nodes"]),
    page!("/r/{registry}/jobs/{job}/configuration/history", [get("/api/v1/registries/{registry}/jobs/{job}/configuration/versions", VIEWER)],
        ["elasticjob audit --what update-configuration {job}"]),
    button!("/r/{registry}/jobs/{job}/configuration/edit", "save", on ["/r/{registry}/jobs/{job}/configuration/history"], label!("history-put-back"),
        Call { headers: VERSION, body: None, ..send("POST", "/api/v1/registries/{registry}/jobs/{job}/configuration/versions/{version}/restorations?reason=", EDITOR, "") },
        []),
    page!("/r/{registry}/comparison", [list("/api/v1/registries/{registry}/comparison", VIEWER)], []),
    Entry { #[cfg(test)] of: Of { method: "GET", route: "/r/{registry}/configurations", button: "" }, shown_on: &["/r/{registry}/jobs"],
        label: label!("export"), calls: &[list("/api/v1/registries/{registry}/configurations", VIEWER)], commands: &[] },
    Entry { #[cfg(test)] of: Of { method: "GET", route: "/r/{registry}/configurations", button: "" }, shown_on: &["/r/{registry}/jobs/{job}/configuration"],
        label: label!("export-one"), calls: &[get("/api/v1/registries/{registry}/configurations?job={job}", VIEWER)],
        commands: &["elasticjob config get {job}"] },
    page!("/r/{registry}/timeline", [list("/api/v1/registries/{registry}/timeline", VIEWER)], []),
    page!("/r/{registry}/history/executions", [records::<ExecutionRecord>("/api/v1/registries/{registry}/executions")], ["elasticjob history"]),
    page!("/r/{registry}/history/states", [records::<StateRecord>("/api/v1/registries/{registry}/states")], ["elasticjob states"]),
    page!("/r/{registry}/history/decisions", [records::<DecisionRecord>("/api/v1/registries/{registry}/decisions")], ["elasticjob decisions"]),
    page!("/r/{registry}/history/audit", [records::<ActionRecord>("/api/v1/registries/{registry}/audit")], ["elasticjob audit"]),
    page!("/access", [get("/api/v1/access", ADMIN)], []),
    page!("/password", [get("/api/v1/me", Permission::Known)], []),
    button!("/password", "", on ["/password"], label!("password-change"),
        send("POST", "/api/v1/me/password", Permission::Known, r#"{"now": "", "new": ""}"#), ["elasticjob console set-password --data FILE {user}"]),
    page!("/settings", [get("/api/v1/registries", Permission::Known), get("/api/v1/data-sources", Permission::Known)], []),
    button!("/settings/checks", "registry", on ["/settings"], label!("settings-check-registry"),
        Call { body: None, ..send("POST", "/api/v1/registries/{registry}/checks", ADMIN, "") }, []),
    button!("/settings/checks", "traces", on ["/settings"], label!("settings-check-traces"),
        Call { body: None, ..send("POST", "/api/v1/data-sources/{registry}/checks", ADMIN, "") }, []),
    page!("/settings/users", [get("/api/v1/users", ADMIN)], []),
    button!("/settings/users", "add", on ["/settings/users"], label!("settings-add-user"),
        send("POST", "/api/v1/users", ADMIN, r#"{"name": "NAME", "grants": [{"role": "viewer", "registries": "*", "jobs": "*"}]}"#), []),
    button!("/settings/users/change", "change", on ["/settings/users"], label!("configuration-save", "settings-user"),
        send("PUT", "/api/v1/users/{name}", ADMIN, r#"{"grants": [{"role": "viewer", "registries": "*", "jobs": "*"}], "enabled": true}"#), []),
    button!("/settings/users/change", "password", on ["/settings/users"], label!("settings-new-password"),
        send("POST", "/api/v1/users/{name}/password", ADMIN, "{}"), []),
    button!("/settings/users/change", "remove", on ["/settings/users"], label!("remove", "settings-user"),
        Call { body: None, ..send("DELETE", "/api/v1/users/{name}", ADMIN, "") }, []),
    page!("/settings/tokens", [get("/api/v1/tokens", ADMIN)], []),
    button!("/settings/tokens", "make", on ["/settings/tokens"], label!("settings-make-token"),
        send("POST", "/api/v1/tokens", ADMIN, r#"{"name": "NAME", "grants": [{"role": "viewer", "registries": "*", "jobs": "*"}], "days": 90}"#), []),
    button!("/settings/tokens/removal", "", on ["/settings/tokens"], label!("remove"),
        Call { body: None, ..send("DELETE", "/api/v1/tokens/{name}", ADMIN, "") }, []),
    page!("/settings/sessions", [get("/api/v1/sessions", ADMIN)], []),
    button!("/settings/sessions/end", "", on ["/settings/sessions"], label!("settings-end-session"),
        Call { body: None, ..send("DELETE", "/api/v1/sessions/{name}", ADMIN, "") }, []),
    page!("/r/{registry}/cloud", [list("/api/job/statistics/tasks/results", VIEWER), list("/api/job/statistics/tasks/running", VIEWER),
        list("/api/job/statistics/jobs/running", VIEWER), get("/api/job/statistics/jobs/executionType", VIEWER),
        get("/api/job/statistics/jobs/register", VIEWER)], []),
    page!("/r/{registry}/cloud/apps", [get("/api/app/list", VIEWER), get("/api/operate/disabled", VIEWER)], []),
    page!("/r/{registry}/cloud/apps/{app}", [get("/api/app/{app}", VIEWER), get("/api/operate/sandbox?appName={app}", VIEWER)], []),
    button!("/r/{registry}/cloud/apps/{app}", "enable", on ["/r/{registry}/cloud/apps/{app}"], label!("enable"),
        plain("POST", "/api/app/{app}/enable", OPERATOR), []),
    button!("/r/{registry}/cloud/apps/{app}", "disable", on ["/r/{registry}/cloud/apps/{app}"], label!("disable"),
        plain("POST", "/api/app/{app}/disable", OPERATOR), []),
    button!("/r/{registry}/cloud/apps/{app}/removal", "", on ["/r/{registry}/cloud/apps/{app}"], label!("cloud-remove-app"),
        plain("DELETE", "/api/app/{app}", ADMIN), []),
    page!("/r/{registry}/cloud/apps/{app}/change", [get("/api/app/{app}", VIEWER)], []),
    button!("/r/{registry}/cloud/apps/{app}/change", "", on ["/r/{registry}/cloud/apps/{app}/change"], label!("configuration-save"),
        send("PUT", "/api/app", ADMIN, r#"{"appName": "APP", "cpuCount": 0.5}"#), []),
    page!("/r/{registry}/cloud/new-app", [get("/api/app/list", VIEWER)], []),
    button!("/r/{registry}/cloud/new-app", "", on ["/r/{registry}/cloud/new-app"], label!("cloud-register"),
        send("POST", "/api/app", ADMIN, r#"{"appName": "APP", "appURL": "https://apps.example.com/app.tar.gz", "bootstrapScript": "bin/start.sh"}"#), []),
    page!("/r/{registry}/cloud/jobs", [get("/api/job/jobs", VIEWER), get("/api/operate/disabled", VIEWER)], ["elasticjob jobs"]),
    page!("/r/{registry}/cloud/jobs/{job}", [get("/api/job/jobs/{job}", VIEWER)], ["elasticjob status {job}"]),
    button!("/r/{registry}/cloud/jobs/{job}", "trigger", on ["/r/{registry}/cloud/jobs/{job}"], label!("trigger"),
        send("POST", "/api/job/trigger", OPERATOR, r#""JOB""#), ["elasticjob trigger {job}"]),
    button!("/r/{registry}/cloud/jobs/{job}", "enable", on ["/r/{registry}/cloud/jobs/{job}"], label!("enable"),
        plain("POST", "/api/job/{job}/enable", OPERATOR), []),
    button!("/r/{registry}/cloud/jobs/{job}", "disable", on ["/r/{registry}/cloud/jobs/{job}"], label!("disable"),
        plain("POST", "/api/job/{job}/disable", OPERATOR), []),
    button!("/r/{registry}/cloud/jobs/{job}/removal", "", on ["/r/{registry}/cloud/jobs/{job}"], label!("cloud-remove-job"),
        plain("DELETE", "/api/job/{job}/deregister", ADMIN), []),
    page!("/r/{registry}/cloud/jobs/{job}/change", [get("/api/job/jobs/{job}", VIEWER)], []),
    button!("/r/{registry}/cloud/jobs/{job}/change", "", on ["/r/{registry}/cloud/jobs/{job}/change"], label!("configuration-save"),
        send("PUT", "/api/job/update", ADMIN, r#"{"jobName": "JOB", "cron": "0 0 3 * * ?"}"#), []),
    page!("/r/{registry}/cloud/jobs/{job}/log", [list("/api/job/{job}/log", VIEWER)], []),
    page!("/r/{registry}/cloud/new-job", [get("/api/job/jobs", VIEWER)], []),
    button!("/r/{registry}/cloud/new-job", "", on ["/r/{registry}/cloud/new-job"], label!("cloud-register"),
        send("POST", "/api/job/register", ADMIN, r#"{"jobName": "JOB", "appName": "APP", "jobExecutionType": "TRANSIENT", "shardingTotalCount": 1, "cpuCount": 0.1, "memoryMB": 64}"#),
        []),
    page!("/r/{registry}/cloud/tasks", [get("/api/job/tasks/running", VIEWER), get("/api/job/tasks/ready", VIEWER), get("/api/job/tasks/failover", VIEWER)], []),
    button!("/r/{registry}/cloud/tasks", "", on ["/r/{registry}/cloud/tasks"], label!("cloud-reconcile"),
        plain("POST", "/api/operate/reconcile/explicit", OPERATOR), []),
    page!("/r/{registry}/servers", [get("/api/v1/registries/{registry}/servers", VIEWER)], ["elasticjob servers"]),
    page!("/r/{registry}/servers/{server}", [get("/api/v1/registries/{registry}/servers/{server}", VIEWER)], ["elasticjob jobs --server {server}"]),
    button!("/r/{registry}/servers/{server}", "trigger", on ["/r/{registry}/servers/{server}"], label!("trigger"),
        send("POST", "/api/v1/registries/{registry}/servers/{server}/triggers", OPERATOR, REASON), ["elasticjob trigger --server {server}"]),
    button!("/r/{registry}/servers/{server}", "enable", on ["/r/{registry}/servers/{server}"], label!("enable"),
        send("PUT", "/api/v1/registries/{registry}/servers/{server}/state", OPERATOR, ENABLED), ["elasticjob enable --server {server}"]),
    button!("/r/{registry}/servers/{server}", "disable", on ["/r/{registry}/servers/{server}"], label!("disable"),
        send("PUT", "/api/v1/registries/{registry}/servers/{server}/state", OPERATOR, DISABLED), ["elasticjob disable --server {server}"]),
    button!("/r/{registry}/servers/{server}/shutdown", "", on ["/r/{registry}/servers/{server}"], label!("shut-down"),
        send("POST", "/api/v1/registries/{registry}/servers/{server}/shutdowns", ADMIN, REASON), ["elasticjob shutdown --server {server}"]),
    button!("/r/{registry}/servers/{server}/removal", "", on ["/r/{registry}/servers/{server}"], label!("remove"),
        plain("DELETE", "/api/v1/registries/{registry}/servers/{server}?reason=", ADMIN), ["elasticjob remove --server {server}"]),
];
