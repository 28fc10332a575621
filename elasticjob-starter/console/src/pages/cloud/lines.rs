//! Texts by name as lines of a form, `NAME=value`; as JSON where a line could not say it.

use serde_json::{Map, Value};

/// The lines of an object of texts. A number or a flag counts as its text, as it does for the scheduler.
pub(super) fn written(pairs: &Map<String, Value>) -> String {
    let is_line = |text: &str| text.trim() == text && !text.contains(['\n', '\r']);
    let line = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        let is_name = is_line(name) && !name.is_empty() && !name.contains('=') && !name.starts_with('{');
        (is_name && is_line(&value)).then(|| format!("{name}={value}"))
    };
    let lines: Option<Vec<String>> = pairs.iter().map(line).collect();
    lines.map_or_else(|| Value::Object(pairs.clone()).to_string(), |lines| lines.join("\n"))
}

/// The object of such a text. What is neither lines nor an object stays a text.
pub(super) fn read(text: &str) -> Value {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    }
    let mut pairs = Map::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((name, value)) = line.split_once('=') else { return Value::from(text) };
        pairs.insert(name.trim_end().to_owned(), Value::from(value.trim_start()));
    }
    Value::Object(pairs)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (pairs, text) in [
            (json!({ "A": "1", "B": "x=y", "C": "" }), Some("A=1\nB=x=y\nC=")),
            (json!({}), Some("")),
            (json!({ "A": "two\nlines" }), None),
            (json!({ "A": " begins with a space" }), None),
            (json!({ "a=b": "1" }), None),
        ] {
            let written = written(pairs.as_object().expect("an object"));
            assert!(text.is_none_or(|text| text == written), "{written}");
            assert_eq!(read(&written), pairs, "{written}");
        }
    }

    #[test]
    fn a_number_is_a_line_and_a_list_is_none() {
        let written = |pairs: Value| written(pairs.as_object().expect("an object"));
        assert_eq!(
            written(json!({ "partition": "main", "timeLimitMinutes": 90 })),
            "partition=main\ntimeLimitMinutes=90"
        );
        assert_eq!(written(json!({ "a": [1] })), r#"{"a":[1]}"#);
    }

    #[test]
    fn blank_lines_and_spaces_mean_nothing_and_a_line_without_a_value_is_no_object() {
        assert_eq!(read("\r\n A = 1 \r\n\r\nB=2"), json!({ "A": "1", "B": "2" }));
        assert_eq!(read("A=1\nB"), json!("A=1\nB"));
        assert_eq!(read("{\"A\": 1"), json!("{\"A\": 1"));
    }
}
