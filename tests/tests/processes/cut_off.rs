//! A process whose link to the registry is cut in the midst of its runs.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::records::{Ending, History, now_us};
use elasticjob_tests::zookeeper::ZookeeperServer;

use crate::support::{LIMIT, RUN, SESSION_TIMEOUT, Three, job, now, was_cancelled_in_time};

/// The client tries all it can at once when its connection breaks, and then pauses for a second. That is nearly as long as
/// a proof is good for in a session of 4 s.
const PATIENT_SESSION: Duration = Duration::from_secs(10);

const A_MOMENT: Duration = Duration::from_millis(800);

pub async fn for_long(server: Arc<ZookeeperServer>) {
    // Longer than the session may last.
    let mut three = Three::start(server, "cut-off", 2 * SESSION_TIMEOUT, true).await;
    let leader = three.leader().await;
    three.mid_run(leader).await;
    let (cut_us, cut) = (now_us(), three.open_runs(&[leader]));
    three.group.cut_off(leader);
    // What was cut off runs again elsewhere; nothing is left of it here by then.
    let again = |history: &History| {
        let again = |lost| history.runs.iter().any(|run| run.pid != leader && (run.item, run.scheduled_ms) == lost);
        cut.iter().all(|lost| again((lost.item, lost.scheduled_ms))).then_some(())
    };
    three.group.wait("the lost runs again", LIMIT, again).await;
    let history = three.group.history();
    for run in &cut {
        let run = now(&history, run).expect("it is recorded");
        assert!(was_cancelled_in_time(run, cut_us), "{run:?}, cut off at {cut_us}\n{}", three.group.logs());
    }
    three.group.mend(leader);
    let mended_us = now_us();
    let is_back = |history: &History| history.runs.iter().any(|run| run.pid == leader && run.began_us > mended_us);
    three.group.wait("runs of who was cut off", LIMIT, |history| is_back(history).then_some(())).await;
    let wrong = three.group.full_history().check(&[], &[]).violations();
    assert!(wrong.is_empty(), "{wrong:?}\n{}", three.group.logs());
}

pub async fn for_a_moment(server: Arc<ZookeeperServer>) {
    let mut three = Three::start_lasting(server, "cut-off-for-a-moment", job(RUN, false), PATIENT_SESSION).await;
    let pid = three.pids[0];
    three.mid_run(pid).await;
    let cut = three.open_runs(&[pid]);
    three.group.cut_off(pid);
    tokio::time::sleep(A_MOMENT).await;
    three.group.mend(pid);
    let until = three.split(&three.pids, now_us() / 1_000).await;
    let history = three.group.history();
    for run in &cut {
        let ended = now(&history, run).and_then(|run| run.end);
        assert!(matches!(ended, Some((_, Ending::Finished))), "{run:?} ended with {ended:?}\n{}", three.group.logs());
    }
    three.check(until);
}
