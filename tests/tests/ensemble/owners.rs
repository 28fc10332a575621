//! Two processes share a job while the servers under them lose each other.

use std::time::Duration;

use elasticjob_tests::records::{FaultKind, History, Run, now_us};
use elasticjob_tests::zookeeper::EnsembleSettings;

use crate::pair::{Pair, session_timeout};

/// The follower answers reads all the while: it gives its leader up only after ten seconds and more, and is back by then
/// where sessions are short.
pub async fn lagging_follower() {
    // Longer than any session takes to end, so that it never looks for another leader.
    let patience = 4 * session_timeout().as_secs() as u32;
    let mut pair =
        Pair::start(EnsembleSettings { sync_limit: patience, ..EnsembleSettings::default() }, |leader, _| leader).await;
    let runs = pair.mid_run().await;
    pair.cut();
    let taken = pair.taken_over(&runs).await;
    pair.check_cut_off_before(&runs, &taken);
    assert_eq!(pair.ensemble.mode(pair.follower).as_deref(), Some("follower"), "it goes on answering");
    pair.mend();
    pair.come_together().await;
}

/// The follower gives its leader up, and its clients with it; the process has no other server.
pub async fn cut_off_follower() {
    let mut pair =
        Pair::start(EnsembleSettings { sync_limit: 2, ..EnsembleSettings::default() }, |leader, _| leader).await;
    let runs = pair.mid_run().await;
    pair.cut();
    let taken = pair.taken_over(&runs).await;
    pair.check_cut_off_before(&runs, &taken);
    pair.mend();
    pair.come_together().await;
}

/// Both processes are at followers, one of which leads then. The new leader gives every session its whole time again.
pub async fn killed_leader() {
    let mut pair = Pair::start(EnsembleSettings::default(), |_, followers| followers[1]).await;
    pair.mid_run().await;
    pair.group.note(FaultKind::Outage, now_us());
    pair.ensemble.member(pair.leader).stop();
    pair.ensemble.leader().await.expect("another server leads");
    pair.ensemble.member(pair.leader).resume().expect("the server comes back");
    pair.group.note_end(FaultKind::Outage);
    pair.come_together().await;
}

/// Nothing is left but a server that serves readers. The process at it must not take that for its session.
pub async fn read_only_server() {
    let settings = EnsembleSettings { read_only: true, ..EnsembleSettings::default() };
    let mut pair = Pair::start(settings, |leader, _| leader).await;
    let runs = pair.mid_run().await;
    pair.group.note(FaultKind::Outage, now_us());
    for member in pair.ensemble.others(pair.follower) {
        pair.ensemble.member(member).stop();
    }
    pair.ensemble.wait_mode(pair.follower, "read-only").await.expect("it serves readers");
    let ended = |history: &History| {
        let is_over = |lost: &Run| history.runs.iter().any(|run| is_same(run, lost) && run.end.is_some());
        runs.iter().all(is_over).then_some(())
    };
    pair.group.wait("the end of the runs without a leader", session_timeout() + Duration::from_secs(30), ended).await;
    let others = pair.ensemble.others(pair.follower);
    pair.ensemble.resume(&others).await.expect("the servers come back");
    pair.group.note_end(FaultKind::Outage);
    pair.come_together().await;
}

fn is_same(run: &Run, other: &Run) -> bool {
    (run.pid, run.number) == (other.pid, other.number)
}
