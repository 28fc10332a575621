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
