//! Messages in the language of the reader.

use std::collections::HashMap;

use elasticjob::config::{Message, MessageArgument};
use elasticjob::trace::OperatorAction;
use serde_json::Value;

use crate::text::{Language, Text};

/// The text `message-CODE` with the arguments of the message. English comes from the message itself, and so does the text of
/// a message without a code.
pub(crate) fn shown(text: &Text, message: &Message) -> String {
    let Some(id) = id_of(text, message) else { return message.as_str().to_owned() };
    let arguments: HashMap<&str, String> =
        message.arguments().iter().map(|(name, value)| (*name, argument(text, value))).collect();
    text.loader().get_args(&id, arguments)
}

/// Whether the text is in the language of the reader, at least its frame.
pub(crate) fn is_translated(text: &Text, message: &Message) -> bool {
    text.language() == Language::English || id_of(text, message).is_some()
}

/// A message of the decision log: its code with its arguments, or a text. It stands in quotes where this language has no text for it.
fn recorded(text: &Text, message: &Value) -> Option<String> {
    if let Some(told) = message["text"].as_str() {
        return Some(format!("“{told}”"));
    }
    let id = format!("message-{}", message["code"].as_str()?);
    let argument = |value: &Value| match value {
        Value::String(told) => Some(told.clone()),
        Value::Array(messages) => all_recorded(text, messages),
        message => recorded(text, message),
    };
    let arguments = message["arguments"].as_object()?.iter();
    let arguments: Option<HashMap<&str, String>> =
        arguments.map(|(name, value)| Some((name.as_str(), argument(value)?))).collect();
    text.loader().has(&id).then(|| arguments.map(|arguments| text.loader().get_args(&id, arguments))).flatten()
}

fn all_recorded(text: &Text, messages: &[Value]) -> Option<String> {
    let told: Option<Vec<String>> = messages.iter().map(|message| recorded(text, message)).collect();
    Some(told?.join("；"))
}

/// Why an action of an operator was not done.
pub(crate) fn error_of_action(text: &Text, action: OperatorAction<'_>) -> Option<String> {
    let english = action.error()?;
    if text.language() == Language::English {
        return Some(english.to_owned());
    }
    let messages = Some(action.error_messages()).filter(|messages| !messages.is_empty());
    // One of another program, or of another release.
    Some(messages.and_then(|messages| all_recorded(text, messages)).unwrap_or_else(|| format!("“{english}”")))
}

/// The parts of an action.
pub(crate) fn parts(text: &Text, action: OperatorAction<'_>) -> Vec<String> {
    let mut why = action.part_messages().iter();
    action.parts().into_iter().map(|one| part(text, one, why.next().unwrap_or(&Value::Null))).collect()
}

/// A part of an action, such as `server 192.0.2.7`. A text after a colon is why it was not done, of which `why` is the message.
fn part(text: &Text, part: &str, why: &Value) -> String {
    let named = part.split_once(' ').filter(|_| text.language() != Language::English);
    let Some((kind, name)) = named else { return part.to_owned() };
    let id = format!("part-of-action-{kind}");
    if !text.loader().has(&id) {
        return part.to_owned();
    }
    let name = match name.split_once(": ") {
        // A record of another release has no message.
        Some((name, english)) => {
            format!("{name}：{}", recorded(text, why).unwrap_or_else(|| format!("“{english}”")))
        }
        None => name.to_owned(),
    };
    text.loader().get_args(&id, HashMap::from([("name", name)]))
}

/// A state by its word, such as `CRASHED`. English shows the word itself, as the API and the commands do.
pub(crate) fn state(text: &Text, word: &str) -> String {
    let id = format!("status-of-{}", word.to_lowercase().replace('_', "-"));
    match text.language() != Language::English && text.loader().has(&id) {
        true => text.loader().get(&id),
        false => word.to_owned(),
    }
}

fn id_of(text: &Text, message: &Message) -> Option<String> {
    let id = format!("message-{}", message.code().filter(|_| text.language() != Language::English)?);
    text.loader().has(&id).then_some(id)
}

