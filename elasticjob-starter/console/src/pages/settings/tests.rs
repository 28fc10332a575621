//! Users, tokens and sessions, changed on pages and by the API.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, LOCATION};
use axum::http::{Request, StatusCode};
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::memory::MemoryRegistry;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::access::{Grant, Role, Token, TokenHash};
use crate::testing::{Answer, call, console_of, cookie_of, form, json, request, with_users};
use crate::{Console, Registry};

async fn read(console: &Console, path: &str, cookie: &str) -> Value {
    let answer = call(console, request("GET", path, Some(cookie))).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
    serde_json::from_str(&answer.body).expect("JSON")
}

fn code(answer: &Answer) -> String {
    let problem: Value = serde_json::from_str(&answer.body).expect("JSON");
    problem["code"].as_str().expect("a code").to_owned()
}

#[tokio::test]
async fn without_a_data_file_users_and_tokens_are_seen_and_not_changed() {
    let console = console_of(&MemoryRegistry::new());
    let admin = cookie_of(&console, "admin").await;
    let users = read(&console, "/api/v1/users", &admin).await;
    assert!(users.as_array().is_some_and(|users| users.len() == 5 && users[0]["changeable"] == false), "{users}");
    let new = json!({ "name": "li", "grants": [{ "role": "viewer" }] });
    let added = call(&console, json("POST", "/api/v1/users", &admin, &new)).await;
    assert_eq!((added.status, code(&added).as_str()), (StatusCode::CONFLICT, "not-kept"));
    let removed = call(&console, request("DELETE", "/api/v1/users/viewer", Some(&admin))).await;
    assert_eq!(code(&removed), "of-settings");
    let page = call(&console, request("GET", "/settings/users", Some(&admin))).await;
    assert!(page.body.contains("--data FILE") && !page.body.contains("/settings/users/change"), "{}", page.body);
}

#[tokio::test]
async fn a_session_can_be_ended_and_its_stream_ends_at_once() {
    let console = console_of(&MemoryRegistry::new());
    let (admin, viewer) = (cookie_of(&console, "admin").await, cookie_of(&console, "viewer").await);
    let stream = console.router().oneshot(request("GET", "/r/default/events", Some(&viewer))).await.expect("an answer");
    let sessions = read(&console, "/api/v1/sessions", &admin).await;
    let id = sessions.as_array().into_iter().flatten().find(|one| one["user"] == "viewer").expect("it is listed")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let ended = call(&console, form("/settings/sessions/end", &admin, &[("id", &id)])).await;
    assert_eq!(ended.headers[LOCATION], "/settings/sessions");
    let body = axum::body::to_bytes(stream.into_body(), 1 << 20);
    tokio::time::timeout(Duration::from_secs(30), body).await.expect("the stream ends").expect("it is read");
    let page = call(&console, request("GET", "/r/default/jobs", Some(&viewer))).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "the viewer has to log in");
    let again = call(&console, request("DELETE", &format!("/api/v1/sessions/{id}"), Some(&admin))).await;
    assert_eq!(code(&again), "unknown-name");
}

#[tokio::test]
async fn a_connection_of_the_settings_is_tested_and_no_other() {
    let console = console_of(&MemoryRegistry::new());
    let admin = cookie_of(&console, "admin").await;
    let check = json("POST", "/api/v1/registries/default/checks", &admin, &json!({}));
    let answer = call(&console, check).await;
    let found: Value = serde_json::from_str(&answer.body).expect("JSON");
    assert_eq!((answer.status, &found["answers"]), (StatusCode::OK, &json!(true)), "{found}");
    let traces = call(&console, request("POST", "/api/v1/data-sources/default/checks", Some(&admin))).await;
    assert_eq!(code(&traces), "not-traced");
    for name in ["default", "zk.evil.example:2181"] {
        let checked =
            call(&console, form("/settings/checks", &admin, &[("registry", name), ("action", "registry")])).await;
        assert_eq!(checked.headers[LOCATION], "/settings");
        let said = checked.headers["set-cookie"].to_str().expect("a text");
        assert_eq!(said.starts_with("elasticjob_said=+"), name == "default", "{said}");
    }
    let page = call(&console, request("GET", "/settings", Some(&admin))).await;
    assert!(page.body.contains("CONNECTED"), "{}", page.body);
}

