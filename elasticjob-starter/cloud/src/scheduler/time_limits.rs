//! The time that an item may run. The scheduler that has the item keeps it, from the time on at which the carrier says that its
//! process began: so the one that takes it over goes on with the same limit.

use std::future::pending;
use std::time::Duration;

use chrono::Utc;
use tokio::sync::watch;
use tokio::time::sleep;

use super::item_states::Following;
use crate::carrier::{ItemState, Outcome};

/// How an item has ended. One that runs for longer than the limit is stopped once, and has failed because of it unless it ends in
/// another way all the same.
pub(super) async fn outcome_within(following: &mut Following, limit: Option<Duration>, stop: impl FnOnce()) -> Outcome {
    let overtime = overtime(following.states(), limit);
    tokio::select! {
        biased;
        outcome = following.outcome() => return outcome,
        () = overtime => {}
    }
    stop();
    match following.outcome().await {
        Outcome::Stopped | Outcome::Failed { .. } => {
            let limit = limit.unwrap_or_default().as_millis();
            let text = format!("it was stopped: it ran for more than {limit} ms, its script.timeout.milliseconds");
            Outcome::Failed { exit: None, text }
        }
        other => other,
    }
}

/// Completes when a process has run for longer than the limit. Where its place is lost the next attempt has the whole time.
async fn overtime(mut states: watch::Receiver<Option<ItemState>>, limit: Option<Duration>) {
    let Some(limit) = limit else { return pending().await };
    loop {
        let since = match &*states.borrow_and_update() {
            Some(ItemState::Running { since, .. }) => Some(*since),
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
    use super::*;

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
