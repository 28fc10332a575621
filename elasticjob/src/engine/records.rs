//! The record of an item, as far as it counts.

use super::engine::JobEngine;
use crate::fire::FireRecord;
use crate::ident::ShardingItem;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

impl JobEngine {
    /// The record of an item. An item that has none was created while execution was not monitored, or by a Java leader:
    /// then its record is the high-water mark of removed items.
    pub(super) fn record_of(&self, item: ShardingItem) -> Result<FireRecord, Unread> {
        if let Some(known) = self.mirror.need(&JobPath::fire(item))? {
            return Ok(self.read_record(known));
        }
        let mark = self.mirror.need(&JobPath::Sharding)?;
        Ok(mark.map_or(FireRecord::empty(), |known| self.read_sharding(known).removed))
    }
}