#[tokio::test]
async fn tokens_that_have_expired_or_will_soon_are_named_and_marked() {
    let in_days = |days: i64| (chrono::Utc::now() + chrono::TimeDelta::days(days)).to_rfc3339();
    let mut options = with_users();
    for (name, end) in [("over", Some(-1)), ("soon", Some(13)), ("later", Some(15)), ("never", None)] {
        let (_, hash) = TokenHash::new_token().expect("there are random bytes");
        let token = Token::new(name, hash, [Grant::everywhere(Role::Viewer)]);
        options.tokens.push(end.map_or(Ok(token.clone()), |days| token.expires(&in_days(days))).expect("an end"));
    }
    let center = Arc::new(MemoryRegistry::new().connect());
    let console = Console::new(options, [Registry::new("default", center)]).expect("the options are right");
    let admin = cookie_of(&console, "admin").await;
    let page = call(&console, request("GET", "/settings", Some(&admin))).await.body;
    let named = |name: &str| page.contains(&format!(">{name}</a> <span class=\"status"));
    assert_eq!(["over", "soon", "later", "never"].map(named), [true, true, false, false], "{page}");
    assert!(
        page.contains(">over</a> <span class=\"status off\">")
            && page.contains(">soon</a> <span class=\"status warn\">"),
        "{page}"
    );
    let tokens = call(&console, request("GET", "/settings/tokens", Some(&admin))).await.body;
    assert_eq!(tokens.matches("<span class=\"status off\">").count(), 1, "one has expired: {tokens}");
}

#[tokio::test]
async fn why_a_connection_does_not_answer_is_told_in_the_language_of_the_reader() {
    let center = Arc::new(MemoryRegistry::new().connect());
    center.close().await;
    let console = Console::new(with_users(), [Registry::new("default", center)]).expect("the options are right");
    let admin = cookie_of(&console, "admin").await;
    let said = async |language: &str| {
        let mut check = form("/settings/checks", &admin, &[("registry", "default"), ("action", "registry")]);
        check.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
        let checked = call(&console, check).await;
        let said = checked.headers["set-cookie"].to_str().expect("a text").split(';').next().map(str::to_owned);
        let mut page = request("GET", "/settings", Some(&format!("{admin}; {}", said.expect("it says so"))));
        page.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
        call(&console, page).await.body
    };
    let (chinese, english) = (said("zh-CN").await, said("en").await);
    assert!(chinese.contains("default 没有应答：注册中心没有答复：注册中心的连接已关闭"), "{chinese}");
    assert!(english.contains("default does not answer: the registry center gave no answer: "), "{english}");
}

#[tokio::test]
async fn the_token_of_an_administrator_makes_changes_and_removes_no_user() {
    let (shown, hash) = TokenHash::new_token().expect("there are random bytes");
    let mut options = with_users();
    options.tokens.push(Token::new("deploy", hash, [Grant::everywhere(Role::Admin)]));
    let center = Arc::new(MemoryRegistry::new().connect());
    let console = Console::new(options, [Registry::new("default", center)]).expect("the options are right");
    for (method, path, body) in [
        ("POST", "/api/v1/users", json!({ "name": "li", "grants": [{ "role": "admin" }] })),
        ("PUT", "/api/v1/users/viewer", json!({ "grants": [{ "role": "admin" }], "enabled": true })),
        ("POST", "/api/v1/users/viewer/password", json!({})),
        ("DELETE", "/api/v1/users/viewer", json!({})),
    ] {
        let mut asked = json(method, path, "", &body);
        asked.headers_mut().insert(AUTHORIZATION, format!("Bearer {shown}").parse().expect("a value"));
        let answer = call(&console, asked).await;
        assert_eq!((answer.status, code(&answer).as_str()), (StatusCode::FORBIDDEN, "forbidden"), "{method} {path}");
        assert!(answer.body.contains("'token:deploy' is a token"), "the role is enough: {}", answer.body);
    }
}

#[cfg(feature = "data")]
mod kept {
    use super::*;
    use crate::ConsoleOptions;
    use crate::DataFile;
    use crate::store::tests::{Folder, console_with};
    use crate::testing::{PASSWORD, login};

    fn with_token(method: &str, path: &str, token: &str) -> Request<Body> {
        let mut request = request(method, path, None);
        request.headers_mut().insert(AUTHORIZATION, format!("Bearer {token}").parse().expect("a value"));
        request
    }

    async fn closed(data: DataFile) {
        data.storage().close().await;
    }

    #[tokio::test]
    async fn a_user_is_added_changed_and_removed_and_each_change_counts_at_once() {
        let (folder, memory) = (Folder::new("users"), MemoryRegistry::new());
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&memory, &data);
        let admin = cookie_of(&console, "admin").await;
        let fields = [
            ("name", "li"),
            ("role", "operator"),
            ("registries", "*"),
            ("jobs", ""),
            ("role", ""),
            ("registries", "*"),
            ("jobs", "*"),
        ];
        let page = call(&console, form("/settings/users", &admin, &fields)).await;
        let password = page.body.split("shown this once:</p><p><code>").nth(1).and_then(|rest| rest.split('<').next());
        let password = password.expect("a password was made").to_owned();
        let log_in = async |password: &str| {
            let answer = call(&console, login("li", password, "/")).await;
            let cookie = answer.headers.get("set-cookie").and_then(|cookie| cookie.to_str().ok());
            cookie.map(|cookie| cookie.split(';').next().unwrap_or_default().to_owned())
        };
        let li = log_in(&password).await.expect("the password is right");
        let me = read(&console, "/api/v1/me", &li).await;
        assert_eq!(me["grants"], json!([{ "role": "operator", "registries": "*", "jobs": "*" }]), "{me}");

