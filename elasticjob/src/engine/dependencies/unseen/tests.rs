//! Tests of which fires were not seen.

use super::*;
use crate::config::JobConfiguration;
use crate::engine::dependencies::{ParentItem, ParentView};
use crate::fire::{Attempt, ExecutionSource, Fire, FireRecord};
use crate::ident::{InstanceId, JobName};
use crate::registry::SessionId;

/// 2023-11-14 00:00 UTC.
const MIDNIGHT: i64 = 1_699_920_000_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn job(name: &str, cron: &str, since: Option<i64>, last: i64) -> (JobName, ParentView) {
    let configuration = JobConfiguration::builder(name, 1).cron(cron).time_zone("UTC").build().unwrap();
    let (instance, attempt) = (InstanceId::of_process("10.0.0.1", 7), Attempt::new(SessionId(1), 7, 1));
    let record =
        FireRecord::empty().begin(last, Fire::Scheduled(last), ExecutionSource::NormalTrigger, instance, attempt);
    let item = ParentItem { record, written: 0, disabled: false, marked: true };
    let view = ParentView {
        configuration: Some(configuration.into()),
        scheduled_since: since,
        items: [(0, item)].into(),
        ..ParentView::default()
    };
    (JobName::new(name).unwrap(), view)
}

fn unseen(views: impl IntoIterator<Item = (JobName, ParentView)>, through: i64) -> (Vec<i64>, Vec<i64>) {
    let mut parents = Parents::default();
    let mut dependencies: Vec<Dependency> = Vec::new();
    for (name, view) in views {
        dependencies.push(name.as_str().parse().unwrap());
        parents.learn(name, view);
    }
    let Unseen { latest, earlier } = parents.unseen(&dependencies, &DependencyRecord::from(through), |_| false);
    (earlier.into_iter().collect(), latest.into_iter().collect())
}

fn minutes(from: i64, until: i64) -> Vec<i64> {
    (from..until).map(|minute| MIDNIGHT + minute * MINUTE).collect()
}

#[test]
fn what_lies_between_the_decided_fires_and_the_latest_one_was_not_seen() {
    let every_minute = |since| job("a", "0 * * * * ?", since, MIDNIGHT + 9 * MINUTE);
    let since = Some(MIDNIGHT - HOUR);
    assert_eq!(unseen([every_minute(since)], MIDNIGHT + 8 * MINUTE), (vec![], vec![]), "the next one");
    assert_eq!(unseen([every_minute(since)], MIDNIGHT + 5 * MINUTE), (vec![], minutes(6, 9)));
    assert_eq!(unseen([every_minute(Some(MIDNIGHT + 7 * MINUTE))], MIDNIGHT), (vec![], minutes(7, 9)));
    assert_eq!(unseen([every_minute(None)], MIDNIGHT), (vec![], vec![]), "nobody knows whether these were fires");
    let day = job("a", "0 * * * * ?", since, MIDNIGHT + 24 * HOUR);
    assert_eq!(unseen([day], MIDNIGHT), (vec![MIDNIGHT + MINUTE], minutes(24 * 60 - 15, 24 * 60)));
}

#[test]
fn a_time_at_which_one_of_the_jobs_has_no_fire_is_none() {
    let since = Some(MIDNIGHT - HOUR);
    let every_minute = || job("a", "0 * * * * ?", since, MIDNIGHT + 4 * HOUR);
    let hourly = || job("b", "0 0 * * * ?", since, MIDNIGHT + 4 * HOUR);
    let hours: Vec<i64> = (1..4).map(|hour| MIDNIGHT + hour * HOUR).collect();
    assert_eq!(unseen([every_minute(), hourly()], MIDNIGHT), (vec![], hours.clone()));
    assert_eq!(unseen([hourly(), every_minute()], MIDNIGHT), (vec![], hours));
    let at_half = job("a", "0 30 * * * ?", since, MIDNIGHT + 4 * HOUR);
    assert_eq!(unseen([hourly(), at_half], MIDNIGHT), (vec![], vec![]), "they have no fire in common");
    let mut after = job("b", "0 0 * * * ?", since, MIDNIGHT + 4 * HOUR);
    let follows = JobConfiguration::builder("b", 1).depends_on(["c"]).build().unwrap();
    after.1.configuration = Some(follows.into());
    assert_eq!(unseen([every_minute(), after], MIDNIGHT), (vec![], vec![]), "the node of that job names its fires");
}

#[test]
fn what_is_not_named_is_told_as_one_before_each_fire_that_is_decided() {
    let at = |minute: i64| MIDNIGHT + minute * MINUTE;
    let view = |last| job("a", "0 * * * * ?", Some(MIDNIGHT), last);
    let mut parents = Parents::default();
    for minute in [3, 4, 8, 40] {
        let (name, mut view) = view(at(minute));
        view.items.get_mut(&0).unwrap().marked = false;
        parents.learn(name, view);
    }
    let dependencies = ["a".parse().unwrap()];
    let unseen = parents.unseen(&dependencies, &DependencyRecord::from(MIDNIGHT), |_| false);
    assert_eq!(unseen.earlier.iter().copied().collect::<Vec<_>>(), [1, 5, 9].map(at));
    assert_eq!(unseen.latest.iter().copied().collect::<Vec<_>>(), minutes(25, 40));
    let decided = |minutes: &[i64]| minutes.iter().map(|minute| at(*minute)).collect::<BTreeSet<i64>>();
    assert_eq!(unseen.passed_over(&decided(&[3, 4])), [(at(1), at(3))]);
    assert_eq!(unseen.passed_over(&decided(&[4, 25])), [(at(1), at(4)), (at(5), at(25))]);
    assert_eq!(unseen.passed_over(&decided(&[])), []);
}
