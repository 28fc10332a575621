//! Launches, and what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::fire::Fire;
use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_cloud::carrier::{Carrier, ItemState, Launch, LaunchId, LaunchItem, Outcome};
use elasticjob_cloud::model::{App, CarriedJob};
use elasticjob_tests::scheduler::SchedulerProgram;
use serde_json::{Value, json};

/// How long anything is waited for.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A launch of these items of an application that is this script.
pub(crate) fn launch(ground: &dyn Ground, name: &str, script: &str, items: &[u32], more: Value) -> Launch {
    launch_of(ground.app(name, script), name, items, more)
}

/// The same of an application.
pub(crate) fn launch_of(app: App, name: &str, items: &[u32], more: Value) -> Launch {
    let mut job = json!({ "jobName": name, "appName": app.app_name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                          "memoryMB": 16, "shardingTotalCount": 5, "gracePeriodSeconds": 1 });
    if let (Value::Object(fields), Value::Object(more)) = (&mut job, more) {
        fields.extend(more);
    }
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(1_700_000_000_000) };
    let items = items.iter().map(|item| LaunchItem::new(*item, None)).collect();
    Launch::new(id, items, Arc::new(app), job)
}

/// Waits for something that schedulers do, or what they carry.
pub(crate) async fn until_so(program: &SchedulerProgram, what: &str, mut is: impl FnMut() -> bool) {
    let told = || format!("{}\n{}", program.lines("runs").join("\n"), program.logs());
    elasticjob_tests::until::until(LIMIT, what, told, || is().then_some(())).await;
}

/// Waits until an item is in a state.
pub(crate) async fn until(
    carrier: &dyn Carrier,
    id: &LaunchId,
    item: u32,
    what: &str,
    is: impl Fn(&ItemState) -> bool,
) -> ItemState {
    let mut last = None;
    let waiting = async {
        loop {
            let state = carrier.states(id).await.ok().flatten().and_then(|mut states| states.remove(&item));
            match state {
                Some(state) if is(&state) => return state,
                other => last = other,
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    match tokio::time::timeout(LIMIT, waiting).await {
        Ok(state) => state,
        Err(_) => panic!("item {item} of {id} is not {what}: {last:?}"),
    }
}

/// Waits until an item runs.
pub(crate) async fn running(carrier: &dyn Carrier, id: &LaunchId, item: u32) -> ItemState {
    until(carrier, id, item, "running", |state| matches!(state, ItemState::Running { .. })).await
}

/// Waits until an item has ended.
pub(crate) async fn ended(carrier: &dyn Carrier, id: &LaunchId, item: u32) -> Outcome {
    let state = until(carrier, id, item, "ended", |state| state.outcome().is_some()).await;
    state.outcome().cloned().unwrap()
}

/// Waits until an item waits for this.
pub(crate) async fn waiting(carrier: &dyn Carrier, id: &LaunchId, item: u32, text: &str) {
    until(carrier, id, item, text, |state| matches!(state, ItemState::Waiting { why, .. } if why.contains(text))).await;
}
