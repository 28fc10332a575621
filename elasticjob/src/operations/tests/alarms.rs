use super::*;

use crate::operations::alarms::{Alarm, UsualDurations, alarms};
use crate::registry::watched::WatchedRegistry;

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\ntimeZone: GMT\n";
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A job without an instance, one that an operator disabled, and one whose configuration cannot be used.
async fn listed() -> Listed {
    let desk = Desk::new();
    desk.write(&[
        ("/gone/config", CONFIG),
        ("/gone/servers/10.0.0.1", "ENABLED"),
        ("/also-gone/config", CONFIG),
        ("/off/config", CONFIG),
        ("/off/servers/10.0.0.1", "DISABLED"),
        ("/wrong/config", "cron: ["),
    ])
    .await;
    let catalogue = Catalogue::new(WatchedRegistry::new(Arc::new(desk.memory.connect())));
    catalogue.jobs().await.unwrap()
}

fn told(alarms: &[Alarm]) -> Vec<(&str, &str)> {
    alarms.iter().map(|alarm| (alarm.job.as_ref().map_or("", |job| job.job.as_str()), alarm.kind.code())).collect()
}

#[tokio::test]
async fn the_most_urgent_alarm_comes_first_and_a_disabled_job_is_one_after_a_day() {
    let mut listed = listed().await;
    let off = listed.jobs.iter().find(|job| job.job.as_str() == "off").unwrap();
    let since = off.obstacles.iter().find_map(|finding| finding.since).expect("the node says it");
    let usual = UsualDurations::default();
    let first = alarms(&listed, None, &usual, since + DAY - 1).await;
    let others = [("also-gone", "crashed"), ("gone", "crashed"), ("wrong", "configuration-refused")];
    assert_eq!(told(&first), others);
    let places: Vec<String> = first.iter().map(Alarm::place).collect();
    assert!(places.is_sorted(), "{places:?}");
    let last = ("off", "disabled-for-long");
    let after_a_day = alarms(&listed, None, &usual, since + DAY).await;
    assert_eq!(told(&after_a_day), [&others[..], &[last]].concat());
    assert_eq!(after_a_day[3].since, Some(since));
    listed.lost_since = Some(7);
    let lost = alarms(&listed, None, &usual, since).await;
    assert_eq!((told(&lost)[0], lost[0].since), (("", "registry-lost"), Some(7)));
}

#[tokio::test]
async fn a_job_that_fails_does_so_since_its_last_good_run_whatever_else_succeeds() {
    let mut listed = listed().await;
    let mut job = JobOverview::clone(&listed.jobs[0]);
    (job.state, job.failed, job.failing_since) = (JobState::Failing, [(1, "no disk".to_owned())].into(), Some(7));
    job.last_success = Some(99);
    listed.jobs = vec![Arc::new(job)];
    let [alarm] = &alarms(&listed, None, &UsualDurations::default(), DAY).await[..] else { panic!("one job fails") };
    assert_eq!((alarm.kind.code(), alarm.since), ("failing", Some(7)));
}

#[tokio::test]
async fn an_alarm_holds_since_what_makes_it_came_however_old_other_obstacles_are() {
    let mut listed = listed().await;
    let gone = listed.jobs.iter().find(|job| job.job.as_str() == "gone").unwrap();
    let mut job = JobOverview::clone(gone);
    let mut finding = job.obstacles[0].clone();
    let mut with = |reason, since| {
        (finding.reason, finding.since) = (reason, Some(since));
        finding.clone()
    };
    job.obstacles = vec![with(Reason::ItemDisabled, 5), with(Reason::NoInstance, 9)];
    listed.jobs = vec![Arc::new(job)];
    let [alarm] = &alarms(&listed, None, &UsualDurations::default(), DAY).await[..] else {
        panic!("no instance is there")
    };
    assert_eq!((alarm.kind.code(), alarm.since), ("crashed", Some(9)));
}

#[tokio::test]
async fn of_items_with_the_same_obstacle_the_list_has_the_one_that_has_it_for_longest() {
    let desk = Desk::new();
    let config = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 2\ntimeZone: GMT\n";
    desk.write(&[("/job/config", config), ("/job/sharding/0/instance", ""), ("/job/sharding/1/disabled", "")]).await;
    let first =
        desk.operations.registry.get("/job/sharding/1/disabled").await.unwrap().expect("it is there").stat.ctime;
    while chrono::Utc::now().timestamp_millis() <= first {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    desk.write(&[("/job/sharding/0/disabled", "")]).await;
    let overview = desk.operations.snapshot(&name("job")).await.unwrap().overview(first);
    let disabled: Vec<_> = overview.obstacles.iter().filter(|finding| finding.reason == Reason::ItemDisabled).collect();
    assert_eq!(
        disabled.iter().map(|finding| (finding.item, finding.since)).collect::<Vec<_>>(),
        [(Some(1), Some(first))]
    );
}
