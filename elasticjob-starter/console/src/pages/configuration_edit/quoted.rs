//! Values as a field has them: as they are, or quoted as in JSON where a field would not give them back.

use serde_json::Value;

/// The text for a field. Ordinary values are shown as they are.
pub(super) fn written(value: &str) -> String {
    let is_plain = !value.contains(char::is_control) && value.trim() == value && quoted(value).is_none();
    if is_plain { value.to_owned() } else { Value::from(value).to_string() }
}

/// The value of such a text. Spaces around it mean nothing, and a quote that is no JSON as a whole is a part of the value.
pub(super) fn read(text: &str) -> String {
    let text = text.trim();
    quoted(text).unwrap_or_else(|| text.to_owned())
}

fn quoted(text: &str) -> Option<String> {
    text.starts_with('"').then(|| serde_json::from_str(text).ok()).flatten()
}

/// A property as a line.
pub(super) fn line(key: &str, value: &str) -> String {
    let is_ambiguous = key.contains('=') || key.starts_with('"');
    let key = if is_ambiguous { Value::from(key).to_string() } else { written(key) };
    format!("{key}={}\n", written(value))
}

/// The properties of lines, each with its key and its value, or the line that is none. Empty lines mean nothing.
pub(super) fn properties(lines: &str) -> impl Iterator<Item = Result<(String, String), &str>> {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| {
        let (key, value) = key_of(line).or_else(|| line.split_once('=')).ok_or(line)?;
        Ok((read(key), read(value)))
    })
}

/// The two sides of a line whose key is quoted.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let mut texts = serde_json::Deserializer::from_str(line).into_iter::<String>();
    texts.next()?.ok()?;
    let (key, rest) = line.split_at_checked(texts.byte_offset())?;
    Some((key, rest.trim_start().strip_prefix('=')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_value_is_shown_as_it_is() {
        for text in ["", "0 0 3 * * ?", r"C:\new\run.cmd", r#"{"a": 1}"#, r#""/opt/my tool" --full"#, "a=b", "二\"三"]
        {
            assert_eq!((written(text).as_str(), read(text).as_str()), (text, text));
        }
        assert_eq!(line("http.uri", "http://h/?a=1"), "http.uri=http://h/?a=1\n");
    }

    #[test]
    fn a_value_with_line_breaks_outer_spaces_or_quotes_around_it_is_quoted_and_read_as_the_same() {
        for (text, shown) in [
            ("a\nb=c", r#""a\nb=c""#),
            (", ", r#"", ""#),
            ("\ta\r\n", r#""\ta\r\n""#),
            ("\"whole\"", r#""\"whole\"""#),
            ("\u{0}\u{1f}", r#""\u0000\u001f""#),
            ("\u{3000}", "\"\u{3000}\""),
            ("\u{85}a\u{2028}", "\"\u{85}a\u{2028}\""),
        ] {
            assert_eq!((written(text).as_str(), read(shown).as_str()), (shown, text));
        }
        assert_eq!(read("  \", \" "), ", ");
    }

    #[test]
    fn properties_are_read_as_they_were_written_whatever_is_in_their_keys_and_values() {
        let hostile =
            ["", " ", "=", "a=b", "\"", "\"a\"", "\"a\"=\"b\"", "\"a\" = b", "two\nlines", "\r", "#", "\\", "\\n"];
        for key in hostile {
            for value in hostile {
                let line = line(key, value);
                let read: Vec<_> = properties(&line).collect();
                assert_eq!(read, [Ok((key.to_owned(), value.to_owned()))], "{line}");
                assert_eq!(line.lines().count(), 1, "{line}");
            }
        }
        let typed: Vec<_> = properties("\r\n a = 1 \r\n\"b=\" = \" 2\"\r\n\"c=3\r\nnone\r\n").collect();
        let property = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(typed, [property("a", "1"), property("b=", " 2"), property("\"c", "3"), Err("none")]);
    }
}
