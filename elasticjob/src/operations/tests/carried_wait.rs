//! The findings about carried runs that are launched and do not start.

use super::explained::{ready, record};
use super::*;
use crate::fire::Fire;
use crate::operations::{Argument, CarriedWait, Remedy};
use crate::registry::{SessionId, SessionState};

const NO_ROOM: &str = "0/1 nodes are available: 1 Insufficient cpu";

/// A scheduler with a session of its own.
struct Noting {
    center: Arc<dyn RegistryCenter>,
    session: SessionId,
}

impl Noting {
    fn new(desk: &Desk) -> Self {
        let center: Arc<dyn RegistryCenter> = Arc::new(desk.memory.connect());
        let SessionState::Connected { id: session, .. } = *center.session().borrow() else { panic!("not connected") };
        Self { center, session }
    }

    async fn note(&self, waits: &[CarriedWait]) {
        Operations::new(self.center.clone()).note_waits(&name("job"), self.session, waits).await.unwrap();
    }
}

fn wait(at: i64, items: &[u32]) -> CarriedWait {
    CarriedWait::new(Fire::Scheduled(at), items.iter().copied(), "KUBERNETES", NO_ROOM, 7_000)
}

/// A job of which item 0 runs for the fire of 5 s.
async fn running() -> Desk {
    let desk = ready().await;
    desk.write(&[("/job/sharding/0/running", "10.0.0.1@-@7"), ("/job/sharding/0/fire", &record("RUNNING"))]).await;
    desk.write(&[("/job/sessions/2a", "10.0.0.1@-@7")]).await;
    desk
}

async fn codes(desk: &Desk) -> Vec<&'static str> {
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    snapshot.findings_of(0, 60_000).iter().map(|finding| finding.code()).collect()
}

#[tokio::test]
async fn a_run_that_does_not_start_says_for_what_it_waits_in_place_of_that_it_runs() {
    let desk = running().await;
    assert_eq!(codes(&desk).await, ["running"]);
    let noting = Noting::new(&desk);
    noting.note(&[wait(4_000, &[0]), wait(5_000, &[0, 1])]).await;
    let snapshot = desk.operations.snapshot(&name("job")).await.unwrap();
    let [found] = &snapshot.findings_of(0, 60_000)[..] else { panic!("{:?}", snapshot.findings_of(0, 60_000)) };
    assert_eq!(
        found.to_string(),
        "for the fire of 1970-01-01T00:00:05+00:00 it is to run on KUBERNETES and is not known to run: 0/1 nodes are available: 1 \
         Insufficient cpu (since 1970-01-01T00:00:07+00:00)"
    );
    assert_eq!((found.code(), found.remedy()), ("carried-waits", Some(Remedy::CancelRun(0))));
    let arguments = found.arguments();
    assert_eq!((&arguments["item"], &arguments["fireAt"]), (&Argument::Number(0), &Argument::Time(5_000)));
    assert_eq!(arguments["why"], Argument::Text(NO_ROOM.to_owned()));
    let overview = snapshot.overview(60_000);
    assert!(overview.obstacles.contains(found), "{:?}", overview.obstacles);
    assert_eq!(overview.carried_waits, 1);
    noting.note(&[]).await;
    noting.note(&[]).await;
    assert_eq!(codes(&desk).await, ["running"]);
}

#[tokio::test]
async fn each_scheduler_notes_its_own_items_and_the_note_ends_with_its_session() {
    let desk = running().await;
    let schedulers = [Noting::new(&desk), Noting::new(&desk)];
    schedulers[0].note(&[wait(5_000, &[0])]).await;
    schedulers[1].note(&[wait(5_000, &[1])]).await;
    let waits = async || {
        let mut waits = desk.operations.snapshot(&name("job")).await.unwrap().waits;
        waits.sort_by_key(|wait| wait.items.clone());
        waits
    };
    assert_eq!(waits().await, [wait(5_000, &[0]), wait(5_000, &[1])]);
    schedulers[0].center.close().await;
    assert_eq!(waits().await, [wait(5_000, &[1])]);
    // The name of another session: this one is not of the scheduler that it names.
    let misnamed = Noting { center: schedulers[1].center.clone(), session: SessionId(7) };
    misnamed.note(&[wait(5_000, &[0])]).await;
    assert_eq!(waits().await, [wait(5_000, &[1])]);
}

#[tokio::test]
async fn nothing_is_told_of_a_run_that_has_ended_or_of_a_job_that_was_removed() {
    let desk = running().await;
    let noting = Noting::new(&desk);
    noting.note(&[wait(5_000, &[0])]).await;
    desk.write(&[("/job/sharding/0/fire", &record("SUCCEEDED"))]).await;
    assert!(!codes(&desk).await.contains(&"carried-waits"));
    desk.operations.remove_job(&name("job"), Force::Yes).await.unwrap();
    noting.note(&[wait(5_000, &[0])]).await;
    assert_eq!(desk.text("/job").await, None, "the job is not there again");
}
