//! The high-water mark of removed items: the fires that they may have been begun for.

use std::collections::BTreeMap;

use crate::engine::engine::JobEngine;
use crate::engine::sharding_data::ShardingData;
use crate::fire::FireRecord;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Known, Unread, read_found};

/// The last fires that removed items may have been begun for. They are kept as data of `sharding` and become the record
/// of new items: an item that is created again must not be begun for a fire that it was begun for before.
#[derive(Default)]
pub(super) struct HighWaterMark {
    data: Option<ShardingData>,
    /// Version of `sharding`, when its data have to be written.
    pub(super) raised: Option<i32>,
    /// Versions of the records of the items that are removed.
    pub(super) versions: BTreeMap<ShardingItem, i32>,
}

impl HighWaterMark {
    /// The record of a new item.
    pub(super) fn record(&self) -> Vec<u8> {
        let record = self.data.as_ref().map(|data| &data.removed).filter(|record| **record != FireRecord::empty());
        record.map(FireRecord::to_bytes).unwrap_or_default()
    }

    /// The data of `sharding`.
    pub(super) fn data(&self) -> Vec<u8> {
        self.data.as_ref().map(ShardingData::to_bytes).unwrap_or_default()
    }

    /// The mark when these items are removed.
    pub(super) fn of(engine: &JobEngine, removed: &[ShardingItem]) -> Result<Self, Unread> {
        let mark = engine.mirror.need(&JobPath::Sharding);
        if mark == Ok(None) {
            return Ok(Self::default());
        }
        let records = removed.iter().map(|item| {
            let known = engine.mirror.need(&JobPath::fire(*item))?;
            Ok(known.map(|known| (*item, known)))
        });
        let records: Vec<(ShardingItem, &Known)> = read_found(records)?;
        let Some(known) = mark? else { return Ok(Self::default()) };
        let ShardingData { removed: before, schedule } = engine.read_sharding(known);
        let mut record = before.clone();
        let mut versions = BTreeMap::new();
        for (item, known) in records {
            let last = engine.read_record(known);
            record.through = record.through.max(last.through);
            record.triggered = record.triggered.max(last.triggered);
            record.ahead = record.ahead.max(last.ahead);
            versions.insert(item, known.version);
        }
        let raised = (before != record).then_some(known.version);
        Ok(Self { data: Some(ShardingData { removed: record, schedule }), raised, versions })
    }
}
