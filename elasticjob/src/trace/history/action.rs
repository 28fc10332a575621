//! The action of an operator, as the decision log has it.

use serde_json::{Map, Value};

use super::record::DecisionRecord;

/// The action of an operator, as a record of the kind `OPERATOR` has it. Of another record everything is empty.
#[derive(Debug, Clone, Copy)]
pub struct OperatorAction<'a>(&'a Map<String, Value>);

impl<'a> OperatorAction<'a> {
    /// The action of a record.
    pub fn of(record: &'a DecisionRecord) -> Self {
        Self(&record.detail)
    }

    fn word(self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The word, unless it is empty.
    fn said(self, name: &str) -> Option<&'a str> {
        Some(self.word(name)).filter(|word| !word.is_empty())
    }

    fn values(self, name: &str) -> &'a [Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn words(self, name: &str) -> impl Iterator<Item = &'a str> {
        self.values(name).iter().filter_map(Value::as_str)
    }

    /// The operator that did it, or tried to.
    pub fn actor(self) -> &'a str {
        self.word("actor")
    }

    /// The name of the action, such as `disable-item`.
    pub fn name(self) -> &'a str {
        self.word("action")
    }

    /// `done`, `unchanged`, `refused`, `failed`, or `unknown` where the answer of the registry center was lost.
    pub fn outcome(self) -> &'a str {
        self.word("outcome")
    }

    /// Why it was not done.
    pub fn error(self) -> Option<&'a str> {
        self.said("error")
    }

    /// The messages of [`error`](Self::error) as data, for a text in another language, each with its `code` and its `arguments`
    /// by name, or its `text` where it has no code. Records of older releases and of other programs have none.
    pub fn error_messages(self) -> &'a [Value] {
        self.values("errorMessages")
    }

    /// The parts that were changed, such as `server 192.0.2.7`, and the differences of a configuration.
    pub fn parts(self) -> Vec<&'a str> {
        self.words("parts").chain(self.words("changes")).collect()
    }

    /// For each of the first [`parts`](Self::parts) the message that its text ends with, as data like
    /// [`error_messages`](Self::error_messages), or `null`: why that part was not changed. Mostly there are none.
    pub fn part_messages(self) -> &'a [Value] {
        self.values("partMessages")
    }

    /// The status of the parts before and after.
    pub fn states(self) -> Option<(&'a str, &'a str)> {
        self.0.contains_key("after").then(|| (self.word("before"), self.word("after")))
    }

    /// The surface on which the operator acted: the name of a [`Surface`](crate::operations::Surface). Records of older releases do not say
    /// it.
    pub fn surface(self) -> Option<&'a str> {
        self.said("surface")
    }

    /// The address of the host that the operator acted from, where it was known.
    pub fn address(self) -> Option<&'a str> {
        self.said("address")
    }

    /// The id of the request that asked for the action, as the answer and the log of the server have it.
    pub fn request(self) -> Option<&'a str> {
        self.said("request")
    }

    /// Whether the operator and the action have these parts in their names, whatever the capitals.
    pub fn is_of(self, actor: &str, name: &str) -> bool {
        let has = |text: &str, wanted: &str| text.to_lowercase().contains(&wanted.trim().to_lowercase());
        has(self.actor(), actor) && has(self.name(), name)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_action_is_read_from_its_record_and_one_of_another_kind_has_nothing() {
        let detail = json!({"actor": "Zhang", "action": "disable-item", "outcome": "done", "parts": ["item 0", 7],
            "changes": ["cron: a -> b"], "before": "ENABLED", "after": "DISABLED",
            "partMessages": [null, {"text": "why"}], "surface": "rest", "address": "203.0.113.9", "request": "deploy-7"});
        let Value::Object(detail) = detail else { unreachable!("it is an object") };
        let mut record = DecisionRecord {
            id: "a".to_owned(),
            job_name: "settle".to_owned(),
            at: DateTime::UNIX_EPOCH,
            kind: "OPERATOR".to_owned(),
            scheduled_at: None,
            scheduled_until: None,
            sharding_items: Vec::new(),
            instance: None,
            related_instance: None,
            reason: String::new(),
            detail,
        };
        let action = OperatorAction::of(&record);
        assert_eq!((action.actor(), action.name(), action.outcome()), ("Zhang", "disable-item", "done"));
        assert_eq!((action.parts(), action.states()), (vec!["item 0", "cron: a -> b"], Some(("ENABLED", "DISABLED"))));
        assert_eq!(action.part_messages(), [Value::Null, json!({"text": "why"})]);
        assert!(action.is_of("zhan", " DISABLE ") && !action.is_of("li", "") && action.is_of("", ""));
        let from = |action: OperatorAction<'_>| {
            [action.surface(), action.address(), action.request()].map(|it| it.map(str::to_owned))
        };
        assert_eq!(from(action), ["rest", "203.0.113.9", "deploy-7"].map(|it| Some(it.to_owned())));
        assert_eq!(action.error(), None);
        record.detail = Map::new();
        let nothing = OperatorAction::of(&record);
        assert_eq!(from(nothing), [None, None, None], "older releases did not record it");
        assert_eq!((nothing.actor(), nothing.parts(), nothing.states()), ("", Vec::new(), None));
    }
}
