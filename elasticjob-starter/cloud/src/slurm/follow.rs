//! Tells the changes of items that were launched or stopped here.

use std::sync::Arc;

use elasticjob::ident::ShardingItem;
use tokio::time::Instant;

use super::mirror::Snapshot;
use super::queue::Row;
use super::{Shared, blocking};
use crate::carrier::{ItemState, LaunchEvent, LaunchId};

/// An item whose changes are told.
#[derive(Debug)]
pub(super) struct Followed {
    /// Snapshots of an earlier time do not have it.
    since: Instant,
    /// The rows that made its state.
    rows: Vec<Row>,
    state: Option<ItemState>,
}

impl Shared {
    /// Has the changes of items told from now on.
    pub(super) fn follow(&self, id: &LaunchId, items: &[ShardingItem]) {
        let mut followed = self.lock();
        for item in items {
            let new = || Followed { since: Instant::now(), rows: Vec::new(), state: None };
            followed.entry((id.clone(), *item)).or_insert_with(new);
        }
    }

    /// Has items told again by the next snapshot, where they are followed: the caller was told that they cannot be read, which is no
    /// state of theirs.
    pub(super) fn tell_again(&self, id: &LaunchId, items: &[ShardingItem]) {
        let mut followed = self.lock();
        for item in items {
            if let Some(of) = followed.get_mut(&(id.clone(), *item)) {
                (of.since, of.state) = (Instant::now(), None);
            }
        }
    }

    /// Tells what changed since the last snapshot.
    pub(super) async fn publish(self: Arc<Self>, snapshot: Arc<Snapshot>) {
        let shared = self.clone();
        let surplus = blocking(move || Ok(shared.look(&snapshot))).await.unwrap_or_default();
        if !surplus.is_empty() {
            // What fails is tried again with the next snapshot.
            let _ = self.commands.run("scancel", &surplus).await;
        }
    }

    /// Looks at what is followed, and returns the rows that run nothing.
    fn look(&self, snapshot: &Snapshot) -> Vec<String> {
        let changed: Vec<(LaunchId, ShardingItem, Vec<Row>)> = {
            let followed = self.lock();
            let old = followed.iter().filter(|(_, followed)| followed.since <= snapshot.asked);
            let rows = old.map(|((id, item), of)| (id, *item, of, snapshot.rows(&self.name(id), *item)));
            // What has ended and is still followed has an exit code that is not to be seen yet.
            let is_open = |rows: &[Row]| rows.iter().any(|row| !row.is_live());
            let changed = rows.filter(|(_, _, of, rows)| of.state.is_none() || of.rows != *rows || is_open(rows));
            changed.map(|(id, item, _, rows)| (id.clone(), item, rows.to_vec())).collect()
        };
        let mut surplus = Vec::new();
        for (id, item, rows) in changed {
            // A folder that cannot be read now is read again with the next snapshot.
            let Ok(place) = self.place(&id, item) else { continue };
            surplus.extend(place.surplus(&rows).unwrap_or_default().into_iter().map(Row::id));
            let Ok(Some(state)) = place.state(&rows, true) else { continue };
            self.tell(id, item, rows, state);
        }
        surplus
    }

    fn tell(&self, id: LaunchId, item: ShardingItem, rows: Vec<Row>, state: ItemState) {
        let key = (id, item);
        {
            let mut followed = self.lock();
            let Some(of) = followed.get_mut(&key) else { return };
            of.rows = rows;
            let is_told = of.state.as_ref() == Some(&state);
            of.state = Some(state.clone());
            if state.outcome().is_some() {
                followed.remove(&key);
            }
            if is_told {
                return;
            }
        }
        self.events.send(LaunchEvent::Changed { id: key.0, item, state });
    }
}