        // A role that is taken away ends the session, and the stream of it.
        let stream = console.router().oneshot(request("GET", "/r/default/events", Some(&li))).await.expect("an answer");
        let change = json!({ "grants": [{ "role": "viewer", "jobs": "billing-*" }], "enabled": true });
        let changed = call(&console, json("PUT", "/api/v1/users/li", &admin, &change)).await;
        assert_eq!(changed.status, StatusCode::NO_CONTENT, "{}", changed.body);
        let body = axum::body::to_bytes(stream.into_body(), 1 << 20);
        tokio::time::timeout(Duration::from_secs(30), body).await.expect("the stream ends").expect("it is read");
        assert_eq!(call(&console, request("GET", "/api/v1/me", Some(&li))).await.status, StatusCode::UNAUTHORIZED);

        // The file has it: a console that starts again knows the user.
        drop(console);
        closed(data.clone()).await;
        drop(data);
        let data = DataFile::open(folder.file()).await.expect("it is there");
        let console = console_with(&memory, &data);
        let admin = cookie_of(&console, "admin").await;
        let li = call(&console, login("li", &password, "/")).await;
        assert_eq!(li.status, StatusCode::SEE_OTHER);
        let set =
            call(&console, form("/settings/users/change", &admin, &[("name", "li"), ("action", "password")])).await;
        assert!(set.body.contains("The password of li"), "{}", set.body);
        assert_eq!(call(&console, login("li", &password, "/")).await.status, StatusCode::UNAUTHORIZED);
        let set = json!({ "password": "another horse battery" });
        call(&console, json("POST", "/api/v1/users/li/password", &admin, &set)).await;
        assert_eq!(call(&console, login("li", "another horse battery", "/")).await.status, StatusCode::SEE_OTHER);
        let off = json!({ "grants": [{ "role": "viewer" }], "enabled": false });
        call(&console, json("PUT", "/api/v1/users/li", &admin, &off)).await;
        assert_eq!(call(&console, login("li", "another horse battery", "/")).await.status, StatusCode::UNAUTHORIZED);
        call(&console, form("/settings/users/change", &admin, &[("name", "li"), ("action", "remove")])).await;
        let users = read(&console, "/api/v1/users", &admin).await;
        assert!(!users.to_string().contains("\"li\""), "{users}");
        closed(data).await;
    }

    #[tokio::test]
    async fn wrong_users_are_refused_with_what_is_wrong() {
        let (folder, memory) = (Folder::new("wrong"), MemoryRegistry::new());
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&memory, &data);
        let admin = cookie_of(&console, "admin").await;
        let viewer = [json!({ "role": "viewer" })];
        for (new, wrong) in [
            (json!({ "name": "viewer", "grants": viewer }), "name-taken"),
            (json!({ "name": "", "grants": viewer }), "invalid-account"),
            (json!({ "name": "<b>", "grants": viewer }), "invalid-account"),
            (json!({ "name": "a".repeat(65), "grants": viewer }), "invalid-account"),
            (json!({ "name": "li", "grants": [] }), "invalid-account"),
            (json!({ "name": "li", "grants": viewer, "password": "short" }), "invalid-account"),
            (json!({ "name": "li", "grants": [{ "role": "root" }] }), "bad-request"),
            (json!({ "name": "li", "grants": viewer, "isAdmin": true }), "bad-request"),
        ] {
            let answer = call(&console, json("POST", "/api/v1/users", &admin, &new)).await;
            assert_eq!(code(&answer), wrong, "{new}");
        }
        closed(data).await;
    }

    #[tokio::test]
    async fn the_first_start_makes_an_administrator_whom_the_file_keeps_and_who_cannot_be_the_last_to_go() {
        let (folder, memory) = (Folder::new("first"), MemoryRegistry::new());
        let start = async || {
            let data = DataFile::open(folder.file()).await.expect("it opens");
            let listen = "0.0.0.0:8899".parse().expect("an address");
            let options = ConsoleOptions { data: Some(data.clone()), listen, ..ConsoleOptions::default() };
            let registry = Registry::new("default", Arc::new(memory.connect()));
            (Console::new(options, [registry]).expect("the options are right"), data)
        };
        let (console, data) = start().await;
        let first = console.first_password().expect("it was made").clone();
        assert!(first.kept);
        closed(data.clone()).await;
        drop((console, data));
        let (console, data) = start().await;
        assert_eq!(console.first_password(), None, "it is made once");
        let answer = call(&console, login(&first.user, &first.password, "/")).await;
        let cookie =
            answer.headers["set-cookie"].to_str().expect("a text").split(';').next().expect("a cookie").to_owned();
        let demote = json!({ "grants": [{ "role": "editor" }], "enabled": true });
        let disable = json!({ "grants": [{ "role": "admin" }], "enabled": false });
        for change in [
            json("PUT", "/api/v1/users/admin", &cookie, &demote),
            json("PUT", "/api/v1/users/admin", &cookie, &disable),
            request("DELETE", "/api/v1/users/admin", Some(&cookie)),
        ] {
            assert_eq!(code(&call(&console, change).await), "last-administrator");
        }
        let other = json!({ "name": "wang", "password": PASSWORD, "grants": [{ "role": "admin" }] });
        assert_eq!(call(&console, json("POST", "/api/v1/users", &cookie, &other)).await.status, StatusCode::CREATED);
        let removed = call(&console, request("DELETE", "/api/v1/users/admin", Some(&cookie))).await;
        assert_eq!(removed.status, StatusCode::NO_CONTENT, "{}", removed.body);
        closed(data).await;
    }

    #[tokio::test]
    async fn a_token_is_shown_once_counts_until_its_owner_may_less_and_ends_when_it_is_removed() {
        let (folder, memory) = (Folder::new("tokens"), MemoryRegistry::new());
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&memory, &data);
        let admin = cookie_of(&console, "admin").await;
        let wang = json!({ "name": "wang", "password": PASSWORD, "grants": [{ "role": "admin" }] });
        call(&console, json("POST", "/api/v1/users", &admin, &wang)).await;
        let wang = cookie_of(&console, "wang").await;
        let fields = [("name", "deploy"), ("days", "30"), ("role", "operator"), ("registries", "*"), ("jobs", "*")];
        let page = call(&console, form("/settings/tokens", &wang, &fields)).await;
        let token = page.body.split("<code>ejt_").nth(1).and_then(|rest| rest.split('<').next()).expect("a token");
        let token = format!("ejt_{token}");
        let later = call(&console, request("GET", "/settings/tokens", Some(&wang))).await;
        assert!(later.body.contains("deploy") && !later.body.contains("ejt_"), "{}", later.body);
        let jobs = "/api/v1/registries/default/jobs";
        assert_eq!(call(&console, with_token("GET", jobs, &token)).await.status, StatusCode::OK);
        let listed = read(&console, "/api/v1/tokens", &admin).await;
        assert!(listed[0]["usedAt"].is_string() && listed[0]["owner"] == "wang", "{listed}");

        // The owner may less: so may the token.
        let stream = console.router().oneshot(with_token("GET", "/api/v1/registries/default/events", &token));
        let stream = stream.await.expect("an answer");
        let less = json!({ "grants": [{ "role": "viewer" }], "enabled": true });
        call(&console, json("PUT", "/api/v1/users/wang", &admin, &less)).await;
        let body = axum::body::to_bytes(stream.into_body(), 1 << 20);
        tokio::time::timeout(Duration::from_secs(30), body).await.expect("the stream ends").expect("it is read");
        let answer = call(&console, with_token("GET", jobs, &token)).await;
        assert_eq!((answer.status, code(&answer).as_str()), (StatusCode::UNAUTHORIZED, "token-without-owner"));
        let more = json!({ "grants": [{ "role": "admin" }], "enabled": true });
        call(&console, json("PUT", "/api/v1/users/wang", &admin, &more)).await;
        assert_eq!(call(&console, with_token("GET", jobs, &token)).await.status, StatusCode::OK);

        // No token makes tokens, and one counts for a year at most.
        let made = json!({ "name": "more", "grants": [{ "role": "viewer" }], "days": 367 });
        assert_eq!(code(&call(&console, json("POST", "/api/v1/tokens", &admin, &made)).await), "invalid-account");
        let removed = call(&console, form("/settings/tokens/removal", &admin, &[("name", "deploy")])).await;
        assert_eq!(removed.status, StatusCode::SEE_OTHER);
        assert_eq!(code(&call(&console, with_token("GET", jobs, &token)).await), "unknown-token");
        let told = call(&console, request("GET", "/api/v1/access", Some(&admin))).await;
        assert_eq!(told.status, StatusCode::OK);
        closed(data).await;
    }
}
