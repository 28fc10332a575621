//! Calls every route with texts that no name has and no database takes: none is a failure of the console.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::trace::JobEvent;

use super::{Declared, declared};
use crate::pages::segment;
use crate::testing::traced::{Folder, run};
use crate::testing::{call, cookie_of, request, start_job};

/// The parameters of paths that a caller chooses freely, and those of queries and forms.
const NAMES: [&str; 9] =
    ["{job}", "{item}", "{server}", "{fire}", "{name}", "{version}", "{run}", "{alarm}", "{registry}"];
const FIELDS: [&str; 18] = [
    "job", "item", "ip", "result", "source", "state", "kind", "who", "what", "from", "until", "cursor", "at", "q",
    "server", "path", "after", "level",
];

fn texts() -> [String; 7] {
    let long = "9".repeat(5_000);
    ["\0", "a\0b", "..", "a/b@-@c", "\u{1f600}\u{202e}", "-0001-01-01T00:00:00Z", long.as_str()].map(str::to_owned)
}

/// The path of a route with a text in the place of one of its names.
fn path_with(route: &Declared, odd: &str, text: &str) -> String {
    let path = route.path.replace(odd, &segment(text));
    let path = path.replace("{registry}", "default").replace("{job}", "settle").replace("{item}", "0");
    path.replace("{fire}", "2026-11-21T03:00:00Z").replace(['{', '}'], "")
}

/// The same request with a form of all fields.
fn with_form(mut request: Request<Body>, text: &str) -> Request<Body> {
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(FIELDS.map(|name| (name, text))).finish();
    request.headers_mut().insert(CONTENT_TYPE, "application/x-www-form-urlencoded".parse().expect("a value"));
    *request.body_mut() = Body::from(form);
    request
}

/// The paths of a route with the text in the place of each name, and of each field of the query.
fn paths(route: &Declared, text: &str) -> Vec<String> {
    let in_path = NAMES.iter().filter(|name| route.path.contains(**name));
    let mut paths: Vec<String> = in_path.map(|name| path_with(route, name, text)).collect();
    let own = path_with(route, "{}", "");
    if route.method == "GET" && (text == "\0" || text.starts_with('-')) {
        let query = |name: &str| form_urlencoded::Serializer::new(String::new()).append_pair(name, text).finish();
        paths.extend(FIELDS.iter().map(|name| format!("{own}?{}", query(name))));
    } else if route.method != "GET"
        && !["removal", "shutdown", "shutdowns", "logout"].iter().any(|end| own.ends_with(end))
        && route.method != "DELETE"
    {
        paths.push(own);
    }
    paths
}

#[tokio::test]
async fn a_text_that_no_name_has_is_a_mistake_of_the_caller_on_every_route() {
    let (folder, memory) = (Folder::new("odd"), MemoryRegistry::new());
    let at = 1_700_000_000_000;
    folder.write([JobEvent::Execution(run("settle", 0, Some(at), at, Some(at + 9)))]).await;
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = folder.console(&memory).await;
    let admin = cookie_of(&console, "admin").await;
    for (text, route) in
        texts().iter().flat_map(|text| declared(console.app().clone()).into_iter().map(move |route| (text, route)))
    {
        for path in paths(&route, text) {
            let asked = request(route.method, &path, Some(&admin));
            let asked = if route.method == "GET" { asked } else { with_form(asked, text) };
            let answer = call(&console, asked).await;
            let shown: String = path.chars().take(200).collect();
            assert!(!answer.status.is_server_error(), "{} {shown}: {} {}", route.method, answer.status, answer.body);
        }
    }
    for id in ["%00", "a%00", &"9".repeat(5_000)] {
        for path in [format!("executions/{id}"), format!("jobs/settle/executions/{id}/log")] {
            let answer =
                call(&console, request("GET", &format!("/api/v1/registries/default/{path}"), Some(&admin))).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.body);
            assert!(answer.body.len() < 400, "{}", answer.body);
        }
    }
}
