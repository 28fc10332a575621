//! The fires that a process did not run, and why.

use elasticjob::fire::{Fire, SkipReason};
use serde::{Deserialize, Serialize};

/// A process does not run some scheduled fires, or items of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// When it said so, in microseconds since 1970.
    pub at_us: i64,
    /// The process.
    pub pid: u32,
    /// The job.
    pub job: String,
    /// The scheduled time of the first fire that is meant, in milliseconds since 1970.
    pub from_ms: i64,
    /// That of the last one.
    pub until_ms: i64,
    /// The items, none when all of this process are meant.
    pub items: Vec<u32>,
    /// Why.
    pub reason: Reason,
}

/// Why a process does not run something, as its log says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The previous run of this process has not ended.
    StillRunning,
    /// Whether the previous fire of this process has begun is not known without the registry.
    BeginUnknown,
    /// Another process runs the item.
    RunsElsewhere,
    /// The item was begun for the fire, or decided against, before.
    AlreadyBegun,
    /// A lost run of the item is to be taken over first.
    AwaitingFailover,
    /// The registry kept refusing the begin.
    Refused,
    /// The next fire came first.
    NotBegunInTime,
    /// The server is disabled.
    ServerDisabled,
    /// The item is disabled.
    ItemDisabled,
    /// The process leaves.
    Leaving,
    /// The registry is not connected.
    RegistryLost,
    /// The process was stopped, or its clock stepped, while the fire was due.
    Missed,
    /// No process began the fire, and it is too late for it now.
    GivenUp,
    /// One that the checks do not know, and take for no explanation.
    Other(String),
}

impl Skip {
    /// Whether an item of a scheduled fire is meant.
    pub fn covers(&self, job: &str, item: u32, at_ms: i64) -> bool {
        self.job == job
            && (self.from_ms..=self.until_ms).contains(&at_ms)
            && (self.items.is_empty() || self.items.contains(&item))
    }
}

impl Reason {
    /// The reason that a text begins with, which the engine gave.
    pub fn of_text(text: &str) -> Self {
        let known = [
            (SkipReason::StillRunning { since: Fire::Scheduled(0) }, Self::StillRunning),
            (SkipReason::BeginUnknown, Self::BeginUnknown),
            (SkipReason::RunsElsewhere { by: None }, Self::RunsElsewhere),
            (SkipReason::AlreadyBegun { by: None }, Self::AlreadyBegun),
            (SkipReason::AwaitingFailover, Self::AwaitingFailover),
            (SkipReason::Refused, Self::Refused),
            (SkipReason::NotBegunInTime, Self::NotBegunInTime),
            (SkipReason::ServerDisabled, Self::ServerDisabled),
            (SkipReason::ItemDisabled, Self::ItemDisabled),
            (SkipReason::Leaving, Self::Leaving),
            (SkipReason::RegistryLost, Self::RegistryLost),
            (SkipReason::TooLate { seconds: 0, limit: 0 }, Self::GivenUp),
        ];
        let begins = |reason: &SkipReason| {
            let reason = reason.to_string();
            // The instance comes last in a text, and so do numbers.
            let reason = reason.strip_suffix("another instance").unwrap_or(&reason);
            text.starts_with(reason.split(|sign: char| sign.is_ascii_digit()).next().unwrap_or(reason))
        };
        let found = known.into_iter().find(|(reason, _)| begins(reason));
        found.map_or_else(|| Self::Other(text.to_owned()), |(_, reason)| reason)
    }

    /// Whether it is one of those that only a fault is to be blamed for.
    pub fn is_of_fault(&self) -> bool {
        match self {
            Self::BeginUnknown
            | Self::AwaitingFailover
            | Self::Refused
            | Self::NotBegunInTime
            | Self::RegistryLost
            | Self::Missed
            | Self::GivenUp => true,
            Self::StillRunning
            | Self::RunsElsewhere
            | Self::AlreadyBegun
            | Self::ServerDisabled
            | Self::ItemDisabled
            | Self::Leaving
            | Self::Other(_) => false,
        }
    }

    /// Its name in counts.
    pub fn name(&self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => "other".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_known_by_the_text_of_the_engine() {
        let by = "10.0.0.1@-@7".parse().ok();
        let text = SkipReason::RunsElsewhere { by }.to_string();
        assert!(text.ends_with("@-@7"), "{text}");
        assert_eq!(Reason::of_text(&text), Reason::RunsElsewhere);
        let since = SkipReason::StillRunning { since: Fire::Scheduled(1) }.to_string() + ", it began with 2026";
        assert_eq!(Reason::of_text(&since), Reason::StillRunning);
        let late = SkipReason::TooLate { seconds: 75, limit: 60 }.to_string();
        assert_eq!(Reason::of_text(&late), Reason::GivenUp);
        assert_eq!(Reason::of_text("the moon is full"), Reason::Other("the moon is full".to_owned()));
    }

    #[test]
    fn a_skip_covers_its_items_or_all() {
        let some = Skip {
            at_us: 0,
            pid: 1,
            job: "job".to_owned(),
            from_ms: 1_000,
            until_ms: 2_000,
            items: vec![3],
            reason: Reason::Missed,
        };
        let all = Skip { items: vec![], ..some.clone() };
        assert!(some.covers("job", 3, 1_000) && some.covers("job", 3, 2_000));
        assert!(!some.covers("job", 4, 1_000) && all.covers("job", 4, 1_000));
        assert!(!all.covers("job", 4, 2_001) && !all.covers("other", 4, 1_000));
    }
}
