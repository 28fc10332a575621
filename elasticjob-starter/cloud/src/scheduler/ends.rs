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
    /// Whether the stream has said that earlier events are missed, as it does first.
    has_begun: bool,
    open: Open,
}

impl Ends {
    /// Follows the carrier from now on.
    pub(super) fn of(carrier: &dyn Carrier) -> Self {
        Self { events: carrier.watch(), has_begun: false, open: Open::new() }
    }

    /// These items were open when the carrier was asked, after the start.
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
                Some(LaunchEvent::Gap) if !std::mem::replace(&mut self.has_begun, true) => {}
                Some(LaunchEvent::Gap) => return,
                Some(LaunchEvent::Changed { .. }) => {}
                None => pending().await,
            }
        }
    }
}
