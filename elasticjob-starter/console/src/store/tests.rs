//! The file, opened and opened again.

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::registry::memory::MemoryRegistry;

use super::*;
use crate::access::{Entry, Event, Grant, Invalid, KeptToken, Role, TokenHash};
use crate::testing::{call, cookie_of, json, login, request, start_job, with_users};
use crate::{Console, ConsoleOptions, Registry};

/// A folder that is removed with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("elasticjob-console-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("console.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A console of a registry with users for each role and this file.
pub(crate) fn console_with(memory: &MemoryRegistry, data: &DataFile) -> Console {
    let options = ConsoleOptions { data: Some(data.clone()), ..with_users() };
    Console::new(options, [Registry::new("default", Arc::new(memory.connect()))]).expect("the options are right")
}

fn refusal(who: &str, at: i64) -> Entry {
    Entry { at, who: who.to_owned(), from: None, event: Event::LoginRefused, count: 1 }
}

async fn closed(data: DataFile) {
    data.storage().close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_for_its_owner_and_one_console_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("owner");
    let data = DataFile::open(folder.file()).await.expect("it is made");
    for entry in std::fs::read_dir(&folder.0).expect("the folder") {
        let entry = entry.expect("a file");
        let mode = entry.metadata().expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
    }
    let other = DataFile::open(folder.file()).await.expect_err("it is in use");
    assert!(matches!(other, DataError::InUse { .. }), "{other}");
    closed(data.clone()).await;
    drop(data);
    std::fs::set_permissions(folder.file(), PermissionsExt::from_mode(0o644)).expect("a mode");
    let open = DataFile::open(folder.file()).await.expect_err("others may read it");
    assert!(open.to_string().contains("chmod 600"), "{open}");
}

#[tokio::test]
async fn a_file_of_a_later_release_or_of_another_program_is_refused() {
    let folder = Folder::new("foreign");
    let run = async |statement: &'static str| {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.file());
        let pool = sqlx::SqlitePool::connect_with(options).await.expect("it opens");
        sqlx::raw_sql(statement).execute(&pool).await.expect("it is done");
        pool.close().await;
    };
    closed(DataFile::open(folder.file()).await.expect("it is made")).await;
    run("PRAGMA user_version = 99").await;
    let newer = DataFile::open(folder.file()).await.expect_err("it is of a later release");
    assert!(matches!(newer, DataError::Newer { found: 99, .. }), "{newer}");
    run("PRAGMA application_id = 7").await;
    let foreign = DataFile::open(folder.file()).await.expect_err("it is of another program");
    assert!(matches!(foreign, DataError::Foreign { .. }), "{foreign}");
}

#[tokio::test]
async fn the_log_of_logins_outlives_the_console_and_comes_in_pages() {
    let folder = Folder::new("access");
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let now = crate::service::now();
    for at in 0..3 {
        data.storage().add_access(refusal("root", now + at));
        data.storage().add_access(Entry { event: Event::LoggedIn, ..refusal("zhang", now + 10 + at) });
    }
    closed(data.clone()).await;
    drop(data);
    let data = DataFile::open(folder.file()).await.expect("it is there");
    let (first, next) = data.storage().access(None, 3).await.expect("it is read");
    assert!(first.iter().all(|one| one.who == "zhang" && one.event == Event::LoggedIn && one.count == 1));
    let (second, end) = data.storage().access(next, 3).await.expect("it is read");
    // The refusals of the day are one row, unless midnight came between.
    assert_eq!(second.iter().map(|one| one.count).sum::<usize>(), 3);
    assert!(second.iter().all(|one| one.who == "root" && one.event == Event::LoginRefused));
    assert_eq!(end, None);
    closed(data).await;
}

