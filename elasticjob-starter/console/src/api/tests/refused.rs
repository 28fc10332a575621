//! Tests of refusals, and of what callers may not see.

use elasticjob::operations::OperationError;
use elasticjob::registry::CommitError;

use super::*;
use crate::access::{Grant, Role, User};
use crate::testing::{hash, job_settings};
use crate::{ConsoleOptions, Registry};

pub(super) fn code(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// A caller with these grants.
pub(super) async fn team(memory: &MemoryRegistry, grants: &[Grant]) -> Caller {
    let user = User::new("team", hash(), grants.iter().cloned());
    let options = ConsoleOptions { users: vec![user], ..ConsoleOptions::default() };
    let registry = Registry::new("default", std::sync::Arc::new(memory.connect()));
    let console = Console::new(options, [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "team").await;
    Caller { console, cookie }
}

#[tokio::test]
async fn jobs_of_others_are_nowhere_in_any_answer() {
    let memory = MemoryRegistry::new();
    let _ours = start_job(&memory, "billing-daily", &JobSettings::default()).await;
    let _theirs = start_job(&memory, "payroll", &JobSettings::default()).await;
    let caller = team(&memory, &[Grant::everywhere(Role::Operator).jobs("billing-*")]).await;
    let servers = parsed(&caller.get("/api/v1/registries/default/servers").await);
    let server = servers[0]["server"].as_str().expect("a server").to_owned();
    let answers = [
        caller.get(JOBS).await,
        caller.get(&format!("{JOBS}?q=payroll")).await,
        caller.get(&format!("{JOBS}/billing-none")).await,
        caller.send("POST", &format!("{JOBS}/billing-none/triggers"), value!({})).await,
        caller.get("/api/v1/registries/default/servers").await,
        caller.get(&format!("/api/v1/registries/default/servers/{server}")).await,
    ];
    for answer in answers {
        assert!(!answer.body.contains("payroll"), "{}", answer.body);
    }
    let own = caller.send("POST", &format!("{JOBS}/billing-daily/triggers"), value!({})).await;
    assert_eq!(own.status, StatusCode::ACCEPTED, "{}", own.body);
    assert_eq!(problem(&caller.get(&format!("{JOBS}/payroll")).await), code(403, "forbidden"));
    let everything = caller
        .send("PUT", &format!("/api/v1/registries/default/servers/{server}/state"), value!({"enabled": false}))
        .await;
    assert_eq!(problem(&everything), code(403, "forbidden"), "the server has jobs of others");
    let body = value!({"action": "disable", "jobs": ["payroll", "billing-daily"]});
    let results = parsed(&caller.send("POST", "/api/v1/registries/default/operations", body).await);
    assert_eq!(results[0]["problem"]["code"], "forbidden", "{results}");
    assert_eq!(results[1]["done"]["changed"][0]["job"], "billing-daily", "{results}");
}

#[tokio::test]
async fn a_fire_is_run_again_by_those_alone_who_may_operate_the_jobs_after_it_too() {
    let memory = MemoryRegistry::new();
    let _first = start_job(&memory, "billing-daily", &JobSettings::default()).await;
    let after = |job: &str| job_settings(|settings| settings.depends_on = Some(vec![job.to_owned()]));
    let _second = start_job(&memory, "billing-report", &after("billing-daily")).await;
    let _third = start_job(&memory, "payroll", &after("billing-report")).await;
    let path = format!("{JOBS}/billing-daily/fires/2026-01-01T00:00:00Z/reruns");
    let run_again = async |grants: &[Grant]| {
        let caller = team(&memory, grants).await;
        caller.send("POST", &path, value!({})).await
    };
    let billing = Grant::everywhere(Role::Operator).jobs("billing-*");
    let sees = Grant::everywhere(Role::Viewer).jobs("payroll");
    let refused = run_again(std::slice::from_ref(&billing)).await;
    assert_eq!(problem(&refused), code(403, "forbidden"));
    assert!(!refused.body.contains("payroll"), "{}", refused.body);
    let refused = run_again(&[billing.clone(), sees]).await;
    assert!(problem(&refused) == code(403, "forbidden") && refused.body.contains("payroll"), "{}", refused.body);
    let operates = Grant::everywhere(Role::Operator).jobs("payroll");
    let done = run_again(&[billing, operates]).await;
    assert_eq!(done.status, StatusCode::ACCEPTED, "{}", done.body);
}

#[tokio::test]
async fn a_mask_is_never_written_in_the_place_of_a_secret() {
    let memory = MemoryRegistry::new();
    let props = [("url".to_owned(), "postgres://app:hunter2@db/app".to_owned())];
    let settings = job_settings(|settings| settings.props = Some(props.into()));
    let _job = start_job(&memory, "settle", &settings).await;
    let caller = Caller::admin(&memory).await;
    let path = format!("{JOBS}/settle/configuration");
    let read = caller.get(&path).await;
    let shown = parsed(&read)["settings"]["props"]["url"].as_str().expect("a text").to_owned();
    assert!(shown.contains("***") && !shown.contains("hunter2"), "{shown}");
    for (change, pointer) in [
        (value!({"props": {"url": shown.replace("@db", "@other")}}), "/props/url"),
        (value!({"props": {"new/one": "***"}}), "/props/new~1one"),
    ] {
        let mut request = json("PATCH", &path, &caller.cookie, &change);
        request.headers_mut().insert(IF_MATCH, read.headers[ETAG].clone());
        let answer = call(&caller.console, request).await;
        assert_eq!(problem(&answer), code(422, "invalid-configuration"), "{}", answer.body);
        assert_eq!(parsed(&answer)["problems"][0]["pointer"], pointer);
    }
    let starred = value!({"description": "*** important ***"});
    let mut request = json("PATCH", &path, &caller.cookie, &starred);
    request.headers_mut().insert(IF_MATCH, read.headers[ETAG].clone());
    let answer = call(&caller.console, request).await;
    assert_eq!(answer.status, StatusCode::OK, "stars in a text without a secret: {}", answer.body);
}

#[tokio::test]
async fn every_refusal_is_a_problem() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let long = "x".repeat(201);
    for (path, expected) in [
        (format!("{JOBS}?limit=0"), code(400, "bad-request")),
        (format!("{JOBS}?limit=201"), code(400, "bad-request")),
        (format!("{JOBS}?status=GREEN"), code(400, "bad-request")),
        (format!("{JOBS}?q={long}"), code(400, "bad-request")),
        (format!("{JOBS}/settle/items/first"), code(400, "bad-request")),
        (format!("{JOBS}/%2E%2E"), code(400, "bad-request")),
        (format!("{JOBS}/a%2Fb"), code(400, "bad-request")),
        (format!("{JOBS}/%3Cscript%3E"), code(404, "no-such-job")),
        (format!("{JOBS}/%FF"), code(400, "bad-request")),
        (format!("{JOBS}/settle/triggers"), code(405, "wrong-method")),
        ("/api/v1/registries/default/servers/10.9.9.9".to_owned(), code(404, "no-such-server")),
    ] {
        assert_eq!(problem(&caller.get(&path).await), expected, "{path}");
    }
    let previews = "/api/v1/schedules/previews";
    let wrong = caller.send("POST", previews, value!({"cron": "0 0 25 * * ?"})).await;
    assert_eq!((&parsed(&wrong)["offset"], &parsed(&wrong)["end"]), (&value!(4), &value!(6)), "{}", wrong.body);
    for body in [
        value!({"cron": "* ".repeat(200)}),
        value!({"cron": "0 0 3 * * ?", "count": 51}),
        value!({"cron": "0 0 3 * * ?", "from": "today"}),
    ] {
        assert_eq!(problem(&caller.send("POST", previews, body).await), code(400, "bad-request"));
    }
    let zone =
        value!({"cron": "0 30 2 * * ?", "timeZone": "America/New_York", "from": "2024-03-09T12:00:00Z", "count": 1});
    let fires = parsed(&caller.send("POST", previews, zone).await);
    assert_eq!(
        (&fires["fires"][0]["at"], &fires["fires"][0]["clockChange"]),
        (&value!("2024-03-11T06:30:00.000Z"), &value!("skipped"))
    );
}

#[tokio::test]
async fn a_trigger_with_a_key_is_sent_once() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let trigger = |reason: &'static str| {
        let mut request = json("POST", &format!("{JOBS}/settle/triggers"), &caller.cookie, &value!({"reason": reason}));
        request.headers_mut().insert("idempotency-key", "7f3a".parse().expect("a value"));
        call(&caller.console, request)
    };
    let (first, second) = (trigger("late file").await, trigger("late file").await);
    assert_eq!(first.status, StatusCode::ACCEPTED, "{}", first.body);
    assert_eq!((second.status, &second.body), (StatusCode::ACCEPTED, &first.body));
    assert_eq!(problem(&trigger("other").await), code(422, "key-reused"));
}

#[test]
fn a_lost_answer_is_unknown_and_never_failed() {
    let lost = OperationError::Write { done: 3, reason: CommitError::Unknown { why: "the connection broke".into() } };
    let body = serde_json::to_value(Problem::from(lost)).expect("it is JSON");
    assert_eq!((&body["status"], &body["outcome"], &body["done"]), (&value!(503), &value!("unknown"), &value!(3)));
    assert!(!body.to_string().to_lowercase().contains("failed"), "{body}");
}
