//! Servers and their instances: what is counted, how they leave, and how they are removed.

use axum::http::header::IF_NONE_MATCH;
use elasticjob::runtime::{Activity, ScheduleJobBootstrap};

use super::refused::{code, team};
use super::*;
use crate::access::{Grant, Role};

const REGISTRY: &str = "/api/v1/registries/default";

/// The only server.
async fn server(caller: &Caller) -> String {
    let servers = parsed(&caller.get(&format!("{REGISTRY}/servers")).await);
    servers[0]["server"].as_str().unwrap_or_else(|| panic!("{servers}")).to_owned()
}

async fn left(job: &ScheduleJobBootstrap) {
    let mut status = job.handle().status();
    status.wait_for(|status| status.activity == Activity::Stopped).await.expect("it stops");
}

#[tokio::test]
async fn a_server_and_an_instance_count_the_jobs_alone_that_the_caller_may_see() {
    let memory = MemoryRegistry::new();
    let _ours = start_job(&memory, "billing-daily", &JobSettings::default()).await;
    let _theirs = start_job(&memory, "payroll", &JobSettings::default()).await;
    let admin = Caller::admin(&memory).await;
    let disabled = admin.send("PUT", &format!("{JOBS}/payroll/state"), value!({"enabled": false})).await;
    assert_eq!(disabled.status, StatusCode::OK, "{}", disabled.body);
    let all = parsed(&admin.get(&format!("{REGISTRY}/servers")).await);
    assert_eq!((&all[0]["disabledJobs"], &all[0]["jobs"]), (&value!(1), &value!(["billing-daily", "payroll"])));
    let caller = team(&memory, &[Grant::everywhere(Role::Viewer).jobs("billing-*")]).await;
    let seen = parsed(&caller.get(&format!("{REGISTRY}/servers")).await);
    assert_eq!((&seen[0]["disabledJobs"], &seen[0]["jobs"]), (&value!(0), &value!(["billing-daily"])), "{seen}");
    let instances = parsed(&caller.get(&format!("{REGISTRY}/instances")).await);
    assert_eq!(instances[0]["jobs"], value!(["billing-daily"]), "{instances}");
    assert_eq!(instances[0]["server"], seen[0]["server"]);
    assert_eq!(instances[0]["instance"], seen[0]["instances"][0]);
    let of_job = parsed(&caller.get(&format!("{JOBS}/billing-daily/instances")).await);
    assert_eq!((&of_job[0]["instance"], of_job.as_array().map(Vec::len)), (&instances[0]["instance"], Some(1)));
    let none = team(&memory, &[Grant::everywhere(Role::Viewer).jobs("orders-*")]).await;
    for list in ["servers", "instances"] {
        assert_eq!(parsed(&none.get(&format!("{REGISTRY}/{list}")).await), value!([]), "{list}");
    }
    assert_eq!(problem(&none.get(&format!("{JOBS}/payroll/instances")).await), code(403, "forbidden"));
}

#[tokio::test]
async fn a_list_that_did_not_change_is_not_sent_again() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    for list in ["jobs", "servers", "instances"] {
        let path = format!("{REGISTRY}/{list}");
        let first = caller.get(&path).await;
        let tag = first.headers[ETAG].to_str().expect("a text").to_owned();
        let again = async |tags: &str| {
            let mut request = request("GET", &path, Some(&caller.cookie));
            request.headers_mut().insert(IF_NONE_MATCH, tags.parse().expect("a value"));
            call(&caller.console, request).await
        };
        let same = again(&format!("\"other\", W/{tag}")).await;
        assert_eq!((same.status, same.body.as_str()), (StatusCode::NOT_MODIFIED, ""), "{list}");
        assert_eq!(again("\"other\"").await.status, StatusCode::OK, "{list}");
        let enabled = list == "instances";
        if !enabled {
            let state = value!({"enabled": list == "servers"});
            caller.send("PUT", &format!("{JOBS}/settle/state"), state).await;
            assert_eq!(again(&tag).await.status, StatusCode::OK, "{list}");
        }
    }
}

#[tokio::test]
async fn an_instance_leaves_by_each_form_of_a_shutdown_and_its_server_can_be_removed_then() {
    for form in ["jobs/settle/shutdowns", "servers/{server}/shutdowns", "jobs/settle/servers/{server}/shutdowns"] {
        let memory = MemoryRegistry::new();
        let job = start_job(&memory, "settle", &JobSettings::default()).await;
        let caller = Caller::admin(&memory).await;
        let server = server(&caller).await;
        for removal in [format!("servers/{server}"), format!("jobs/settle/servers/{server}")] {
            let online = caller.send("DELETE", &format!("{REGISTRY}/{removal}"), value!({})).await;
            assert_eq!(problem(&online), code(409, "instances-online"), "{removal}");
        }
        let path = format!("{REGISTRY}/{}", form.replace("{server}", &server));
        let answer = caller.send("POST", &path, value!({"reason": "update"})).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{form}: {}", answer.body);
        assert_eq!(parsed(&answer)["changed"].as_array().map(Vec::len), Some(1), "{form}");
        left(&job).await;
        assert_eq!(parsed(&caller.get(&format!("{REGISTRY}/instances")).await), value!([]), "{form}");
        let again = caller.send("POST", &path, value!({})).await;
        assert_eq!(problem(&again), code(404, "nothing-matched"), "{form}");
        let of_job = form.starts_with("jobs/settle/servers");
        let removal = if of_job { format!("jobs/settle/servers/{server}") } else { format!("servers/{server}") };
        let removed = caller.send("DELETE", &format!("{REGISTRY}/{removal}?reason=gone"), value!({})).await;
        assert_eq!(removed.status, StatusCode::OK, "{form}: {}", removed.body);
        assert_eq!(parsed(&caller.get(&format!("{REGISTRY}/servers")).await), value!([]), "{form}");
    }
}

#[tokio::test]
async fn more_than_200_jobs_at_a_time_are_refused_and_none_of_them_is_touched() {
    let memory = MemoryRegistry::new();
    let _job = start_job(&memory, "settle", &JobSettings::default()).await;
    let caller = Caller::admin(&memory).await;
    let path = format!("{REGISTRY}/operations");
    let of = |count: usize| value!({"action": "disable", "jobs": vec!["settle"; count]});
    assert_eq!(problem(&caller.send("POST", &path, of(201)).await), code(400, "bad-request"));
    assert_ne!(parsed(&caller.get(&format!("{JOBS}/settle")).await)["status"], "DISABLED");
    assert_eq!(parsed(&caller.send("POST", &path, of(200)).await).as_array().map(Vec::len), Some(200));
    assert_eq!(parsed(&caller.get(&format!("{JOBS}/settle")).await)["status"], "DISABLED");
}
