use std::collections::BTreeSet;

use super::table::Of;
use super::*;
use crate::access::{Grant, Permission, ReasonRule, Role};
use crate::api::is_api;
use crate::router::declared;
use crate::testing::{console, with_users};
use crate::text::{Language, Texts};

/// Routes that are about the browser of the reader, or that answer with no page of their own.
const ABOUT_THE_READER: [&str; 16] = [
    "/login",
    "/login/oidc",
    "/login/oidc/callback",
    "/logout",
    "/language",
    "/theme",
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/assets/{version}/{name}",
    "/r/{registry}/events",
    "/r/{registry}/jobs/{job}/log/{run}/events",
    "/help",
    "/help/problems",
    "/help/api",
];

/// Entries without a command, by the begin of their route, each with the cause. `docs/console.md` says the same in its words.
const WITHOUT_COMMAND: [(&str, &str, &str); 11] = [
    ("/r/{registry}/comparison", "", "a command works on one registry center"),
    ("/r/{registry}/configurations", "", "`elasticjob config get` writes the settings of one job"),
    (
        "/r/{registry}/timeline",
        "",
        "the console draws it: `elasticjob history` lists the runs, and `elasticjob next` the fires of a schedule",
    ),
    ("/r/{registry}/alarms", "", "an acknowledgement lives in the console alone"),
    ("/r/{registry}/jobs/{job}/configuration/edit", "save", "versions that are put back live in the console alone"),
    ("/r/{registry}/cloud", "", "applications and carried jobs are changed by the REST API of their scheduler"),
    ("/access", "", "logins live in the console alone"),
    ("/password", "", "the page shows the own account, which lives in the console alone"),
    ("/settings", "", "the console tests the connections that it has itself"),
    ("/settings/checks", "", "the console tests the connections that it has itself"),
    ("/settings/", "", "users, tokens and sessions live in the console alone"),
];

#[test]
fn every_entry_has_a_command_or_a_cause_why_it_has_none() {
    let is_meant = |entry: &Entry, (route, button, _): &(&str, &str, &str)| {
        let is_part = route.ends_with('/') || *route == "/r/{registry}/cloud";
        let fits = if is_part { entry.of.route.starts_with(route) } else { entry.of.route == *route };
        fits && (button.is_empty() || entry.of.button == *button)
    };
    let without = || TABLE.iter().filter(|entry| entry.commands.is_empty());
    for entry in without() {
        let cause = WITHOUT_COMMAND.iter().find(|exception| is_meant(entry, exception));
        let Of { method, route, button } = &entry.of;
        assert!(cause.is_some(), "{method} {route} '{button}' has no command, and no cause why");
    }
    for exception in &WITHOUT_COMMAND {
        assert!(without().any(|entry| is_meant(entry, exception)), "{exception:?} is the cause of no entry");
    }
    assert!(TABLE.iter().filter(|entry| !entry.commands.is_empty()).count() > 30);
}

#[test]
fn every_page_and_every_route_of_a_button_has_a_call_that_the_api_knows() {
    let console = console(with_users());
    let declared = declared(console.app().clone());
    let pages = declared.iter().filter(|route| !is_api(route.path) && !ABOUT_THE_READER.contains(&route.path));
    let cloud = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cloud-openapi.json");
    let cloud = std::fs::read_to_string(cloud).expect("the API of the scheduler is described");
    let cloud: serde_json::Value = serde_json::from_str(&cloud).expect("JSON");
    let mut count = 0;
    for route in pages {
        let entries = TABLE.iter().filter(|entry| entry.of.method == route.method && entry.of.route == route.path);
        assert!(entries.count() > 0, "{} {} has no call that does the same", route.method, route.path);
        count += 1;
    }
    assert!(count > 25);
    for entry in TABLE {
        assert!(!entry.calls.is_empty(), "{} {}", entry.of.method, entry.of.route);
        assert!(
            declared.iter().any(|it| it.method == entry.of.method && it.path == entry.of.route),
            "{}",
            entry.of.route
        );
        for page in entry.shown_on {
            assert!(declared.iter().any(|it| it.method == "GET" && it.path == *page), "{page}");
        }
        for call in entry.calls {
            let path = call.path.split('?').next().unwrap_or_default();
            let body = call.body.map(serde_json::from_str::<serde_json::Value>);
            assert!(body.is_none_or(|body| body.is_ok()), "{} {path}: {:?}", call.method, call.body);
            if !path.starts_with(VERSIONED) {
                let needs = &cloud["paths"][path][call.method.to_lowercase()]["x-permission"];
                let Permission::Has(role) = call.needs else { panic!("{} {path}", call.method) };
                assert_eq!(needs, role.as_str(), "the scheduler has {} {path}", call.method);
                continue;
            }
            let route = declared.iter().find(|it| it.method == call.method && it.path == path);
            let route = route.unwrap_or_else(|| panic!("the API has no {} {path}", call.method));
            assert_eq!(route.permission, call.needs, "{} {path}", call.method);
            let has_reason = match route.reason {
                ReasonRule::Free => continue,
                ReasonRule::InQuery => call.path.contains("reason="),
                ReasonRule::InQueryUnlessDry => call.path.contains("dryRun=true") || call.path.contains("reason="),
                ReasonRule::InBody | ReasonRule::InBodyWhere(..) => call.body.is_some_and(|it| it.contains("reason")),
            };
            assert!(has_reason, "{} {path} has no place for the reason that a console may insist on", call.method);
        }
    }
}

