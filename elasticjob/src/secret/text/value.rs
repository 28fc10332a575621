//! Finds where a value ends.

use std::ops::Range;

use super::{Found, Walk, is_quote};

impl Walk<'_> {
    /// A value after `=`, or in a line of a text: quoted, or up to the character that ends it.
    pub(super) fn value(&self, word: &Range<usize>, start: usize) -> Option<Found> {
        let first = self.byte(start)?;
        if is_quote(first) {
            return Found::new(self.quoted(start, first));
        }
        if first == b'\\' && self.byte(start + 1) == Some(b'"') {
            return Found::new(start..self.escaped_end(start + 2));
        }
        // Quotes around the whole text do not belong to the value.
        let around = self.before(word.start).filter(|byte| is_quote(*byte));
        let end = self.end_of(start, |byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'&' | b';') || is_quote(byte) || around == Some(byte)
        });
        let end = start + self.text[start..end].trim_end_matches([',', ')', '}', ']', '\\']).len();
        self.with_scheme(start, end)
    }

    /// The secret follows `Bearer` and similar words.
    fn with_scheme(&self, start: usize, end: usize) -> Option<Found> {
        let is_scheme =
            ["bearer", "basic", "digest", "token"].iter().any(|s| self.text[start..end].eq_ignore_ascii_case(s));
        let next = self.after_blanks(end);
        if !is_scheme || next == end {
            return Found::new(start..end);
        }
        Found::new(start..self.end_of(next, |byte| byte.is_ascii_whitespace() || is_quote(byte)))
    }

    /// A value of JSON, or the rest of it where the text was cut.
    pub(super) fn json_value(&self, word: &Range<usize>, start: usize) -> Option<Found> {
        let escaped = self.byte(word.end) == Some(b'\\');
        let end = match self.byte(start)? {
            b'\\' => self.escaped_end(start + 2),
            quote if is_quote(quote) => return self.json_text(start, quote),
            b'[' | b'{' => self.nested_end(start),
            _ => self
                .end_of(start, |byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']' | b'"' | b'\'')),
        };
        if end == start { None } else { Found::in_json(start..end, escaped) }
    }

    fn json_text(&self, start: usize, quote: u8) -> Option<Found> {
        let end = self.closed(start + 1, quote);
        match quote {
            b'"' => Found::in_json(start..end, false),
            _ => Found::new(start + 1..end - usize::from(self.before(end) == Some(quote) && end > start + 1)),
        }
    }

    /// Quotes of a shell or of YAML, which may be doubled. In a text that was cut the value goes to the end.
    fn quoted(&self, start: usize, quote: u8) -> Range<usize> {
        let open = self.end_of(start, |byte| byte != quote) - start;
        match open {
            // Both quotes are doubled: the value is inside a text that is quoted itself.
            2 if quote == b'\''
                && self.byte(start + 2).is_some_and(|byte| !byte.is_ascii_whitespace() && byte != b',') =>
            {
                let end = self.end_of(start + 2, |byte| byte == quote || byte == b'\n');
                start..self.end_of(end, |byte| byte != quote)
            }
            2 => start..start + 2,
            _ => start..self.closed(start + 1, quote),
        }
    }

    /// The place after the quote that closes the text beginning here. In JSON a backslash escapes the next quote.
    pub(super) fn closed(&self, from: usize, quote: u8) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if quote == b'"' => at += 2,
                b'\n' if quote == b'\'' => return at,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.boundary(at)
    }

    /// The place after the next escaped quote, for JSON inside of JSON.
    fn escaped_end(&self, from: usize) -> usize {
        let end = self.end_of(from.min(self.text.len()), |byte| byte == b'"');
        (end + 1).min(self.text.len())
    }

    /// The place after the bracket that closes the bracket here.
    fn nested_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (start, 0_usize);
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    at = self.closed(at + 1, b'"');
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        self.boundary(at)
    }

    /// The nearest place where the text can be cut between two characters.
    fn boundary(&self, at: usize) -> usize {
        self.text.ceil_char_boundary(at.min(self.text.len()))
    }
}
