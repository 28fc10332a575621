//! The high-water mark of removed items: the fires that they may have been begun for.

use std::collections::BTreeMap;

use crate::engine::engine::JobEngine;
use crate::engine::fire::FireRecord;
use crate::ident::ShardingItem;
use crate::registry::mirror::Lookup;
use crate::registry::path::JobPath;

/// The last fires that removed items may have been begun for. They are kept as data of `sharding` and become the record
/// of new items: an item that is created again must not be begun for a fire that it was begun for before.
#[derive(Default)]
pub(super) struct Floor {
    record: Option<FireRecord>,
    /// Version of `sharding`, when its data have to be written.
    pub(super) raised: Option<i32>,
    /// Versions of the records of the items that are removed.
    pub(super) versions: BTreeMap<ShardingItem, i32>,
}

impl Floor {
    pub(super) fn data(&self) -> Vec<u8> {
        self.record.as_ref().map(FireRecord::to_bytes).unwrap_or_default()
    }

    /// `None` while data are missing.
    pub(super) fn of(engine: &JobEngine, removed: &[ShardingItem]) -> Option<Self> {
        let (before, version) = match engine.mirror.look(&JobPath::Sharding) {
            Lookup::Missing => return Some(Self::default()),
            Lookup::Unread => (None, None),
            Lookup::Known(known) => (Some(engine.read_record(known)), Some(known.version)),
        };
        let mut complete = version.is_some();
        let mut record = before.clone().unwrap_or(FireRecord::empty());
        let mut versions = BTreeMap::new();
        for item in removed {
            match engine.mirror.look(&JobPath::fire(*item)) {
                Lookup::Missing => {}
                Lookup::Unread => complete = false,
                Lookup::Known(known) => {
                    let last = engine.read_record(known);
                    record.through = record.through.max(last.through);
                    record.triggered = record.triggered.max(last.triggered);
                    record.ahead = record.ahead.max(last.ahead);
                    versions.insert(*item, known.version);
                }
            }
        }
        let raised = version.filter(|_| before.as_ref() != Some(&record));
        let record = Some(record).filter(|record| *record != FireRecord::empty());
        complete.then_some(Self { record, raised, versions })
    }
}

impl JobEngine {
    /// The record of an item. An item that has none was created while execution was not monitored, or by a Java leader:
    /// then its record is the high-water mark of removed items. `None` while data are missing.
    pub(in crate::engine) fn record_of(&self, item: ShardingItem) -> Option<FireRecord> {
        let mut found = self.mirror.look(&JobPath::fire(item));
        if found == Lookup::Missing {
            found = self.mirror.look(&JobPath::Sharding);
        }
        match found {
            Lookup::Missing => Some(FireRecord::empty()),
            Lookup::Unread => None,
            Lookup::Known(known) => Some(self.read_record(known)),
        }
    }
}
