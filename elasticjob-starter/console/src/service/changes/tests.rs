//! The last changes on the overview and in the API.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::header::ACCEPT_LANGUAGE;
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};
use elasticjob::trace::{
    Cursor, DecisionRecord, ExecutionFilter, ExecutionRecord, JobDecisionEvent, JobEvent, Page, StateFilter,
    StateRecord,
};
use serde_json::{Value, json};

use super::*;
use crate::access::Grant;
use crate::testing::stuck::Stuck;
use crate::testing::traced::Folder;
use crate::testing::{call, cookie_of, hash, json as with_json, request, start_job, with_users};
use crate::{Console, Registry, Role, User};

fn record(job: &str, action: &str, at: i64) -> ActionRecord {
    let detail = json!({"actor": "zhang", "action": action, "outcome": "done"});
    ActionRecord(DecisionRecord::from(JobDecisionEvent {
        at: instant(at),
        detail: detail.as_object().expect("an object").clone(),
        ..JobDecisionEvent::new(JobName::new(job).expect("a name"), DecisionKind::Operator)
    }))
}

fn actions(list: Vec<ActionRecord>, since: i64, read_at: i64) -> Actions {
    Actions { list, since, read_at }
}

fn jobs(list: &[(&str, i64)]) -> impl Iterator<Item = (String, i64)> {
    list.iter().map(|(job, at)| ((*job).to_owned(), *at)).collect::<Vec<_>>().into_iter()
}

#[test]
fn a_configuration_that_a_recorded_action_wrote_is_one_change() {
    let list = vec![record("a", "update-configuration", 100_000), record("b", "trigger", 90_000)];
    let read = actions(list, 100_000 - OLDEST, 100_000);
    let changes = merged(Some(&read), |_| true, jobs(&[("a", 100_400), ("b", 90_100), ("c", 95_000)])).list;
    let told: Vec<_> = changes.iter().map(|it| (it.job.as_str(), it.at, it.action().is_some())).collect();
    assert_eq!(told, [("a", 100_000, true), ("c", 95_000, false), ("b", 90_100, false), ("b", 90_000, true)]);
}

#[test]
fn the_list_has_the_last_ten_changes_of_jobs_that_the_caller_sees_and_says_whether_there_may_be_others() {
    let many: Vec<_> = (0..20).map(|number| (format!("job-{number}"), number)).collect();
    let changes = merged(None, |_| true, many.into_iter());
    assert_eq!((changes.list.len(), changes.list[0].at, changes.list[9].at), (10, 19, 10));
    assert_eq!(changes.reach, Reach::Nothing);
    let list: Vec<_> =
        (0..20).map(|number| record(if number < 8 { "b" } else { "a" }, "trigger", 1_000 - number)).collect();
    let read = actions(list, 981, 1_000);
    let of = |job: &'static str, written| merged(Some(&read), move |seen| job == seen, jobs(written));
    assert_eq!((of("a", &[]).list.len(), of("a", &[]).reach), (10, Reach::All));
    assert_eq!((of("b", &[]).list.len(), of("b", &[]).reach), (8, Reach::Part));
    let before_all = [("b", 5), ("b", 4)];
    assert_eq!((of("b", &before_all).list.len(), of("b", &before_all).reach), (10, Reach::Part));
}

#[test]
fn of_a_configuration_without_an_action_the_list_says_whether_one_could_be_known() {
    let read_at = 2 * OLDEST;
    let read = actions(Vec::new(), read_at - OLDEST / 2, read_at);
    let source = |read: Option<&Actions>, at| merged(read, |_| true, jobs(&[("a", at)])).list.remove(0).source;
    assert!(matches!(source(Some(&read), read_at - OLDEST - 1), Source::Older));
    assert!(matches!(source(Some(&read), read_at - OLDEST / 2 - 1), Source::Unread), "not all actions were read");
    assert!(matches!(source(Some(&read), read_at - OLDEST / 2), Source::NotRecorded));
    assert!(matches!(source(Some(&read), read_at), Source::Unread), "its record may be on its way");
    assert!(matches!(source(None, read_at - OLDEST - 1), Source::Unread));
}

/// A database of actions, the last one first, that counts its reads.
struct Written {
    records: Vec<DecisionRecord>,
    reads: Arc<AtomicUsize>,
    /// Whether a read of all jobs never ends.
    hangs: bool,
}

impl Written {
    /// A database of these actions.
    fn of(records: impl IntoIterator<Item = ActionRecord>) -> Self {
        let records = records.into_iter().map(|record| record.0).collect();
        Self { records, reads: Arc::default(), hangs: false }
    }
}

impl TraceReader for Written {
    async fn executions(&self, _: &ExecutionFilter, page: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")))
    }

