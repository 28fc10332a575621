//! The time that an item may run. The scheduler that has the item keeps it, from the time on at which the carrier says that its
//! process began: so the one that takes it over goes on with the same limit.

use std::future::pending;
use std::time::Duration;

use chrono::Utc;
use tokio::sync::watch;
use tokio::time::sleep;

use super::item_states::{AGAIN, Following};
use crate::carrier::{CarrierError, ItemState, Outcome, StopCause};

/// How an item has ended. One that runs for longer than the limit is stopped once. `cause` says why it was stopped here first, where the
/// carrier does not know.
pub(super) async fn outcome_within(
    following: &mut Following,
    limit: Option<Duration>,
    stop: impl FnOnce(),
    cause: impl FnOnce() -> Option<StopCause>,
) -> Outcome {
    let (outcome, noted) = end_within(following, limit, stop).await;
    of_stop(outcome, noted.or_else(cause).as_ref())
}

/// How an item has ended that was stopped for this cause, the first one. What its end says of the place or of the memory stays. One that
/// its time limit ended has failed, also where its program ends with 0 then: it was cut off. Where that was another cause, a program
/// that ends with 0 has succeeded.
pub(super) fn of_stop(outcome: Outcome, cause: Option<&StopCause>) -> Outcome {
    match (outcome, cause) {
        (own @ (Outcome::Lost { .. } | Outcome::OutOfMemory { .. }), _) | (own, None) => own,
        (_, Some(cause @ StopCause::TimeLimit { .. })) | (Outcome::Stopped, Some(cause)) => {
            Outcome::Failed { exit: None, text: format!("it was stopped: {cause}") }
        }
        (own, Some(_)) => own,
    }
}

async fn end_within(
    following: &mut Following,
    limit: Option<Duration>,
    stop: impl FnOnce(),
) -> (Outcome, Option<StopCause>) {
    loop {
        let overtime = overtime(following.states(), limit);
        tokio::select! {
            biased;
            end = following.end() => return end,
            () = overtime => {}
        }
        let asked = following.asked();
        let now = tokio::select! {
            biased;
            end = following.end() => return end,
            now = asked => now,
        };
        match step(now, limit.unwrap_or_default(), Utc::now().timestamp_millis()) {
            Step::HasEnded(outcome, stopped) => return (outcome, stopped),
            Step::AskAgain(pause) => sleep(pause).await,
            Step::Stop => break,
        }
    }
    stop();
    following.end().await
}

/// What is done with an item whose time is over.
enum Step {
    Stop,
    /// It ended by itself, and the event has not come so far.
    HasEnded(Outcome, Option<StopCause>),
    /// It does not run at the moment, or the carrier does not answer: nothing could be stopped. Or it was halted meanwhile, so that its
    /// time is not over yet. The carrier is asked again after this pause.
    AskAgain(Duration),
}

/// What is done with an item with this limit, of which the carrier says `state` at a time in milliseconds since 1970.
fn step(state: Result<Option<ItemState>, CarrierError>, limit: Duration, now: i64) -> Step {
    match state {
        Ok(Some(ItemState::Ended { outcome, stopped })) => Step::HasEnded(outcome, stopped),
        Ok(Some(ItemState::Running { since: since @ 1.., .. })) if !left(limit, since, now).is_zero() => {
            Step::AskAgain(left(limit, since, now).min(AGAIN))
        }
        Ok(Some(ItemState::Running { .. }) | None) => Step::Stop,
        Ok(Some(ItemState::Waiting { .. } | ItemState::LetGo)) | Err(_) => Step::AskAgain(AGAIN),
    }
}