/// The route that a form sends to, from how its template writes the address.
fn route_of(action: &str, template: &str) -> String {
    let route = match action {
        "" if template == "server.html" => "/r/{registry}/servers/{server}".to_owned(),
        // One form registers and changes what is carried.
        "{{ self.form() }}" => "/r/{registry}/cloud/new-app".to_owned(),
        "{{ rerun }}" => "/r/{registry}/jobs/{job}/runs/{fire}".to_owned(),
        action => action
            .replace("{{ head.path }}", "/r/{registry}/jobs/{job}")
            .replace("{{ crate::pages::segment(id.to_string().as_str()) }}", "{fire}")
            .replace(
                "{{ layout.here(\"/servers/\") }}{{ crate::pages::segment(server) }}",
                "/r/{registry}/servers/{server}",
            )
            .replace(
                "{{ layout.here(\"/cloud/apps/\") }}{{ crate::pages::segment(name) }}",
                "/r/{registry}/cloud/apps/{app}",
            )
            .replace(
                "{{ layout.here(\"/cloud/jobs/\") }}{{ crate::pages::segment(name.as_str()) }}",
                "/r/{registry}/cloud/jobs/{job}",
            )
            .replace("{{ layout.here(\"", "/r/{registry}")
            .replace("{{ layout.url(\"", "")
            .replace("\") }}", ""),
    };
    assert!(route.starts_with('/') && !route.contains("{{"), "{template}: the address `{action}` is not understood");
    route
}

#[test]
fn every_button_of_a_template_that_changes_something_is_in_the_table() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/templates");
    let mut buttons = BTreeSet::new();
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        if name == "reason.html" {
            // It sends the form of another page again, with a reason.
            continue;
        }
        let template = std::fs::read_to_string(&path).expect("it is a text");
        for form in template.split("<form").skip(1) {
            let (form, _) = form.split_once("</form>").expect("a form ends");
            let (tag, fields) = form.split_once('>').expect("a tag ends");
            if !tag.contains("method=\"post\"") {
                continue;
            }
            let action = tag.split_once("action=\"").map_or("", |(_, rest)| rest.trim_end_matches('"'));
            let route = route_of(action, &name);
            let values: Vec<&str> =
                fields.split("name=\"action\" value=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let values = if values.is_empty() { vec![""] } else { values };
            // A form for one server of a job sends to the route of the job, with the server in a field.
            let of_server = fields.contains("name=\"server\"") || route.contains("{server}");
            buttons.extend(values.into_iter().map(|value| (route.clone(), value.to_owned(), of_server)));
        }
    }
    assert!(buttons.len() > 15, "{buttons:?}");
    for (route, value, of_server) in buttons.iter().filter(|it| !ABOUT_THE_READER.contains(&it.0.as_str())) {
        let is_known = |entry: &Entry| {
            let is_of_server = entry.calls.iter().all(|call| call.path.contains("{server}"));
            entry.of.method == "POST"
                && entry.of.route == route
                && entry.of.button == value
                && is_of_server == *of_server
        };
        let of = if *of_server { ", for a server," } else { "" };
        assert!(TABLE.iter().any(is_known), "the button '{value}' of {route}{of} has no call that does the same");
    }
}

fn offered(role: Role, place: &str) -> Vec<Copy> {
    let identity = Identity::user("zhang", vec![Grant::everywhere(role)]);
    let texts = Texts::load().expect("they load");
    of_page(texts.of(Language::English), &identity, place)
}

