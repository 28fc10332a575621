//! Tells that the place where an item ran is gone: operators have to hear of it, also where the item runs again and ends well.

use chrono::{DateTime, Utc};
use elasticjob::ident::{InstanceId, ShardingItem};
use elasticjob::log::warn;
use elasticjob::trace::{DecisionKind, JobDecisionEvent, JobEvent, Tracing};
use serde_json::{Map, json};

use crate::carrier::{LaunchId, LostPlace};

/// Where lost places are told. Cheap to clone.
#[derive(Clone)]
pub(super) struct Losses {
    /// The decision log; nothing where the scheduler traces nothing.
    pub(super) tracing: Option<Tracing>,
    /// This scheduler.
    pub(super) instance: InstanceId,
}

impl Losses {
    /// The place of an attempt is lost. A scheduler that adopts the item tells it, too: it does not know what the one before told.
    pub(super) fn tell(&self, id: &LaunchId, item: ShardingItem, lost: &LostPlace) {
        let place = lost.place.as_deref().map_or_else(String::new, |place| format!(" on {place}"));
        let reason = format!("attempt {}{place} was lost: {}", lost.attempt, lost.why);
        warn!(job = %id.job, "item {item} of {id}: {reason}");
        let Some(tracing) = &self.tracing else { return };
        let mut detail = Map::new();
        detail.insert("attempt".to_owned(), json!(lost.attempt));
        detail.insert("why".to_owned(), json!(lost.why));
        detail.extend(lost.place.iter().map(|place| ("place".to_owned(), json!(place))));
        tracing.post(JobEvent::Decision(JobDecisionEvent {
            scheduled_at: DateTime::<Utc>::from_timestamp_millis(id.fire.at()),
            sharding_items: vec![item],
            instance: Some(self.instance.clone()),
            reason,
            detail,
            ..JobDecisionEvent::new(id.job.clone(), DecisionKind::PlaceLost)
        }));
    }
}
