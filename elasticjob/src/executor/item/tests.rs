mod blocking;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::api::{JobError, JobResult, fixture, item_handler};
use crate::config::JobConfiguration;
use crate::executor::ThreadPools;

const LONG: Duration = Duration::from_secs(20);

fn context() -> ShardingContext {
    fixture::context("reports", "", "", &[])
}

fn slots(pool: &str) -> Slots {
    let builder = JobConfiguration::builder("reports", 3).job_executor_thread_pool_size_provider_type(pool);
    Slots::of(&ThreadPools::built_in(), &builder.build().unwrap())
}

/// The runtime of the program, with one thread.
fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Starts the task at once.
fn on(runtime: &Handle) -> impl FnOnce(Task) {
    let runtime = runtime.clone();
    move |task| drop(runtime.spawn(task))
}

/// A value that a run owns. It sends an event when it is dropped.
struct Owned(Sender<Event>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.send(Event::Gone).unwrap();
    }
}

#[derive(Debug, PartialEq)]
enum Event {
    Began,
    Gone,
    Ended(ItemOutcome),
}

/// A spawned run and its events.
struct Run {
    item: Running,
    events: Receiver<Event>,
}

impl Run {
    /// Spawns `handler`, which gets a value to own and a sender.
    fn spawn<Fut>(
        runtime: &Runtime,
        handler: impl Fn(ShardingContext, Owned, Sender<Event>) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = JobResult> + Send + 'static,
    {
        let (sender, events) = channel();
        let ended = sender.clone();
        let sender = std::sync::Mutex::new(sender);
        let handler = item_handler(move |context| {
            let sender = sender.lock().unwrap().clone();
            handler(context, Owned(sender.clone()), sender)
        });
        let item = spawn_item(on(runtime.handle()), &slots("CPU"), &handler, context(), move |end| {
            ended.send(Event::Ended(end.outcome)).unwrap();
        });
        Self { item, events }
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(LONG).unwrap()
    }

    /// The remaining events. Returns when everything of the run is dropped.
    fn rest(self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.recv_timeout(LONG).ok()).collect()
    }
}

async fn for_ever() -> JobResult {
    std::future::pending().await
}

#[test]
fn a_run_that_returns_has_succeeded_and_is_gone_when_that_is_told() {
    let runtime = runtime();
    let run = Run::spawn(&runtime, |_, owned, _| async move {
        let _owned = owned;
        Ok(())
    });
    assert_eq!(run.rest(), [Event::Gone, Event::Ended(ItemOutcome::Succeeded)]);
}

#[test]
fn an_error_is_told_with_its_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot sync")]
    struct Outer(#[source] std::io::Error);

    let runtime = runtime();
    let run =
        Run::spawn(&runtime, |_, _, _| async { Err(JobError::from(Outer(std::io::Error::other("disk is full")))) });
    assert_eq!(run.rest().pop(), Some(Event::Ended(ItemOutcome::Failed("cannot sync: disk is full".to_owned()))));
}

fn assert_panicked(event: Option<Event>, message: &str) {
    let Some(Event::Ended(ItemOutcome::Panicked(told))) = event else { panic!("{event:?}") };
    let place = told.strip_prefix("it panicked at ").and_then(|told| told.strip_suffix(message));
    assert!(place.is_some_and(|place| place.contains("src/executor/item/tests.rs:")), "{told}");
}

#[test]
fn a_panic_is_told_with_its_message_and_its_place() {
    let runtime = runtime();
    let number = 3;
    let formatted = Run::spawn(&runtime, move |_, owned, _| async move {
        let _owned = owned;
        panic!("no item {number}")
    });
    assert_panicked(formatted.rest().pop(), "no item 3");

    let other = Run::spawn(&runtime, |_, _, _| async { std::panic::panic_any(7_u8) });
    assert_panicked(other.rest().pop(), "a value that is not text");
}

#[test]
fn a_function_that_panics_before_it_gives_a_future_is_told_the_same_way() {
    let runtime = runtime();
    let run = Run::spawn(&runtime, |_, _, _| -> std::future::Ready<JobResult> { panic!("at once") });
    assert_panicked(run.rest().pop(), "at once");
}

#[test]
fn an_error_whose_text_panics_does_not_lose_the_end() {
    #[derive(Debug)]
    struct Mute;
    impl std::fmt::Display for Mute {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("no text")
        }
    }
    impl std::error::Error for Mute {}

    let runtime = runtime();
    let run = Run::spawn(&runtime, |_, _, _| async { Err(JobError::from(Mute)) });
    assert_panicked(run.rest().pop(), "no text");
}

