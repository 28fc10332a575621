//! Every action of the API is in the decision log, with who did it and why.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use elasticjob::trace::{JobEvent, Tracing, TracingConfiguration, TracingStorage, WriteError};
use tokio::runtime::Handle;

use super::refused::code;
use super::*;
use crate::Registry;
use crate::testing::with_users;

/// Operator, reason, action and outcome of each decision.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<[String; 4]>>>);

impl TracingStorage for Log {
    fn type_name(&self) -> &str {
        "LOG"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let decisions = events.iter().filter_map(|event| match event {
            JobEvent::Decision(decision) => {
                let text = |name: &str| decision.detail[name].as_str().unwrap_or_default().to_owned();
                Some([text("actor"), decision.reason.clone(), text("action"), text("outcome")])
            }
            _ => None,
        });
        self.0.lock().expect("nobody panics").extend(decisions);
        Ok(())
    }
}

#[tokio::test]
async fn every_action_changes_the_registry_and_is_recorded_with_actor_and_reason() {
    let memory = MemoryRegistry::new();
    let job = start_job(&memory, "settle", &JobSettings::default()).await;
    let log = Log::default();
    let tracing = Tracing::start(TracingConfiguration::new(log.clone()), &Handle::current());
    let registry = Registry::new("default", Arc::new(memory.connect())).record(tracing.clone());
    let console = Console::new(with_users(), [registry]).expect("the options are right");
    let cookie = cookie_of(&console, "admin").await;
    let caller = Caller { console, cookie };
    let path = format!("{JOBS}/settle");
    let server = parsed(&caller.get(&path).await)["servers"][0]["server"].as_str().expect("a server").to_owned();
    let off = value!({"enabled": false, "reason": "off"});
    let on = value!({"enabled": true, "reason": "on"});
    let servers = format!("/api/v1/registries/default/servers/{server}");
    let status = async |caller: &Caller| parsed(&caller.get(&path).await)["servers"][0]["status"].clone();
    let mut expected = Vec::new();
    for to in [format!("{path}/state"), format!("{servers}/state"), format!("{path}/servers/{server}/state")] {
        for (body, action, reason, state) in
            [(&off, "disable-servers", "off", "DISABLED"), (&on, "enable-servers", "on", "ENABLED")]
        {
            let answer = caller.send("PUT", &to, body.clone()).await;
            assert_eq!(answer.status, StatusCode::OK, "{to}: {}", answer.body);
            assert_eq!(status(&caller).await, state, "{to}");
            expected.push(["admin", reason, action, "done"]);
        }
    }
    let mut change = json(
        "PATCH",
        &format!("{path}/configuration?reason=more"),
        &caller.cookie,
        &value!({"sharding-total-count": 0}),
    );
    change.headers_mut().insert(IF_MATCH, caller.get(&format!("{path}/configuration")).await.headers[ETAG].clone());
    assert_eq!(problem(&call(&caller.console, change).await).0, 422);
    expected.push(["admin", "more", "update-configuration", "refused"]);
    let rerun = format!("{path}/fires/2026-01-01T00:00:01Z/reruns");
    assert_eq!(problem(&caller.send("POST", &rerun, value!({"reason": "late file"})).await), code(404, "no-such-fire"));
    expected.push(["admin", "late file", "rerun", "refused"]);
    let answer = caller.send("POST", &format!("{path}/shutdowns"), value!({"reason": "bye"})).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
    expected.push(["admin", "bye", "shut-down", "done"]);
    assert_eq!(parsed(&caller.get(&path).await)["instances"], value!([]));
    let mut left = job.handle().status();
    left.wait_for(|status| status.activity == elasticjob::runtime::Activity::Stopped).await.expect("it stops");
    let answer = caller.send("DELETE", &format!("{path}?reason=old"), value!({})).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.body);
    expected.push(["admin", "old", "remove-job", "done"]);
    assert_eq!(problem(&caller.get(&path).await).0, 404);
    tracing.close(Duration::from_secs(20)).await;
    let log = log.0.lock().expect("nobody panics").clone();
    assert_eq!(log, expected);
}
