//! Writes a text like SnakeYAML: in the style that SnakeYAML chooses, with the characters of that style.

use crate::yaml::yaml11_types;

/// Lines longer than this are folded at the next blank.
const WIDTH: usize = 80;
const INDENT: usize = 2;
/// Keys of this length or longer are written with `?`. SnakeYAML's limit is 128, minus the tag `!!str`, which it counts
/// and omits.
const SIMPLE_KEY_LIMIT: usize = 123;

/// A document under construction. Its column is counted in UTF-16 units as Java does.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    column: usize,
}

impl Writer {
    pub(super) fn into_string(self) -> String {
        self.out
    }

    /// Writes parts that have no choice of style: indicators, numbers, known keys, finished lines.
    pub(super) fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => width(last),
            None => self.column + width(text),
        };
    }

    /// Writes a value and ends its line; further lines of the value are indented by `indent`.
    pub(super) fn value(&mut self, text: &str, indent: usize) {
        match Shape::of(text).style() {
            Style::Plain => self.folded(text, indent),
            Style::SingleQuoted => {
                self.raw("'");
                self.folded(&text.replace('\'', "''"), indent);
                self.raw("'");
            }
            Style::DoubleQuoted => self.double_quoted(text, Some(indent)),
            Style::Literal => return self.literal(text, indent),
        }
        self.raw("\n");
    }

    /// Writes the key of an entry and the separator before its value.
    pub(super) fn key(&mut self, text: &str, indent: usize) {
        let shape = Shape::of(text);
        self.spaces(indent);
        if text.is_empty() || shape.multiline || width(text) >= SIMPLE_KEY_LIMIT {
            self.raw("? ");
            self.value(text, indent + INDENT);
            self.spaces(indent);
        } else {
            match shape.style() {
                Style::Plain | Style::Literal => self.raw(text),
                Style::SingleQuoted => self.raw(&format!("'{}'", text.replace('\'', "''"))),
                Style::DoubleQuoted => self.double_quoted(text, None),
            }
        }
        self.raw(": ");
    }

    fn spaces(&mut self, count: usize) {
        self.raw(&" ".repeat(count));
    }

    /// Writes the text as it is; a single blank beyond the width becomes a new line.
    fn folded(&mut self, text: &str, indent: usize) {
        let end = text.trim_end_matches(is_blank).len();
        let mut start = text.len() - text.trim_start_matches(is_blank).len();
        self.raw(&text[..start]);
        while start < end {
            let word = text[start..end].find(is_blank).map_or(end, |length| start + length);
            self.raw(&text[start..word]);
            start = word + text[word..].chars().take_while(|c| is_blank(*c)).count();
            if start < text.len() && start - word == 1 && self.column > WIDTH {
                self.raw("\n");
                self.spaces(indent);
            } else {
                self.raw(&text[word..start]);
            }
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let ends_in_break = text.ends_with(is_break);
        self.raw("|");
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.raw("2");
        }
        if !ends_in_break {
            self.raw("-");
        } else if text.chars().rev().nth(1).is_none_or(is_break) {
            self.raw("+");
        }
        self.raw("\n");
        for line in text.split_inclusive(is_break) {
            if !line.starts_with(is_break) {
                self.spaces(indent);
            }
            self.raw(line);
        }
        if !ends_in_break {
            self.raw("\n");
        }
        self.column = 0;
    }

    /// Writes the text in double quotes, folded at a blank or after an escape when an indent is given.
    fn double_quoted(&mut self, text: &str, indent: Option<usize>) {
        self.raw("\"");
        let mut characters = text.chars().peekable();
        let (mut position, end) = (0, width(text));
        let mut after_escape = false;
        while let Some(c) = characters.next() {
            position += c.len_utf16();
            let indent = indent.filter(|_| position > 1 && position < end);
            match (escaped(c), indent) {
                (Some(written), indent) => {
                    self.raw(&written);
                    // SnakeYAML folds one column too late here; this does the same.
                    if let Some(indent) = indent.filter(|_| self.column > WIDTH + 1) {
                        self.new_escaped_line(indent, characters.peek() == Some(&' '));
                    }
                    after_escape = true;
                }
                (None, indent) => {
                    if let Some(indent) = indent.filter(|_| (c == ' ' || after_escape) && self.column > WIDTH) {
                        self.new_escaped_line(indent, c == ' ');
                    }
                    self.raw(c.encode_utf8(&mut [0; 4]));
                    after_escape = false;
                }
            }
        }
        self.raw("\"");
    }

    /// Starts a new line inside double quotes: a backslash hides the line break, and another one keeps a blank at the
    /// start of the line.
    fn new_escaped_line(&mut self, indent: usize, blank_follows: bool) {
        self.raw("\\\n");
        self.spaces(indent);
        if blank_follows {
            self.raw("\\");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// The properties of a text that decide its style.
#[derive(Debug)]
struct Shape {
    multiline: bool,
    /// A plain scalar is read back as the same text.
    plain: bool,
    single_quoted: bool,
    literal: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let multiline = text.contains(is_break);
        let special = text.contains(is_special);
        let blank_before_break = text.chars().zip(text.chars().skip(1)).any(|(a, b)| is_blank(a) && is_break(b));
        let plain = !multiline && !special && !text.starts_with(is_blank) && !text.ends_with(is_blank);
        Self {
            multiline,
            plain: plain && !has_indicator(text) && yaml11_types::is_text(text),
            single_quoted: !multiline && !special,
            literal: multiline && !special && !blank_before_break && !text.ends_with(is_blank),
        }
    }

    fn style(&self) -> Style {
        if self.plain {
            Style::Plain
        } else if self.literal {
            Style::Literal
        } else if self.single_quoted {
            Style::SingleQuoted
        } else {
            Style::DoubleQuoted
        }
    }
}

/// Whether characters of a text are syntax to YAML at their place.
fn has_indicator(text: &str) -> bool {
    let ends_word = |at: usize| text[at..].chars().nth(1).is_none_or(is_blank);
    let first = text.chars().next();
    text.starts_with("---")
        || text.starts_with("...")
        || first.is_some_and(|c| "#,[]{}&*!|>'\"%@`".contains(c))
        || (matches!(first, Some('?' | ':' | '-')) && ends_word(0))
        || text.match_indices(':').any(|(at, _)| ends_word(at))
        || text.contains(" #")
}

/// The escape of a character in double quotes; `None` where the character is written as it is. Printable characters
/// outside of ASCII are written as they are, but count as escapes for folding.
fn escaped(c: char) -> Option<String> {
    Some(match c {
        '\0' => "\\0".into(),
        '\u{7}' => "\\a".into(),
        '\u{8}' => "\\b".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\u{b}' => "\\v".into(),
        '\u{c}' => "\\f".into(),
        '\r' => "\\r".into(),
        '\u{1b}' => "\\e".into(),
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\u{85}' => "\\N".into(),
        '\u{a0}' => "\\_".into(),
        '\u{2028}' => "\\L".into(),
        '\u{2029}' => "\\P".into(),
        ' '..='~' => return None,
        c if !is_special(c) => c.into(),
        c if (c as u32) <= 0xff => format!("\\x{:02x}", c as u32),
        c => format!("\\u{:04x}", c as u32),
    })
}

/// Characters that need double quotes.
fn is_special(c: char) -> bool {
    !matches!(c, '\n' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

fn is_blank(c: char) -> bool {
    c == ' '
}

/// The line breaks of YAML 1.1, without the carriage return, which is always escaped.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn width(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