#[test]
fn cancelling_fires_the_token_and_lets_the_run_end_itself() {
    let runtime = runtime();
    let run = Run::spawn(&runtime, |context, _, events| async move {
        events.send(Event::Began).unwrap();
        context.cancelled().await;
        Err(JobError::message("cancelled"))
    });
    while run.next() != Event::Began {}
    run.item.cancel();
    assert_eq!(run.rest().pop(), Some(Event::Ended(ItemOutcome::Failed("cancelled".to_owned()))));
}

#[test]
fn an_aborted_run_is_dropped_at_its_await() {
    let runtime = runtime();
    let run = Run::spawn(&runtime, |_, owned, events| async move {
        let _owned = owned;
        events.send(Event::Began).unwrap();
        for_ever().await
    });
    assert_eq!(run.next(), Event::Began);
    run.item.abort();
    assert_eq!(run.rest(), [Event::Gone, Event::Ended(ItemOutcome::Dropped)]);
}

#[test]
fn a_run_that_was_aborted_before_it_began_never_begins() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (sender, events) = channel();
    let began = std::sync::Mutex::new(sender.clone());
    let handler = item_handler(move |_| {
        began.lock().unwrap().send(Event::Began).unwrap();
        std::future::ready(())
    });
    let item = spawn_item(on(runtime.handle()), &slots("CPU"), &handler, context(), move |end| {
        assert_eq!(end.duration, Duration::ZERO);
        sender.send(Event::Ended(end.outcome)).unwrap();
    });
    item.abort();
    item.abort();
    runtime.block_on(tokio::task::yield_now());
    drop(handler);
    assert_eq!(events.iter().collect::<Vec<_>>(), [Event::Ended(ItemOutcome::Dropped)]);
}

#[test]
fn a_blocking_run_cannot_be_dropped_and_is_told_when_it_ends() {
    let runtime = runtime();
    let (unblock, blocked) = channel::<()>();
    let blocked = Arc::new(std::sync::Mutex::new(blocked));
    let run = Run::spawn(&runtime, move |context, owned, events| {
        let blocked = Arc::clone(&blocked);
        async move {
            let _owned = owned;
            events.send(Event::Began).unwrap();
            let _ = blocked.lock().unwrap().recv_timeout(LONG);
            assert!(context.is_cancelled());
            for_ever().await
        }
    });
    while run.next() != Event::Began {}
    run.item.cancel();
    run.item.abort();
    assert!(run.events.recv_timeout(Duration::from_millis(50)).is_err(), "told while it still ran");
    unblock.send(()).unwrap();
    assert_eq!(run.rest(), [Event::Gone, Event::Ended(ItemOutcome::Dropped)]);
}

#[test]
fn a_blocking_run_that_returns_after_its_abort_has_still_succeeded() {
    let runtime = runtime();
    let (unblock, blocked) = channel::<()>();
    let blocked = Arc::new(std::sync::Mutex::new(blocked));
    let run = Run::spawn(&runtime, move |_, _, events| {
        let blocked = Arc::clone(&blocked);
        async move {
            events.send(Event::Began).unwrap();
            let _ = blocked.lock().unwrap().recv_timeout(LONG);
            Ok(())
        }
    });
    while run.next() != Event::Began {}
    run.item.abort();
    unblock.send(()).unwrap();
    assert_eq!(run.rest(), [Event::Ended(ItemOutcome::Succeeded)]);
}

#[test]
fn a_runtime_that_is_shut_down_drops_the_run() {
    let runtime = runtime();
    let run = Run::spawn(&runtime, |_, owned, events| async move {
        let _owned = owned;
        events.send(Event::Began).unwrap();
        for_ever().await
    });
    assert_eq!(run.next(), Event::Began);
    runtime.shutdown_background();
    assert_eq!(run.rest(), [Event::Gone, Event::Ended(ItemOutcome::Dropped)]);
}

#[test]
fn a_runtime_that_was_shut_down_before_drops_the_run_at_once() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    drop(runtime);
    let (sender, events) = channel();
    let handler = item_handler(|_| async { JobResult::Ok(()) });
    spawn_item(on(&handle), &slots("CPU"), &handler, context(), move |end| sender.send(end).unwrap());
    let ends: Vec<ExecutionEnd> = events.iter().collect();
    assert_eq!(ends, [ExecutionEnd { outcome: ItemOutcome::Dropped, duration: Duration::ZERO }]);
}

