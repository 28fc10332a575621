//! The pages on the embedded registry, with a job that runs.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::Arc;

use axum::http::header::{ACCEPT_LANGUAGE, COOKIE, IF_MATCH, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Target};
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{RegistryCenter, Transaction};

use super::configuration_edit::{NOT_SHOWN, PROPS, settings};
use crate::testing::{Answer, call, console_of, cookie_of, form, job_settings, json, request, start_job, with_users};
use crate::{Console, Registry};

/// A name with all that a page could trip over.
const HOSTILE: &str = "<script>alert('1')</script>\"%2F&报表";

fn path(page: &str) -> String {
    format!("/r/default/jobs/{}{page}", super::segment(HOSTILE.replace("</", "<").as_str()))
}

async fn send(console: &Console, cookie: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    call(console, form(path, cookie, fields)).await
}

/// What the page says that follows an action.
async fn told(console: &Console, cookie: &str, done: &Answer) -> String {
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.body);
    let said = done.headers[SET_COOKIE].to_str().expect("a text").split(';').next().unwrap_or_default().to_owned();
    let to = done.headers[LOCATION].to_str().expect("a path").to_owned();
    let mut request = request("GET", &to, Some(cookie));
    request.headers_mut().append(COOKIE, said.parse().expect("a value"));
    call(console, request).await.body
}

