//! Runs of functions that block.

use std::sync::Mutex;

use super::*;
use crate::api::blocking_item_handler;
use crate::executor::CPU;

/// A run that blocks until the test releases it.
struct Blocked {
    item: Running,
    events: Receiver<Event>,
    release: Sender<JobResult>,
}

impl Blocked {
    fn spawn(runtime: &Runtime, slots: &Slots) -> Self {
        Self::spawn_in(runtime, slots, context())
    }

    fn spawn_in(runtime: &Runtime, slots: &Slots, context: ShardingContext) -> Self {
        let (sender, events) = channel();
        let (release, released) = channel();
        let (began, released) = (Mutex::new(sender.clone()), Mutex::new(released));
        let handler = blocking_item_handler(move |_| {
            let events = began.lock().unwrap().clone();
            events.send(Event::Began).unwrap();
            let _owned = Owned(events);
            released.lock().unwrap().recv_timeout(LONG).unwrap()
        });
        let item = spawn_item(on(runtime.handle()), slots, &handler, context, move |end| {
            sender.send(Event::Ended(end.outcome)).unwrap();
        });
        Self { item, events, release }
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(LONG).unwrap()
    }

    /// Releases the run; returns the events from then on.
    fn let_go(self, result: JobResult) -> Vec<Event> {
        self.release.send(result).unwrap();
        std::iter::from_fn(|| self.events.recv_timeout(LONG).ok()).collect()
    }
}

#[test]
fn it_leaves_the_threads_of_the_runtime_free() {
    let runtime = runtime();
    let run = Blocked::spawn(&runtime, &slots("CPU"));
    assert_eq!(run.next(), Event::Began);
    assert_eq!(runtime.block_on(async { tokio::spawn(async { 7 }).await.unwrap() }), 7);
    assert_eq!(run.let_go(Ok(())), [Event::Gone, Event::Ended(ItemOutcome::Succeeded)]);
}

#[test]
fn its_error_and_its_panic_are_told() {
    let runtime = runtime();
    let run = Blocked::spawn(&runtime, &slots("CPU"));
    let failed = ItemOutcome::Failed("no".to_owned());
    assert_eq!(run.let_go(Err(JobError::message("no"))), [Event::Began, Event::Gone, Event::Ended(failed)]);

    let (sender, ended) = channel();
    let handler = blocking_item_handler(|context| assert_ne!(context.sharding_item(), 0, "no such item"));
    spawn_item(on(runtime.handle()), &slots("CPU"), &handler, context(), move |end| sender.send(end.outcome).unwrap());
    let ItemOutcome::Panicked(message) = ended.recv_timeout(LONG).unwrap() else { panic!("it did not panic") };
    assert!(message.contains("no such item"), "{message}");
}

#[test]
fn one_that_is_cut_off_goes_on_and_keeps_its_slot_until_it_returns() {
    let runtime = runtime();
    let slots = slots("SINGLE_THREAD");
    let first = Blocked::spawn(&runtime, &slots);
    assert_eq!(first.next(), Event::Began);
    let second = Blocked::spawn(&runtime, &slots);
    first.item.cancel();
    first.item.abort();
    // After this the runtime has dropped every task that was aborted.
    runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
    assert!(first.events.try_recv().is_err(), "told while it still ran");
    assert!(second.events.try_recv().is_err(), "two at a time");
    assert_eq!(first.let_go(Ok(())), [Event::Gone, Event::Ended(ItemOutcome::Succeeded)]);
    assert_eq!(second.next(), Event::Began);
    assert_eq!(second.let_go(Ok(())), [Event::Gone, Event::Ended(ItemOutcome::Succeeded)]);
}

#[test]
fn without_a_pool_so_many_block_as_the_default_pool_has_room_for_and_items_that_were_taken_over_besides() {
    let runtime = runtime();
    let pools = ThreadPools::built_in();
    let room = pools.get(CPU).unwrap().size();
    let configuration = JobConfiguration::builder("reports", 1 + u32::try_from(room).unwrap()).build().unwrap();
    let slots = Slots::of(&pools, &configuration);
    let mut running: Vec<Blocked> = (0..room).map(|_| Blocked::spawn(&runtime, &slots)).collect();
    running.iter().for_each(|run| assert_eq!(run.next(), Event::Began));
    let waiting = Blocked::spawn(&runtime, &slots);
    let taken_over = Blocked::spawn_in(&runtime, &slots, fixture::taken_over("reports"));
    assert_eq!(taken_over.next(), Event::Began);
    assert!(waiting.events.try_recv().is_err(), "there is no room for it");
    running.pop().unwrap().let_go(Ok(()));
    assert_eq!(waiting.next(), Event::Began);
    for run in running.into_iter().chain([waiting, taken_over]) {
        run.let_go(Ok(()));
    }
}

#[test]
fn one_that_was_cut_off_before_it_had_a_thread_never_begins() {
    let runtime = Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).build().unwrap();
    let slots = slots("CPU");
    let first = Blocked::spawn(&runtime, &slots);
    assert_eq!(first.next(), Event::Began);
    let second = Blocked::spawn(&runtime, &slots);
    runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
    second.item.abort();
    runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
    assert_eq!(first.let_go(Ok(())), [Event::Gone, Event::Ended(ItemOutcome::Succeeded)]);
    assert_eq!(second.next(), Event::Ended(ItemOutcome::Dropped));
}

#[test]
fn the_time_it_waits_for_a_thread_is_no_time_of_its_run() {
    let runtime = Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).build().unwrap();
    let (release, released) = channel::<()>();
    runtime.spawn_blocking(move || released.recv_timeout(LONG).unwrap());
    let (sender, ended) = channel();
    let handler = blocking_item_handler(|_| {});
    let since = std::time::Instant::now();
    spawn_item(on(runtime.handle()), &slots("CPU"), &handler, context(), move |end| sender.send(end).unwrap());
    let waited = Duration::from_millis(200);
    assert!(ended.recv_timeout(waited).is_err(), "there is no thread for it");
    release.send(()).unwrap();
    let ExecutionEnd { outcome, duration } = ended.recv_timeout(LONG).unwrap();
    assert_eq!(outcome, ItemOutcome::Succeeded);
    assert!(duration <= since.elapsed().saturating_sub(waited), "{duration:?}");
}
