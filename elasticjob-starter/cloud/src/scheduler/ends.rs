//! The ends of what a removed job runs, as the carrier tells them: its launches are forgotten then, and not looked at before.

use std::collections::BTreeSet;
use std::future::pending;

use elasticjob::ident::ShardingItem;

use crate::carrier::{Carrier, LaunchEvent, LaunchId, LaunchStream};

/// Items of launches that have not ended.
pub(super) type Open = BTreeSet<(LaunchId, ShardingItem)>;

/// Follows the carrier until open items have ended.
pub(super) struct Ends {
    events: Box<dyn LaunchStream>,
    open: Open,
}

impl Ends {
    /// Follows the carrier from now on.
    pub(super) async fn of(carrier: &dyn Carrier) -> Self {
        let mut events = carrier.watch();
        // The first one says that earlier events are missed: the states are read after this.
        let _ = events.next().await;
        Self { events, open: Open::new() }
    }

    /// These items are open, by a look later than the start.
    pub(super) fn wait_for(&mut self, open: Open) {
        self.open = open;
    }

    /// Completes when all of them have ended, or when events were missed. Dropping the future loses no event.
    pub(super) async fn all(&mut self) {
        loop {
            match self.events.next().await {
                Some(LaunchEvent::Changed { id, item, state }) if state.outcome().is_some() => {
                    if self.open.remove(&(id, item)) && self.open.is_empty() {
                        return;
                    }
                }
                Some(LaunchEvent::Gap) => return,
                Some(LaunchEvent::Changed { .. }) => {}
                None => pending().await,
            }
        }
    }
}
