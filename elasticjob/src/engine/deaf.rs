//! Planted bugs that drop due fires. They look at the whole engine, so they are not in `planted`, which its parts use.

use super::engine::JobEngine;
use super::event::Event;
#[cfg(feature = "testing")]
use super::planted::{Bug, DEAF};
use crate::clock::Now;
use crate::ident::ShardingItem;
#[cfg(feature = "testing")]
use crate::registry::{WatchEvent, layout::JobPath};

impl JobEngine {
    /// Drops due fires from now on where the event is what a planted bug is deaf after.
    #[cfg(feature = "testing")]
    pub(super) fn deafen_by(&mut self, now: Now, event: &Event) {
        let is_late = |seen: Now| now.mono > seen.mono + DEAF / 2;
        if self.planted.has(Bug::DeafAfterFreeze)
            && self.seen.is_some_and(is_late)
            && self.poll_timeout().wall.is_some_and(|due| now.wall > due + DEAF.as_millis() as i64 / 2)
        {
            self.planted.deafen(Bug::DeafAfterFreeze, now.mono + DEAF);
        }
        if let Event::Watch(WatchEvent::Deleted(path)) = event
            && let Some(JobPath::Instance(_)) = JobPath::parse(&self.job, path)
        {
            self.planted.deafen(Bug::DeafAfterDeparture, now.mono + DEAF * 5 / 2);
        }
    }

    /// Whether an item other than these runs, as far as this instance knows.
    pub(super) fn runs_beside(&self, mine: &[ShardingItem]) -> bool {
        self.mirror.running_items().any(|item| !mine.contains(&item))
    }

    #[cfg(not(feature = "testing"))]
    #[allow(clippy::unused_self)]
    pub(super) fn deafen_by(&mut self, _: Now, _: &Event) {}
}
