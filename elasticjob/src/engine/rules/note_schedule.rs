//! Notes in the registry since when the group follows its schedule.

use super::Step;
use crate::clock::Now;
use crate::engine::engine::JobEngine;
use crate::engine::sharding_data::ShardingData;
use crate::engine::state::proposal::{Proposal, Purpose};
use crate::engine::txn::JobTransaction;
use crate::registry::layout::JobPath;
use crate::registry::mirror::Unread;

/// Notes the schedule in force and since when it is followed, where another one is noted: so an edit of anything else in the
/// configuration takes no fire away. With the first assignment the note is part of that.
pub(super) fn note(engine: &mut JobEngine, _: Now) -> Result<Step, Unread> {
    if engine.leadership.term.is_none() || engine.configuration.in_force.is_none() {
        return Ok(Step::Pass);
    }
    let Some(known) = engine.mirror.need(&JobPath::Sharding)? else { return Ok(Step::Pass) };
    if engine.is_right(known.parsed(ShardingData::parse).schedule.as_ref()) {
        return Ok(Step::Pass);
    }
    let data = ShardingData { schedule: engine.followed_schedule(), ..engine.read_sharding(known) }.to_bytes();
    // A later release may keep so much there that there is no room left for the note.
    if !engine.is_right(ShardingData::parse(&data).schedule.as_ref()) {
        return Ok(Step::Pass);
    }
    let mut txn = JobTransaction::new(&engine.job, &engine.mirror);
    txn.check(&JobPath::LeaderInstance);
    txn.set(&JobPath::Sharding, data, Some(known.version));
    Ok(Step::Write(Proposal { transaction: txn.build(), purpose: Purpose::NoteSchedule }))
}