    async fn states(&self, _: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")))
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        if filter.job.is_none() {
            self.reads.fetch_add(1, Ordering::Relaxed);
            if self.hangs {
                std::future::pending::<()>().await;
            }
        }
        let at = |record: &DecisionRecord| record.at.timestamp_millis();
        let is_next = |record: &&DecisionRecord| {
            page.cursor().is_none_or(|cursor| at(record) < cursor.time())
                && filter.job.as_ref().is_none_or(|job| job.as_str() == record.job_name)
        };
        let records = self.records.iter().filter(is_next).cloned().collect();
        Ok(Page::of(records, page, |record| Cursor::after(at(record), &record.id)))
    }
}

fn unchanged(job: &str, at: i64) -> ActionRecord {
    let mut record = record(job, "enable-servers", at);
    record.0.detail.insert("outcome".to_owned(), "unchanged".into());
    record
}

#[tokio::test]
async fn what_changed_nothing_hides_no_change_and_a_list_with_too_much_of_it_says_so() {
    let now = now();
    let hidden =
        |rows: i64| (0..rows).map(move |row| unchanged("a", now - row)).chain([record("a", "trigger", now - rows)]);
    let read = Actions::read(&AnyTraceReader::new(Written::of(hidden(950)))).await.expect("it answers");
    assert_eq!((read.list.len(), merged(Some(&read), |_| true, jobs(&[])).reach), (1, Reach::All));
    let read = Actions::read(&AnyTraceReader::new(Written::of(hidden(1_001)))).await.expect("it answers");
    assert_eq!((read.list.len(), merged(Some(&read), |_| true, jobs(&[])).reach), (0, Reach::Part));
    assert_eq!(read.since, now - 999, "the last one that was read");
}

#[tokio::test(start_paused = true)]
async fn actions_are_read_once_for_all_viewers_of_some_seconds() {
    let written = Written::of([record("a", "trigger", now())]);
    let (reads, reader) = (written.reads.clone(), AnyTraceReader::new(written));
    let kept = KeptChanges::default();
    let (one, other) = tokio::join!(kept.get(&reader), kept.get(&reader));
    assert!(one.is_some_and(|read| read.list.len() == 1) && other.is_some());
    tokio::time::advance(KEPT - Duration::from_millis(1)).await;
    kept.get(&reader).await;
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    tokio::time::advance(Duration::from_millis(1)).await;
    kept.get(&reader).await;
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_read_of_all_actions_that_hangs_leaves_who_disabled_an_item_readable() {
    let memory = MemoryRegistry::new();
    let mut write = Transaction::new();
    for (path, data) in [
        ("/orders", ""),
        ("/orders/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\n"),
        ("/orders/servers", ""),
        ("/orders/servers/10.0.0.1", "ENABLED"),
        ("/orders/instances", ""),
        ("/orders/instances/10.0.0.1@-@7", ""),
        ("/orders/sharding", ""),
        ("/orders/sharding/0", ""),
        ("/orders/sharding/0/instance", "10.0.0.1@-@7"),
        ("/orders/sharding/0/disabled", ""),
    ] {
        let is_of_session = path.ends_with("10.0.0.1@-@7");
        write.create(path, data, if is_of_session { CreateMode::Ephemeral } else { CreateMode::Persistent });
    }
    let center = memory.connect();
    center.commit(write).await.expect("it is written");
    let mut disabled = record("orders", "disable-item", now());
    disabled.0.detail.insert("parts".to_owned(), json!(["item 0"]));
    let written = Written { hangs: true, ..Written::of([disabled]) };
    let reads = written.reads.clone();
    let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(written));
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    for _ in 0..2 {
        let told = get(&console, "viewer", &format!("{API}/overview"), "en").await;
        let told: Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(told["actionsRead"], false, "{told}");
        assert_eq!(told["jobs"]["disabled"][0]["disabledBy"]["actor"], "zhang", "{told}");
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1, "it is not asked again at once");
}

#[tokio::test]
async fn a_database_that_ignores_capitals_shows_no_change_of_a_job_that_the_caller_does_not_see() {
    let (folder, memory) = (Folder::new("capitals"), MemoryRegistry::new());
    let event = |job: &str, reason: &str| {
        let action = record(job, "trigger", now()).0;
        JobEvent::Decision(JobDecisionEvent {
            at: action.at,
            detail: action.detail,
            reason: reason.to_owned(),
            ..JobDecisionEvent::new(JobName::new(job).expect("a name"), DecisionKind::Operator)
        })
    };
    folder.write([event("billing-1", "seen"), event("BILLING-2", "payroll file")]).await;
    let grant = Grant::everywhere(Role::Viewer).jobs("billing-*");
    let console = folder.console_with(&memory, grant).await;
    for path in ["/r/default", "/api/v1/registries/default/overview"] {
        let told = get(&console, "viewer", path, "en").await;
        assert!(told.contains("seen") && told.contains("billing-1"), "{told}");
        assert!(!told.contains("payroll file") && !told.contains("BILLING-2"), "{told}");
    }
}

