//! Reads `.properties` files, the format of Java, in UTF-8.

use super::error::SettingError;
use super::node::{Node, Origin};

/// Keys and values in the order of the file, and the lines that cannot be read.
pub(super) fn parse(file: &str, text: &str) -> (Vec<(String, Node)>, Vec<SettingError>) {
    let mut entries = Vec::new();
    let mut errors = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let origin = Origin::line(file, index + 1);
        let mut logical = line.trim_start().to_owned();
        if logical.is_empty() || logical.starts_with(['#', '!']) {
            continue;
        }
        while ends_with_continuation(&logical) {
            logical.pop();
            match lines.next() {
                Some((_, next)) => logical.push_str(next.trim_start()),
                None => break,
            }
        }
        let (key, value) = split(&logical);
        match unescape(key).and_then(|key| Ok((key, unescape(value)?))) {
            Ok((key, value)) => entries.push((key, Node::text(origin, value))),
            Err(reason) => errors.push(SettingError::Syntax { origin, reason }),
        }
    }
    (entries, errors)
}

fn ends_with_continuation(line: &str) -> bool {
    line.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1
}

/// The key ends at the first `=`, `:` or white space that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '=' || c == ':' || c.is_whitespace() {
            let rest = line[at..].trim_start();
            let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (&line[..at], rest.trim_start());
        }
    }
    (line, "")
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut utf16 = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => match chars.next() {
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let code = u16::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                    utf16.push(code.ok_or_else(|| format!("`\\u{digits}`: expected four hexadecimal digits"))?);
                    continue;
                }
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => break,
            },
            c => c,
        };
        flush(&mut utf16, &mut out)?;
        out.push(plain);
    }
    flush(&mut utf16, &mut out)?;
    Ok(out)
}

fn flush(utf16: &mut Vec<u16>, out: &mut String) -> Result<(), String> {
    out.push_str(&String::from_utf16(utf16).map_err(|_| "a `\\u` escape that is half a character".to_owned())?);
    utf16.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::node::NodeValue;
    use super::*;

    fn parsed(text: &str) -> Vec<(String, String, String)> {
        let (entries, errors) = parse("a.properties", text);
        assert!(errors.is_empty(), "{errors:?}");
        entries
            .into_iter()
            .map(|(key, node)| match node.value {
                NodeValue::Text(text) => (key, text, node.origin.to_string()),
                _ => unreachable!("the reader makes text only"),
            })
            .collect()
    }

    #[test]
    fn separators_comments_escapes_and_continued_lines_are_understood() {
        let text = "# comment\n! comment\n\na.cron=0/5 * * * * ?\n b : x=y\nc d e\nf=1,\\\n   2\ng\\:h=\\u5317\\u4eac\\t.\nempty\nuri=a\\\\b\n";
        let all: Vec<(String, String)> = parsed(text).into_iter().map(|(key, value, _)| (key, value)).collect();
        let expected = [
            ("a.cron", "0/5 * * * * ?"),
            ("b", "x=y"),
            ("c", "d e"),
            ("f", "1,2"),
            ("g:h", "北京\t."),
            ("empty", ""),
            ("uri", "a\\b"),
        ];
        assert_eq!(all, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn an_entry_knows_the_line_it_begins_on() {
        let lines: Vec<String> = parsed("a=1\\\n2\nb=3\n").into_iter().map(|(.., origin)| origin).collect();
        assert_eq!(lines, ["a.properties:1", "a.properties:3"]);
    }

    #[test]
    fn a_broken_escape_is_refused_with_its_line() {
        for text in ["x=1\ny=\\u12", "x=1\ny=\\ud800."] {
            let (entries, errors) = parse("a.properties", text);
            assert_eq!((entries.len(), errors.len()), (1, 1), "{errors:?}");
            assert!(errors[0].to_string().starts_with("a.properties:2: "), "{}", errors[0]);
        }
    }
}