/// Completes when a process has run for longer than the limit. Where its place is lost the next attempt has the whole time.
async fn overtime(mut states: watch::Receiver<Option<ItemState>>, limit: Option<Duration>) {
    let Some(limit) = limit else { return pending().await };
    loop {
        let since = match &*states.borrow_and_update() {
            // An engine that does not say when it began has not begun it in 1970.
            Some(ItemState::Running { since: since @ 1.., .. }) => Some(*since),
            _ => None,
        };
        let over = async {
            match since {
                Some(since) => sleep(left(limit, since, Utc::now().timestamp_millis())).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = over => return,
            changed = states.changed() => if changed.is_err() { return pending().await },
        }
    }
}

/// What is left of the limit at a time, both in milliseconds since 1970. The clock of a node may be ahead of this one: then it is the
/// whole of it.
fn left(limit: Duration, since: i64, now: i64) -> Duration {
    limit.saturating_sub(Duration::from_millis(u64::try_from(now.saturating_sub(since)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex, PoisonError};

    use elasticjob::fire::Fire;
    use elasticjob::ident::{InstanceId, JobName, ShardingItem};

    use super::super::earlier_runs::Formers;
    use super::super::item_states::Hub;
    use super::super::place_losses::Losses;
    use super::*;
    use crate::carrier::{
        Answer, Carrier, Daemon, DaemonProcess, ItemStates, Launch, LaunchError, LaunchEvent, LaunchId, LaunchStream,
        Launched, Stop,
    };
    use crate::model::{App, CarriedJob, Problem};

    /// A carrier that answers which state its item has, whose events do not come, and whose stops are never answered. It counts them.
    struct Asked(Mutex<ItemState>, AtomicUsize);

    struct NoEvents;

    impl LaunchStream for NoEvents {
        fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<LaunchEvent>> + Send + '_>> {
            Box::pin(pending())
        }
    }

    impl Asked {
        fn set(&self, state: ItemState) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
        }
    }

    impl Carrier for Asked {
        fn type_name(&self) -> &str {
            "ASKED"
        }

        fn check(&self, _: &App, _: &CarriedJob) -> Vec<Problem> {
            Vec::new()
        }

        fn launch(&self, _: Launch) -> Answer<'_, Launched, LaunchError> {
            Box::pin(pending())
        }

        fn stop<'a>(&'a self, _: &'a LaunchId, _: &'a [ShardingItem], _: Stop) -> Answer<'a, ()> {
            self.1.fetch_add(1, Ordering::SeqCst);
            Box::pin(pending())
        }

        fn forget<'a>(&'a self, _: &'a LaunchId) -> Answer<'a, ()> {
            Box::pin(pending())
        }

        fn states<'a>(&'a self, _: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
            let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Box::pin(async { Ok(Some(ItemStates::from([(0, state)]))) })
        }

        fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
            Box::pin(pending())
        }

        fn watch(&self) -> Box<dyn LaunchStream> {
            Box::new(NoEvents)
        }

        fn keep(&self, _: Daemon) -> Answer<'_, (), LaunchError> {
            Box::pin(pending())
        }

        fn kept<'a>(&'a self, _: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
            Box::pin(pending())
        }

        fn log<'a>(&'a self, _: &'a LaunchId, _: ShardingItem, _: usize) -> Answer<'a, Option<String>> {
            Box::pin(pending())
        }
    }

    /// How an item ends whose time is over. At that moment the carrier says this of it; the stop, if there is one, leads to that end.
    /// Returns whether it was stopped, too.
    async fn ended(at_overtime: ItemState, by_stop: Outcome) -> (Outcome, bool) {
        let began = ItemState::running("n1", Utc::now().timestamp_millis() - 60_000);
        let carrier = Arc::new(Asked(Mutex::new(began), AtomicUsize::new(0)));
        let instance = InstanceId::of_process("10.0.0.1", 7);
        let hub = Hub::new(carrier.clone(), Losses { tracing: None, instance });
        let id = LaunchId { job: JobName::new("long").unwrap(), fire: Fire::Scheduled(0) };
        let mut following = hub.follow(&id, 0);
        hub.accepted(&id, &[0]).await;
        carrier.set(at_overtime);
        let is_stopped = Cell::new(false);
        let stop = || {
            is_stopped.set(true);
            hub.settle(&id, 0, by_stop);
        };
        let cause = || is_stopped.get().then_some(StopCause::TimeLimit { milliseconds: 30_000 });
        let outcome = outcome_within(&mut following, Some(Duration::from_secs(30)), stop, cause).await;
        (outcome, is_stopped.get())
    }

    fn failed(exit: i32) -> Outcome {
        Outcome::Failed { exit: Some(exit), text: "the table is locked".to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_stopped_has_failed_by_its_limit_however_its_program_ends() {
        let runs = || ItemState::running("n1", 5);
        for end in [Outcome::Succeeded, Outcome::Stopped, failed(143)] {
            let (outcome, is_stopped) = ended(runs(), end.clone()).await;
            let by_limit =
                matches!(&outcome, Outcome::Failed { exit: None, text } if text.contains("more than 30000 ms"));
            assert!(by_limit && is_stopped, "{end:?}: {outcome:?}");
        }
        for end in [Outcome::Lost { why: "its node is gone".to_owned() }, Outcome::OutOfMemory { limit: 16 }] {
            assert_eq!(ended(runs(), end.clone()).await, (end, true));
        }
    }

    #[test]
    fn the_first_cause_counts_and_only_a_limit_makes_a_failure_of_a_good_end() {
        let limit = StopCause::TimeLimit { milliseconds: 5 };
        let text = |cause: &StopCause| Outcome::Failed { exit: None, text: format!("it was stopped: {cause}") };
        assert_eq!(of_stop(Outcome::Succeeded, Some(&limit)), text(&limit));
        assert_eq!(of_stop(Outcome::Stopped, Some(&StopCause::Operator)), text(&StopCause::Operator));
        for own in [Outcome::Succeeded, failed(7), Outcome::OutOfMemory { limit: 16 }] {
            assert_eq!(of_stop(own.clone(), Some(&StopCause::Operator)), own);
        }
        assert_eq!(of_stop(Outcome::Stopped, None), Outcome::Stopped);
    }

    #[tokio::test(start_paused = true)]
    async fn stops_that_are_not_answered_keep_no_other_stop_waiting_and_the_first_cause_counts() {
        let carrier = Arc::new(Asked(Mutex::new(ItemState::running("n1", 5)), AtomicUsize::new(0)));
        let instance = InstanceId::of_process("10.0.0.1", 7);
        let hub = Hub::new(carrier.clone(), Losses { tracing: None, instance });
        let formers = Formers::new(carrier.clone(), hub);
        let id = LaunchId { job: JobName::new("long").unwrap(), fire: Fire::Scheduled(0) };
        let stop = |cause| Stop::new(Duration::from_secs(10), cause);
        let limit = StopCause::TimeLimit { milliseconds: 5 };
        for item in 0..100 {
            drop(formers.stop(&id, item, stop(limit.clone())));
        }
        let all_are_asked = async {
            while carrier.1.load(Ordering::SeqCst) < 100 {
                tokio::task::yield_now().await;
            }
        };
        // No time passes: each of them is asked without waiting for another one.
        let began = tokio::time::Instant::now();
        assert!(tokio::time::timeout(Duration::from_secs(1), all_are_asked).await.is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
        drop(formers.stop(&id, 0, stop(StopCause::Operator)));
        assert_eq!(formers.cause(&id, 0), Some(limit));
    }

    #[tokio::test(start_paused = true)]
    async fn what_ended_by_itself_keeps_its_end_also_when_its_event_comes_late() {
        for end in [failed(7), Outcome::Succeeded] {
            assert_eq!(ended(end.clone().into(), Outcome::Stopped).await, (end, false));
        }
    }

    #[test]
    fn what_does_not_run_or_cannot_be_asked_is_not_stopped() {
        let step = |state| step(state, Duration::from_secs(30), 60_000);
        assert!(matches!(step(Ok(Some(ItemState::waiting("its place was lost")))), Step::AskAgain(AGAIN)));
        assert!(matches!(step(Err(CarrierError::new("read the states", "no answer"))), Step::AskAgain(AGAIN)));
        assert!(matches!(step(Ok(None)), Step::Stop), "it is gone: the stop says so");
        let runs = |since| Ok(Some(ItemState::running("n1", since)));
        assert!(matches!(step(runs(40_000)), Step::AskAgain(AGAIN)), "it was halted for a while");
        assert!(matches!(step(runs(30_001)), Step::AskAgain(left) if left == Duration::from_millis(1)));
        assert!(matches!(step(runs(30_000)), Step::Stop));
        assert!(matches!(step(runs(0)), Step::Stop), "its begin is not known any more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_begin_that_is_not_known_is_not_1970() {
        let states = watch::Sender::new(Some(ItemState::running("n1", 0)));
        let over = overtime(states.subscribe(), Some(Duration::from_secs(1)));
        assert!(tokio::time::timeout(Duration::from_secs(1_000), over).await.is_err());
    }

    #[test]
    fn the_limit_counts_from_the_begin_of_the_process() {
        let of = |since, now| left(Duration::from_millis(1_000), since, now).as_millis();
        assert_eq!((of(5_000, 5_000), of(5_000, 5_400), of(5_000, 9_000)), (1_000, 600, 0));
        assert_eq!(of(5_000, 4_000), 1_000, "the clock of the node is ahead");
    }

    #[tokio::test(start_paused = true)]
    async fn an_item_that_waits_has_its_whole_time_and_so_has_each_attempt() {
        let states = watch::Sender::new(Some(ItemState::waiting("no room")));
        let mut task = tokio::spawn(overtime(states.subscribe(), Some(Duration::from_secs(3_600))));
        let mut is_over =
            async |within: u64| tokio::time::timeout(Duration::from_secs(within), &mut task).await.is_ok();
        assert!(!is_over(100_000).await, "it waits");
        // The clock of the node is ahead, so the time of this test, which leaps, is the only one that counts.
        let running = |place: &str| ItemState::running(place, Utc::now().timestamp_millis() + 600_000);
        states.send_replace(Some(running("n1")));
        assert!(!is_over(3_000).await);
        states.send_replace(Some(ItemState::waiting("its place was lost")));
        assert!(!is_over(100_000).await);
        states.send_replace(Some(running("n2")));
        assert!(!is_over(3_500).await, "another attempt");
        assert!(is_over(101).await);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_nothing_is_over() {
        let states = watch::Sender::new(Some(ItemState::running("n1", 5)));
        let over = overtime(states.subscribe(), None);
        assert!(tokio::time::timeout(Duration::from_secs(1_000_000), over).await.is_err());
    }
}
