//! The watches of a registry, found by the first segment of a path so that thousands of jobs do not slow each other
//! down.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::WatchEvent;
use crate::registry::nodes::is_at_or_below;

/// Events on their way to one watch stream.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<Queued>);

#[derive(Debug, Default)]
struct Queued {
    events: VecDeque<WatchEvent>,
    closed: bool,
    waker: Option<Waker>,
}

impl Queue {
    pub(super) fn push(&self, event: WatchEvent) {
        self.change(|queued| queued.events.push_back(event));
    }

    /// Ends the stream; events in the queue are still delivered.
    pub(super) fn close(&self) {
        self.change(|queued| queued.closed = true);
    }

    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        let mut queued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = queued.events.pop_front() {
            if queued.events.is_empty() {
                // Most watches have no events for most of the time: keep no buffer for them.
                queued.events = VecDeque::new();
            }
            return Poll::Ready(Some(event));
        }
        if queued.closed {
            return Poll::Ready(None);
        }
        // A driver looks here at every turn, and it is the same one each time.
        if !queued.waker.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            queued.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn change(&self, change: impl FnOnce(&mut Queued)) {
        let waker = {
            let mut queued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            change(&mut queued);
            queued.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[derive(Debug)]
struct Watcher {
    /// Without a trailing slash, empty for the root.
    path: Box<str>,
    /// Whether it hears of the nodes below it too.
    below: bool,
    client: u64,
    queue: Arc<Queue>,
}

impl Watcher {
    fn hears(&self, path: &str) -> bool {
        *path == *self.path || (self.below && is_at_or_below(path, &self.path))
    }
}

/// All watches of a registry.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    /// By the first segment of the watched path; watches of the root are under the empty segment.
    by_segment: BTreeMap<Box<str>, Vec<Watcher>>,
}

impl Watchers {
    pub(super) fn add(&mut self, path: &str, below: bool, client: u64, queue: Arc<Queue>) {
        let path: Box<str> = path.trim_end_matches('/').into();
        // Usually a job has one watch.
        let watchers = self.by_segment.entry(first_segment(&path).into()).or_insert_with(|| Vec::with_capacity(1));
        watchers.push(Watcher { path, below, client, queue });
    }

    pub(super) fn remove(&mut self, path: &str, queue: &Arc<Queue>) {
        let segment = first_segment(path);
        if let Some(watchers) = self.by_segment.get_mut(segment) {
            watchers.retain(|watcher| !Arc::ptr_eq(&watcher.queue, queue));
            if watchers.is_empty() {
                self.by_segment.remove(segment);
            }
        }
    }

    /// Gives events to all watches of the nodes, except those of clients that `deaf` names.
    pub(super) fn dispatch(&self, events: Vec<WatchEvent>, deaf: impl Fn(u64) -> bool) {
        for event in events {
            let (WatchEvent::Created(path) | WatchEvent::Changed(path) | WatchEvent::Deleted(path)) = &event else {
                continue;
            };
            // Watches of the root get every event; an event on the root goes to them alone.
            let segment = Some(first_segment(path)).filter(|segment| !segment.is_empty());
            for watcher in
                [Some(""), segment].into_iter().flatten().filter_map(|segment| self.by_segment.get(segment)).flatten()
            {
                if watcher.hears(path) && !deaf(watcher.client) {
                    watcher.queue.push(event.clone());
                }
            }
        }
    }

    /// Gives an event to every watch of a client.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn tell(&self, client: u64, event: &WatchEvent) {
        self.by_segment
            .values()
            .flatten()
            .filter(|watcher| watcher.client == client)
            .for_each(|watcher| watcher.queue.push(event.clone()));
    }

    /// Ends every watch of a client.
    pub(super) fn close(&mut self, client: u64) {
        self.by_segment.retain(|_, watchers| {
            watchers.iter().filter(|watcher| watcher.client == client).for_each(|watcher| watcher.queue.close());
            watchers.retain(|watcher| watcher.client != client);
            !watchers.is_empty()
        });
    }
}

fn first_segment(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &Queue) -> Vec<WatchEvent> {
        let mut cx = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| match queue.poll_next(&mut cx) {
            Poll::Ready(event) => event,
            Poll::Pending => None,
        })
        .collect()
    }

    #[test]
    fn an_event_reaches_the_watches_at_and_above_its_node_alone() {
        let mut watchers = Watchers::default();
        let queues: Vec<_> = ["/", "/a", "/a/b", "/ab", "/b"]
            .map(|path| {
                let queue = Arc::new(Queue::default());
                watchers.add(path, true, 1, queue.clone());
                queue
            })
            .into();
        watchers.dispatch(vec![WatchEvent::Created("/a/b".into()), WatchEvent::Changed("/ab".into())], |_| false);
        let counts: Vec<_> = queues.iter().map(|queue| drain(queue).len()).collect();
        assert_eq!(counts, [2, 1, 1, 1, 0]);
        watchers.remove("/a", &queues[1]);
        watchers.dispatch(vec![WatchEvent::Deleted("/a".into())], |_| false);
        assert_eq!(drain(&queues[1]), []);
        assert_eq!(drain(&queues[0]).len(), 1);
        watchers.dispatch(vec![WatchEvent::Changed("/".into())], |_| false);
        assert_eq!(drain(&queues[0]).len(), 1, "the root is told once of itself");
        watchers.dispatch(vec![WatchEvent::Deleted("/a".into())], |client| client == 1);
        assert_eq!(drain(&queues[0]), []);
    }

    #[test]
    fn a_watch_of_a_node_alone_does_not_hear_of_the_nodes_below_it() {
        let mut watchers = Watchers::default();
        let queue = Arc::new(Queue::default());
        watchers.add("/a/b", false, 1, queue.clone());
        let created = ["/a", "/a/b", "/a/b/c", "/a/bc"].map(|path| WatchEvent::Created(path.into()));
        watchers.dispatch(created.to_vec(), |_| false);
        assert_eq!(drain(&queue), [WatchEvent::Created("/a/b".into())]);
    }
}