#[tokio::test]
async fn every_page_of_a_job_is_there_in_both_languages_and_escapes_what_others_wrote() {
    let memory = MemoryRegistry::new();
    let name = HOSTILE.replace("</", "<");
    let settings = job_settings(|settings| settings.description = Some("<img src=x>".to_owned()));
    let _job = start_job(&memory, &name, &settings).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let paths = ["", "/why", "/schedule", "/schedule?cron=0+0+25+*+*+?", "/configuration", "/configuration/edit"];
    let paths = paths.map(path).into_iter().chain(["/r/default/jobs".to_owned(), "/r/default/servers".to_owned()]);
    for path in paths {
        for (language, tag) in [("en", "lang=\"en\""), ("zh", "lang=\"zh-CN\"")] {
            let mut request = request("GET", &path, Some(&cookie));
            request.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
            let answer = call(&console, request).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
            assert!(answer.body.contains(tag) && answer.body.contains("<h1"), "{path}");
            let is_escaped = !answer.body.contains("<script>alert") && !answer.body.contains("<img src=x>");
            assert!(is_escaped, "{path}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_button_does_it_and_the_next_page_tells() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let done = send(&console, &cookie, "/r/default/jobs/settle", &[("action", "disable"), ("reason", "update")]).await;
    let page = told(&console, &cookie, &done).await;
    assert!(page.contains("Disabled: 1") && page.contains("DISABLED"), "{page}");
    let again = send(&console, &cookie, "/r/default/jobs/settle", &[("action", "disable")]).await;
    assert!(told(&console, &cookie, &again).await.contains("Nothing had to be changed."));
    let refused = send(&console, &cookie, "/r/default/jobs", &[("action", "trigger"), ("job", "settle")]).await;
    assert!(told(&console, &cookie, &refused).await.contains("disabled"));
    let mut many = vec![("job", "settle"); 201];
    many.push(("action", "enable"));
    let refused = send(&console, &cookie, "/r/default/jobs", &many).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "as the API refuses it, and does not leave the last one out");
    let operator = cookie_of(&console, "operator").await;
    let removal = send(&console, &operator, "/r/default/jobs/settle/removal", &[]).await;
    assert_eq!(removal.status, StatusCode::FORBIDDEN, "the button is not shown, and its route is closed");
    let online = send(&console, &cookie, "/r/default/jobs/settle/removal", &[]).await;
    assert!(told(&console, &cookie, &online).await.contains("online"));
}

#[tokio::test]
async fn a_job_that_is_run_names_the_items_that_no_instance_has() {
    let memory = MemoryRegistry::new();
    let settings = job_settings(|settings| settings.static_sharding = Some(true));
    let job = start_job(&memory, "settle", &settings).await;
    let registry: Arc<dyn RegistryCenter> = Arc::new(memory.connect());
    let target = Target::Job(JobName::new("settle").expect("a name"));
    let first = Operations::new(registry.clone()).trigger(&target).await.expect("it is triggered");
    assert_eq!(first.without_instance, [], "with static sharding they are assigned at the first trigger");
    let mut items = registry.watch("/settle/sharding");
    while registry.get("/settle/sharding/1/instance").await.expect("it answers").is_none() {
        poll_fn(|cx| items.poll_next(cx)).await.expect("it goes on");
    }
    let mut gone = Transaction::new();
    gone.set("/settle/sharding/1/instance", "10.9.9.9@-@7", None);
    registry.commit(gone).await.expect("it is written");
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let (one, many) = ("/r/default/jobs/settle", "/r/default/jobs");
    for (path, fields) in [(one, &[("action", "trigger")][..]), (many, &[("action", "trigger"), ("job", "settle")][..])]
    {
        let done = send(&console, &cookie, path, fields).await;
        let page = told(&console, &cookie, &done).await;
        assert!(page.contains("(without the items 1: no instance that is online and enabled has them, or theirs has yet to begin an older trigger)"), "{page}");
    }
    let path = "/api/v1/registries/default/jobs/settle/triggers";
    let done = call(&console, json("POST", path, &cookie, &serde_json::json!({}))).await;
    let done: serde_json::Value = serde_json::from_str(&done.body).expect("JSON");
    assert_eq!(done["withoutInstance"], serde_json::json!([{ "job": "settle", "item": 1 }]), "{done}");
    drop(job);
}

#[tokio::test]
async fn the_outcome_of_an_action_on_many_jobs_begins_with_those_that_failed_and_counts_all() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let missing: Vec<String> = (0..60).map(|number| format!("a-job-with-a-long-name-that-is-gone-{number}")).collect();
    let fields: Vec<_> = [("action", "disable"), ("job", "settle")]
        .into_iter()
        .chain(missing.iter().map(|name| ("job", name.as_str())))
        .collect();
    let done = send(&console, &cookie, "/r/default/jobs", &fields).await;
    let page = told(&console, &cookie, &done).await;
    let said = page.split("class=\"said failed\"").nth(1).and_then(|rest| rest.split("</p>").next());
    let said = said.expect("an outcome of a failure");
    let failed = said.split("Failed (60 of 61): ").nth(1).expect("the failures are counted");
    let shown = failed.matches("a-job-with-a-long-name-that-is-gone-").count();
    assert!(shown > 0 && failed.contains(" more. Disabled (1): settle"), "{said}");
    let good = [("action", "enable"), ("job", "settle")];
    let done = send(&console, &cookie, "/r/default/jobs", &good).await;
    let page = told(&console, &cookie, &done).await;
    assert!(page.contains("class=\"said done\"") && page.contains("Enabled (1): settle"), "{page}");
}

#[test]
fn the_form_has_every_setting_that_the_registry_center_keeps() {
    let all = serde_json::to_value(JobSettings::default()).expect("it is JSON");
    let all: BTreeSet<&str> = all.as_object().expect("an object").keys().map(String::as_str).collect();
    let shown = settings().map(|setting| setting.key).chain([PROPS]).chain(NOT_SHOWN).collect();
    assert_eq!(all, shown);
}

#[tokio::test]
async fn a_configuration_is_previewed_and_saved_and_no_edit_of_another_is_lost() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "editor").await;
    let path = "/r/default/jobs/settle/configuration/edit";
    let form = |version: &'static str, cron: &'static str, action: &'static str| {
        let mut fields = vec![("version", version), ("cron", cron), ("action", action), ("sharding-total-count", "2")];
        fields.extend([
            ("time-zone", "UTC"),
            ("props", "region=south"),
            ("monitor-execution", "true"),
            ("misfire", "true"),
        ]);
        fields
    };
    let wrong = send(&console, &cookie, path, &form("0", "0 0 25 * * ?", "save")).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", wrong.body);
    assert!(wrong.body.contains("cron") && wrong.body.contains("0 0 25 * * ?"), "{}", wrong.body);
    let preview = send(&console, &cookie, path, &form("0", "0 0 3 * * ?", "preview")).await;
    assert_eq!(preview.status, StatusCode::OK);
    assert!(
        preview.body.contains("T03:00:00.000Z") && preview.body.contains("props.region: added"),
        "{}",
        preview.body
    );
    let mut more: Vec<(&str, &str)> = form("0", "0 0 3 * * ?", "preview");
    more.retain(|(name, _)| *name != "sharding-total-count");
    more.push(("sharding-total-count", "4"));
    let more = send(&console, &cookie, path, &more).await;
    assert!(more.body.contains("The next sharding gives items"), "they are new: {}", more.body);
    let unseen = send(&console, &cookie, path, &form("0", "0 0 3 * * ?", "save")).await;
    assert_eq!(unseen.status, StatusCode::CONFLICT, "it was not previewed: {}", unseen.body);
    let digest = preview.body.split("name=\"previewed\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let previewed = |cron| {
        let mut fields: Vec<(&str, &str)> = form("0", cron, "save");
        fields.push(("previewed", digest.expect("a digest")));
        fields
    };
    let other = send(&console, &cookie, path, &previewed("0 0 5 * * ?")).await;
    assert_eq!(other.status, StatusCode::CONFLICT, "another value was: {}", other.body);
    let saved = send(&console, &cookie, path, &previewed("0 0 3 * * ?")).await;
    let page = told(&console, &cookie, &saved).await;
    assert!(page.contains("0 0 3 * * ?") && page.contains("props.region"), "{page}");
    let late = send(&console, &cookie, path, &form("0", "0 0 4 * * ?", "save")).await;
    assert_eq!(late.status, StatusCode::PRECONDITION_FAILED);
    assert!(late.body.contains("0 0 4 * * ?") && late.body.contains("0 0 3 * * ?"), "both are shown: {}", late.body);
    // A form that says what it began with takes over what it did not touch.
    let mut other = form("0", "* * * * * ?", "preview");
    other.extend([("description", "mine"), ("base", r#"{"cron":"* * * * * ?","time-zone":"UTC","misfire":"true"}"#)]);
    let merged = send(&console, &cookie, path, &other).await;
    assert_eq!(merged.status, StatusCode::PRECONDITION_FAILED);
    let has = |field: &str| merged.body.contains(field);
    assert!(
        has("name=\"cron\" value=\"0 0 3 * * ?\"") && has("name=\"description\" value=\"mine\""),
        "{}",
        merged.body
    );
    assert!(has("Changed meanwhile") && has("what is stored now"), "{}", merged.body);
    let viewer = cookie_of(&console, "viewer").await;
    assert_eq!(send(&console, &viewer, path, &form("1", "0 0 4 * * ?", "save")).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_form_that_is_saved_reads_the_other_jobs_no_more_often_than_a_change_by_the_api() {
    let memory = MemoryRegistry::new();
    let after_first = job_settings(|settings| settings.depends_on = Some(vec!["first".to_owned()]));
    let _first = start_job(&memory, "first", &JobSettings::default()).await;
    let _second = start_job(&memory, "second", &JobSettings::default()).await;
    let _by_form = start_job(&memory, "by-form", &after_first).await;
    let _by_api = start_job(&memory, "by-api", &after_first).await;
    let center = Arc::new(memory.connect());
    let registry = Registry::new("default", center.clone());
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "editor").await;
    let page = "/r/default/jobs/by-form/configuration/edit";
    let form = |action: &'static str| {
        let settings = [("sharding-total-count", "2"), ("monitor-execution", "true"), ("depends-on", "first,second")];
        [("version", "0"), ("action", action)].into_iter().chain(settings).collect::<Vec<_>>()
    };
    let preview = send(&console, &cookie, page, &form("preview")).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    let digest = preview.body.split("name=\"previewed\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let mut save = form("save");
    save.push(("previewed", digest.expect("a digest")));
    let before = center.requests().requests;
    let saved = send(&console, &cookie, page, &save).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    let by_form = center.requests().requests - before;

    let path = "/api/v1/registries/default/jobs/by-api/configuration";
    let change = serde_json::json!({"depends-on": ["first", "second"]});
    let patch = || {
        let mut patch = json("PATCH", path, &cookie, &change);
        patch.headers_mut().insert(IF_MATCH, HeaderValue::from_static("\"0\""));
        patch
    };
    // What the console reads of the job once and then watches.
    call(&console, request("GET", "/r/default/jobs/by-api", Some(&cookie))).await;
    let before = center.requests().requests;
    let changed = call(&console, patch()).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.body);
    let by_api = center.requests().requests - before;
    assert!(by_form <= by_api, "{by_form} requests by the form, {by_api} by the API");
}

/// The same with a form that a reader of Chinese sends.
async fn send_in_chinese(console: &Console, cookie: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    let chinese = format!("{cookie}; elasticjob_language=zh-CN");
    send(console, &chinese, path, fields).await
}

#[tokio::test]
async fn a_page_in_chinese_says_mistakes_refusals_and_states_in_chinese() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "admin").await;
    let chinese = format!("{cookie}; elasticjob_language=zh-CN");
    let fields = [
        ("version", "0"),
        ("action", "preview"),
        ("cron", "0 0 25 * * ?"),
        ("time-zone", "Asia/Shangai"),
        ("sharding-total-count", "2"),
        ("sharding-item-parameters", "0=a,7=b"),
        ("failover", "true"),
        ("monitor-execution", "false"),
    ];
    let wrong = send_in_chinese(&console, &cookie, "/r/default/jobs/settle/configuration/edit", &fields).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", wrong.body);
    for part in [
        "cron：cron 表达式“0 0 25 * * ?”无效：时：25 超出范围，允许的值为 0 至 23",
        "time-zone：未知的时区“Asia/Shangai”：是否应为“Asia/Shanghai”？",
        "sharding-item-parameters：没有分片项 7：分片项为 0 至 1",
        "failover：需要启用 monitor-execution",
    ] {
        assert!(wrong.body.contains(part), "{part}: {}", wrong.body);
    }
    assert!(!wrong.body.contains("is not valid") && !wrong.body.contains("out of range"), "{}", wrong.body);
    let tried = request("GET", "/r/default/jobs/settle/schedule?cron=0+0+25+*+*+?", Some(&chinese));
    let tried = call(&console, tried).await.body;
    assert!(tried.contains("时：25 超出范围"), "{tried}");
    let removal = send_in_chinese(&console, &cookie, "/r/default/jobs/settle/removal", &[]).await;
    let refused = told(&console, &chinese, &removal).await;
    assert!(refused.contains("作业“settle”未删除：有一个实例在线"), "{refused}");
    let disable = [("action", "disable")];
    let disabled = send_in_chinese(&console, &cookie, "/r/default/jobs/settle", &disable).await;
    let disabled = told(&console, &chinese, &disabled).await;
    assert!(disabled.contains("<span class=\"status off\">已禁用</span>"), "{disabled}");
    let none = call(&console, request("GET", "/r/default/jobs/setle", Some(&chinese))).await.body;
    assert!(none.contains("命名空间中没有作业“setle”") && !none.contains("there is no job"), "{none}");
}

