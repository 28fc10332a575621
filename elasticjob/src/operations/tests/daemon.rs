//! The findings about `DAEMON` jobs whose processes end or do not start.

use super::*;
use crate::operations::alarms::Concern;
use crate::operations::{Argument, DaemonTrouble, JobState, Remedy};
use crate::registry::watched::WatchedRegistry;

#[tokio::test]
async fn a_daemon_that_never_joined_is_known_and_says_how_it_ends_until_it_is_well() {
    let desk = Desk::new();
    let operations = &desk.operations;
    let job = JobName::new("resident").unwrap();
    for ends in [3, 6] {
        let ends = DaemonTrouble::ends(1, ends, "it ended with exit code 3: no database", 1_700_000_000_000);
        operations.note_daemon(&job, Some(&ends)).await.unwrap();
    }
    let snapshot = operations.snapshot(&job).await.unwrap();
    let findings = snapshot.findings(1_700_000_100_000);
    let found = findings.iter().find(|finding| finding.code() == "daemon-ends").unwrap();
    assert!(found.is_obstacle());
    assert_eq!((found.since, found.remedy()), (Some(1_700_000_000_000), Some(Remedy::ReadLog)));
    let arguments = found.arguments();
    assert_eq!((&arguments["process"], &arguments["ends"]), (&Argument::Number(1), &Argument::Number(6)));
    assert!(found.to_string().contains("process 1") && found.to_string().contains("no database"), "{found}");
    let overview = snapshot.overview(1_700_000_100_000);
    assert_eq!((overview.daemon_ends, overview.state), (6, JobState::Crashed));
    operations.note_daemon(&job, None).await.unwrap();
    operations.note_daemon(&job, None).await.unwrap();
    let snapshot = operations.snapshot(&job).await.unwrap();
    assert_eq!(snapshot.overview(0).daemon_ends, 0);
    // A process that lives joins the job as if nothing were there.
    let _joined = desk.start(JobConfiguration::builder("resident", 1).cron("0 0 3 * * ?"), reporter().0).await;
    assert!(operations.snapshot(&job).await.unwrap().usable().is_some());
}

#[tokio::test]
async fn what_is_told_of_a_daemon_ends_with_the_session_of_its_scheduler_and_lists_have_it() {
    let registry = MemoryRegistry::new();
    let scheduler: Arc<dyn RegistryCenter> = Arc::new(registry.connect());
    let job = JobName::new("resident").unwrap();
    let ends = DaemonTrouble::ends(0, 3, "it ended", 0);
    Operations::new(scheduler.clone()).note_daemon(&job, Some(&ends)).await.unwrap();
    let watched = WatchedRegistry::new(Arc::new(registry.connect()));
    let catalogue = Catalogue::new(watched);
    let listed = catalogue.jobs().await.unwrap();
    assert_eq!(listed.jobs.iter().map(|job| job.daemon_ends).collect::<Vec<_>>(), [3]);
    scheduler.close().await;
    let operations = Operations::new(Arc::new(registry.connect()));
    assert_eq!(operations.snapshot(&job).await.unwrap().overview(0).daemon_ends, 0);
}

#[tokio::test]
async fn a_daemon_that_never_started_says_for_what_it_waits() {
    let desk = Desk::new();
    let operations = &desk.operations;
    let job = JobName::new("resident").unwrap();
    let waits = DaemonTrouble::waits(1, "0/3 nodes are available: 3 Insufficient memory", 5_000);
    operations.note_daemon(&job, Some(&waits)).await.unwrap();
    let snapshot = operations.snapshot(&job).await.unwrap();
    let findings = snapshot.findings(9_000);
    let found = findings.iter().find(|finding| finding.code() == "daemon-waits").unwrap();
    assert!(found.is_obstacle());
    assert_eq!((found.since, found.arguments()["process"].clone()), (Some(5_000), Argument::Number(1)));
    assert_eq!(
        found.to_string(),
        "process 1 of the DAEMON job does not start: 0/3 nodes are available: 3 Insufficient memory (since \
         1970-01-01T00:00:05+00:00)"
    );
    let overview = snapshot.overview(9_000);
    assert_eq!((overview.daemon_ends, overview.carried_waits), (0, 1));
    // No instance is there, and the scheduler says why.
    assert_eq!((overview.state, Concern::of(&overview)), (JobState::Crashed, Some(Concern::CarriedWaits)));
    assert_eq!(Concern::CarriedWaits.since(&overview), Some(5_000));
}
