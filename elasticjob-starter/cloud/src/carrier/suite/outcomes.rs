//! Cases of ends of items.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Ground, ItemState, Outcome, Scene, job, launch, launch_of};

pub(super) async fn an_item_that_ends_well_has_succeeded(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "well", "echo done", &[0, 2]);
    assert_eq!(scene.launch(&launch).await, (vec![0, 2], vec![]));
    for item in [0, 2] {
        assert_eq!(scene.ended(&launch.id, item).await, Outcome::Succeeded);
        assert_eq!(scene.log(&launch.id, item).await, "done\n");
    }
    let states = scene.carrier.states(&launch.id).await.unwrap().unwrap();
    assert_eq!(states.into_keys().collect::<Vec<_>>(), [0, 2]);
}

pub(super) async fn an_item_that_fails_says_how_and_in_whose_words(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let work = if ground.keeps_the_order_of_outputs() { "echo working; " } else { "" };
    let script = format!("{work}echo 'first words' >&2; echo 'the table is locked' >&2; exit 3");
    let plain = launch(&*ground, "plain", &script, &[0]);
    scene.launch(&plain).await;
    let failed = |text: &str| Outcome::Failed { exit: Some(3), text: text.to_owned() };
    assert_eq!(scene.ended(&plain.id, 0).await, failed("the table is locked"));

    let script = "echo noise >&2; if [ -n \"$ELASTICJOB_FAILURE\" ]; then echo 'orders are missing' >\"$ELASTICJOB_FAILURE\"; \
                  else echo 'orders are missing' >&2; fi; exit 3";
    let told = launch(&*ground, "told", script, &[0]);
    scene.launch(&told).await;
    assert_eq!(scene.ended(&told.id, 0).await, failed("orders are missing"));

    let killed = launch(&*ground, "killed", "kill -9 $$", &[0]);
    scene.launch(&killed).await;
    let outcome = scene.ended(&killed.id, 0).await;
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
}

pub(super) async fn each_item_gets_its_own_environment(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let script = "echo \"$ELASTICJOB_JOB_NAME $ELASTICJOB_JOB_PARAMETER $ELASTICJOB_SHARDING_ITEM of \
                  $ELASTICJOB_SHARDING_TOTAL_COUNT $ELASTICJOB_SHARDING_PARAMETER token $ELASTICJOB_FENCING_TOKEN \
                  $ELASTICJOB_ATTEMPT $REGION\"";
    let launch = launch_of(job(&*ground, "told", script, json!({ "env": { "REGION": "north" } })), &[0, 1, 2]);
    scene.launch(&launch).await;
    for (item, parameter) in [(0, "Beijing"), (1, "Shanghai"), (2, "")] {
        assert_eq!(scene.ended(&launch.id, item).await, Outcome::Succeeded);
        let log = scene.log(&launch.id, item).await;
        assert_eq!(log, format!("told all {item} of 3 {parameter} token 7 1 north\n"));
    }
}

pub(super) async fn a_script_gets_the_sharding_context_as_its_last_argument(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let (app, _) = job(&*ground, "context", "printf '%s\\n' \"$*\"", json!({}));
    let command = format!("{} daily", app.bootstrap_script);
    let props = json!({ "props": { "script.command.line": command } });
    let launch = launch_of(job(&*ground, "context", "printf '%s\\n' \"$*\"", props), &[1]);
    scene.launch(&launch).await;
    assert_eq!(scene.ended(&launch.id, 1).await, Outcome::Succeeded);
    let log = scene.log(&launch.id, 1).await;
    let context: Value = serde_json::from_str(log.trim().strip_prefix("daily ").unwrap()).unwrap();
    assert_eq!((&context["jobName"], &context["shardingItem"]), (&json!("context"), &json!(1)));
    assert_eq!((&context["shardingParameter"], &context["jobParameter"]), (&json!("Shanghai"), &json!("all")));
}

pub(super) async fn an_item_that_needs_too_much_memory_does_not_succeed(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    // A variable with 256 MB; the item and its application may have 80.
    let script = "x=$(head -c 268435456 /dev/zero | tr '\\0' x); echo ${#x}";
    let launch = launch(&*ground, "greedy", script, &[0]);
    scene.launch(&launch).await;
    match scene.ended(&launch.id, 0).await {
        Outcome::OutOfMemory { limit } => assert_eq!(limit, 80),
        outcome => {
            assert!(!ground.tells_out_of_memory(), "{outcome:?}");
            assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
        }
    }
}

pub(super) async fn a_package_that_is_not_there_fails_the_item(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let (app, job) = job(&*ground, "absent", "true", json!({}));
    let mut fields = serde_json::to_value(&*app).unwrap();
    let url = fields["appURL"].as_str().unwrap().replace("absent", "no-such-package");
    fields["appURL"] = json!(url);
    let app = Arc::new(serde_json::from_value(fields).unwrap());
    let launch = launch_of((app, job), &[0]);
    match scene.carrier.launch(launch.clone()).await {
        Err(error) => assert!(matches!(error, super::super::LaunchError::Refused { .. }), "{error}"),
        Ok(_) => {
            let is_told = |state: &ItemState| match state {
                ItemState::Waiting { why, .. } => why.contains("no-such-package"),
                ItemState::Ended { outcome: Outcome::Failed { text, .. }, .. } => text.contains("no-such-package"),
                _ => false,
            };
            scene.until(&launch.id, 0, "failed, or waiting with the reason", is_told).await;
        }
    }
}

pub(super) async fn a_job_that_no_place_can_hold_is_refused(ground: Arc<dyn Ground>) {
    let scene = Scene::of(&*ground).await;
    let (app, fits) = job(&*ground, "fits", "true", json!({}));
    assert_eq!(scene.carrier.check(&app, &fits), []);
    let launch = launch_of(job(&*ground, "huge", "true", json!({ "memoryMB": 1_000_000_000 })), &[0]);
    if scene.carrier.check(&launch.app, &launch.job).is_empty() {
        // A cluster may grow: there it waits, and says for what.
        let mut scene = scene;
        scene.launch(&launch).await;
        let is_told = |state: &ItemState| matches!(state, ItemState::Waiting { why, .. } if !why.is_empty());
        scene.until(&launch.id, 0, "waiting for room", is_told).await;
    }
}