#[tokio::test]
async fn many_items_come_in_pages_and_an_action_on_one_stays_on_its_page() {
    let memory = MemoryRegistry::new();
    let settings = job_settings(|settings| settings.sharding_total_count = Some(450));
    let _job = start_job(&memory, "settle", &settings).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "operator").await;
    let path = "/r/default/jobs/settle";
    send(&console, &cookie, path, &[("action", "trigger")]).await;
    let registry = memory.connect();
    let operations = elasticjob::operations::Operations::new(std::sync::Arc::new(registry));
    let name = elasticjob::ident::JobName::new("settle").expect("a name");
    tokio::time::timeout(std::time::Duration::from_secs(60), async {
        loop {
            if operations.snapshot(&name).await.expect("it is there").items.len() == 450 {
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the items are made");
    let page = async |query: &str| call(&console, request("GET", &format!("{path}{query}"), Some(&cookie))).await.body;
    let row = |item: usize| format!("<th scope=\"row\">{item}</th>");
    let first = page("").await;
    assert!(first.contains(&row(0)) && first.contains(&row(199)) && !first.contains(&row(200)), "{first}");
    assert!(first.contains("Items 1 to 200 of 450 that fit, of 450 in all"), "{first}");
    assert!(first.contains("?page=2#items") && !first.contains("rel=\"prev\""), "{first}");
    let last = page("?page=3").await;
    assert!(last.contains(&row(449)) && !last.contains(&row(399)) && last.contains("rel=\"prev\""), "{last}");
    assert!(!last.contains("rel=\"next\""), "{last}");
    let along = "<input type=\"hidden\" name=\"page\" value=\"3\">";
    assert!(last.contains(along) && !first.contains("name=\"page\""), "{last}");
    assert!(page("?page=99").await.contains(&row(449)), "a page after the last one is the last one");
    let fields = [("action", "disable"), ("item", "420"), ("page", "3"), ("state", ""), ("owner", "")];
    let done = send(&console, &cookie, &format!("{path}/items"), &fields).await;
    assert_eq!(done.headers[LOCATION], format!("{path}?page=3"), "{}", done.body);
    let disabled = page("?state=DISABLED").await;
    assert!(disabled.contains(&row(420)) && !disabled.contains(&row(421)), "{disabled}");
    assert!(disabled.contains("Items 1 to 1 of 1 that fit, of 450 in all"), "{disabled}");
    let snapshot = operations.snapshot(&name).await.expect("it is there");
    let owner = snapshot.items[&0].owner.clone().expect("it is assigned").to_string();
    let query = format!("?owner={}", super::segment(&owner));
    assert!(page(&query).await.contains("of 450 that fit"), "{owner}");
    assert!(page("?owner=elsewhere").await.contains("None of the 450 items fits the filter."));
}

#[tokio::test]
async fn a_reason_has_the_button_that_helps_for_who_may_press_it_and_the_reader_stays_there() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let console = console_of(&memory);
    let cookie = cookie_of(&console, "operator").await;
    let (path, why) = ("/r/default/jobs/settle", "/r/default/jobs/settle/why");
    send(&console, &cookie, path, &[("action", "disable")]).await;
    let button = "<button name=\"action\" value=\"enable\">Enable</button>";
    let viewer = cookie_of(&console, "viewer").await;
    let shown = async |cookie: &str| call(&console, request("GET", why, Some(cookie))).await.body;
    assert!(!shown(&viewer).await.contains(button), "a viewer changes nothing");
    let page = shown(&cookie).await;
    assert!(page.contains("All its servers are disabled") && page.contains(button), "{page}");
    let done = send(&console, &cookie, path, &[("action", "enable"), ("back", "why"), ("reason", "done")]).await;
    assert_eq!(done.headers[LOCATION], why);
    let page = told(&console, &cookie, &done).await;
    assert!(page.contains("Enabled: 1") && !page.contains(button), "{page}");
}
