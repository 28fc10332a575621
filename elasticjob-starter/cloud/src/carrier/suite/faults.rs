//! Repeated launches, schedulers that die, and lost events.

use std::sync::Arc;

use super::{Ground, ItemState, LaunchEvent, Outcome, Permit, Scene, Stop, StopCause, in_time, launch};

/// Runs until it is stopped.
const RUNS: &str = "echo begun; while :; do sleep 0.1; done";

pub(super) async fn a_launch_that_is_repeated_starts_nothing(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "again", "echo begun; sleep 1", &[0]);
    scene.launch(&launch).await;
    assert_eq!(scene.launch(&launch).await, (vec![], vec![0]));
    assert_eq!(scene.ended(&launch.id, 0).await, Outcome::Succeeded);
    assert_eq!(scene.launch(&launch).await, (vec![], vec![0]));
    assert_eq!(scene.ended(&launch.id, 0).await, Outcome::Succeeded);
    assert_eq!(scene.log(&launch.id, 0).await, "begun\n");
}

pub(super) async fn another_scheduler_adopts_what_runs_and_what_has_ended(ground: Arc<dyn Ground>) {
    let mut first = Scene::of(&*ground).await;
    let script = "if [ \"$ELASTICJOB_SHARDING_ITEM\" = 0 ]; then echo begun; exit 4; fi; echo begun; sleep 5";
    let launch = launch(&*ground, "handed-over", script, &[0, 1]);
    first.launch(&launch).await;
    // The one that runs comes first: where places are slow to start, it ends before the other one has begun.
    first.running(&launch.id, 1).await;
    first.ended(&launch.id, 0).await;
    drop(first);
    let mut second = Scene::of(&*ground).await;
    assert!(second.carrier.launches().await.unwrap().contains(&launch.id));
    assert_eq!(second.launch(&launch).await, (vec![], vec![0, 1]));
    assert!(matches!(second.ended(&launch.id, 0).await, Outcome::Failed { exit: Some(4), .. }));
    assert_eq!(second.ended(&launch.id, 1).await, Outcome::Succeeded);
    for item in [0, 1] {
        assert_eq!(second.log(&launch.id, item).await, "begun\n", "item {item}");
    }
}

pub(super) async fn later_items_of_a_launch_are_started_and_the_others_adopted(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let early = launch(&*ground, "in-parts", "echo begun; sleep 1", &[0]);
    scene.launch(&early).await;
    let late = launch(&*ground, "in-parts", "echo begun; sleep 1", &[0, 1]);
    assert_eq!(scene.launch(&late).await, (vec![1], vec![0]));
    for item in [0, 1] {
        assert_eq!(scene.ended(&early.id, item).await, Outcome::Succeeded);
        assert_eq!(scene.log(&early.id, item).await, "begun\n");
    }
}

pub(super) async fn what_may_not_be_started_any_more_is_not_started_and_the_next_scheduler_launches_it(
    ground: Arc<dyn Ground>,
) {
    let first = Scene::of(&*ground).await;
    let mut given_up = launch(&*ground, "given-up", "echo begun; sleep 2", &[0, 1]);
    // Item 0 goes to another scheduler before the launch, and item 1 stays.
    given_up.items[0].permit.withdraw();
    assert_eq!(first.launch(&given_up).await, (vec![1], vec![]));
    let known = first.carrier.states(&given_up.id).await.unwrap().unwrap_or_default();
    assert_eq!(known.into_keys().collect::<Vec<_>>(), [1]);
    first.until_logged(&given_up.id, 1, "begun").await;
    let mut second = Scene::of(&*ground).await;
    for item in &mut given_up.items {
        item.permit = Permit::default();
    }
    assert_eq!(second.launch(&given_up).await, (vec![0], vec![1]));
    // The first one lets go of what runs: it goes on.
    for item in [0, 1] {
        assert_eq!(second.ended(&given_up.id, item).await, Outcome::Succeeded);
        assert_eq!(second.log(&given_up.id, item).await, "begun\n", "item {item}");
    }
}

