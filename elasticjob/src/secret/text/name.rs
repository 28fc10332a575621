//! Values after names that mean a secret.

use std::ops::Range;

use super::super::keys;
use super::{Found, Walk, is_name, is_quote};

/// The sign between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=`, also as `:=` and `=>`.
    Equals,
    Colon,
    /// The name is an element of XML.
    Element,
    /// Only blanks: the name is an option, or a quote follows.
    Blank,
}

impl Walk<'_> {
    /// The value of a word that names a secret.
    pub(super) fn named(&self, word: &Range<usize>) -> Option<Found> {
        let name = self.name_at(word);
        let (sign, start) = self.sign_after(word)?;
        let in_query = sign == Sign::Equals && matches!(self.before(word.start), Some(b'?' | b'&'));
        let is_secret = if in_query { keys::is_secret_of_query(name) } else { keys::is_secret_name(name) };
        if !is_secret {
            return (sign == Sign::Blank).then(|| self.identified_by(word, start)).flatten();
        }
        match sign {
            Sign::Equals => self.value(word, start),
            Sign::Element => Found::new(start..self.end_of(start, |byte| byte == b'<')),
            Sign::Colon => self.behind_colon(word, name, start),
            Sign::Blank if name.starts_with('-') => self.option_value(start),
            Sign::Blank if keys::is_password(name) && self.byte(start).is_some_and(is_quote) => self.value(word, start),
            Sign::Blank => None,
        }
    }

    /// The name that ends with this word. A quoted name may have blanks in it.
    fn name_at(&self, word: &Range<usize>) -> &str {
        /// No name is longer.
        const LONGEST: usize = 48;
        if !self.byte(word.end).is_some_and(|byte| is_quote(byte) || byte == b'\\') {
            return &self.text[word.clone()];
        }
        let bytes = &self.text.as_bytes()[..word.start];
        let before = bytes.iter().rev().take(LONGEST).take_while(|byte| is_name(**byte) || **byte == b' ').count();
        let start = word.start - before;
        if self.before(start).is_some_and(is_quote) { &self.text[start..word.end] } else { &self.text[word.clone()] }
    }

    fn sign_after(&self, word: &Range<usize>) -> Option<(Sign, usize)> {
        /// The most characters that close a name: quotes, which may be escaped, and the bracket of an index.
        const CLOSING: usize = 4;
        let closing = |at: usize| self.byte(at).is_some_and(|byte| is_quote(byte) || matches!(byte, b'\\' | b']'));
        let closed = (word.end..word.end + CLOSING).find(|at| !closing(*at)).unwrap_or(word.end);
        let at = self.after_blanks(closed);
        let next = self.byte(at + 1);
        let sign = match self.byte(at)? {
            b'=' if next == Some(b'>') => return Some((Sign::Equals, self.after_blanks(at + 2))),
            b':' if next == Some(b'=') => return Some((Sign::Equals, self.after_blanks(at + 2))),
            b'=' => Sign::Equals,
            // It belongs to a path in code, or to an address.
            b':' if next == Some(b':') || self.text[at..].starts_with("://") => return None,
            b':' => Sign::Colon,
            b'>' if at == word.end && matches!(self.before(word.start), Some(b'<')) => Sign::Element,
            _ if at > word.end && closed == word.end => return Some((Sign::Blank, at)),
            _ => return None,
        };
        // After `=` in the middle of a command line a blank ends an empty value; `a = b` has blanks on both sides.
        let blanks = sign == Sign::Colon || sign == Sign::Equals && at > closed;
        Some((sign, if blanks { self.after_blanks(at + 1) } else { at + 1 }))
    }

    fn behind_colon(&self, word: &Range<usize>, name: &str, start: usize) -> Option<Found> {
        let quoted_name = self.byte(word.end).is_some_and(|byte| is_quote(byte) || byte == b'\\');
        if keys::is_secret_line(name) {
            return self.line_value(word, start);
        }
        if quoted_name {
            return self.json_value(word, start);
        }
        let before = self.text[..word.start].trim_end_matches([' ', '\t']);
        let begins_line = before.is_empty() || before.ends_with('\n') || self.is_dash_of_list(before);
        let is_place =
            before.ends_with(" -") || before.ends_with(['{', '[', '(', ',', ';', ':', '|', '?', '&', '"', '\'', '>']);
        if !begins_line && !is_place && !keys::is_password(name) {
            return None;
        }
        let end = self.end_of(start, |byte| byte == b'\n');
        // `pass: 3, fail: 0` is a count.
        let is_count = name.eq_ignore_ascii_case("pass") && {
            let digits = self.end_of(start, |byte| !byte.is_ascii_digit());
            (start + 1..=start + 6).contains(&digits)
                && !self.byte(digits).is_some_and(|byte| byte.is_ascii_alphanumeric())
        };
        let is_said = is_count
            || SAID.iter().any(|said| {
                self.text[start..end].trim_end_matches([')', '.', ',', ';', '\r']).eq_ignore_ascii_case(said)
            });
        if is_said {
            return None;
        }
        if begins_line && !self.byte(start).is_some_and(is_quote) {
            return Found::new(start..end);
        }
        self.value(word, start)
    }

    fn is_dash_of_list(&self, before: &str) -> bool {
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.len() < 64 && line.trim_start() == "-"
    }

    /// The value of a header: the rest of the line, or of the quotes around it.
    fn line_value(&self, word: &Range<usize>, start: usize) -> Option<Found> {
        if self.byte(word.end).is_some_and(|byte| is_quote(byte) || byte == b'\\') {
            return self.json_value(word, start);
        }
        match self.before(word.start).filter(|byte| is_quote(*byte)) {
            Some(quote) => Found::new(start..self.end_of(start, |byte| byte == quote || byte == b'\n')),
            None => Found::new(start..self.end_of(start, |byte| byte == b'\n')),
        }
    }

    fn option_value(&self, start: usize) -> Option<Found> {
        match self.byte(start)? {
            b'-' | b'&' | b';' => None,
            _ => self.value(&(start..start), start),
        }
    }

    /// The value after `IDENTIFIED BY` in SQL.
    fn identified_by(&self, word: &Range<usize>, start: usize) -> Option<Found> {
        let is_by = self.text[word.clone()].eq_ignore_ascii_case("by") && self.byte(start).is_some_and(is_quote);
        let before = self.text[..word.start].trim_end();
        let is_identified = before.len().checked_sub(10).and_then(|at| before.get(at..));
        let is_identified = is_identified.is_some_and(|before| before.eq_ignore_ascii_case("identified"));
        (is_by && is_identified).then(|| self.value(word, start)).flatten()
    }
}

/// Words after the name of a secret that are not the secret.
const SAID: [&str; 10] = ["yes", "no", "true", "false", "null", "none", "nil", "", "***", "'***'"];
