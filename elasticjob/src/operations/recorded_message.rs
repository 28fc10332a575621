//! Messages in the decision log as data, so that a console makes their text in the language of its reader.

use serde_json::{Map, Value, json};

use crate::config::{Message, MessageArgument};

/// A message as JSON: its `code` with its `arguments` by name, or its `text` where it has no code.
pub(super) fn recorded(message: &Message) -> Value {
    let Some(code) = message.code() else { return json!({ "text": message.as_str() }) };
    let arguments: Map<String, Value> =
        message.arguments().iter().map(|(name, value)| ((*name).to_owned(), argument(value))).collect();
    json!({ "code": code, "arguments": arguments })
}

fn argument(value: &MessageArgument) -> Value {
    match value {
        MessageArgument::Text(text) => Value::String(text.clone()),
        MessageArgument::Message(message) => recorded(message),
        MessageArgument::Messages(messages) => Value::Array(messages.iter().map(recorded).collect()),
        // Another kind is English alone here.
        other => Value::String(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts;

    #[test]
    fn a_message_keeps_its_code_and_those_of_the_messages_within_it() {
        let problems = vec![texts::wrong_setting("cron", texts::cron_taken_back()), "a rule of the program".into()];
        let expected = json!({ "code": "configuration-invalid", "arguments": { "job": "settle", "problems": [
            { "code": "wrong-setting", "arguments": { "setting": "cron", "reason":
                { "code": "cron-taken-back", "arguments": {} } } },
            { "text": "a rule of the program" },
        ] } });
        assert_eq!(recorded(&texts::configuration_invalid("settle", problems)), expected);
    }
}
