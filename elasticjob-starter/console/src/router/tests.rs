//! Calls every route as every caller: none gets in without a permission, and what browsers of others send is refused.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, ORIGIN, SET_COOKIE};
use elasticjob::registry::memory::MemoryRegistry;

use super::*;
use crate::access::{Grant, ProxyLogin, Role, Token, TokenHash};
use crate::testing::{PASSWORD, call, console, console_of, cookie_of, json, login, request, with_users};
use crate::{Console, ConsoleOptions, OidcOptions, Registry};

/// The path of a route with names in the place of its parameters.
fn path_of(declared: &Declared) -> String {
    declared.path.replace("{registry}", "default").replace("{item}", "0").replace(['{', '}'], "")
}

#[tokio::test]
async fn every_route_lets_in_those_who_have_its_permission_and_nobody_else() {
    let console = console(with_users());
    let mut cookies = vec![("nobody", None, None), ("nothing", Some(cookie_of(&console, "nothing").await), None)];
    for role in Role::ALL {
        cookies.push((role.as_str(), Some(cookie_of(&console, role.as_str()).await), Some(role)));
    }
    let declared = declared(console.app().clone());
    assert!(declared.len() > 8);
    for route in declared {
        for (who, cookie, role) in &cookies {
            let may = match route.permission {
                // A login without a name and a password is refused by itself.
                Permission::Public => continue,
                Permission::Known | Permission::KnownOrNear => role.is_some(),
                Permission::Has(needed) | Permission::HasForSome(needed) => role.is_some_and(|role| role >= needed),
            };
            let answer = call(&console, request(route.method, &path_of(&route), cookie.as_deref())).await;
            let goes_to_login =
                answer.headers.get(LOCATION).is_some_and(|to| to.to_str().is_ok_and(|to| to.starts_with("/login")));
            let is_refused = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) || goes_to_login;
            assert_eq!(is_refused, !may, "{who}: {} {} is {}", route.method, route.path, answer.status);
        }
    }
}

#[tokio::test]
async fn no_route_changes_anything_by_get_and_every_write_needs_more_than_a_viewer() {
    let console = console(with_users());
    for route in declared(console.app().clone()).iter().filter(|route| route.method != "GET") {
        let is_about_the_caller =
            ["/login", "/logout", "/language", "/theme", "/password", "/api/v1/me/password"].contains(&route.path);
        let is_of_operators = match route.permission {
            Permission::Has(role) | Permission::HasForSome(role) => role >= Role::Operator,
            Permission::Public | Permission::Known | Permission::KnownOrNear => false,
        };
        assert!(is_about_the_caller || is_of_operators || is_a_question(route), "{route:?}");
    }
}

/// Routes that take a body, and change nothing.
fn is_a_question(route: &Declared) -> bool {
    route.path.ends_with("/previews")
}

#[tokio::test]
async fn a_read_only_console_has_viewers_alone() {
    let console = console(ConsoleOptions { read_only: true, ..with_users() });
    let cookie = cookie_of(&console, "admin").await;
    for route in declared(console.app().clone()) {
        let (Permission::Has(role) | Permission::HasForSome(role)) = route.permission else { continue };
        let answer = call(&console, request(route.method, &path_of(&route), Some(&cookie))).await;
        assert_eq!(answer.status == StatusCode::FORBIDDEN, role > Role::Viewer, "{route:?}: {}", answer.status);
    }
}

#[tokio::test]
async fn requests_of_pages_of_another_origin_are_refused() {
    let console = console(with_users());
    let cookie = cookie_of(&console, "admin").await;
    for route in declared(console.app().clone()).iter().filter(|route| route.method != "GET") {
        for (header, value) in [(ORIGIN.as_str(), "https://evil.example"), ("sec-fetch-site", "cross-site")] {
            let mut request = request(route.method, &path_of(route), Some(&cookie));
            request.headers_mut().insert(
                axum::http::HeaderName::from_bytes(header.as_bytes()).expect("a name"),
                value.parse().expect("a value"),
            );
            let answer = call(&console, request).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{route:?} {header}");
        }
    }
}