#[test]
fn a_page_offers_what_the_reader_may_do_with_the_names_of_its_address() {
    let all = offered(Role::Operator, "/r/default/jobs/it%27s%20%2F?x=1");
    let page = &all[0];
    assert_eq!(
        page.curl[0],
        "curl -H \"Authorization: Bearer $TOKEN\" \"$CONSOLE/api/v1/registries/default/jobs/it%27s%20%2F\""
    );
    assert_eq!(page.commands[0], r"elasticjob status 'it'\''s /'");
    let trigger = all.iter().find(|copy| copy.label == "Run now").expect("an operator may");
    assert!(trigger.curl[0].contains("-X POST") && trigger.curl[0].contains(r#"-d '{"reason": ""}'"#), "{trigger:?}");
    let labels = |all: &[Copy]| all.iter().map(|copy| copy.label.clone()).collect::<Vec<_>>();
    assert!(labels(&all).contains(&"Item: Disable".to_owned()) && !labels(&all).contains(&"Remove the job".to_owned()));
    assert!(labels(&offered(Role::Admin, "/r/default/jobs/x")).contains(&"Remove the job".to_owned()));
    assert_eq!(labels(&offered(Role::Viewer, "/r/default/jobs/x")), ["This page"]);
    let dashed = &offered(Role::Viewer, "/r/default/jobs/-x")[0];
    assert_eq!(dashed.commands, ["elasticjob status -- -x", "elasticjob shards -- -x"], "it is no option");
    let edit = offered(Role::Admin, "/r/default/jobs/x/configuration/edit");
    assert!(edit[2].curl[0].contains(r#"-H 'If-Match: "VERSION"'"#), "{edit:?}");
}

#[test]
fn a_page_offers_the_expression_and_the_time_of_its_query() {
    let tried = &offered(Role::Viewer, "/r/default/jobs/x/schedule?cron=0+0+3+*+*+%3F&zone=Asia%2FShanghai")[0];
    assert!(
        tried.curl[0].contains(r#"{"cron": "0 0 3 * * ?", "timeZone": "Asia/Shanghai", "count": 20}"#),
        "{tried:?}"
    );
    assert_eq!(
        tried.commands,
        ["elasticjob next --count 20 --zone Asia/Shanghai '0 0 3 * * ?'", "elasticjob history x"]
    );
    let why = &offered(Role::Viewer, "/r/default/jobs/x/why?at=2026-11-21T03%3A00%3A00Z")[0];
    assert_eq!(why.commands[1], "elasticjob why --at 2026-11-21T03:00:00Z x");
    assert_eq!(offered(Role::Viewer, "/r/default/jobs/x/why")[0].commands[1], "elasticjob why --at AT x");
}

#[test]
fn a_command_names_the_registry_center_of_the_page() {
    let commands = |place: &str| offered(Role::Operator, place).into_iter().flat_map(|copy| copy.commands);
    for page in
        ["/r/billing/jobs/x", "/r/billing/jobs/-x/why", "/r/billing/history/executions?job=x&item=3", "/r/billing"]
    {
        for command in commands(page) {
            assert!(command.starts_with("elasticjob --registry billing "), "{page}: {command}");
        }
        assert!(commands(page).count() > 0, "{page}");
    }
    let tried = commands("/r/billing/jobs/x/schedule?cron=0+0+3+*+*+%3F").next();
    assert!(tried.is_some_and(|command| command.starts_with("elasticjob next ")), "a schedule needs none");
    let odd = commands("/r/-%24%28x%29/jobs/x").next();
    assert_eq!(odd.as_deref(), Some("elasticjob --registry='-$(x)' status x"));
}

#[test]
fn a_list_of_records_offers_a_command_with_its_filters() {
    let command = |place: &str| offered(Role::Viewer, place)[0].commands[0].clone();
    let query =
        "job=a+b&item=3&result=FAILED&from=2026-11-21T03%3A00%3A00Z&until=2026-11-21T04%3A00&ip=10.0.0.1%40-%407";
    assert_eq!(
        command(&format!("/r/default/history/executions?{query}")),
        "elasticjob history --item 3 --failed --instance 10.0.0.1@-@7 --from 2026-11-21T03:00:00Z 'a b'"
    );
    assert_eq!(command("/r/default/history/audit?who=%24%28reboot%29&job=x"), "elasticjob audit --who '$(reboot)' x");
    assert_eq!(command("/r/default/history/decisions?kind=SKIPPED"), "elasticjob decisions --kind SKIPPED");
    assert_eq!(command("/r/default/history/executions"), "elasticjob history");
}

#[test]
fn a_call_for_records_has_the_filters_alone_that_it_knows() {
    let call = |place: &str| offered(Role::Viewer, place)[0].curl[0].clone();
    let line = call("/r/default/history/states?item=3&state=TASK_ERROR&to=now&job=x");
    assert!(line.ends_with("/states?state=TASK_ERROR&job=x\""), "{line}");
}

#[test]
fn what_a_visitor_typed_into_a_query_runs_nothing_in_a_shell() {
    let query = "q=%24(reboot)`x`\"'&status=OK&cursor=";
    let all = offered(Role::Viewer, &format!("/r/default/jobs?{query}"));
    let line = &all[0].curl[0];
    assert!(line.ends_with("jobs?q=%24%28reboot%29%60x%60%22%27&status=OK\""), "{line}");
    assert_eq!(offered(Role::Viewer, "/login"), []);
    assert_eq!(offered(Role::Viewer, "/"), []);
}
