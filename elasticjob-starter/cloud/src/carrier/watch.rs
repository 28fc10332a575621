//! The events of a carrier.

use tokio::sync::broadcast;

use super::{ItemState, LaunchId};
use elasticjob::ident::ShardingItem;
use std::future::Future;
use std::pin::Pin;

/// A change of launches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchEvent {
    /// Events may have been missed: read the states that matter. Every event after it is later than the gap.
    Gap,
    /// An item came into another state.
    Changed {
        /// The launch.
        id: LaunchId,
        /// The item.
        item: ShardingItem,
        /// Its state now.
        state: ItemState,
    },
}

/// The events of a carrier, from the time of the call of [`watch`](super::Carrier::watch).
pub trait LaunchStream: Send {
    /// The next event. `None` when the carrier is gone. Dropping the future loses no event.
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<LaunchEvent>> + Send + '_>>;
}

/// How many events a reader may be behind before it gets a gap instead.
const BEHIND: usize = 1_024;

/// Sends the events of a carrier to all streams. A reader that is too slow gets a [gap](LaunchEvent::Gap). For
/// implementations of [`Carrier`](super::Carrier).
#[derive(Debug, Clone)]
pub struct EventSender(broadcast::Sender<LaunchEvent>);

impl Default for EventSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl EventSender {
    /// Sends an event to all streams.
    pub fn send(&self, event: LaunchEvent) {
        // An error says that there is no stream.
        let _ = self.0.send(event);
    }

    /// A stream of the events from now on, which begins with a gap.
    pub fn stream(&self) -> Box<dyn LaunchStream> {
        Box::new(Receiver { events: self.0.subscribe(), gap: true })
    }
}

struct Receiver {
    events: broadcast::Receiver<LaunchEvent>,
    gap: bool,
}

impl LaunchStream for Receiver {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Option<LaunchEvent>> + Send + '_>> {
        Box::pin(async {
            if std::mem::take(&mut self.gap) {
                return Some(LaunchEvent::Gap);
            }
            match self.events.recv().await {
                Ok(event) => Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => Some(LaunchEvent::Gap),
                Err(broadcast::error::RecvError::Closed) => None,
            }
        })
    }
}
