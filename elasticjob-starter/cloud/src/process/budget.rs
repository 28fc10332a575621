//! The CPUs and memory of the host for the processes of a carrier. A process waits until there is room for it.

use std::fmt;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use elasticjob::config::Message;
use tokio::sync::Notify;

use crate::texts;

/// An amount of CPUs and memory. CPUs in thousandths, memory in MB, so that sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) millicpus: u64,
    pub(super) megabytes: u64,
}

impl Amount {
    pub(super) fn new(cpus: f64, megabytes: f64) -> Self {
        // Of a sum as 0.1 + 0.2 the last digits are none of what was registered.
        let millicpus = (cpus * 1_000_000.0).round() / 1_000.0;
        Self { millicpus: millicpus.ceil() as u64, megabytes: megabytes.ceil() as u64 }
    }

    pub(super) fn message(self) -> Message {
        texts::an_amount((self.millicpus as f64 / 1_000.0).to_string(), self.megabytes.to_string())
    }

    pub(super) fn fits(self, room: Self) -> bool {
        self.millicpus <= room.millicpus && self.megabytes <= room.megabytes
    }

    /// What the host has.
    pub(super) fn of_host() -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        Self { millicpus: cpus * 1_000, megabytes: memory_of_host().unwrap_or(u64::MAX) }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            millicpus: self.millicpus.saturating_sub(other.millicpus),
            megabytes: self.megabytes.saturating_sub(other.megabytes),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// The memory of the host in MB, where the system says it.
fn memory_of_host() -> Option<u64> {
    let all = fs::read_to_string("/proc/meminfo").ok()?;
    let total = all.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1_024)
}

/// The budget.
#[derive(Debug, Clone)]
pub(super) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    total: Amount,
    used: Mutex<Amount>,
    freed: Notify,
    /// The first in the queue holds it until there is room for it: a large process is not passed by small ones for ever.
    turn: tokio::sync::Mutex<()>,
}

impl Budget {
    pub(super) fn of(total: Amount) -> Self {
        Self(Arc::new(Shared {
            total,
            used: Mutex::default(),
            freed: Notify::new(),
            turn: tokio::sync::Mutex::default(),
        }))
    }

    pub(super) fn total(&self) -> Amount {
        self.0.total
    }

    /// Takes room, as soon as there is some and the processes before it have theirs.
    pub(super) async fn take(&self, wanted: Amount) -> Room {
        let _turn = self.0.turn.lock().await;
        loop {
            let freed = self.0.freed.notified();
            if wanted.fits(self.free()) {
                return self.occupy(wanted);
            }
            freed.await;
        }
    }

    /// Takes room when there is some and no other process waits.
    pub(super) fn take_now(&self, wanted: Amount) -> Option<Room> {
        let _turn = self.0.turn.try_lock().ok()?;
        wanted.fits(self.free()).then(|| self.occupy(wanted))
    }

    /// Counts a process that runs already, whether there is room for it or not.
    pub(super) fn occupy(&self, amount: Amount) -> Room {
        let mut used = self.lock();
        used.millicpus += amount.millicpus;
        used.megabytes = used.megabytes.saturating_add(amount.megabytes);
        Room { budget: self.clone(), amount }
    }

    pub(super) fn free(&self) -> Amount {
        self.0.total.minus(*self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Amount> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room that a process takes, until it is dropped.
#[derive(Debug)]
pub(super) struct Room {
    budget: Budget,
    amount: Amount,
}

impl Drop for Room {
    fn drop(&mut self) {
        {
            let mut used = self.budget.lock();
            *used = used.minus(self.amount);
        }
        self.budget.0.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn what_is_added_up_is_what_was_registered() {
        let millicpus = |cpus: f64| Amount::new(cpus, 0.0).millicpus;
        assert_eq!((millicpus(0.1 + 0.2), millicpus(0.1 * 3.0), millicpus(0.0011)), (300, 300, 2));
    }

    #[test]
    fn a_process_waits_for_room_and_a_large_one_is_not_passed() {
        let budget = Budget::of(Amount::new(2.0, 100.0));
        let mut context = Context::from_waker(Waker::noop());
        let first = budget.take_now(Amount::new(1.5, 50.0)).unwrap();
        let mut large = pin!(budget.take(Amount::new(2.0, 10.0)));
        assert!(large.as_mut().poll(&mut context).is_pending());
        let mut small = pin!(budget.take(Amount::new(0.1, 10.0)));
        assert!(small.as_mut().poll(&mut context).is_pending() && budget.take_now(Amount::new(0.1, 10.0)).is_none());
        drop(first);
        let Poll::Ready(large) = large.as_mut().poll(&mut context) else { panic!("there is room") };
        assert!(small.as_mut().poll(&mut context).is_pending());
        drop(large);
        assert!(small.as_mut().poll(&mut context).is_ready());
        assert_eq!(budget.free(), budget.total());
    }
}
