//! The data of the node `sharding`: what removed items were begun for, and since when the group follows its schedule.
//!
//! The time of the last write of `config` is not that: with each edit of a configuration it is a new one, and fires that were
//! due before the edit would count as fires of another schedule.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::engine::JobEngine;
use super::planted::Bug;
use crate::config::JobConfiguration;
use crate::fire::{FireRecord, Later};
use crate::registry::layout::JobPath;
use crate::registry::mirror::{Known, Unread};

const SCHEDULE: &str = "schedule";

/// A longer cron expression, in bytes, is not noted: its fires count from the last edit. It must not crowd out the high-water
/// mark, as data longer than those of any record count as blank.
const LONGEST_EXPRESSION: usize = 4 * 1024;

/// Data of `sharding`, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShardingData {
    /// The high-water mark of removed items.
    pub(crate) removed: FireRecord,
    /// The schedule that the leader noted last; `None` for one-off jobs, without monitoring, and where no leader of this
    /// release was there.
    pub(crate) schedule: Option<FollowedSchedule>,
}

/// A schedule, and since when the group follows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowedSchedule {
    cron: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    /// By the server's clock, in milliseconds since 1970.
    since: i64,
    /// The fields that this release does not know.
    #[serde(flatten)]
    later: Later,
}

impl FollowedSchedule {
    /// Whether a configuration has the same schedule: the same cron expression in the same time zone.
    fn is_of(&self, configuration: &JobConfiguration) -> bool {
        schedule_of(configuration) == Some((self.cron.as_str(), self.time_zone.as_deref()))
    }
}

/// The schedule whose fires are recorded: without monitoring no record tells what was begun.
fn schedule_of(configuration: &JobConfiguration) -> Option<(&str, Option<&str>)> {
    let schedule = configuration.schedule().filter(|_| configuration.monitor_execution())?;
    let cron = Some(schedule.cron().as_str()).filter(|cron| cron.len() <= LONGEST_EXPRESSION)?;
    Some((cron, configuration.time_zone()))
}

impl ShardingData {
    /// Reads the data. What cannot be read counts as blank.
    pub(crate) fn parse(data: &[u8]) -> Self {
        let mut removed = FireRecord::parse(data);
        let schedule = removed.later.remove(SCHEDULE).and_then(|schedule| serde_json::from_value(schedule).ok());
        Self { removed, schedule }
    }

    /// The data of the node.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut record = self.removed.clone();
        let schedule = self.schedule.as_ref().and_then(|schedule| serde_json::to_value(schedule).ok());
        record.later.extend(schedule.map(|schedule| (SCHEDULE.to_owned(), schedule)));
        if record == FireRecord::empty() { Vec::new() } else { record.to_bytes() }
    }

    /// Whether the schedule with this cron expression, in the zone of the processes, is noted.
    #[cfg(feature = "testing")]
    pub(crate) fn notes(&self, cron: &str) -> bool {
        self.schedule.as_ref().is_some_and(|noted| noted.cron == cron && noted.time_zone.is_none())
    }

    /// Since when the schedule of this configuration is followed, where that was noted.
    pub(crate) fn since(&self, configuration: &JobConfiguration) -> Option<i64> {
        self.schedule.as_ref().filter(|noted| noted.is_of(configuration)).map(|noted| noted.since)
    }
}

impl JobEngine {
    /// The data of `sharding`, limited to the part that counts.
    pub(super) fn read_sharding(&self, known: &Known) -> ShardingData {
        let data = known.parsed(ShardingData::parse);
        ShardingData { removed: self.count(data.removed.clone(), known.mtime), schedule: data.schedule.clone() }
    }

    /// Since when the group follows the schedule of a configuration, where a leader noted that.
    pub(super) fn noted_since(&self, configuration: &JobConfiguration) -> Result<Option<i64>, Unread> {
        if schedule_of(configuration).is_none() || self.planted.has(Bug::SinceLastEdit) {
            return Ok(None);
        }
        let known = self.mirror.need(&JobPath::Sharding)?;
        Ok(known.and_then(|known| known.parsed(ShardingData::parse).since(configuration)))
    }

