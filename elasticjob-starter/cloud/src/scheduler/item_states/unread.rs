//! The launches that are to be read, as events of them may be missed: some at a time, and again later what could not be read.

use std::collections::BTreeSet;
use std::future::pending;
use std::time::Duration;

use elasticjob::log::{info, warn};
use tokio::time::{Instant, sleep_until};

use super::AGAIN;
use crate::carrier::{CarrierError, LaunchId};

/// How many launches are read at a time.
pub(super) const AT_A_TIME: usize = 16;

/// The longest pause before launches are read again that could not be.
const LONGEST: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Those to read at once.
    next: BTreeSet<LaunchId>,
    being_read: BTreeSet<LaunchId>,
    /// Those that could not be read.
    failed: BTreeSet<LaunchId>,
    /// While some cannot be read: when they are read again, and after which pause.
    again: Option<(Instant, Duration)>,
}

impl Unread {
    pub(super) fn extend(&mut self, ids: impl Iterator<Item = LaunchId>) {
        self.next.extend(ids);
    }

    /// The next one to read. One that is being read has to wait: the answer may be of a time before it was to be read again.
    pub(super) fn pop(&mut self) -> Option<LaunchId> {
        let is_free = self.being_read.len() < AT_A_TIME;
        let id = self.next.iter().find(|id| is_free && !self.being_read.contains(*id))?.clone();
        self.next.remove(&id);
        self.being_read.insert(id.clone());
        Some(id)
    }

    /// A launch was read, or could not be.
    pub(super) fn was_read(&mut self, id: LaunchId, read: Result<(), CarrierError>) {
        self.being_read.remove(&id);
        if let Err(error) = read {
            if self.again.is_none() {
                warn!("{error}; still waiting for the launch {id}, and asking the carrier again");
            }
            let pause = self.again.map_or(AGAIN, |(_, pause)| pause);
            self.again = Some((Instant::now() + pause, pause));
            self.failed.insert(id);
        }
        let is_all_read = self.next.is_empty() && self.being_read.is_empty() && self.failed.is_empty();
        if is_all_read && self.again.take().is_some() {
            info!("the carrier has answered for all launches that are waited for");
        }
    }

    /// Completes when what could not be read is to be read again.
    pub(super) async fn until_again(&self) {
        match self.again {
            Some((at, _)) if !self.failed.is_empty() => sleep_until(at).await,
            _ => pending().await,
        }
    }

    /// What could not be read is to be read now.
    pub(super) fn read_again(&mut self) {
        self.next.append(&mut self.failed);
        self.again = self.again.map(|(at, pause)| (at, (pause * 2).min(LONGEST)));
    }
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Fire;
    use elasticjob::ident::JobName;

    use super::*;

    fn launch(at: i64) -> LaunchId {
        LaunchId { job: JobName::new("work").unwrap(), fire: Fire::Scheduled(at) }
    }

    #[tokio::test(start_paused = true)]
    async fn some_are_read_at_a_time_none_twice_at_once_and_what_fails_after_growing_pauses() {
        let mut unread = Unread::default();
        unread.extend((0..20).map(launch));
        let first: Vec<LaunchId> = std::iter::from_fn(|| unread.pop()).collect();
        assert_eq!(first.len(), AT_A_TIME);
        unread.extend([launch(0)].into_iter());
        unread.was_read(launch(1), Ok(()));
        assert_eq!(unread.pop(), Some(launch(16)), "the first one is being read");
        (0..AT_A_TIME as i64 + 1).for_each(|at| unread.was_read(launch(at), Ok(())));
        while let Some(id) = unread.pop() {
            unread.was_read(id, Err(CarrierError::new("read the states", "it is away")));
        }
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let begun = Instant::now();
            unread.until_again().await;
            pauses.push(begun.elapsed().as_secs());
            unread.read_again();
            while let Some(id) = unread.pop() {
                unread.was_read(id, Err(CarrierError::new("read the states", "it is away")));
            }
        }
        assert_eq!(pauses, [1, 2, 4, 8, 10, 10]);
        unread.read_again();
        while let Some(id) = unread.pop() {
            unread.was_read(id, Ok(()));
        }
        assert!(unread.again.is_none());
    }
}
