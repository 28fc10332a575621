//! Texts from outside, made safe for a line of a log or a dump.

use std::fmt::{self, Display, Write};

/// Shows a text with its control characters escaped, so that the text cannot forge a line of a log or change the colors
/// of the terminal: errors of jobs, output of scripts, answers of servers, data of nodes.
pub(crate) struct Escaped<T>(pub(crate) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'f, 'a>(&'f mut fmt::Formatter<'a>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_control) {
            let character = rest[at..].chars().next().unwrap_or_default();
            write!(self.0, "{}{}", &rest[..at], character.escape_default())?;
            rest = &rest[at + character.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

/// Whether a character is not visible but has an effect. That includes characters that change the direction of a text,
/// and characters that some programs read as the end of a line. A tab is harmless.
fn is_control(character: char) -> bool {
    let turns = matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    turns || character.is_control() && character != '\t'
}

/// The data of a node for a dump. In a dump every line that begins with `/` is a node, so no line of the data may begin
/// with it.
pub(crate) fn in_dump(data: &str, has_lines: bool) -> String {
    if !has_lines {
        return Escaped(data).to_string();
    }
    let mut lines = data.split('\n').enumerate().map(|(number, line)| {
        let forged = if number > 0 && line.starts_with('/') { " " } else { "" };
        format!("{forged}{}", Escaped(line.trim_end_matches('\r')))
    });
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |text, line| text + "\n" + &line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_all_else_is_not() {
        for (text, shown) in [
            ("boom", "boom"),
            ("第三项\t失败 'x' \\ ü", "第三项\t失败 'x' \\ ü"),
            ("a\n2026 INFO all is well", r"a\n2026 INFO all is well"),
            ("a\r\nb", r"a\r\nb"),
            ("\u{1b}[31mred\u{9b}0m", r"\u{1b}[31mred\u{9b}0m"),
            ("x\u{202e}fdp.exe\u{2028}", r"x\u{202e}fdp.exe\u{2028}"),
            ("\0\u{7f}", r"\u{0}\u{7f}"),
        ] {
            assert_eq!(Escaped(text).to_string(), shown);
        }
    }

    #[test]
    fn no_data_forge_a_node_of_a_dump() {
        assert_eq!(in_dump("x\n/job/sharding/0 | forged\u{1b}[2K", false), r"x\n/job/sharding/0 | forged\u{1b}[2K");
        assert_eq!(in_dump("a: 1\n/job/x | y\r\n  b: 2\n", true), "a: 1\n /job/x | y\n  b: 2\n");
    }
}
