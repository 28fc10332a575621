//! The timers of all jobs: one heap of deadlines and one task that sleeps until the first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use slab::Slab;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::clock::Clock;

/// The longest sleep while a deadline is set. The timers notice a step of the wall clock, or the end of a suspension of
/// the machine, after this time at the latest. The clock that tokio sleeps by stops while a machine is suspended.
const CLOCK_CHECK: Duration = Duration::from_secs(1);

/// Stale entries that are kept even when few timers are set, so that few timers need no clean-up.
const STALE_ALLOWANCE: usize = 64;

/// How many drivers are collected before they are woken: thousands of jobs may be due at the same moment.
const TOGETHER: usize = 128;

/// The time at which a timer fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// When the wall clock shows this time, in milliseconds since the Unix epoch. Follows steps of the clock.
    Wall(i64),
    /// When the clock that never steps shows this time, whatever the wall clock does.
    Mono(Duration),
    /// At the deadline that is reached first.
    First {
        /// As in [`Deadline::Wall`].
        wall_ms: i64,
        /// As in [`Deadline::Mono`].
        mono: Duration,
    },
}

impl Deadline {
    /// The deadline that comes first by either clock; `None` when neither is set.
    pub fn first_of(wall_ms: Option<i64>, mono: Option<Duration>) -> Option<Self> {
        match (wall_ms, mono) {
            (Some(wall_ms), Some(mono)) => Some(Self::First { wall_ms, mono }),
            (Some(wall_ms), None) => Some(Self::Wall(wall_ms)),
            (None, Some(mono)) => Some(Self::Mono(mono)),
            (None, None) => None,
        }
    }

    fn wall_ms(self) -> Option<i64> {
        match self {
            Self::Wall(wall_ms) | Self::First { wall_ms, .. } => Some(wall_ms),
            Self::Mono(_) => None,
        }
    }

    fn mono(self) -> Option<Duration> {
        match self {
            Self::Mono(mono) | Self::First { mono, .. } => Some(mono),
            Self::Wall(_) => None,
        }
    }
}

/// Hands out timers and runs them. Cheap to clone. Its task ends when the last clone and the last timer are dropped.
#[derive(Debug, Clone)]
pub struct Timers(Arc<Shared>);

/// A timer of one job. It fires once each time it is set, never before its deadline. Dropping it removes it.
#[derive(Debug)]
pub struct Timer {
    id: TimerId,
    shared: Arc<Shared>,
}

impl Timers {
    /// Starts the task on `runtime`: the [`SystemRuntime`](super::system::SystemRuntime), where user code cannot block it.
    pub fn start(runtime: &Handle, clock: Arc<dyn Clock>) -> Self {
        let changed = Arc::new(Notify::new());
        let shared = Arc::new(Shared { clock, changed: Arc::clone(&changed), state: Mutex::default() });
        runtime.spawn(run(Arc::downgrade(&shared), changed));
        Self(shared)
    }

    /// A timer that is not set yet. When it fires it notifies one waiter of `wake`, or leaves a permit for the next one.
    pub fn register(&self, wake: Arc<Notify>) -> Timer {
        Timer { id: self.0.state().register(wake), shared: Arc::clone(&self.0) }
    }
}

impl Timer {
    /// Sets the deadline, instead of the one set before. A deadline that has passed already fires at once.
    pub fn set(&self, deadline: Deadline) {
        let comes_first = self.shared.state().arm(self.id, deadline);
        if comes_first {
            self.shared.changed.notify_one();
        }
    }