/// A message within another one, or after a text. What others wrote, or what has no text in this language, stands in quotes.
pub(crate) fn quoted(text: &Text, message: &Message) -> String {
    match is_translated(text, message) {
        true => shown(text, message),
        false => format!("“{message}”"),
    }
}

fn argument(text: &Text, value: &MessageArgument) -> String {
    match value {
        MessageArgument::Message(message) => quoted(text, message),
        MessageArgument::Messages(messages) => {
            messages.iter().map(|message| quoted(text, message)).collect::<Vec<_>>().join("；")
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use elasticjob::fire::FireState;
    use elasticjob::operations::{JobState, ServerStatus, ShardState};

    use super::*;
    use crate::text::{Texts, ids};

    #[test]
    fn chinese_has_a_text_for_each_message_and_each_text_uses_only_its_arguments() {
        let of_crates = [elasticjob_syntax::texts::CODES, elasticjob::config::MESSAGE_CODES, crate::texts::CODES];
        let chinese = ids("zh-CN");
        let mut wanted = BTreeSet::new();
        for (code, arguments) in of_crates.into_iter().flatten() {
            let id = format!("message-{code}");
            let (_, used) = chinese.iter().find(|(known, _)| *known == id).unwrap_or_else(|| panic!("{id} is missing"));
            let arguments: BTreeSet<String> = arguments.iter().map(|name| (*name).to_owned()).collect();
            assert!(used.is_subset(&arguments), "{id} uses {used:?} and has {arguments:?}");
            assert!(wanted.insert(id), "{code} has two meanings");
        }
        // The REST API of carried jobs has those of its own, and a test of them.
        let is_of_messages = |id: &str| id.starts_with("message-") && !id.starts_with("message-cloud-");
        let stale: Vec<_> = chinese.iter().filter(|(id, _)| is_of_messages(id) && !wanted.contains(id)).collect();
        assert!(stale.is_empty(), "{stale:?}");
    }

    #[test]
    fn each_state_has_a_word_in_chinese_and_keeps_its_own_in_english() {
        let texts = Texts::load().expect("they load");
        let of_jobs = JobState::ALL.map(|state| state.as_str().to_owned());
        let of_items = [ShardState::Running, ShardState::Pending, ShardState::Disabled, ShardState::ShardingFlag];
        let of_items = of_items.map(|state| state.as_str().to_owned());
        let of_servers = [ServerStatus::Enabled, ServerStatus::Disabled].map(|state| state.as_str().to_owned());
        let of_fires = [FireState::Running, FireState::Succeeded, FireState::Failed, FireState::Cancelled];
        let of_fires = of_fires.into_iter().chain([FireState::NotRun]).map(|state| state.to_string());
        for word in of_jobs.into_iter().chain(of_items).chain(of_servers).chain(of_fires) {
            assert_eq!(state(texts.of(Language::English), &word), word);
            let chinese = state(texts.of(Language::Chinese), &word);
            assert!(chinese.chars().all(|c| !c.is_ascii()), "{word}: {chinese}");
        }
    }

    #[test]
    fn a_message_within_a_message_is_in_the_language_of_the_reader_too() {
        let texts = Texts::load().expect("they load");
        let wrong: Result<elasticjob::schedule::CronExpression, _> = "0 0 24 * * ?".parse();
        let message = wrong.expect_err("it has no hour 24").message();
        let chinese = shown(texts.of(Language::Chinese), &message);
        assert_eq!(chinese, "cron 表达式“0 0 24 * * ?”无效：时：24 超出范围，允许的值为 0 至 23");
        assert_eq!(shown(texts.of(Language::English), &message), message.as_str());
        let own = Message::from("the table is missing");
        assert_eq!(shown(texts.of(Language::Chinese), &own), "the table is missing");
        assert!(!is_translated(texts.of(Language::Chinese), &own));
    }
}