    /// Whether a note is the right one for the configuration in force.
    pub(super) fn is_right(&self, noted: Option<&FollowedSchedule>) -> bool {
        let in_force = self.configuration.in_force.as_deref();
        match noted {
            None => in_force.and_then(schedule_of).is_none(),
            Some(noted) => in_force.is_some_and(|configuration| noted.is_of(configuration)),
        }
    }

    /// Since when the schedule in force is followed, also where this instance wrote it.
    pub(super) fn schedule_followed_since(&self) -> Result<Option<i64>, Unread> {
        let Some(configuration) = self.configuration.in_force.as_deref() else { return Ok(None) };
        if self.configuration.follows_since.is_some() {
            return Ok(self.configuration.follows_since);
        }
        Ok(self.noted_since(configuration)?.or_else(|| self.written_since()))
    }

    /// Since when the registry has the configuration.
    fn written_since(&self) -> Option<i64> {
        let config = self.mirror.need(&JobPath::Config).ok().flatten();
        let written = config.map(|known| known.mtime).filter(|mtime| *mtime > 0);
        // The answer to a create has no server time: then this instance has just made the configuration.
        written.or(self.membership.joining_since)
    }

    /// The note for the configuration in force.
    pub(super) fn followed_schedule(&self) -> Option<FollowedSchedule> {
        let configuration: Arc<JobConfiguration> = self.configuration.in_force.clone()?;
        let (cron, time_zone) = schedule_of(&configuration)?;
        let since = self.configuration.follows_since.or_else(|| self.written_since())?;
        let (cron, time_zone) = (cron.to_owned(), time_zone.map(str::to_owned));
        Some(FollowedSchedule { cron, time_zone, since, later: Later::new() })
    }

    /// The data with which the first assignment makes the node, where there is something to note.
    pub(super) fn first_note(&self) -> Option<Vec<u8>> {
        let schedule = self.followed_schedule().filter(|_| !self.mirror.exists(&JobPath::Sharding))?;
        Some(ShardingData { removed: FireRecord::empty(), schedule: Some(schedule) }.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nightly() -> JobConfiguration {
        JobConfiguration::builder("job", 1).cron("0 0 3 * * ?").time_zone("UTC").build().unwrap()
    }

    #[test]
    fn the_data_have_the_mark_and_the_schedule_and_what_a_later_release_writes() {
        let text = r#"{"through":5,"more":1,"schedule":{"cron":"0 0 3 * * ?","note":"x","since":7,"timeZone":"UTC"}}"#;
        let data = ShardingData::parse(text.as_bytes());
        assert_eq!((data.removed.through, data.since(&nightly())), (Some(5), Some(7)));
        assert_eq!(String::from_utf8(data.to_bytes()).unwrap(), text);
        assert_eq!(ShardingData::parse(b"").to_bytes(), b"");
    }

    #[test]
    fn a_schedule_is_its_expression_and_its_zone_and_is_recorded_with_monitoring_only() {
        let data = |text: &str| ShardingData::parse(format!(r#"{{"schedule":{text}}}"#).as_bytes());
        assert_eq!(data(r#"{"cron":"0 0 3 * * ?","since":7}"#).since(&nightly()), None);
        assert_eq!(data(r#"{"cron":"0 0 4 * * ?","timeZone":"UTC","since":7}"#).since(&nightly()), None);
        assert_eq!(data("7").since(&nightly()), None);
        let same = data(r#"{"cron":"0 0 3 * * ?","timeZone":"UTC","since":7}"#);
        assert_eq!(same.since(&nightly()), Some(7));
        let unmonitored = JobConfiguration::builder("job", 1).cron("0 0 3 * * ?").time_zone("UTC");
        assert_eq!(same.since(&unmonitored.monitor_execution(false).build().unwrap()), None);
    }
}