    /// Removes the deadline. A permit that the timer has already left stays.
    pub fn clear(&self) {
        self.shared.state().disarm(self.id);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.shared.state().forget(self.id);
    }
}

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    /// Wakes the task: a deadline before all others was set, or the last owner is gone.
    changed: Arc<Notify>,
    state: Mutex<State>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fires what is due. Returns how long the task may sleep; `None` while no timer is set.
    fn fire_due(&self) -> Option<Duration> {
        let (wall_us, mono) = (self.clock.wall_us(), self.clock.mono());
        let mut due = Vec::with_capacity(TOGETHER);
        loop {
            let next = self.state().advance(wall_us, mono, &mut due);
            let is_all = due.len() < TOGETHER;
            for wake in due.drain(..) {
                wake.notify_one();
            }
            if is_all {
                return next;
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.changed.notify_one();
    }
}

async fn run(shared: Weak<Shared>, changed: Arc<Notify>) {
    while let Some(timers) = shared.upgrade() {
        let next = timers.fire_due();
        drop(timers);
        match next {
            None => changed.notified().await,
            Some(next) => {
                tokio::select! {
                    () = sleep(next) => {}
                    () = changed.notified() => {}
                }
            }
        }
    }
}

/// The place of a timer. A later timer may get the place of one that was dropped; the entries of that one are stale.
type TimerId = usize;
type ArmingId = u64;

/// An entry of a heap: the time, the timer, and which setting of that timer it is. An entry is stale when the timer was
/// set again, was cleared or has fired since. Stale entries are dropped when they come to the top, or when they get too
/// many.
type Entry<T> = Reverse<(T, TimerId, ArmingId)>;

#[derive(Debug)]
struct Registered {
    wake: Arc<Notify>,
    armed: Option<(ArmingId, Deadline)>,
}

#[derive(Debug, Default)]
struct State {
    timers: Slab<Registered>,
    wall: BinaryHeap<Entry<i64>>,
    mono: BinaryHeap<Entry<Duration>>,
    last_arming: ArmingId,
}

impl State {
    fn register(&mut self, wake: Arc<Notify>) -> TimerId {
        self.timers.insert(Registered { wake, armed: None })
    }

    /// Returns whether the deadline may come before the moment for which the task sleeps now.
    fn arm(&mut self, id: TimerId, deadline: Deadline) -> bool {
        let Some(timer) = self.timers.get_mut(id) else { return false };
        if timer.armed.is_some_and(|(_, set)| set == deadline) {
            return false;
        }
        self.last_arming += 1;
        timer.armed = Some((self.last_arming, deadline));
        // The task never sleeps past the top of a heap, be that entry stale or not.
        let wall = deadline.wall_ms().is_some_and(|at| push(&mut self.wall, at, id, self.last_arming));
        let mono = deadline.mono().is_some_and(|at| push(&mut self.mono, at, id, self.last_arming));
        drop_stale(&mut self.wall, &self.timers);
        drop_stale(&mut self.mono, &self.timers);
        wall || mono
    }

    fn disarm(&mut self, id: TimerId) {
        if let Some(timer) = self.timers.get_mut(id) {
            timer.armed = None;
        }
    }

    fn forget(&mut self, id: TimerId) {
        self.timers.try_remove(id);
    }

    /// Collects drivers to wake, `TOGETHER` at most; where it is fewer, it was all of them.
    /// Returns how long to sleep then.
    fn advance(&mut self, wall_us: i64, mono: Duration, due: &mut Vec<Arc<Notify>>) -> Option<Duration> {
        let wall_left_us = |at_ms: i64| at_ms.saturating_mul(1000).saturating_sub(wall_us);
        let wall = pop_due(&mut self.wall, &mut self.timers, |at| wall_left_us(at) <= 0, due);
        let next_mono = pop_due(&mut self.mono, &mut self.timers, |at| at <= mono, due);
        let until_wall = wall.map(|at| Duration::from_micros(wall_left_us(at).unsigned_abs()));
        let until_mono = next_mono.map(|at| at.saturating_sub(mono));
        until_wall.into_iter().chain(until_mono).min().map(|left| left.min(CLOCK_CHECK))
    }
}

fn push<T: Ord + Copy>(heap: &mut BinaryHeap<Entry<T>>, at: T, id: TimerId, arming: ArmingId) -> bool {
    let comes_first = heap.peek().is_none_or(|Reverse((first, ..))| at < *first);
    heap.push(Reverse((at, id, arming)));
    comes_first
}

fn is_live(timers: &Slab<Registered>, id: TimerId, arming: ArmingId) -> bool {
    timers.get(id).and_then(|timer| timer.armed).is_some_and(|(current, _)| current == arming)
}

/// Keeps the size of a heap in proportion to the number of timers, at a cost that is constant on average.
fn drop_stale<T: Ord>(heap: &mut BinaryHeap<Entry<T>>, timers: &Slab<Registered>) {
    if heap.len() > 2 * timers.len() + STALE_ALLOWANCE {
        heap.retain(|Reverse((_, id, arming))| is_live(timers, *id, *arming));
    }
}

/// Takes out what is due or stale; returns the first deadline that is left.
fn pop_due<T: Ord + Copy>(
    heap: &mut BinaryHeap<Entry<T>>,
    timers: &mut Slab<Registered>,
    is_due: impl Fn(T) -> bool,
    due: &mut Vec<Arc<Notify>>,
) -> Option<T> {
    while due.len() < TOGETHER
        && let Some(&Reverse((at, id, arming))) = heap.peek()
    {
        let armed = timers.get_mut(id).filter(|timer| timer.armed.is_some_and(|(current, _)| current == arming));
        match armed {
            Some(_) if !is_due(at) => return Some(at),
            Some(timer) => {
                timer.armed = None;
                due.push(Arc::clone(&timer.wake));
            }
            None => {}
        }
        heap.pop();
    }
    None
}

#[cfg(test)]
mod tests;