#[tokio::test(start_paused = true)]
async fn the_duration_is_the_time_of_the_run() {
    let (sender, ended) = tokio::sync::oneshot::channel();
    let handler = item_handler(|_| async { tokio::time::sleep(Duration::from_secs(3)).await });
    spawn_item(on(&Handle::current()), &slots("CPU"), &handler, context(), |end| sender.send(end.duration).unwrap());
    let duration = ended.await.unwrap();
    assert!(duration >= Duration::from_secs(3) && duration < Duration::from_secs(4), "{duration:?}");
}

#[tokio::test]
async fn items_wait_for_a_slot_of_their_pool_and_one_that_is_cancelled_meanwhile_is_not_started() {
    let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
    let release = CancellationToken::new();
    let slots = slots("SINGLE_THREAD");
    let spawn = |name: &'static str| {
        let (began, ended, release) = (sender.clone(), sender.clone(), release.clone());
        let handler = item_handler(move |_| {
            let (began, release) = (began.clone(), release.clone());
            async move {
                began.send((name, None)).unwrap();
                release.cancelled().await;
            }
        });
        spawn_item(on(&Handle::current()), &slots, &handler, context(), move |end| {
            ended.send((name, Some(end.outcome))).unwrap();
        })
    };
    spawn("first");
    assert_eq!(told.recv().await, Some(("first", None)));
    let second = spawn("second");
    spawn("third");
    second.cancel();
    assert_eq!(told.recv().await, Some(("second", Some(ItemOutcome::Dropped))));
    release.cancel();
    assert_eq!(told.recv().await, Some(("first", Some(ItemOutcome::Succeeded))));
    assert_eq!(told.recv().await, Some(("third", None)));
    assert_eq!(told.recv().await, Some(("third", Some(ItemOutcome::Succeeded))));
}

#[tokio::test]
async fn an_item_that_was_taken_over_goes_before_those_that_wait_in_its_pool() {
    let (began, mut told) = tokio::sync::mpsc::unbounded_channel();
    let release = CancellationToken::new();
    let slots = slots("SINGLE_THREAD");
    let spawn = |name: &'static str, context| {
        let (began, release) = (began.clone(), release.clone());
        let handler = item_handler(move |_| {
            began.send(name).unwrap();
            let release = release.clone();
            async move { release.cancelled().await }
        });
        spawn_item(on(&Handle::current()), &slots, &handler, context, |_| {})
    };
    spawn("first", context());
    assert_eq!(told.recv().await, Some("first"));
    spawn("second", context());
    tokio::task::yield_now().await;
    spawn("taken over", fixture::taken_over("reports"));
    tokio::task::yield_now().await;
    release.cancel();
    assert_eq!(told.recv().await, Some("taken over"));
    assert_eq!(told.recv().await, Some("second"));
}

#[tokio::test]
async fn items_that_are_cancelled_together_do_not_begin_with_the_slots_of_each_other() {
    let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
    let slots = slots("SINGLE_THREAD");
    let spawn = |name: &'static str| {
        let (began, ended) = (sender.clone(), sender.clone());
        let handler = item_handler(move |context: ShardingContext| {
            began.send((name, None)).unwrap();
            async move { context.cancellation_token().cancelled().await }
        });
        spawn_item(on(&Handle::current()), &slots, &handler, context(), move |end| {
            ended.send((name, Some(end.outcome))).unwrap();
        })
    };
    let first = spawn("first");
    assert_eq!(told.recv().await, Some(("first", None)));
    let second = spawn("second");
    // So that the item waits.
    tokio::task::yield_now().await;
    first.cancel();
    second.cancel();
    assert_eq!(told.recv().await, Some(("first", Some(ItemOutcome::Succeeded))));
    assert_eq!(told.recv().await, Some(("second", Some(ItemOutcome::Dropped))));
}

#[tokio::test]
async fn an_item_that_is_cancelled_before_it_was_looked_at_is_not_started() {
    let (sender, ended) = tokio::sync::oneshot::channel();
    let handler = item_handler(|_| async { JobResult::Ok(()) });
    let item = spawn_item(on(&Handle::current()), &slots("CPU"), &handler, context(), |end| {
        sender.send(end.outcome).unwrap();
    });
    item.cancel();
    assert_eq!(ended.await.unwrap(), ItemOutcome::Dropped);
}
