use super::*;

use crate::ident::InstanceId;
use crate::registry::layout::instance_yaml;
use crate::registry::watched::WatchedRegistry;

/// A minute job of which item 0 succeeded, item 1 failed and item 2 is disabled.
const CONFIG: &str =
    "cron: 0 * * * * ?\ndescription: d\nmonitorExecution: true\nshardingTotalCount: 3\ntimeZone: GMT\n";
const MINUTE: i64 = 60_000;

fn ended(state: &str, at: i64, ended: i64) -> String {
    let begun = format!(r#""at":{at},"instance":"10.0.0.1@-@7","attempt":"2a-1","began":{at}"#);
    format!(r#"{{"through":{at},"last":{{{begun},"state":"{state}","ended":{ended},"took":7,"error":"no disk"}}}}"#)
}

async fn desk() -> Desk {
    let desk = Desk::new();
    desk.write(&[
        ("/job/config", CONFIG),
        ("/job/instances/10.0.0.1@-@7", &instance_yaml(&InstanceId::of_process("10.0.0.1", 7))),
        ("/job/servers/10.0.0.1", "ENABLED"),
        ("/job/servers/10.0.0.2", "DISABLED"),
        ("/job/leader/election/instance", "10.0.0.1@-@7"),
        ("/job/sharding/0/instance", "10.0.0.1@-@7"),
        ("/job/sharding/1/instance", "10.0.0.1@-@7"),
        ("/job/sharding/2/instance", "10.0.0.1@-@7"),
        ("/job/sharding/2/disabled", ""),
    ])
    .await;
    desk
}

/// The first full minute after now: fires are due from the time on at which the nodes were written.
fn next_minute() -> i64 {
    (crate::registry::Moment::now().wall_ms / MINUTE + 1) * MINUTE
}

fn catalogue(desk: &Desk) -> (Catalogue, Arc<dyn RegistryCenter>) {
    let center: Arc<dyn RegistryCenter> = Arc::new(desk.memory.connect());
    (Catalogue::new(WatchedRegistry::new(center.clone())), center)
}

fn names(listed: &Listed) -> Vec<&str> {
    listed.jobs.iter().map(|job| job.job.as_str()).collect()
}

#[tokio::test]
async fn a_job_is_told_in_one_row() {
    let (desk, fire) = (desk().await, next_minute());
    desk.write(&[
        ("/job/sharding/0/fire", &ended("SUCCEEDED", fire, fire + 20)),
        ("/job/sharding/1/fire", &ended("FAILED", fire, fire + 10)),
    ])
    .await;
    let row = desk.operations.snapshot(&name("job")).await.unwrap().overview(fire + 30);
    assert_eq!(
        (row.state, row.cron.as_deref(), row.next_fire),
        (JobState::Failing, Some("0 * * * * ?"), Some(fire + MINUTE))
    );
    assert_eq!((row.description.as_str(), row.instances, row.servers), ("d", 1, 2));
    assert_eq!((row.items.total, row.items.pending, row.items.disabled), (3, 2, 1));
    assert_eq!((row.last_success, row.failed), (None, [(1, "no disk".to_owned())].into()), "one never succeeded");
    assert_eq!(row.last.map(|begun| begun.at), Some(fire));
    let codes: Vec<_> = row.obstacles.iter().map(|finding| (finding.item, finding.code())).collect();
    assert_eq!(codes, [(Some(2), "item-disabled")]);
    assert_eq!((row.overdue, row.running_since), (None, None));
}

#[tokio::test]
async fn the_last_success_is_that_of_the_item_that_has_waited_longest_for_one() {
    let (desk, fire) = (desk().await, next_minute());
    let before = format!(r#""through":{fire},"succeeded":{},"#, fire - 70);
    let failed = ended("FAILED", fire, fire + 10).replace(&format!(r#""through":{fire},"#), &before);
    desk.write(&[("/job/sharding/0/fire", &ended("SUCCEEDED", fire, fire + 20)), ("/job/sharding/1/fire", &failed)])
        .await;
    let last_success = async || desk.operations.snapshot(&name("job")).await.unwrap().overview(fire + 30).last_success;
    assert_eq!(last_success().await, Some(fire - 70), "the disabled item does not count");
    desk.write(&[("/job/sharding/1/fire", &ended("SUCCEEDED", fire, fire + 10))]).await;
    assert_eq!(last_success().await, Some(fire + 10));
}

#[tokio::test]
async fn a_fire_that_nobody_began_is_told_when_its_time_has_come_and_no_node_changed() {
    let (desk, fire) = (desk().await, next_minute());
    let succeeded = ended("SUCCEEDED", fire, fire + 20);
    desk.write(&[("/job/sharding/0/fire", &succeeded), ("/job/sharding/1/fire", &succeeded)]).await;
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    let (mut now, mut told) = (fire + 30, Vec::new());
    while now < fire + 3 * MINUTE {
        let row = snapshot.overview(now);
        told.push((now - fire, row.overdue.map(|it| (it.since - fire, it.items, it.given_up))));
        let next = snapshot.overview_changes_at(&row, now).unwrap();
        assert_eq!(snapshot.overview(next - 1), row, "it says nothing else before");
        now = next;
    }
    let overdue = Some((MINUTE, 2, false));
    let over = Some((MINUTE, 2, true));
    let expected = [
        (30, None),
        (2_000, None),
        (MINUTE, None),
        (MINUTE + 2_000, overdue),
        (MINUTE + 10_001, over),
        (2 * MINUTE, over),
        (2 * MINUTE + 2_000, over),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn of_a_run_that_was_lost_the_job_tells() {
    let desk = desk().await;
    desk.write(&[("/job/sharding/0/running", "10.0.0.9@-@7"), ("/job/leader/failover/items/1", "")]).await;
    let row = desk.operations.snapshot(&name("job")).await.unwrap().overview(0);
    assert_eq!((row.items.lost, row.items.running), (2, 0));
    desk.write(&[("/job/instances/10.0.0.9@-@7", "")]).await;
    let row = desk.operations.snapshot(&name("job")).await.unwrap().overview(0);
    assert_eq!((row.items.lost, row.items.running, row.running_since.is_some()), (1, 1, true));
}

#[tokio::test]
async fn a_list_at_rest_needs_no_request_and_a_change_reads_what_changed() {
    let desk = desk().await;
    desk.write(&[("/nothing", ""), ("/other/config", CONFIG)]).await;
    let (catalogue, center) = catalogue(&desk);
    assert_eq!(names(&catalogue.jobs().await.unwrap()), ["job", "other"]);
    let before = center.requests().requests;
    let first = catalogue.jobs().await.unwrap();
    catalogue.views().snapshot(&name("job")).await.unwrap();
    catalogue.views().servers().await.unwrap();
    assert_eq!(center.requests().requests, before);
    desk.write(&[("/other/config", &CONFIG.replace("description: d", "description: e"))]).await;
    let second = catalogue.jobs().await.unwrap();
    assert_eq!(second.jobs[1].description, "e");
    assert_eq!(center.requests().requests, before + 1, "the node that changed");
    assert!(Arc::ptr_eq(&first.jobs[0], &second.jobs[0]), "the other job is as it was");
}

#[tokio::test]
async fn jobs_come_and_go() {
    let desk = desk().await;
    let (catalogue, _center) = catalogue(&desk);
    assert_eq!(names(&catalogue.jobs().await.unwrap()), ["job"]);
    desk.write(&[("/a/config", CONFIG)]).await;
    assert_eq!(names(&catalogue.jobs().await.unwrap()), ["a", "job"]);
    desk.operations.remove_job(&name("a"), Force::No).await.unwrap();
    assert_eq!(names(&catalogue.jobs().await.unwrap()), ["job"]);
    desk.write(&[("/a/config", &CONFIG.replace("description: d", "description: e"))]).await;
    assert_eq!(catalogue.jobs().await.unwrap().jobs[0].description, "e");
}

#[tokio::test]
async fn a_lost_registry_center_leaves_the_list_as_it_was_and_is_told() {
    let desk = desk().await;
    let (catalogue, center) = catalogue(&desk);
    assert_eq!(catalogue.jobs().await.unwrap().lost_since, None);
    let crate::registry::SessionState::Connected { id, .. } = *center.session().borrow() else { panic!("connected") };
    desk.memory.suspend(id);
    let mut changes = catalogue.changes();
    while catalogue.lost_since().is_none() {
        changes.changed().await.unwrap();
    }
    desk.write(&[("/new/config", CONFIG)]).await;
    let listed = catalogue.jobs().await.unwrap();
    assert_eq!((names(&listed), listed.lost_since.is_some()), (vec!["job"], true));
    desk.memory.resume(id);
    while catalogue.lost_since().is_some() {
        changes.changed().await.unwrap();
    }
    let listed = catalogue.jobs().await.unwrap();
    assert_eq!((names(&listed), listed.lost_since), (vec!["job", "new"], None));
}

#[tokio::test]
async fn a_registry_center_that_was_never_reached_is_an_error_and_no_empty_list() {
    let desk = desk().await;
    let (catalogue, center) = catalogue(&desk);
    center.close().await;
    assert!(catalogue.jobs().await.unwrap_err().is_unreachable());
}

#[tokio::test]
async fn servers_and_instances_are_told_without_a_request_until_something_changes() {
    let desk = desk().await;
    let (catalogue, center) = catalogue(&desk);
    assert_eq!(catalogue.servers(|_| true).await.unwrap(), desk.operations.servers().await.unwrap());
    let requests = center.requests().requests;
    let servers = catalogue.servers(|_| true).await.unwrap();
    let seen: Vec<_> =
        servers.iter().map(|it| (it.server.as_str(), it.instances.len(), it.jobs.len(), it.disabled_jobs)).collect();
    assert_eq!(seen, [("10.0.0.1", 1, 1, 0), ("10.0.0.2", 0, 1, 1)]);
    let of_server = catalogue.jobs_of_server("10.0.0.2").await.unwrap();
    assert_eq!(of_server, desk.operations.jobs_of_server("10.0.0.2").await.unwrap());
    let instances = catalogue.instances(|_| true).await.unwrap();
    assert_eq!(instances.iter().map(|it| it.instance.as_str()).collect::<Vec<_>>(), ["10.0.0.1@-@7"]);
    assert_eq!(catalogue.servers(|_| false).await.unwrap(), []);
    assert_eq!(catalogue.instances(|_| false).await.unwrap(), []);
    assert_eq!(center.requests().requests, requests, "they are known");

    let more = instance_yaml(&InstanceId::of_process("10.0.0.2", 9));
    desk.write(&[("/job/instances/10.0.0.2@-@9", &more)]).await;
    assert_eq!(catalogue.servers(|_| true).await.unwrap()[1].instances.len(), 1);
}

#[tokio::test]
async fn since_when_no_instance_and_no_leader_are_there_is_told_by_a_catalogue_that_saw_them_go() {
    let desk = desk().await;
    let (early, _center) = catalogue(&desk);
    let since = async |of: &Catalogue, code: &str| {
        let listed = of.jobs().await.unwrap();
        let in_list = listed.jobs[0].obstacles.iter().find(|finding| finding.code() == code).cloned();
        let alone = of.snapshot(&name("job")).await.unwrap().findings(0);
        let alone = alone.into_iter().find(|finding| finding.code() == code);
        assert_eq!(in_list.as_ref().map(|it| it.since), alone.map(|it| it.since), "{code}");
        in_list.map(|it| it.since)
    };
    let delete = async |path: &str| {
        let mut deleted = Transaction::new();
        deleted.delete(path, None);
        desk.operations.registry.commit(deleted).await.unwrap();
    };
    assert_eq!((since(&early, "no-leader").await, since(&early, "no-instance").await), (None, None));
    let before = crate::registry::Moment::now().wall_ms;
    delete("/job/leader/election/instance").await;
    let told = since(&early, "no-leader").await.expect("it has none").expect("it was seen");
    assert!((before..before + 60_000).contains(&told), "{told}, {before}");
    delete("/job/instances/10.0.0.1@-@7").await;
    let told = since(&early, "no-instance").await.expect("it has none").expect("it was seen");
    assert!((before..before + 60_000).contains(&told), "{told}, {before}");
    let (late, _center) = catalogue(&desk);
    assert_eq!(since(&late, "no-instance").await, Some(None), "it was not there");
    desk.write(&[("/job/instances/10.0.0.1@-@7", "")]).await;
    assert_eq!(since(&early, "no-instance").await, None, "it is back");
    assert_eq!(since(&late, "no-leader").await, Some(None), "nor did it see the leader go");
}
