//! The English texts of decisions.

use serde_json::Value;

use super::action::OperatorAction;
use super::record::DecisionRecord;
use crate::trace::DecisionKind as Kind;

impl DecisionRecord {
    /// The decision as a sentence without its subject, which is the instance; `time` writes a time that is given in
    /// milliseconds since 1970.
    pub fn describe(&self, time: &dyn Fn(i64) -> String) -> String {
        let reason = self.reason.as_str();
        let with = |text: &str| if reason.is_empty() { text.to_owned() } else { format!("{text}: {reason}") };
        let other = self.related_instance.as_deref().unwrap_or("an instance that has ended");
        let at = |at: Option<chrono::DateTime<chrono::Utc>>| {
            at.map_or_else(|| "an unknown time".to_owned(), |at| time(at.timestamp_millis()))
        };
        let (first, until) = (at(self.scheduled_at), at(self.scheduled_until));
        let Ok(kind) = self.kind.parse::<Kind>() else { return with(&self.kind) };
        match kind {
            Kind::Skipped => with("not run here"),
            Kind::Missed => format!(
                "fires from {first} on were missed, the process was stopped or the clock stepped; it went on with {until}"
            ),
            Kind::Collapsed => format!("the missed fire of {first} was replaced by the one of {until}"),
            Kind::NotBegun => {
                format!(
                    "no instance began the fires from {first} on, and none will; it went on with the fire of {until}"
                )
            }
            Kind::BegunLate => with(&format!("began {} s late", self.number("lateSeconds"))),
            Kind::NotStarted => with("recorded as begun, but not started"),
            Kind::TakenOver => format!("took the item over from {other}: its run was lost"),
            Kind::HandedOver => "cut off: it waits for another instance to take it over".to_owned(),
            Kind::RunsCancelled => with("cancelled"),
            Kind::RunsAbandoned => "cut off, and the code did not end: the instance left without it".to_owned(),
            Kind::Stale => {
                "the run ended after another run of its item had begun: its outcome was not recorded".to_owned()
            }
            Kind::TriggerDropped => format!("a manual trigger asked {other}, which is gone: not run for it"),
            Kind::TriggerHandedOver => format!("a manual trigger asked {other}, which is gone: taken over"),
            Kind::TriggerMerged => format!(
                "a manual trigger asked {other}, which is gone: not run once more for it, as an earlier run was not over"
            ),
            Kind::TriggerLeavesOut => {
                "no instance that a manual trigger asks had it: perhaps not run for it".to_owned()
            }
            Kind::ConfigurationChanged => with("the configuration changed and is in force"),
            Kind::ConfigurationRefused => with("the configuration in the registry center cannot be used"),
            Kind::ConfigurationDiffers if self.detail.get("overwritten") == Some(&Value::Bool(true)) => {
                with("overwrote the configuration in the registry center")
            }
            Kind::ConfigurationDiffers => with("its program has another configuration than the registry center"),
            Kind::Registered => "joined the group".to_owned(),
            Kind::Left => with("left the group"),
            Kind::Elected => "became the leader".to_owned(),
            Kind::Abdicated => "gave up leading: its server is disabled".to_owned(),
            Kind::Resharded => self.moves(),
            Kind::StrategyFailed => with("the sharding strategy failed, AVG_ALLOCATION was used instead"),
            Kind::ClockOff | Kind::DaemonEnds | Kind::PlaceLost => reason.to_owned(),
            Kind::ClockRight => "the clock agrees with the registry center again".to_owned(),
            Kind::RegistryLost => "lost the registry center".to_owned(),
            Kind::RegistryBack => "reached the registry center again".to_owned(),
            Kind::Operator => with(&self.action()),
        }
    }

    fn number(&self, name: &str) -> i64 {
        self.detail.get(name).and_then(Value::as_i64).unwrap_or_default()
    }

    /// The action of an operator, for example `operator alice: disable-item item 0, ENABLED -> DISABLED`.
    fn action(&self) -> String {
        let action = OperatorAction::of(self);
        let mut text = format!("operator {}: {}", action.actor(), action.name());
        let parts = action.parts();
        if !parts.is_empty() {
            text.push_str(&format!(" {}", parts.join(", ")));
        }
        if let Some((before, after)) = action.states() {
            text.push_str(&format!(", {before} -> {after}"));
        }
        match (action.outcome(), action.error()) {
            ("done", _) => text,
            (outcome, None) => format!("{text} ({outcome})"),
            (outcome, Some(error)) => format!("{text} ({outcome}: {error})"),
        }
    }

    fn moves(&self) -> String {
        let moved = self.detail.get("moved").and_then(Value::as_array);
        let moved: Vec<&str> = moved.into_iter().flatten().filter_map(Value::as_str).collect();
        match (moved.is_empty(), self.number("moreMoved")) {
            (true, _) => "assigned the items: nothing moved".to_owned(),
            (false, 0) => format!("assigned the items: {}", moved.join(", ")),
            (false, more) => format!("assigned the items: {} and {more} more", moved.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::{Map, json};

    use super::*;

    fn record(kind: &str) -> DecisionRecord {
        DecisionRecord {
            id: "a".to_owned(),
            job_name: "settle".to_owned(),
            at: DateTime::UNIX_EPOCH,
            kind: kind.to_owned(),
            scheduled_at: DateTime::from_timestamp_millis(1),
            scheduled_until: DateTime::from_timestamp_millis(2),
            sharding_items: vec![3],
            instance: None,
            related_instance: None,
            reason: "the reason".to_owned(),
            detail: Map::new(),
        }
    }

    fn text(record: &DecisionRecord) -> String {
        record.describe(&|at| format!("<{at}>"))
    }

    #[test]
    fn each_kind_has_a_text_and_one_of_a_later_release_is_shown_as_it_is() {
        for kind in Kind::ALL {
            let text = text(&record(kind.as_str()));
            assert!(!text.is_empty() && !text.contains(kind.as_str()), "{kind}: {text}");
        }
        assert_eq!(text(&record("FROM_LATER")), "FROM_LATER: the reason");
        assert_eq!(text(&record("SKIPPED")), "not run here: the reason");
        assert!(text(&record("MISSED")).starts_with("fires from <1> on were missed"));
    }

    #[test]
    fn an_action_names_its_operator_and_how_it_ended() {
        let mut action = record("OPERATOR");
        let Value::Object(detail) = json!({"actor": "alice", "action": "disable-item", "outcome": "done",
            "parts": ["item 0"], "before": "ENABLED", "after": "DISABLED"})
        else {
            unreachable!("it is an object")
        };
        action.detail = detail;
        assert_eq!(text(&action), "operator alice: disable-item item 0, ENABLED -> DISABLED: the reason");
        let Value::Object(detail) =
            json!({"actor": "alice", "action": "remove-job", "outcome": "refused", "error": "instances are online"})
        else {
            unreachable!("it is an object")
        };
        action.detail = detail;
        assert_eq!(text(&action), "operator alice: remove-job (refused: instances are online): the reason");
    }

    #[test]
    fn moves_are_listed() {
        let mut resharded = record("RESHARDED");
        assert_eq!(text(&resharded), "assigned the items: nothing moved");
        resharded.detail.insert("moved".to_owned(), json!(["0: a -> b", "1: none -> a"]));
        assert_eq!(text(&resharded), "assigned the items: 0: a -> b, 1: none -> a");
        resharded.detail.insert("moreMoved".to_owned(), json!(7));
        assert!(text(&resharded).ends_with("1: none -> a and 7 more"));
    }
}
