use tokio::sync::mpsc;

use super::*;
use crate::api::{ShardingContext, item_handler};
use crate::fire::{CancelReason, CancelRequest, FireState};
use crate::ident::ShardingItem;

type Told = (ShardingItem, Option<(CancelReason, String)>);

/// A handler that tells that a run began, and why it is cancelled, for which it waits.
fn until_cancelled() -> (ItemHandler, mpsc::UnboundedReceiver<Told>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let handler = item_handler(move |context: ShardingContext| {
        let sender = sender.clone();
        async move {
            let item = context.sharding_item();
            let _ = sender.send((item, None));
            context.cancelled().await;
            let request = context.cancel_request().map(ToString::to_string).unwrap_or_default();
            let _ = sender.send((item, context.cut_reason().map(|reason| (reason, request))));
            Err::<(), _>(crate::api::JobError::message("not done"))
        }
    });
    (handler, receiver)
}

async fn ended(desk: &Desk, item: ShardingItem) -> (FireState, Option<String>) {
    soon(async {
        loop {
            let last = desk.operations.snapshot(&name("export")).await.unwrap().items[&item].record.last.clone();
            match last.filter(|begun| begun.state != FireState::Running) {
                Some(begun) => return (begun.state, begun.error),
                None => tokio::task::yield_now().await,
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_cancelled_run_hears_who_wants_its_end_and_why_and_the_others_go_on() {
    let desk = Desk::new();
    let (handler, mut told) = until_cancelled();
    let mut job = desk.start(once_a_year("export", 2), handler).await;
    desk.operations.trigger(&Target::Job(name("export"))).await.unwrap();
    for _ in 0..2 {
        assert_eq!(soon(told.recv()).await.unwrap().1, None);
    }
    let request = CancelRequest::new("alice", "wrong input");
    let outcome = desk.operations.cancel(&name("export"), Some(1), &request).await.unwrap();
    assert_eq!((outcome.changed, outcome.unchanged), (vec![ItemOfJob { job: name("export"), item: 1 }], vec![]));
    let why = "cancelled by alice: wrong input".to_owned();
    assert_eq!(soon(told.recv()).await, Some((1, Some((CancelReason::Operator, why.clone())))));
    assert_eq!(ended(&desk, 1).await, (FireState::Failed, Some(format!("{why} (it returned: not done)"))));

    let error = desk.operations.cancel(&name("export"), Some(1), &request).await.unwrap_err().to_string();
    assert_eq!(error, "nothing was cancelled: item 1 of job 'export' does not run at the moment");
    let rest = desk.operations.cancel(&name("export"), None, &request).await.unwrap();
    assert_eq!(rest.changed, [ItemOfJob { job: name("export"), item: 0 }]);
    assert_eq!(ended(&desk, 0).await.0, FireState::Failed);
    job.shutdown(crate::runtime::ShutdownMode::Now).await;
}

#[tokio::test]
async fn what_cannot_be_cancelled_says_so() {
    let desk = Desk::new();
    let (handler, _runs) = reporter();
    let request = CancelRequest::new("alice", "");
    let _job = desk.start(once_a_year("idle", 1), handler.clone()).await;
    let _unmonitored = desk.start(once_a_year("unmonitored", 1).monitor_execution(false), handler).await;
    desk.write(&[
        ("/java/servers/10.0.0.1", "ENABLED"),
        ("/java/sharding/0/instance", "10.0.0.1@-@7"),
        ("/java/sharding/0/running", "10.0.0.1@-@7"),
    ])
    .await;
    for (job, item, expected) in [
        ("idle", Some(0), "item 0 of job 'idle' does not run at the moment"),
        ("idle", None, "job 'idle' does not run at the moment"),
        ("idle", Some(7), "job 'idle' has no item 7; it has item 0 alone"),
        ("unmonitored", None, "monitor-execution of job 'unmonitored' is off"),
        (
            "java",
            Some(0),
            "item 0 of job 'java' is run by the Java instance 10.0.0.1@-@7, which knows of no cancellation",
        ),
        ("nowhere", None, "there is no job 'nowhere' in the namespace"),
    ] {
        if job != "java" && job != "nowhere" {
            desk.operations.trigger(&Target::Job(name(job))).await.unwrap();
            soon(async {
                while desk.operations.snapshot(&name(job)).await.unwrap().items.is_empty() {
                    tokio::task::yield_now().await;
                }
            })
            .await;
        }
        let error = loop {
            // The run of the trigger may go on for a moment.
            match desk.operations.cancel(&name(job), item, &request).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains(expected), "{error}");
    }
}
