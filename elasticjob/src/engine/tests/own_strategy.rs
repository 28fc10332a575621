//! Strategies of the program: asked like the others, and not trusted.

use std::sync::Arc;

use super::group::{Group, Host, every_five};
use crate::config::{JobConfiguration, wire};
use crate::engine::Notice;
use crate::ident::{InstanceId, JobName};
use crate::registry::layout::JobPath;
use crate::sharding::{Assignment, ShardingStrategies, ShardingStrategy, StrategyFault};
use crate::spi::TypeOrigin;

/// All items to the last instance of the list, but for item 13.
struct Last;

impl ShardingStrategy for Last {
    fn type_name(&self) -> &str {
        "LAST"
    }

    fn assign(&self, job: &JobName, instances: &[InstanceId], total: u32) -> Assignment {
        assert_eq!(job.as_str(), "job");
        let items = (0..total).filter(|item| *item != 13);
        instances.last().map(|last| (last.clone(), items.collect())).into_iter().collect()
    }
}

fn strategies() -> Arc<ShardingStrategies> {
    let mut strategies = ShardingStrategies::built_in();
    strategies.add("LAST", TypeOrigin::Added, Arc::new(Last)).unwrap();
    Arc::new(strategies)
}

fn configuration(total: u32) -> JobConfiguration {
    let builder = JobConfiguration::builder("job", total).cron("0/5 * * * * ?");
    builder.job_sharding_strategy_type("LAST").build().unwrap()
}

fn group(total: u32) -> Group {
    let mut group = Group::new();
    group.strategies = strategies();
    for host in ["10.0.0.1", "10.0.0.2"] {
        group.join(host, &configuration(total));
    }
    group
}

#[test]
fn an_own_strategy_assigns_to_the_instances_in_their_order() {
    assert_eq!(group(3).owners(3), [Some(0); 3]);
}

#[test]
fn one_that_forgets_an_item_is_told_and_stood_in_for() {
    let mut group = group(3);
    group.hosts[0].clear();
    group.set(&JobPath::Config, &wire::to_yaml(&configuration(14)));
    let fault = StrategyFault::Forgotten(vec![13]);
    let said = Notice::StrategyFailed { strategy: "LAST".to_owned(), fault };
    assert_eq!(group.hosts[0].notices.iter().filter(|told| **told == said).count(), 1, "{:?}", group.hosts[0].notices);
    // As AVG_ALLOCATION assigns.
    let expected: Vec<Option<usize>> = (0..14).map(|item| Some(usize::from(item < 7))).collect();
    assert_eq!(group.owners(14), expected);
}

#[test]
fn whoever_writes_what_java_does_not_know_says_so_once() {
    let mut group = Group::new();
    group.strategies = strategies();
    let builder = JobConfiguration::builder("job", 1).cron("0/5 * * * * ?").time_zone("Asia/Shanghai");
    let foreign = builder.job_sharding_strategy_type("LAST").build().unwrap();
    for host in ["10.0.0.1", "10.0.0.2"] {
        group.join(host, &foreign);
    }
    let said = |host: &Host| -> Vec<String> {
        let values = host.notices.iter().filter_map(|told| match told {
            Notice::ForeignToJava { values } => Some(values),
            _ => None,
        });
        values.flatten().map(|value| format!("{} {}", value.setting, value.value)).collect()
    };
    assert_eq!(said(&group.hosts[0]), ["time-zone Asia/Shanghai", "job-sharding-strategy-type LAST"]);
    assert_eq!(said(&group.hosts[1]), [""; 0], "it wrote nothing");
}

#[test]
fn a_strategy_that_the_program_does_not_have_is_refused_and_the_last_good_configuration_stays() {
    let mut group = Group::settled(2, &every_five(2));
    let before = group.owners(2);
    group.set(&JobPath::Config, &wire::to_yaml(&configuration(3)));
    for host in &group.hosts {
        let [Notice::ConfigurationRefused { why }] = &host.notices[..] else { panic!("{:?}", host.notices) };
        assert!(why.contains("no sharding strategy 'LAST'") && why.contains("ROUND_ROBIN (built in)"), "{why}");
    }
    assert_eq!(group.owners(3), [before[0], before[1], None]);
}

#[test]
fn a_program_without_the_strategy_does_not_start_a_job_that_names_it() {
    let mut group = group(3);
    group.strategies = Arc::new(ShardingStrategies::built_in());
    let host = group.join("10.0.0.3", &every_five(3));
    let started = group.hosts[host].notices.iter().find_map(|told| match told {
        Notice::WaitsForConfiguration { why } => Some(why.clone()),
        _ => None,
    });
    assert!(started.is_some_and(|why| why.contains("no sharding strategy 'LAST'")), "{:?}", group.hosts[host].notices);
}
