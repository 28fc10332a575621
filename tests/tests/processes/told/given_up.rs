//! Fires that no instance began in time, and none will.

use std::sync::Arc;

use chrono::DateTime;
use elasticjob_tests::minute::shortly_before_a_minute;
use elasticjob_tests::zookeeper::ZookeeperServer;

use super::processes::{LIMIT, Processes};

/// How late a fire of each job may begin, in seconds; with `misfire` off it is 10 where nothing else is set.
const JOBS: [(&str, u64); 2] = [("limited", 5), ("strict", 10)];

/// A process that is killed 3 to 5 s before a fire, and was heard of a third of this before that at most, loses its items
/// more than 10 s after the fire.
const SESSION_MS: u32 = 24_000;

pub async fn told(server: Arc<ZookeeperServer>) {
    let job = "elastic-job-class: works, cron: '0 * * * * ?', time-zone: UTC, sharding-total-count: 2, \
               job-error-handler-type: RECORDS";
    let jobs = format!("    limited: {{{job}, max-late-begin-seconds: 5}}\n    strict: {{{job}, misfire: false}}\n");
    let mut two = Processes::new(server, "given-up", SESSION_MS, &jobs);
    let (dead, other) = (two.start(), two.start());
    for (job, _) in JOBS {
        two.one_each(job).await;
    }
    let fire_ms = shortly_before_a_minute().await;
    let mut lost = Vec::new();
    for (job, limit) in JOBS {
        lost.push((job, limit, two.one_each(job).await[dead]));
    }
    two.kill(dead);

    let fire = DateTime::from_timestamp_millis(fire_ms).unwrap().to_rfc3339();
    for (job, limit, item) in &lost {
        let limit = format!("it may begin {limit} s late at most");
        let told = two.wait("a failure", LIMIT, async || two.failures(other, job).first().cloned()).await;
        let parts = [
            &format!("the begin of fires of items [{item}] failed"),
            &format!("the fire of {fire} was not begun: no instance has begun it"),
            &limit,
        ];
        assert!(parts.iter().all(|part| told.contains(*part)), "{parts:?}: {told}");
        let line = format!("not run here: items [{item}]: no instance has begun it");
        let of_job = |log: &str| log.lines().any(|said| said.contains(&line) && said.contains(&format!("job={job}")));
        assert!(of_job(&two.log(other)), "{line}\n{}", two.all());
        let finding = format!("no instance began its fire of {fire}, and none will: ");
        two.says(&["why", job, &item.to_string()], &[&format!("item {item}\n"), &format!("! {finding}"), &limit]).await;
        two.says(&["status", job], &[&format!("! item {item}: {finding}")]).await;
    }
    // The next fire is begun, and nothing more is said of the one before it.
    for (job, _, item) in &lost {
        let begun = async || (two.runs(other, job, *item) > 0).then_some(());
        two.wait("the next fire", 2 * LIMIT, begun).await;
        assert_eq!(two.failures(other, job).len(), 1, "{}", two.all());
        let why = two.says(&["why", job, &item.to_string()], &["succeeded"]).await;
        assert!(!why.contains('!'), "{why}");
    }
}