async fn get(console: &Console, user: &str, path: &str, language: &str) -> String {
    let mut asked = request("GET", path, Some(&cookie_of(console, user).await));
    asked.headers_mut().insert(ACCEPT_LANGUAGE, language.parse().expect("a value"));
    let answer = call(console, asked).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

const API: &str = "/api/v1/registries/default";

#[tokio::test]
async fn the_overview_shows_what_was_changed_last_to_those_who_see_the_job() {
    let memory = MemoryRegistry::new();
    let _one = start_job(&memory, "billing-1", &JobSettings::default()).await;
    let _two = start_job(&memory, "orders", &JobSettings::default()).await;
    let mut options = with_users();
    let narrow = Grant::everywhere(Role::Viewer).jobs("billing-*");
    options.users.push(User::new("billing", hash(), [narrow]));
    let registry = Registry::new("default", Arc::new(memory.connect()));
    let console = Console::new(options, [registry]).expect("the options are right");
    let admin = cookie_of(&console, "admin").await;
    for (job, reason) in [("billing-1", "kernel update"), ("orders", "wrong file")] {
        let body = json!({"enabled": false, "reason": reason});
        let done = call(&console, with_json("PUT", &format!("{API}/jobs/{job}/items/0/state"), &admin, &body)).await;
        assert_eq!(done.status, 200, "{}", done.body);
        let again = call(&console, with_json("PUT", &format!("{API}/jobs/{job}/items/0/state"), &admin, &body)).await;
        assert_eq!(again.status, 200, "nothing had to be changed: {}", again.body);
    }
    console.app().registries["default"].close_kept(Duration::from_secs(10)).await;
    let told: Value =
        serde_json::from_str(&get(&console, "admin", &format!("{API}/overview"), "en").await).expect("JSON");
    assert_eq!(told["actionsRead"], true, "{told}");
    let list = told["changes"].as_array().expect("a list");
    let actions: Vec<_> = list.iter().filter(|one| !one["action"].is_null()).collect();
    assert_eq!(actions.len(), 2, "what changed nothing is no change: {told}");
    // Records of one millisecond have no order.
    let reasons: BTreeSet<_> =
        actions.iter().map(|one| (one["job"].as_str(), one["action"]["reason"].as_str())).collect();
    let expected = [("billing-1", "kernel update"), ("orders", "wrong file")];
    assert_eq!(reasons, expected.map(|(job, reason)| (Some(job), Some(reason))).into());
    let configured = list.iter().filter(|one| one["action"].is_null()).filter_map(|one| one["job"].as_str());
    assert_eq!(configured.collect::<BTreeSet<_>>(), BTreeSet::from(["billing-1", "orders"]), "{told}");
    let page = get(&console, "admin", "/r/default", "en").await;
    for part in ["disable-item", "wrong file", "/r/default/history/audit?job=orders", "configuration written"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = get(&console, "billing", "/r/default", "zh").await;
    assert!(page.contains("kernel update") && page.contains("最近的变更"), "{page}");
    assert!(!page.contains("orders") && !page.contains("wrong file"), "{page}");
}

#[tokio::test]
async fn the_overview_shows_the_connections_with_since_when() {
    let folder = Folder::new("connections");
    folder.write([]).await;
    let memory = MemoryRegistry::new();
    let console = folder.console(&memory).await;
    let api = async || -> Value { serde_json::from_str(&get(&console, "viewer", API, "en").await).expect("JSON") };
    assert_eq!((&api().await["tracesAnswer"], &api().await["tracesSince"]), (&Value::Null, &Value::Null));
    get(&console, "viewer", "/r/default/history/executions", "en").await;
    let told = api().await;
    assert_eq!((&told["tracesAnswer"], told["tracesSince"].is_string()), (&true.into(), true), "{told}");
    let page = get(&console, "viewer", "/r/default", "en").await;
    let (_, page) = page.split_once("<section id=\"connections\">").expect("it is there");
    assert!(page.contains("CONNECTED") && page.contains("answers") && page.contains("since"), "{page}");
    assert!(page.contains("/r/default/history/executions") && !page.contains("/settings"), "{page}");
}

#[tokio::test]
async fn a_storage_that_does_not_answer_keeps_the_overview_a_second_and_is_told() {
    let memory = MemoryRegistry::new();
    let registry = Registry::new("default", Arc::new(memory.connect())).traces(AnyTraceReader::new(Stuck));
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "viewer").await;
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let answer = call(&console, request("GET", "/r/default/history/executions", Some(&cookie))).await;
    assert_eq!(answer.status, 502);
    let before = begun.elapsed();
    let page = call(&console, request("GET", "/r/default", Some(&cookie))).await.body;
    assert!(page.contains("does not answer") && page.contains("could not be read a moment ago"), "{page}");
    assert!(begun.elapsed() - before <= PATIENCE + Duration::from_millis(100), "{:?}", begun.elapsed());
    let before = begun.elapsed();
    call(&console, request("GET", "/r/default", Some(&cookie))).await;
    assert!(begun.elapsed() - before < PATIENCE, "it is not asked again at once");
}
