//! One action on many jobs: some at a time, as each may wait for the assignment of its items.

use futures_util::stream::{StreamExt, iter};

/// How many jobs are acted on at the same time.
const AT_ONCE: usize = 32;

/// How the action on each job ended, in the order of the jobs.
pub(crate) async fn ends<T>(actions: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    // Collected first: a lazy stream of borrowing futures is not known to be `Send`.
    let actions = actions.into_iter().enumerate().map(async |(at, action)| (at, action.await));
    let actions: Vec<_> = actions.collect();
    // Not in their order: one that waits would keep those behind it from their begin.
    let mut ends: Vec<(usize, T)> = iter(actions).buffer_unordered(AT_ONCE).collect().await;
    ends.sort_unstable_by_key(|(at, _)| *at);
    ends.into_iter().map(|(_, end)| end).collect()
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_job_that_waits_keeps_no_other_one_waiting() {
        let (last, last_has_ended) = (3 * AT_ONCE, Notify::new());
        let action = async |job: usize| {
            match job {
                0 => last_has_ended.notified().await,
                job if job == last => last_has_ended.notify_one(),
                _ => tokio::task::yield_now().await,
            }
            job
        };
        assert_eq!(ends((0..=last).map(action)).await, (0..=last).collect::<Vec<_>>());
    }
}
