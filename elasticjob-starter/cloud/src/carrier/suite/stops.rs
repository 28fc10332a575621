//! Stopping what runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Ground, LaunchId, Outcome, Scene, Stop, StopCause, launch};

pub(super) async fn an_item_that_is_stopped_may_end_in_order(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let script = "trap 'echo bye; exit 0' TERM; echo begun; while :; do sleep 0.1; done";
    let launch = launch(&*ground, "polite", script, &[0]);
    scene.launch(&launch).await;
    scene.until_logged(&launch.id, 0, "begun").await;
    scene.carrier.stop(&launch.id, &[0], Stop::new(Duration::from_secs(60), StopCause::Operator)).await.unwrap();
    let outcome = scene.ended(&launch.id, 0).await;
    assert!(matches!(outcome, Outcome::Succeeded | Outcome::Stopped), "{outcome:?}");
    assert!(scene.log(&launch.id, 0).await.contains("bye"));
}

pub(super) async fn an_item_that_does_not_end_is_killed_after_the_grace(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "stubborn", "trap '' TERM; echo begun; while :; do sleep 0.1; done", &[0, 1]);
    scene.launch(&launch).await;
    for item in [0, 1] {
        scene.until_logged(&launch.id, item, "begun").await;
    }
    let asked = Instant::now();
    scene.carrier.stop(&launch.id, &[0], Stop::new(Duration::from_secs(2), StopCause::Operator)).await.unwrap();
    assert_eq!(scene.ended(&launch.id, 0).await, Outcome::Stopped);
    assert!(asked.elapsed() >= Duration::from_secs(2), "it had its grace");
    let other = scene.carrier.states(&launch.id).await.unwrap().unwrap().remove(&1).unwrap();
    assert!(other.outcome().is_none(), "the other item goes on: {other:?}");
    scene.carrier.stop(&launch.id, &[1], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    assert_eq!(scene.ended(&launch.id, 1).await, Outcome::Stopped);
}

pub(super) async fn what_is_stopped_has_its_children_ended_too(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    // The child writes as long as it lives.
    let script = "(trap '' TERM; while :; do echo alive; sleep 0.1; done) & echo begun; wait";
    let launch = launch(&*ground, "family", script, &[0]);
    scene.launch(&launch).await;
    scene.until_logged(&launch.id, 0, "alive").await;
    scene.carrier.stop(&launch.id, &[0], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    scene.ended(&launch.id, 0).await;
    let after_the_end = scene.log(&launch.id, 0).await;
    // Several times as long as the child waits between two lines.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(scene.log(&launch.id, 0).await, after_the_end);
}

pub(super) async fn stopping_is_repeated_without_harm(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "stopped", "echo begun; sleep 600", &[0]);
    scene.launch(&launch).await;
    scene.until_logged(&launch.id, 0, "begun").await;
    for _ in 0..3 {
        scene.carrier.stop(&launch.id, &[0], Stop::new(Duration::from_secs(5), StopCause::Operator)).await.unwrap();
    }
    assert_eq!(scene.ended(&launch.id, 0).await, Outcome::Stopped);
    scene.carrier.stop(&launch.id, &[0, 2], Stop::new(Duration::from_secs(5), StopCause::Operator)).await.unwrap();
    let unknown = LaunchId { job: super::name("no-such-job"), fire: launch.id.fire };
    scene.carrier.stop(&unknown, &[0], Stop::new(Duration::from_secs(5), StopCause::Operator)).await.unwrap();
    assert_eq!(scene.carrier.states(&unknown).await, Ok(None));
}
