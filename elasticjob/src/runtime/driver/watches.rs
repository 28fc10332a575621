//! The watches of a driver: one of the whole job, or one of each part that its engine has to hear of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;
use litemap::LiteMap;

use crate::engine::Event;
use crate::ident::JobName;
use crate::registry::mirror::{WatchChanges, Watched};
use crate::registry::{RegistryCenter, WatchEvent, WatchStream};

/// The streams of a job. Only those are polled that have something to say: an instance of a job with a thousand items has a
/// thousand of them.
pub(super) struct Watches {
    streams: LiteMap<Watched, Stream>,
    driver: Arc<AtomicWaker>,
    /// The registry center is closed: the streams have no more events, and would report their end for ever.
    ended: bool,
}

struct Stream {
    events: Box<dyn WatchStream>,
    bell: Arc<Bell>,
    waker: Waker,
}

/// Rings when a stream may have an event.
struct Bell {
    rung: AtomicBool,
    driver: Arc<AtomicWaker>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.driver.wake();
    }
}

impl Watches {
    /// The watch of the whole job, with which every engine begins.
    pub(super) fn of_job(registry: &dyn RegistryCenter, job: &JobName) -> Self {
        let mut watches = Self { streams: LiteMap::with_capacity(1), driver: Arc::default(), ended: false };
        watches.add(registry, job, Watched::job());
        watches
    }

    /// Adds and drops what an engine asks for.
    pub(super) fn change(&mut self, registry: &dyn RegistryCenter, job: &JobName, changes: WatchChanges) {
        for watched in changes.add {
            self.add(registry, job, watched);
        }
        for watched in &changes.drop {
            self.streams.remove(watched);
        }
    }

    fn add(&mut self, registry: &dyn RegistryCenter, job: &JobName, watched: Watched) {
        let path = watched.path.absolute(job);
        let events = if watched.below { registry.watch(&path) } else { registry.watch_node(&path) };
        // It has not been asked yet.
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), driver: Arc::clone(&self.driver) });
        let waker = Waker::from(Arc::clone(&bell));
        self.streams.insert(watched, Stream { events, bell, waker });
        self.driver.wake();
    }

    /// The next event of any of them; `None` once when the registry center is closed.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        if self.ended {
            return Poll::Pending;
        }
        self.driver.register(cx.waker());
        for (watched, stream) in self.streams.iter_mut() {
            if !stream.bell.rung.swap(false, Ordering::AcqRel) {
                continue;
            }
            match stream.events.poll_next(&mut Context::from_waker(&stream.waker)) {
                Poll::Pending => {}
                Poll::Ready(event) => {
                    // There may be more.
                    stream.bell.rung.store(true, Ordering::Release);
                    self.ended = event.is_none();
                    return Poll::Ready(event.map(|event| match event {
                        WatchEvent::Gap => Event::placed(watched),
                        event => Event::Watch(event),
                    }));
                }
            }
        }
        Poll::Pending
    }
}
