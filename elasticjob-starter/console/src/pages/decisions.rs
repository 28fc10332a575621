//! Decisions in the language of the reader.

use std::collections::HashMap;

use elasticjob::operations::Happened;
use elasticjob::trace::{DecisionRecord, ExecutionOutcome, ExecutionRecord, OperatorAction};
use i18n_embed_fl::fl;
use serde_json::Value;

use super::fires;
use super::history::first_line;
use super::time::{Clock, duration};
use crate::text::{Language, Text};
use crate::translated;

/// A decision as a sentence without its subject, which is the instance.
pub(super) fn sentence(text: &Text, record: &DecisionRecord, clock: &Clock) -> String {
    let id = format!("decision-of-{}", code_of(&record.kind));
    match text.language() {
        // English comes from the library, which also knows what to do with a kind of a later release.
        Language::English => record.describe(&|at| clock.at(&at)),
        _ if !text.loader().has(&id) => record.describe(&|at| clock.at(&at)),
        _ => text.loader().get_args(&id, arguments(text, record, clock)),
    }
}

/// What happened to a fire or around it, as a sentence: where, when, what.
pub(super) fn happened(text: &Text, happened: &Happened, clock: &Clock) -> String {
    match happened {
        Happened::Run(record) => run(text, record, clock),
        Happened::Decided(record) => decided(text, record, clock, false),
        Happened::Around(record) => decided(text, record, clock, true),
        _ => fl!(text.loader(), "past-not-recorded"),
    }
}

fn decided(text: &Text, record: &DecisionRecord, clock: &Clock, with_items: bool) -> String {
    let items: Vec<String> = record.sharding_items.iter().map(ToString::to_string).collect();
    let items = Some(items.join(", ")).filter(|items| with_items && !items.is_empty());
    let items = items.map(|items| fl!(text.loader(), "past-items", items = items));
    let parts = [record.instance.clone(), items, Some(sentence(text, record, clock))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn run(text: &Text, record: &ExecutionRecord, clock: &Clock) -> String {
    let loader = text.loader();
    let outcome = match record.outcome {
        ExecutionOutcome::Succeeded => fl!(loader, "outcome-succeeded"),
        ExecutionOutcome::Failed => fl!(loader, "outcome-failed"),
        ExecutionOutcome::NoEnd => fl!(loader, "past-no-end"),
    };
    let started = fl!(loader, "past-started", at = clock.at(&record.start_time.timestamp_millis()));
    let took = super::history::took(record).map(|took| duration(&took));
    let alone = record.scheduled_at.is_none().then(|| fl!(loader, "past-by-time"));
    let cause = record.failure_cause.as_deref().map(first_line);
    let on = record.instance.clone().unwrap_or_else(|| record.ip.clone());
    let parts = [Some(fires::source(text, &record.source)), Some(on), Some(started), Some(outcome), took, cause, alone];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// `not-begun` of `NOT_BEGUN`.
pub(super) fn code_of(kind: &str) -> String {
    kind.to_lowercase().replace('_', "-")
}

fn arguments(text: &Text, record: &DecisionRecord, clock: &Clock) -> HashMap<&'static str, String> {
    let word = |name: &str| match record.detail.get(name) {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let time = |at: Option<chrono::DateTime<chrono::Utc>>| {
        at.map_or_else(|| fl!(text.loader(), "not-known"), |at| clock.at(&at.timestamp_millis()))
    };
    let action = OperatorAction::of(record);
    let other = record.related_instance.clone().unwrap_or_else(|| fl!(text.loader(), "past-ended-instance"));
    let mut arguments = HashMap::from([
        ("first", time(record.scheduled_at)),
        ("until", time(record.scheduled_until)),
        ("other", other),
        ("late", word("lateSeconds")),
        ("limit", word("limitSeconds")),
        ("seconds", word("seconds")),
        ("process", word("process")),
        ("attempt", word("attempt")),
        ("place", word("place")),
        ("ends", word("ends")),
        ("why", quoted(word("why"))),
        ("difference", word("differenceMilliseconds")),
        ("milliseconds", word("milliseconds")),
        ("overwritten", word("overwritten")),
        ("moved", word("moved")),
        ("more", word("moreMoved")),
        ("hasMoved", (!word("moved").is_empty()).to_string()),
        ("hasMore", record.detail.contains_key("moreMoved").to_string()),
        ("hasAfter", record.detail.contains_key("after").to_string()),
        ("actor", word("actor")),
        ("action", word("action")),
        ("parts", translated::parts(text, action).join(", ")),
        ("before", word("before")),
        ("after", word("after")),
        ("outcome", word("outcome")),
        ("error", translated::error_of_action(text, action).unwrap_or_default()),
    ]);
    // A reason is written in English; where it has a code there may be a text for it.
    let id = format!("reason-{}", word("code"));
    let reason = match text.loader().has(&id) {
        true => text.loader().get_args(&id, arguments.clone()),
        false => quoted(record.reason.clone()),
    };
    arguments.insert("reason", reason);
    arguments
}

/// What others wrote, or what is written in English alone.
fn quoted(told: String) -> String {
    if told.is_empty() { told } else { format!("“{told}”") }
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::SkipReason;
    use elasticjob::trace::DecisionKind;

    use crate::text::{Language, Texts};

    #[test]
    fn chinese_has_a_text_for_each_kind_of_decision_and_each_reason_to_skip() {
        let texts = Texts::load().expect("they load");
        let chinese = texts.of(Language::Chinese).loader();
        let kinds = DecisionKind::ALL.iter().map(|kind| format!("decision-of-{}", super::code_of(kind.as_str())));
        // Each instance would say this of what another one runs, so it is not recorded.
        let reasons = SkipReason::CODES.iter().filter(|code| **code != "already-begun");
        let ids = kinds.chain(reasons.map(|code| format!("reason-{code}")));
        let missing: Vec<String> = ids.filter(|id| !chinese.has(id)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
