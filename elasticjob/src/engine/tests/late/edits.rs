//! Fires that are due when an operator, or a program that starts, changes the configuration.

use super::super::group::{EPOCH, Group};
use super::{FIRE, NIGHTLY, NORMAL, at, nightly, skips};
use crate::config::{JobConfiguration, wire};
use crate::fire::Fire;
use crate::registry::layout::JobPath;
use crate::registry::{CreateMode, Transaction};

#[test]
fn a_time_before_the_schedule_changed_is_not_due() {
    let mut group = Group::settled(1, &nightly(1).build().unwrap());
    group.run_until(20_000);
    group.kill(0);
    group.run_until(50_000);
    let changed = JobConfiguration::builder("job", 1).cron("30 13 22 * * ?").time_zone("UTC").build().unwrap();
    group.set(&JobPath::Config, &wire::to_yaml(&changed));
    let back = group.join("10.0.0.3", &changed);
    group.run_until(60_000);
    assert_eq!((group.starts(back), skips(&group, back)), (vec![], vec![]));
}

#[test]
fn a_fire_of_a_schedule_that_changed_while_the_registry_was_away_begins_when_it_is_back() {
    let mut group = Group::settled(1, &nightly(1).build().unwrap());
    group.run_until(5_000);
    group.disconnect(0);
    let changed = JobConfiguration::builder("job", 1).cron("30 13 22 * * ?").time_zone("UTC").build().unwrap();
    group.set(&JobPath::Config, &wire::to_yaml(&changed));
    group.run_until(15_000);
    assert_eq!(group.starts(0), []);
    group.connect(0);
    group.run_until(16_000);
    assert_eq!(group.starts(0), [(Fire::Scheduled(EPOCH + 10_000), NORMAL, vec![0])]);
}

#[test]
fn a_program_that_writes_its_configuration_with_the_same_schedule_begins_what_is_due() {
    let mut group = Group::settled(1, &nightly(1).build().unwrap());
    group.run_until(20_000);
    group.kill(0);
    group.run_until(50_000);
    let other = nightly(1).job_parameter("new").overwrite(true).build().unwrap();
    let back = group.join("10.0.0.3", &other);
    group.run_until(51_000);
    assert_eq!(group.starts(back), [(FIRE, NORMAL, vec![0])]);
}

fn edit(group: &mut Group, configuration: &JobConfiguration) {
    group.set(&JobPath::Config, &wire::to_yaml(configuration));
}

#[test]
fn an_edit_of_anything_but_the_schedule_while_no_process_runs_takes_no_fire_away() {
    for (total, reconciles) in [(2, 10), (2, 7), (1, 10)] {
        let configuration = nightly(2).build().unwrap();
        let mut group = Group::settled(2, &configuration);
        group.run_until(20_000);
        group.kill(0);
        group.kill(1);
        group.run_until(50_000);
        let edited = nightly(total).job_parameter("new").failover(false).reconcile_interval_minutes(reconciles);
        edit(&mut group, &edited.build().unwrap());
        let back = group.join("10.0.0.3", &configuration);
        group.run_until(51_000);
        assert_eq!(group.starts(back), [(FIRE, NORMAL, (0..total).collect())]);
    }
}

#[test]
fn all_processes_that_start_with_new_settings_begin_what_is_due() {
    let mut group = Group::settled(1, &nightly(2).build().unwrap());
    group.run_until(20_000);
    group.kill(0);
    group.run_until(50_000);
    let deployed = nightly(2).description("new").overwrite(true).build().unwrap();
    // The one that writes the settings takes no part in the fire.
    let mut disabled = Transaction::new();
    disabled.create("/job/servers/10.0.0.3", "DISABLED", CreateMode::Persistent);
    group.operate(&disabled, false);
    let first = group.join("10.0.0.3", &deployed);
    let second = group.join("10.0.0.4", &deployed);
    group.run_until(60_000);
    assert_eq!((group.starts(first), group.starts(second)), (vec![], vec![(FIRE, NORMAL, vec![0, 1])]));
}

#[test]
fn a_schedule_that_changed_while_processes_ran_is_followed_since_then() {
    let daily = |cron: &str| JobConfiguration::builder("job", 1).cron(cron).time_zone("UTC");
    // 20 s and 30 s after the start.
    let (early, late) = ("40 13 22 * * ?", "50 13 22 * * ?");
    for (changed_at, due) in [(15_000, true), (25_000, false)] {
        let mut group = Group::settled(1, &daily(late).build().unwrap());
        group.run_until(if due { changed_at } else { 10_000 });
        if due {
            edit(&mut group, &daily(early).build().unwrap());
        }
        group.kill(0);
        group.run_until(25_000);
        if !due {
            edit(&mut group, &daily(early).build().unwrap());
        }
        group.run_until(27_000);
        let edited = daily(early).description("new").build().unwrap();
        edit(&mut group, &edited);
        let back = group.join("10.0.0.3", &edited);
        group.run_until(60_000);
        let begun = if due { vec![(at(20), NORMAL, vec![0])] } else { vec![] };
        assert_eq!(group.starts(back), begun, "changed at {changed_at}");
    }
}

#[test]
fn what_ran_without_monitoring_is_not_begun_when_monitoring_is_on_again() {
    let configuration = nightly(1).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    edit(&mut group, &nightly(1).failover(false).monitor_execution(false).build().unwrap());
    assert_eq!(group.text(&JobPath::Sharding).as_deref(), Some(""));
    group.run_until(45_000);
    group.end_items(0, &[0]);
    group.kill(0);
    edit(&mut group, &configuration);
    let back = group.join("10.0.0.3", &configuration);
    group.run_until(60_000);
    assert_eq!((group.hosts[0].started.len(), group.starts(back)), (1, vec![]));
}

#[test]
fn the_leader_notes_the_schedule_where_an_earlier_release_did_not() {
    let configuration = nightly(1).build().unwrap();
    let mut group = Group::settled(1, &configuration);
    let note = group.text(&JobPath::Sharding);
    group.kill(0);
    group.set(&JobPath::Sharding, "{\"through\":5}");
    let written = group.tree.get("/job/config").unwrap().unwrap().stat.mtime;
    group.join("10.0.0.3", &configuration);
    group.run_until(20_000);
    let noted = format!(r#"{{"through":5,"schedule":{{"cron":"{NIGHTLY}","since":{written},"timeZone":"UTC"}}}}"#);
    assert_eq!(group.text(&JobPath::Sharding), Some(noted));
    assert_eq!(note, Some(format!(r#"{{"schedule":{{"cron":"{NIGHTLY}","since":{written},"timeZone":"UTC"}}}}"#)));
}