#[tokio::test]
async fn a_login_makes_a_new_session_and_a_logout_ends_it() {
    let console = console(with_users());
    let (one, other) = (cookie_of(&console, "viewer").await, cookie_of(&console, "viewer").await);
    assert_ne!(one, other);
    assert_eq!(call(&console, request("GET", "/r/default/jobs", Some(&one))).await.status, StatusCode::OK);
    let fixed = call(&console, request("GET", "/r/default/jobs", Some("elasticjob_session=chosen"))).await;
    assert_eq!(fixed.status, StatusCode::SEE_OTHER, "a session that nobody began is none");
    call(&console, request("POST", "/logout", Some(&one))).await;
    assert_eq!(call(&console, request("GET", "/r/default/jobs", Some(&one))).await.status, StatusCode::SEE_OTHER);
    assert_eq!(call(&console, request("GET", "/r/default/jobs", Some(&other))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_page_that_follows_its_job_stays_as_it_is_when_its_session_has_ended() {
    let console = console(with_users());
    let mut update = request("GET", "/r/default/jobs", Some("elasticjob_session=ended"));
    update.headers_mut().insert("hx-request", "true".parse().expect("a value"));
    let answer = call(&console, update).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "and not the login, which would take the place of the page");
    assert_eq!(answer.headers.get("hx-reswap").map(|value| value.as_bytes()), Some(&b"none"[..]));
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_guessing_is_slowed_down() {
    let console = console(with_users());
    let mut statuses = Vec::new();
    // The first waits are over while a busy machine checks a password; they double.
    while statuses.len() < 12 && !statuses.ends_with(&[429]) {
        statuses.push(call(&console, login("admin", "wrong horse battery", "/")).await.status.as_u16());
    }
    assert!(statuses.starts_with(&[401]) && statuses.ends_with(&[429]), "{statuses:?}");
    let unknown = call(&console, login("who", PASSWORD, "/")).await;
    assert_eq!(unknown.status, StatusCode::UNAUTHORIZED);
    assert!(!unknown.headers.contains_key(SET_COOKIE));
}

#[tokio::test]
async fn a_login_goes_to_pages_of_this_console_alone() {
    let console = console(with_users());
    for (next, to) in [
        ("/r/default/jobs?q=a", "/r/default/jobs?q=a"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("", "/"),
    ] {
        let answer = call(&console, login("viewer", PASSWORD, next)).await;
        assert_eq!(answer.headers[LOCATION], to, "{next}");
    }
}

#[tokio::test]
async fn a_choice_is_kept_and_comes_back_to_its_page() {
    let console = console(with_users());
    let choose = |path: &str, form: &str| {
        let mut request = request("POST", path, None);
        let kind = "application/x-www-form-urlencoded".parse().expect("a value");
        request.headers_mut().insert(CONTENT_TYPE, kind);
        *request.body_mut() = Body::from(form.to_owned());
        request
    };
    for (path, form, cookie) in [
        ("/theme", "theme=dark&next=/r/default/jobs%3Fq%3Da", "elasticjob_theme=dark; "),
        ("/language", "language=zh&next=/r/default/jobs%3Fq%3Da", "elasticjob_language=zh-CN; "),
    ] {
        let answer = call(&console, choose(path, form)).await;
        assert_eq!(answer.headers[LOCATION], "/r/default/jobs?q=a", "{path}");
        assert!(answer.headers[SET_COOKIE].to_str().is_ok_and(|it| it.starts_with(cookie)), "{:?}", answer.headers);
    }
    let other = call(&console, choose("/theme", "theme=%22%3E&next=//evil.example")).await;
    assert_eq!((&other.headers[LOCATION], other.headers.get(SET_COOKIE)), (&"/".parse().expect("a value"), None));
    let dark = call(&console, request("GET", "/login", Some("elasticjob_theme=dark"))).await;
    assert!(dark.body.contains(r#"data-theme="dark""#), "{}", dark.body);
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_other_origins_out() {
    let console = console(with_users());
    for path in ["/login", "/", "/api/v1/none", "/assets/x/console.css", "/healthz"] {
        let answer = call(&console, request("GET", path, None)).await;
        let policy = answer.headers["content-security-policy"].to_str().expect("it is a text");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        assert!(answer.headers.contains_key("cache-control"), "{path}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{path}");
    }
}

#[tokio::test]
async fn a_console_below_a_base_path_answers_there_alone() {
    let console = console(ConsoleOptions { base_path: "/ops/jobs".to_owned(), ..with_users() });
    let answer = call(&console, request("GET", "/ops/jobs/r/default/jobs?q=a%20b", None)).await;
    assert_eq!(answer.headers[LOCATION], "/ops/jobs/login?next=%2Fr%2Fdefault%2Fjobs%3Fq%3Da%2520b");
    let mut login = login("operator", PASSWORD, "/");
    *login.uri_mut() = "/ops/jobs/login".parse().expect("an address");
    let logged_in = call(&console, login).await;
    assert_eq!(logged_in.headers[LOCATION], "/ops/jobs/");
    let cookie =
        logged_in.headers[SET_COOKIE].to_str().expect("a text").split(';').next().expect("a cookie").to_owned();
    for first in ["/ops/jobs", "/ops/jobs/"] {
        let answer = call(&console, request("GET", first, None)).await;
        assert_eq!(answer.headers[LOCATION], "/ops/jobs/login?next=%2F", "{first}");
        let answer = call(&console, request("GET", first, Some(&cookie))).await;
        assert_eq!(answer.headers[LOCATION], "/ops/jobs/r/default", "{first}");
    }
    let api = call(&console, request("GET", "/ops/jobs/api/v1/registries/default/jobs", None)).await;
    assert_eq!(api.status, StatusCode::UNAUTHORIZED);
    assert_eq!(api.headers[CONTENT_TYPE], "application/problem+json");
    let problem: serde_json::Value = serde_json::from_str(&api.body).expect("JSON");
    assert_eq!(problem["type"], "/ops/jobs/help/problems#not-logged-in", "{problem}");
    let many = serde_json::json!({ "action": "trigger", "jobs": ["none"] });
    let many = json("POST", "/ops/jobs/api/v1/registries/default/operations", &cookie, &many);
    let ended: serde_json::Value = serde_json::from_str(&call(&console, many).await.body).expect("JSON");
    assert_eq!(ended[0]["problem"]["type"], "/ops/jobs/help/problems#no-such-job", "{ended}");
    let page = call(&console, request("GET", "/ops/jobs/login", None)).await;
    assert!(page.body.contains(r#"action="/ops/jobs/login""#), "{}", page.body);
    assert_eq!(call(&console, request("GET", "/login", None)).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_request_that_is_turned_away_is_told_so_in_the_form_of_its_place() {
    let console = console_of(&MemoryRegistry::new());
    let admin = cookie_of(&console, "admin").await;
    let too_long = |mut request: Request| {
        *request.body_mut() = Body::from("a".repeat(256 * 1024 + 1));
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(256 * 1024 + 1));
        request
    };
    let foreign = |mut request: Request| {
        request.headers_mut().insert(ORIGIN, HeaderValue::from_static("https://evil.example"));
        request
    };
    for (status, code, title, make) in [
        (413, "too-large", "请求体超过控制台读取的上限", &too_long as &dyn Fn(Request) -> Request),
        (403, "foreign-origin", "此请求由其他来源的页面让浏览器发出", &foreign),
    ] {
        for path in ["/api/v1/registries/default/operations", "/api/job/register", "/api/v1/none"] {
            let answer = call(&console, make(request("POST", path, Some(&admin)))).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.headers[CONTENT_TYPE]),
                (status, &HeaderValue::from_static("application/problem+json")),
                "{path}"
            );
            let problem: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
            assert_eq!((&problem["code"], &problem["status"]), (&code.into(), &status.into()), "{path}: {problem}");
        }
        for path in ["/r/default/jobs", "/login", "/none"] {
            let mut asked = make(request("POST", path, Some(&admin)));
            asked.headers_mut().insert(ACCEPT_LANGUAGE, HeaderValue::from_static("zh-CN"));
            let answer = call(&console, asked).await;
            assert_eq!(answer.status.as_u16(), status, "{path}");
            assert!(answer.body.contains("<h1") && answer.body.contains(title), "{path}: {}", answer.body);
            assert!(answer.headers.contains_key("content-security-policy"), "{path}");
        }
    }
    // Without its length, the body is found to be too long where it is read.
    let mut chunked = request("POST", "/r/default/jobs", Some(&admin));
    *chunked.body_mut() =
        Body::from_stream(futures_util::stream::iter((0..5).map(|_| Ok::<_, std::io::Error>("a".repeat(64 * 1024)))));
    chunked.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    let answer = call(&console, chunked).await;
    assert_eq!(answer.status.as_u16(), 413, "{}", answer.body);
    assert!(answer.body.contains("<h1"), "{}", answer.body);
}

#[test]
fn a_console_that_others_reach_needs_users() {
    let registry = || [Registry::new("default", Arc::new(MemoryRegistry::new().connect()))];
    let listen = "0.0.0.0:8899".parse().expect("an address");
    let open = Console::new(ConsoleOptions { listen, ..ConsoleOptions::default() }, registry());
    assert!(matches!(open, Err(crate::ConsoleError::OpenToOthers(_))), "{open:?}");
    assert!(Console::new(ConsoleOptions { listen, ..with_users() }, registry()).is_ok());
    let first = Console::new(ConsoleOptions::default(), registry()).expect("loopback");
    assert_eq!(first.first_password().map(|first| first.password.len()), Some(23));
}

#[tokio::test]
async fn no_first_user_is_made_where_callers_log_in_elsewhere() {
    let header = axum::http::HeaderName::from_static;
    let groups = vec![("ops".to_owned(), Grant::everywhere(Role::Operator))];
    let listen = "0.0.0.0:8899".parse().expect("an address");
    let proxy_login = Some(ProxyLogin::new(header("x-remote-user"), header("x-remote-groups"), groups.clone()));
    let trusted_proxies = vec!["10.0.0.1".parse().expect("an address")];
    let mut all = vec![ConsoleOptions { listen, proxy_login, trusted_proxies, ..ConsoleOptions::default() }];
    if cfg!(feature = "oidc") {
        let mut oidc = OidcOptions::new("https://id.example", "console", "https://jobs.example");
        oidc.groups = groups;
        all.push(ConsoleOptions { listen, oidc: Some(oidc), ..ConsoleOptions::default() });
    }
    for options in all {
        let registry = Registry::new("default", Arc::new(MemoryRegistry::new().connect()));
        let console = Console::new(options, [registry]).expect("it may listen on each address");
        assert_eq!(console.first_password(), None);
        assert!(console.app().users.list().is_empty(), "nobody looks for a user whom no setting names");
    }
}

/// A console with users, and with a token for each of these roles, each with its end.
fn with_tokens(roles: &[(Role, Option<&str>)]) -> (ConsoleOptions, Vec<String>) {
    let mut options = with_users();
    let tokens = roles.iter().map(|(role, end)| {
        let (shown, hash) = TokenHash::new_token().expect("there are random bytes");
        let token = Token::new(role.as_str(), hash, [Grant::everywhere(*role)]);
        options.tokens.push(end.map_or(Ok(token.clone()), |end| token.expires(end)).expect("an end"));
        shown
    });
    let tokens = tokens.collect();
    (options, tokens)
}

fn with_token(method: &str, path: &str, token: &str) -> Request {
    let mut request = request(method, path, None);
    request.headers_mut().insert(AUTHORIZATION, format!("Bearer {token}").parse().expect("a value"));
    request
}

#[tokio::test]
async fn a_program_may_do_what_its_token_says_and_what_does_not_count_is_refused() {
    let (mut options, tokens) = with_tokens(&[(Role::Viewer, None), (Role::Operator, Some("2020-01-31"))]);
    options.anonymous = vec![Grant::everywhere(Role::Viewer)];
    options.allowed_hosts = vec!["console.example".parse().expect("a name")];
    let console = console(options);
    let jobs = "/api/v1/registries/default/jobs";
    let trigger = "/api/v1/registries/default/jobs/settle/triggers";
    assert_eq!(call(&console, with_token("GET", jobs, &tokens[0])).await.status, StatusCode::OK);
    assert_eq!(call(&console, with_token("GET", "/r/default/jobs", &tokens[0])).await.status, StatusCode::OK);
    assert_eq!(call(&console, with_token("POST", trigger, &tokens[0])).await.status, StatusCode::FORBIDDEN);
    // Visitors may see the jobs; a caller with a token that does not count is no visitor.
    let expired = call(&console, with_token("GET", jobs, &tokens[1])).await;
    assert_eq!((expired.status, expired.body.contains("expired-token")), (StatusCode::UNAUTHORIZED, true));
    assert!(expired.body.contains("2020-02-01T00:00:00Z"), "{}", expired.body);
    let unknown = call(&console, with_token("GET", jobs, "ejt_guess")).await;
    assert_eq!((unknown.status, unknown.body.contains("unknown-token")), (StatusCode::UNAUTHORIZED, true));
    let mut of_proxy = request("GET", jobs, None);
    of_proxy.headers_mut().insert(AUTHORIZATION, "Basic b3BzOm9wcw==".parse().expect("a value"));
    assert_eq!(call(&console, of_proxy).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_token_is_no_more_than_a_viewer_on_a_read_only_console() {
    let (options, tokens) = with_tokens(&[(Role::Admin, None)]);
    let console = console(ConsoleOptions { read_only: true, ..options });
    let path = "/api/v1/registries/default/jobs/settle/triggers";
    assert_eq!(call(&console, with_token("POST", path, &tokens[0])).await.status, StatusCode::FORBIDDEN);
}
