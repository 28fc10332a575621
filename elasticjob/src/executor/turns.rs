//! A limit on how many items run at a time. Items that were taken over go first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::fire::ExecutionSource;

/// The turns of the items of one job.
#[derive(Debug)]
pub(super) struct Turns(Mutex<State>);

#[derive(Debug)]
struct State {
    free: usize,
    taken_over: VecDeque<oneshot::Sender<Turn>>,
    regular: VecDeque<oneshot::Sender<Turn>>,
}

/// The turn of an item, taken until this is dropped.
#[derive(Debug)]
pub(super) struct Turn(Option<Arc<Turns>>);

impl Turns {
    pub(super) fn new(size: usize) -> Arc<Self> {
        let state = State { free: size, taken_over: VecDeque::new(), regular: VecDeque::new() };
        Arc::new(Self(Mutex::new(state)))
    }

    /// Returns a turn, or the receiver that gets one later. A waiting item that is cancelled drops the receiver.
    pub(super) fn take(self: &Arc<Self>, source: ExecutionSource) -> Result<Turn, oneshot::Receiver<Turn>> {
        let mut state = self.state();
        if state.free > 0 {
            state.free -= 1;
            return Ok(Turn(Some(self.clone())));
        }
        let State { taken_over, regular, .. } = &mut *state;
        let queue = if source == ExecutionSource::Failover { taken_over } else { regular };
        // Removes items that were cancelled while they waited.
        queue.retain(|waiting| !waiting.is_closed());
        let (sender, receiver) = oneshot::channel();
        queue.push_back(sender);
        Err(receiver)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.state().free
    }
}

impl State {
    /// The item that waits longest; items that were taken over come before all others. Where none waits, one more turn
    /// is free.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let next = self.taken_over.pop_front().or_else(|| self.regular.pop_front());
        if next.is_none() {
            self.free += 1;
        }
        next
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(turns) = self.0.take() else { return };
        loop {
            // The lock is free again before the turn is sent: a turn that is not received is dropped, which comes back
            // here.
            let next = turns.state().next();
            let Some(next) = next else { return };
            match next.send(Turn(Some(turns.clone()))) {
                Ok(()) => return,
                Err(mut refused) => refused.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(turns: &Arc<Turns>, source: ExecutionSource) -> oneshot::Receiver<Turn> {
        turns.take(source).expect_err("nothing is free")
    }

    #[test]
    fn an_item_that_was_taken_over_goes_before_all_that_wait() {
        let turns = Turns::new(1);
        let running = turns.take(ExecutionSource::NormalTrigger).expect("it is free");
        let mut first = waits(&turns, ExecutionSource::NormalTrigger);
        let mut second = waits(&turns, ExecutionSource::NormalTrigger);
        let mut taken_over = waits(&turns, ExecutionSource::Failover);
        drop(running);
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        drop(taken_over.try_recv().expect("it is first"));
        assert!(second.try_recv().is_err());
        drop(first.try_recv().expect("it waited longer than the second one"));
        drop(second.try_recv().expect("it is the last one"));
        assert_eq!(turns.free(), 1);
    }

    #[test]
    fn a_turn_passes_over_items_that_wait_no_longer() {
        let turns = Turns::new(1);
        let running = turns.take(ExecutionSource::NormalTrigger).expect("it is free");
        let gone = waits(&turns, ExecutionSource::NormalTrigger);
        let unread = waits(&turns, ExecutionSource::NormalTrigger);
        let mut last = waits(&turns, ExecutionSource::NormalTrigger);
        drop(gone);
        drop(running);
        // This item had got the turn and never received it.
        drop(unread);
        drop(last.try_recv().expect("it is next"));
        assert_eq!(turns.free(), 1);
    }
}
