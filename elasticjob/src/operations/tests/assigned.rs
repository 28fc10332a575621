use tokio::time::{Duration, Instant, sleep};

use super::*;
use crate::registry::layout::instance_yaml;

fn item(item: ShardingItem) -> ItemOfJob {
    ItemOfJob { job: name("job"), item }
}

/// A job of one item with an instance of ours, to which the leader has not assigned it.
async fn unassigned() -> Desk {
    let desk = Desk::new();
    let instance = "10.0.0.1@-@7".parse().unwrap();
    desk.write(&[
        ("/job/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\n"),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/instances/10.0.0.1@-@7", &instance_yaml(&instance)),
    ])
    .await;
    desk
}

#[tokio::test(start_paused = true)]
async fn a_trigger_asks_once_all_items_are_assigned() {
    let desk = unassigned().await;
    let begun = Instant::now();
    let assigned = async {
        sleep(Duration::from_secs(1)).await;
        assert_eq!(desk.operations.children("/job/trigger".into()).await.unwrap(), None);
        desk.write(&[("/job/sharding/0/instance", "10.0.0.1@-@7")]).await;
    };
    let target = Target::Job(name("job"));
    let (outcome, ()) = tokio::join!(desk.operations.trigger(&target), assigned);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.instances.changed.len(), begun.elapsed()), (1, Duration::from_secs(1)));
    assert_eq!(outcome.without_instance, []);
}

#[tokio::test(start_paused = true)]
async fn a_trigger_does_not_wait_for_ever_for_a_leader_and_not_at_all_for_a_java_one() {
    let desk = unassigned().await;
    let begun = Instant::now();
    let outcome = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap();
    assert_eq!((outcome.instances.changed.len(), begun.elapsed()), (1, Duration::from_secs(5)));
    assert_eq!(outcome.without_instance, [item(0)]);
    desk.write(&[("/job/instances/10.0.0.1@-@8", "")]).await;
    let begun = Instant::now();
    let outcome = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap();
    let instances = (outcome.instances.changed.len(), outcome.instances.unchanged.len());
    assert_eq!((instances, begun.elapsed()), ((1, 1), Duration::ZERO));
    assert_eq!(outcome.without_instance, [], "a Java leader assigns it when it fires");
}

#[tokio::test(start_paused = true)]
async fn what_static_sharding_leaves_to_an_instance_that_is_gone_is_not_waited_for() {
    let desk = unassigned().await;
    desk.write(&[
        ("/job/config", "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\nstaticSharding: true\n"),
        ("/job/sharding/0/instance", "10.0.0.9@-@1"),
    ])
    .await;
    let begun = Instant::now();
    let outcome = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap();
    assert_eq!((begun.elapsed(), &outcome.without_instance[..]), (Duration::ZERO, &[item(0)][..]));
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["withoutInstance"], serde_json::json!([{ "job": "job", "item": 0 }]), "{json}");
    assert!(json["changed"].is_array() && json["unchanged"].is_array(), "{json}");
    let of_server = Target::ServerOfJob(name("job"), "10.0.0.1".to_owned());
    let outcome = desk.operations.trigger(&of_server).await.unwrap();
    assert_eq!(outcome.without_instance, [], "its instances run what they have");
}

#[tokio::test(start_paused = true)]
async fn an_instance_with_an_older_trigger_is_asked_again_for_an_item_that_came_to_it_since() {
    let desk = unassigned().await;
    desk.write(&[("/job/trigger/10.0.0.1@-@7", "")]).await;
    desk.write(&[("/job/sharding/0/instance", "10.0.0.1@-@7")]).await;
    let begun = Instant::now();
    let taken = async {
        sleep(Duration::from_secs(1)).await;
        let mut taken = Transaction::new();
        taken.delete("/job/trigger/10.0.0.1@-@7", None);
        desk.operations.registry.commit(taken).await.unwrap();
    };
    let target = Target::Job(name("job"));
    let (outcome, ()) = tokio::join!(desk.operations.trigger(&target), taken);
    assert_eq!((outcome.unwrap().instances.changed.len(), begun.elapsed()), (1, Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_came_to_an_instance_whose_older_trigger_is_not_taken_is_named() {
    let desk = unassigned().await;
    desk.write(&[("/job/trigger/10.0.0.1@-@7", "")]).await;
    desk.write(&[("/job/sharding/0/instance", "10.0.0.1@-@7")]).await;
    let begun = Instant::now();
    let outcome = desk.operations.trigger(&Target::Job(name("job"))).await.unwrap();
    assert_eq!((outcome.instances.unchanged.len(), begun.elapsed()), (1, Duration::from_secs(5)));
    assert_eq!(outcome.without_instance, [item(0)], "it may have run for the older one where it was then");
}
