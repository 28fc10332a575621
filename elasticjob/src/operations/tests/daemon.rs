//! The findings about `DAEMON` jobs whose processes end or do not start.

use super::*;
use crate::operations::alarms::Concern;
use crate::operations::{Argument, DaemonTrouble, JobState, Remedy};
use crate::registry::watched::WatchedRegistry;
use crate::registry::{SessionId, SessionState};

/// Schedulers of carried jobs, each with a session of its own.
struct Noting {
    center: Arc<dyn RegistryCenter>,
    session: SessionId,
}

impl Noting {
    fn new(registry: &MemoryRegistry) -> Self {
        let center: Arc<dyn RegistryCenter> = Arc::new(registry.connect());
        let SessionState::Connected { id: session, .. } = *center.session().borrow() else { panic!("not connected") };
        Self { center, session }
    }

    async fn note(&self, trouble: Option<&DaemonTrouble>) -> bool {
        let operations = Operations::new(self.center.clone());
        operations.note_daemon(&name("resident"), self.session, trouble).await.unwrap()
    }
}

#[tokio::test]
async fn a_daemon_that_never_joined_is_known_and_says_how_it_ends_until_it_is_well() {
    let desk = Desk::new();
    let operations = &desk.operations;
    let (job, noting) = (name("resident"), Noting::new(&desk.memory));
    for ends in [3, 6] {
        let ends = DaemonTrouble::ends(1, ends, "it ended with exit code 3: no database", 1_700_000_000_000);
        assert!(noting.note(Some(&ends)).await);
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
    assert!(noting.note(None).await);
    assert!(noting.note(None).await);
    let snapshot = operations.snapshot(&job).await.unwrap();
    assert_eq!(snapshot.overview(0).daemon_ends, 0);
    // A process that lives joins the job as if nothing were there.
    let _joined = desk.start(JobConfiguration::builder("resident", 1).cron("0 0 3 * * ?"), reporter().0).await;
    assert!(operations.snapshot(&job).await.unwrap().usable().is_some());
}

#[tokio::test]
async fn what_is_told_of_a_daemon_ends_with_the_session_of_its_scheduler_and_lists_have_it() {
    let registry = MemoryRegistry::new();
    let (job, scheduler) = (name("resident"), Noting::new(&registry));
    let ends = DaemonTrouble::ends(0, 3, "it ended", 0);
    assert!(scheduler.note(Some(&ends)).await);
    let watched = WatchedRegistry::new(Arc::new(registry.connect()));
    let catalogue = Catalogue::new(watched);
    let listed = catalogue.jobs().await.unwrap();
    assert_eq!(listed.jobs.iter().map(|job| job.daemon_ends).collect::<Vec<_>>(), [3]);
    scheduler.center.close().await;
    let operations = Operations::new(Arc::new(registry.connect()));
    assert_eq!(operations.snapshot(&job).await.unwrap().overview(0).daemon_ends, 0);
}

#[tokio::test]
async fn a_daemon_that_never_started_says_for_what_it_waits() {
    let desk = Desk::new();
    let operations = &desk.operations;
    let job = name("resident");
    let waits = DaemonTrouble::waits(1, "0/3 nodes are available: 3 Insufficient memory", 5_000);
    let noting = Noting::new(&desk.memory);
    assert!(noting.note(Some(&waits)).await);
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
    // No instance is there: that goes before its reason.
    assert_eq!((overview.state, Concern::of(&overview)), (JobState::Crashed, Some(Concern::Crashed)));
    assert!(Concern::CarriedWaits.holds(&overview));
    assert_eq!(Concern::CarriedWaits.since(&overview), Some(5_000));
}

#[tokio::test]
async fn the_note_of_another_scheduler_stands_until_it_goes() {
    let registry = MemoryRegistry::new();
    let (before, after) = (Noting::new(&registry), Noting::new(&registry));
    let waits = |why| DaemonTrouble::waits(0, why, 1);
    let noted = async || {
        let operations = Operations::new(after.center.clone());
        operations.snapshot(&name("resident")).await.unwrap().daemon.map(|trouble| trouble.why)
    };
    assert!(before.note(Some(&waits("one"))).await);
    assert!(!after.note(Some(&waits("two"))).await);
    assert!(!after.note(None).await);
    assert_eq!(noted().await.as_deref(), Some("one"));
    assert!(before.note(None).await);
    assert!(after.note(Some(&waits("two"))).await);
    assert!(!before.note(None).await, "it has none any more");
    assert_eq!(noted().await.as_deref(), Some("two"));
}
