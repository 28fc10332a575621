use std::sync::Mutex;

use tokio::sync::mpsc;

use super::*;
use crate::api::fixture::context;
use crate::api::outcome::tests::Report;
use crate::api::{ItemFuture, ItemWork};
use crate::config::STREAMING;

/// Fetches the given portions one after the other, and sends what it processes.
struct Portions {
    left: Mutex<Vec<Vec<u32>>>,
    processed: mpsc::UnboundedSender<Vec<u32>>,
    wants_a_stop_after: Option<u32>,
}

impl Dataflow for Portions {
    type Item = u32;

    async fn fetch(&self, _: &ShardingContext) -> Result<Vec<u32>, JobError> {
        Ok(self.left.lock().unwrap().pop().unwrap_or_default())
    }

    async fn process(&self, context: &ShardingContext, data: Vec<u32>) -> JobResult {
        if data.contains(&13) {
            return Err(JobError::message("13 cannot be processed"));
        }
        if self.wants_a_stop_after.is_some_and(|last| data.contains(&last)) {
            context.stop_token().cancel();
        }
        self.processed.send(data)?;
        Ok(())
    }
}

fn work(handler: &ItemHandler, context: &ShardingContext) -> ItemFuture {
    match handler.work(context.clone()) {
        ItemWork::Async(future) => future,
        ItemWork::Blocking(_) => panic!("a dataflow awaits"),
    }
}

/// The portions that a run of an item processes, and how the run ends.
async fn run(props: &[(&str, &str)], portions: &[u32], wants_a_stop_after: Option<u32>) -> (Vec<Vec<u32>>, JobResult) {
    let left = Mutex::new(portions.iter().rev().map(|portion| vec![*portion]).collect());
    let (processed, mut told) = mpsc::unbounded_channel();
    let handler = dataflow_handler(Portions { left, processed, wants_a_stop_after });
    let ended = work(&handler, &context("job", "", "", props)).await;
    drop(handler);
    let mut all = Vec::new();
    while let Some(portion) = told.recv().await {
        all.push(portion);
    }
    (all, ended)
}

const STREAM: &[(&str, &str)] = &[(STREAMING, "true")];

#[tokio::test]
async fn without_streaming_one_portion_is_processed() {
    for props in [&[][..], &[(STREAMING, "false")]] {
        let (processed, ended) = run(props, &[1, 2, 3], None).await;
        assert_eq!(processed, [[1]]);
        ended.unwrap();
    }
    let (processed, ended) = run(&[], &[], None).await;
    assert_eq!(processed, Vec::<Vec<u32>>::new());
    ended.unwrap();
}

#[tokio::test]
async fn a_stream_ends_when_nothing_is_fetched() {
    let (processed, ended) = run(STREAM, &[1, 2, 3], None).await;
    assert_eq!(processed, [[1], [2], [3]]);
    ended.unwrap();
}

#[tokio::test]
async fn a_stream_completes_the_round_under_way_when_a_stop_is_wanted_and_has_ended_well() {
    let (processed, ended) = run(STREAM, &[1, 2, 3], Some(2)).await;
    assert_eq!(processed, [[1], [2]]);
    ended.unwrap();
}

#[tokio::test]
async fn an_error_ends_a_stream() {
    let (processed, ended) = run(STREAM, &[1, 13, 3], None).await;
    assert_eq!(processed, [[1]]);
    assert_eq!(ended.unwrap_err().to_string(), "13 cannot be processed");
}

/// A dataflow that always has more data, and never waits for anything.
struct Busy;

impl Dataflow for Busy {
    type Item = ();

    async fn fetch(&self, _: &ShardingContext) -> Result<Vec<()>, JobError> {
        Ok(vec![()])
    }

    async fn process(&self, _: &ShardingContext, _: Vec<()>) -> JobResult {
        Ok(())
    }
}

#[tokio::test]
async fn a_stream_that_never_waits_leaves_others_their_turn_and_can_be_cut_off() {
    let stream = tokio::spawn(work(&dataflow_handler(Busy), &context("job", "", "", STREAM)));
    tokio::task::yield_now().await;
    stream.abort();
    assert!(stream.await.unwrap_err().is_cancelled());
}

#[test]
fn an_error_of_fetch_keeps_the_causes_that_it_shows() {
    let error = Err::<Vec<()>, _>(Report).into_fetched().unwrap_err();
    assert_eq!(error.to_string(), "cannot sync: disk is full");
}
