use std::sync::atomic::Ordering;
use std::time::Instant;

use futures_util::future::join_all;

use super::remote::Remote;
use super::*;

/// A handler whose runs end after `run` or when cancelled. It sends `None` at the begin, then whether it was cancelled.
fn lasting(run: Duration) -> (ItemHandler, mpsc::UnboundedReceiver<Option<bool>>) {
    let (sender, told) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let sender = sender.clone();
        async move {
            let _ = sender.send(None);
            let cancelled = timeout(run, context.cancelled()).await.is_ok();
            let _ = sender.send(Some(cancelled));
        }
    });
    (handler, told)
}

#[tokio::test]
async fn a_run_longer_than_the_session_time_out_is_kept_by_a_few_transactions() {
    const SESSION_TIMEOUT: Duration = Duration::from_secs(3);
    let environment = environment();
    let remote = Remote::new(SESSION_TIMEOUT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut told) = lasting(2 * SESSION_TIMEOUT);
    // Writes for a fire that is made up for would prove the session.
    let configuration = each_second("kept", 1).misfire(false);
    let _job = scheduled(&environment, &registry, configuration, handler).await;
    assert_eq!(soon(told.recv()).await, Some(None));
    let before = remote.writes.load(Ordering::Relaxed);
    assert_eq!(soon(told.recv()).await, Some(Some(false)), "its session is proven all the time");
    let writes = remote.writes.load(Ordering::Relaxed) - before;
    // One each quarter of the time-out.
    assert!((4..=10).contains(&writes), "{writes} transactions");
}

#[tokio::test]
async fn a_run_whose_session_cannot_be_proven_is_cancelled_in_time_and_the_driver_goes_on() {
    const SESSION_TIMEOUT: Duration = Duration::from_secs(5);
    let environment = environment();
    let remote = Remote::new(SESSION_TIMEOUT);
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (handler, mut told) = lasting(LIMIT);
    // Writes for a fire that is made up for would prove the session.
    let job = scheduled(&environment, &registry, each_second("lost", 1).misfire(false), handler).await;
    assert_eq!(soon(told.recv()).await, Some(None));
    let before = remote.writes.load(Ordering::Relaxed);
    remote.is_broken.store(true, Ordering::Relaxed);
    let broken = Instant::now();
    assert_eq!(soon(told.recv()).await, Some(Some(true)));
    let (took, writes) = (broken.elapsed(), remote.writes.load(Ordering::Relaxed) - before);
    assert!(took < SESSION_TIMEOUT, "{took:?}");
    // Some for each pause after a failure, not as many as there is time for.
    assert!(u128::from(writes) < took.as_millis() / 2, "{writes} transactions that fail at once in {took:?}");
    let mut status = job.handle().status();
    soon(status.wait_for(|status| status.running.is_empty())).await.unwrap();
    remote.is_broken.store(false, Ordering::Relaxed);
    assert_eq!(soon(told.recv()).await, Some(None), "it runs again");
}

#[tokio::test]
async fn a_run_sees_whether_its_session_is_proven() {
    let environment = environment();
    let remote = Remote::new(Duration::from_secs(5));
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let (sender, mut told) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let sender = sender.clone();
        async move {
            let _ = sender.send(context.is_session_proven());
            context.cancelled().await;
            let _ = sender.send(context.is_session_proven());
        }
    });
    let _job = scheduled(&environment, &registry, each_second("seen", 1).misfire(false), handler).await;
    assert_eq!(soon(told.recv()).await, Some(true));
    remote.is_broken.store(true, Ordering::Relaxed);
    assert_eq!(soon(told.recv()).await, Some(false));
}

#[tokio::test]
async fn jobs_that_fire_together_share_the_proof_of_their_session() {
    const JOBS: u64 = 50;
    let environment = environment();
    let remote = Remote::far(Duration::from_secs(3), Duration::from_millis(200));
    let registry: Arc<dyn RegistryCenter> = remote.clone();
    let configuration =
        |number| each_second(&format!("unmonitored{number}"), 1).monitor_execution(false).misfire(false);
    let jobs = (0..JOBS).map(|number| scheduled(&environment, &registry, configuration(number), reporter().0));
    let jobs = join_all(jobs).await;
    let fires = || jobs.iter().map(|job| job.handle().status().borrow().fires).sum::<u64>();
    let run = async || {
        let fires = jobs[0].handle().status().borrow().fires;
        for job in &jobs {
            soon(job.handle().status().wait_for(|status| status.fires > fires)).await.unwrap();
        }
    };
    // The first fire comes while the items are assigned.
    run().await;
    run().await;
    let (proven, begun) = (remote.checks.load(Ordering::Relaxed), fires());
    run().await;
    run().await;
    run().await;
    let (proofs, fires) = (remote.checks.load(Ordering::Relaxed) - proven, fires() - begun);
    // If each job proved the session by itself, there would be one for each fire. A slow machine spreads the fires over
    // the second, in which there is room for five proofs.
    assert!(proofs > 0 && 3 * proofs < fires, "{proofs} proofs of {fires} fires");
}