pub(super) async fn what_runs_goes_on_when_its_permit_is_withdrawn(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "goes-on", "echo begun; sleep 2; echo ended", &[0]);
    scene.launch(&launch).await;
    scene.until_logged(&launch.id, 0, "begun").await;
    launch.items[0].permit.withdraw();
    assert_eq!(scene.ended(&launch.id, 0).await, Outcome::Succeeded);
    assert_eq!(scene.log(&launch.id, 0).await, "begun\nended\n");
}

pub(super) async fn a_launch_is_known_until_it_is_forgotten(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "forgotten", "true", &[0]);
    assert_eq!(scene.carrier.states(&launch.id).await, Ok(None));
    scene.launch(&launch).await;
    scene.ended(&launch.id, 0).await;
    assert!(scene.carrier.launches().await.unwrap().contains(&launch.id));
    assert!(scene.carrier.launches_of(&launch.id.job).await.unwrap().contains(&launch.id));
    for _ in 0..2 {
        scene.carrier.forget(&launch.id).await.unwrap();
    }
    let gone = async {
        // An engine may take a while to delete.
        while scene.carrier.states(&launch.id).await.unwrap().is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    in_time("forgotten", gone).await;
    assert!(!scene.carrier.launches().await.unwrap().contains(&launch.id));
    assert!(!scene.carrier.launches_of(&launch.id.job).await.unwrap().contains(&launch.id));
    assert_eq!(scene.carrier.log(&launch.id, 0, 100).await, Ok(None));
}

pub(super) async fn what_is_forgotten_while_it_runs_is_killed_and_not_started_again(ground: Arc<dyn Ground>) {
    let first = Scene::of(&*ground).await;
    let launch = launch(&*ground, "forgotten-early", RUNS, &[0]);
    first.launch(&launch).await;
    first.until_logged(&launch.id, 0, "begun").await;
    // The first two follow the item when the third one forgets it.
    let mut second = Scene::of(&*ground).await;
    assert_eq!(second.launch(&launch).await, (vec![], vec![0]));
    second.running(&launch.id, 0).await;
    let third = Scene::of(&*ground).await;
    third.carrier.forget(&launch.id).await.unwrap();
    let gone = async {
        while third.carrier.states(&launch.id).await.unwrap().is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    in_time("forgotten", gone).await;
    // Several times as long as a carrier waits between two looks.
    for _ in 0..40 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!(third.carrier.states(&launch.id).await, Ok(None), "it was started again");
    }
}

pub(super) async fn a_watch_begins_with_a_gap_and_tells_each_change(ground: Arc<dyn Ground>) {
    let mut scene = Scene::of(&*ground).await;
    let launch = launch(&*ground, "watched", RUNS, &[0]);
    assert_eq!(in_time("the first event", scene.events().next()).await, Some(LaunchEvent::Gap));
    let mut other = scene.carrier.watch();
    assert_eq!(in_time("the first event", other.next()).await, Some(LaunchEvent::Gap));
    scene.launch(&launch).await;
    let mut seen = Vec::new();
    let mut tells = async |last: fn(&ItemState) -> bool| {
        while !seen.last().is_some_and(last) {
            match in_time("the next change", other.next()).await {
                Some(LaunchEvent::Changed { id, item, state }) => {
                    assert_eq!((id, item), (launch.id.clone(), 0));
                    seen.push(state);
                }
                Some(LaunchEvent::Gap) => {}
                None => panic!("the events ended"),
            }
        }
        seen.last().cloned()
    };
    tells(|state| matches!(state, ItemState::Running { .. })).await;
    let stop = Stop::new(std::time::Duration::from_secs(1), StopCause::Operator);
    scene.carrier.stop(&launch.id, &[0], stop).await.unwrap();
    let ended = tells(|state| matches!(state, ItemState::Ended { .. })).await;
    assert_eq!(ended.as_ref().and_then(ItemState::outcome), Some(&Outcome::Stopped));
}