#[tokio::test]
async fn what_is_older_than_400_days_is_removed_when_the_file_is_opened() {
    let folder = Folder::new("old");
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let now = crate::service::now();
    let day = 24 * 3600 * 1000;
    data.storage().add_access(refusal("old", now - 401 * day));
    data.storage().add_access(refusal("young", now - 399 * day));
    closed(data.clone()).await;
    drop(data);
    let data = DataFile::open(folder.file()).await.expect("it is there");
    let names = async || {
        let (entries, _) = data.storage().access(None, 10).await.expect("it is read");
        entries.into_iter().map(|entry| entry.who).collect::<Vec<_>>()
    };
    // It is removed beside, soon after the file was opened.
    tokio::time::timeout(std::time::Duration::from_secs(30), async {
        while names().await != ["young"] {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the old row is removed");
    closed(data).await;
}

#[tokio::test]
async fn a_token_is_marked_when_it_has_expired_and_forgotten_30_days_later() {
    let (folder, memory) = (Folder::new("expired"), MemoryRegistry::new());
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let day = 24 * 3600 * 1000;
    let mut shown = Vec::new();
    for (name, days_ago) in [("late", 29), ("long-ago", 30)] {
        let (token, hash) = TokenHash::new_token().expect("there are random bytes");
        shown.push(token);
        let expires_at = crate::service::now() - days_ago * day;
        let (name, owner, grants) = (name.to_owned(), "admin".to_owned(), vec![Grant::everywhere(Role::Viewer)]);
        let token = KeptToken { name, hash, owner, grants, made_at: 0, expires_at, used_at: None };
        data.storage().save_token(token).await.expect("it is kept");
    }
    closed(data).await;

    let data = DataFile::open(folder.file()).await.expect("it is there");
    let kept: Vec<String> = data.storage().tokens().into_iter().map(|token| token.name).collect();
    assert_eq!(kept, ["late"]);
    let console = console_with(&memory, &data);
    let (users, tokens) = (&console.app().users, &console.app().tokens);
    let at = |days: i64| chrono::Utc::now() + chrono::TimeDelta::days(days);
    assert!(matches!(tokens.identity(&shown[0], users, at(0)), Err(Invalid::Expired(_))));
    assert_eq!(tokens.identity(&shown[0], users, at(1)).err(), Some(Invalid::Unknown), "the console still runs then");
    assert_eq!(tokens.identity(&shown[1], users, at(0)).err(), Some(Invalid::Unknown));
    let admin = cookie_of(&console, "admin").await;
    for (language, expired) in [("en", ">expired<"), ("zh-CN", ">已过期<")] {
        let mut asked = request("GET", "/settings/tokens", Some(&admin));
        asked.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
        let page = call(&console, asked).await.body;
        assert_eq!(page.matches(expired).count(), 1, "{language}: {page}");
        assert!(page.contains("late") && !page.contains("long-ago"), "{language}: {page}");
    }
    closed(data).await;
}

#[tokio::test]
async fn a_token_can_have_the_name_of_one_that_expired_long_ago() {
    let (folder, memory) = (Folder::new("name-again"), MemoryRegistry::new());
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let console = console_with(&memory, &data);
    let (_, hash) = TokenHash::new_token().expect("there are random bytes");
    let grants = vec![Grant::everywhere(Role::Viewer)];
    let (name, owner, expires_at) = ("deploy".to_owned(), "admin".to_owned(), 1);
    let old = KeptToken { name, hash, owner, grants, made_at: 0, expires_at, used_at: None };
    data.storage().save_token(old).await.expect("it is kept");
    let admin = cookie_of(&console, "admin").await;
    let new = serde_json::json!({ "name": "deploy", "grants": [{ "role": "viewer" }], "days": 1 });
    let made = call(&console, json("POST", "/api/v1/tokens", &admin, &new)).await;
    assert!(made.status.is_success(), "{}", made.body);
    closed(data).await;
    let data = DataFile::open(folder.file()).await.expect("it is there");
    assert_eq!(data.storage().tokens().len(), 1);
    closed(data).await;
}

#[tokio::test]
async fn what_operators_do_is_kept_where_no_database_of_traces_has_it() {
    let (folder, memory) = (Folder::new("actions"), MemoryRegistry::new());
    let _job = start_job(&memory, "settle", &Default::default()).await;
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let console = console_with(&memory, &data);
    let admin = cookie_of(&console, "admin").await;
    let body = serde_json::json!({ "enabled": false, "reason": "kernel update" });
    let path = "/api/v1/registries/default/jobs/settle/state";
    assert_eq!(call(&console, json("PUT", path, &admin, &body)).await.status, StatusCode::OK);
    console.app().registries["default"].close_kept(std::time::Duration::from_secs(10)).await;
    let audit = async |console: &Console, query: &str| {
        let path = format!("/api/v1/registries/default/audit{query}");
        let answer = call(console, request("GET", &path, Some(&cookie_of(console, "admin").await))).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let records: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        records["records"].as_array().expect("a list").clone()
    };
    let kept = audit(&console, "").await;
    assert_eq!(kept.len(), 1, "{kept:?}");
    let text = kept[0].to_string();
    assert!(text.contains("admin") && text.contains("kernel update") && text.contains("settle"), "{text}");
    assert_eq!(audit(&console, "?job=other").await.len(), 0);
    drop(console);
    closed(data.clone()).await;
    drop(data);
    let data = DataFile::open(folder.file()).await.expect("it is there");
    let console = console_with(&memory, &data);
    assert_eq!(audit(&console, "?job=settle").await, kept, "it outlives the console");
    closed(data).await;
}

#[tokio::test]
async fn the_page_of_logins_says_what_the_file_has_page_by_page() {
    let (folder, memory) = (Folder::new("page"), MemoryRegistry::new());
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let now = crate::service::now();
    for at in 0..250 {
        data.storage().add_access(Entry { event: Event::LoggedIn, ..refusal(&format!("user-{at}"), now - 1_000 + at) });
    }
    let console = console_with(&memory, &data);
    call(&console, login("<b>root", "wrong", "/")).await;
    let admin = cookie_of(&console, "admin").await;
    // What was added is written soon.
    let page = tokio::time::timeout(std::time::Duration::from_secs(30), async {
        loop {
            let page = call(&console, request("GET", "/access", Some(&admin))).await;
            if page.body.contains("&#60;b&#62;root") {
                return page;
            }
            tokio::task::yield_now().await;
        }
    });
    let page = page.await.expect("it is written");
    let next = page.body.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let older = call(&console, request("GET", &format!("/access{}", next.expect("a link")), Some(&admin))).await;
    assert!(older.body.contains("user-0<") && !page.body.contains("user-0<"), "{}", older.body);
    let api = call(&console, request("GET", "/api/v1/access?limit=10", Some(&admin))).await;
    let link = api.headers["link"].to_str().expect("a text").to_owned();
    let path = link.trim_start_matches('<').split('>').next().expect("an address").to_owned();
    assert_eq!(call(&console, request("GET", &path, Some(&admin))).await.status, StatusCode::OK, "{path}");
    let wrong = call(&console, request("GET", "/api/v1/access?cursor=x", Some(&admin))).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    closed(data).await;
}

#[tokio::test]
async fn who_looks_after_an_alarm_is_known_after_the_console_starts_again() {
    let (folder, memory) = (Folder::new("alarms"), MemoryRegistry::new());
    let mut gone = start_job(&memory, "gone", &Default::default()).await;
    gone.shutdown(elasticjob::runtime::ShutdownMode::Graceful).await;
    let alarms = async |console: &Console| {
        let cookie = cookie_of(console, "operator").await;
        let answer = call(console, request("GET", "/api/v1/registries/default/alarms", Some(&cookie))).await;
        let alarms: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
        (cookie, alarms[0].clone())
    };
    let data = DataFile::open(folder.file()).await.expect("it is made");
    let console = console_with(&memory, &data);
    let (operator, alarm) = alarms(&console).await;
    let path = format!("/api/v1/registries/default/alarms/{}/acknowledgement", alarm["id"].as_str().expect("an id"));
    let body = serde_json::json!({ "reason": "the host is on its way" });
    assert_eq!(call(&console, json("PUT", &path, &operator, &body)).await.status, StatusCode::OK);
    drop(console);
    closed(data.clone()).await;
    drop(data);
    let data = DataFile::open(folder.file()).await.expect("it is there");
    let console = console_with(&memory, &data);
    let (operator, alarm) = alarms(&console).await;
    let by = &alarm["acknowledged"];
    assert_eq!((&by["by"], &by["reason"]), (&"operator".into(), &"the host is on its way".into()), "{alarm}");
    // A file that takes nothing is told, and nothing counts that it did not take.
    closed(data).await;
    let refused = call(&console, json("PUT", &path, &operator, &serde_json::json!({ "reason": "mine" }))).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{}", refused.body);
    assert_eq!(alarms(&console).await.1["acknowledged"]["reason"], "the host is on its way");
}

#[tokio::test]
async fn a_password_that_is_set_beside_the_console_counts_and_lets_a_disabled_user_in() {
    let (folder, memory) = (Folder::new("set-password"), MemoryRegistry::new());
    let start = async || {
        let data = DataFile::open(folder.file()).await.expect("it opens");
        let options = ConsoleOptions { data: Some(data.clone()), ..ConsoleOptions::default() };
        (Console::new(options, [Registry::new("default", Arc::new(memory.connect()))]).expect("it starts"), data)
    };
    let (console, data) = start().await;
    drop(console);
    closed(data.clone()).await;
    drop(data);
    let data = DataFile::open(folder.file()).await.expect("it is there");
    let hash = crate::PasswordHash::of("another horse battery").expect("it is long enough");
    let unknown = data.set_password("root", hash.clone()).await.expect_err("there is none");
    assert!(unknown.to_string().ends_with("has no user 'root'; it has admin"), "{unknown}");
    data.set_password("admin", hash).await.expect("it is set");
    data.close().await;
    let (console, data) = start().await;
    let answer = call(&console, login("admin", "another horse battery", "/")).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let (log, _) = data.storage().access(None, 10).await.expect("it is read");
    assert!(log.iter().any(|one| one.who == "command line" && one.event.code() == "password-set"), "{log:?}");
    closed(data).await;
}
