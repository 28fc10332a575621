//! The time that an item may run. The scheduler that has the item keeps it, from the time on at which the carrier says that its
//! process began: so the one that takes it over goes on with the same limit.

use std::future::pending;
use std::time::Duration;

use chrono::Utc;
use tokio::sync::watch;
use tokio::time::sleep;

use super::item_states::{AGAIN, Following};
use crate::carrier::{CarrierError, ItemState, Outcome};

/// How an item has ended. One that runs for longer than the limit is stopped once, and has failed because of it, also where its program
/// ends with 0 then: it was cut off. What its end says of the place or of the memory stays.
pub(super) async fn outcome_within(following: &mut Following, limit: Option<Duration>, stop: impl FnOnce()) -> Outcome {
    loop {
        let overtime = overtime(following.states(), limit);
        tokio::select! {
            biased;
            outcome = following.outcome() => return outcome,
            () = overtime => {}
        }
        let asked = following.asked();
        let now = tokio::select! {
            biased;
            outcome = following.outcome() => return outcome,
            now = asked => now,
        };
        match step(now) {
            Step::HasEnded(outcome) => return outcome,
            Step::AskAgain => sleep(AGAIN).await,
            Step::Stop => break,
        }
    }
    stop();
    match following.outcome().await {
        own @ (Outcome::Lost { .. } | Outcome::OutOfMemory { .. }) => own,
        Outcome::Succeeded | Outcome::Failed { .. } | Outcome::Stopped => {
            let limit = limit.unwrap_or_default().as_millis();
            let text = format!("it was stopped: it ran for more than {limit} ms, its script.timeout.milliseconds");
            Outcome::Failed { exit: None, text }
        }
    }
}

/// What is done with an item whose time is over.
enum Step {
    Stop,
    /// It ended by itself, and the event has not come so far.
    HasEnded(Outcome),
    /// It does not run at the moment, or the carrier does not answer: nothing could be stopped.
    AskAgain,
}

fn step(now: Result<Option<ItemState>, CarrierError>) -> Step {
    match now {
        Ok(Some(ItemState::Ended { outcome })) => Step::HasEnded(outcome),
        Ok(Some(ItemState::Running { .. }) | None) => Step::Stop,
        Ok(Some(ItemState::Waiting { .. } | ItemState::LetGo)) | Err(_) => Step::AskAgain,
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
    use std::pin::Pin;
    use std::sync::{Arc, Mutex, PoisonError};

    use elasticjob::fire::Fire;
    use elasticjob::ident::{InstanceId, JobName, ShardingItem};

    use super::super::item_states::Hub;
    use super::super::place_losses::Losses;
    use super::*;
    use crate::carrier::{
        Answer, Carrier, Daemon, DaemonProcess, ItemStates, Launch, LaunchError, LaunchEvent, LaunchId, LaunchStream,
        Launched,
    };
    use crate::model::{App, CarriedJob, Problem};

    /// A carrier that answers which state its item has, and whose events do not come.
    struct Asked(Mutex<ItemState>);

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

        fn stop<'a>(&'a self, _: &'a LaunchId, _: &'a [ShardingItem], _: Duration) -> Answer<'a, ()> {
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
        let carrier = Arc::new(Asked(Mutex::new(began)));
        let instance = InstanceId::of_process("10.0.0.1", 7);
        let hub = Hub::new(carrier.clone(), Losses { tracing: None, instance });
        let id = LaunchId { job: JobName::new("long").unwrap(), fire: Fire::Scheduled(0) };
        let mut following = hub.follow(&id, 0);
        hub.accepted(&id, &[0]).await;
        carrier.set(at_overtime);
        let mut is_stopped = false;
        let stop = || {
            is_stopped = true;
            hub.settle(&id, 0, by_stop);
        };
        let outcome = outcome_within(&mut following, Some(Duration::from_secs(30)), stop).await;
        (outcome, is_stopped)
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

    #[tokio::test(start_paused = true)]
    async fn what_ended_by_itself_keeps_its_end_also_when_its_event_comes_late() {
        for end in [failed(7), Outcome::Succeeded] {
            assert_eq!(ended(end.clone().into(), Outcome::Stopped).await, (end, false));
        }
    }

    #[test]
    fn what_does_not_run_or_cannot_be_asked_is_not_stopped() {
        assert!(matches!(step(Ok(Some(ItemState::waiting("its place was lost")))), Step::AskAgain));
        assert!(matches!(step(Err(CarrierError::new("read the states", "no answer"))), Step::AskAgain));
        assert!(matches!(step(Ok(None)), Step::Stop), "it is gone: the stop says so");
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
