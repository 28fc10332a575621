//! Secrets that their shape shows, at any place.

use std::ops::Range;

use super::{Found, Walk};

/// The beginnings of tokens of services that many programs use.
const PREFIXES: [&str; 17] = [
    "ejt_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "sk_live_",
    "rk_live_",
    "AIza",
    "hvs.",
];

/// A word that is a token itself: a token of a known service, or a JWT.
pub(super) fn token(text: &str, word: &Range<usize>) -> Option<Found> {
    const SHORTEST: usize = 20;
    let start = word.start + text[word.clone()].find(|c: char| c != '-' && c != '.')?;
    let token = &text[start..word.end];
    let is_jwt = || {
        let mut parts = token.split('.');
        token.starts_with("eyJ") && parts.next().is_some_and(|head| head.len() > 10) && parts.next().is_some()
    };
    let is_known = || PREFIXES.iter().any(|prefix| token.starts_with(prefix));
    if token.len() >= SHORTEST && (is_jwt() || is_known()) { Found::new(start..word.end) } else { None }
}

/// A private key in PEM form: from after its first line to before its last line, or to the end of a text that was cut.
pub(super) fn private_key(text: &str, word: &Range<usize>) -> Option<Found> {
    const BEGIN: &str = "-----BEGIN";
    const KIND: &str = "PRIVATE KEY";
    /// No type of key has a longer name.
    const LONGEST: usize = 64;
    let first = text[word.clone()].strip_prefix(BEGIN)?;
    if !first.is_empty() {
        return None;
    }
    let head = text[word.end..].char_indices().take(LONGEST).take_while(|(_, c)| !matches!(c, '\n' | '\\'));
    let head = &text[word.end..head.last().map_or(word.end, |(at, c)| word.end + at + c.len_utf8())];
    let kind = head.find(KIND)? + KIND.len();
    let start = word.end + kind + head[kind..].find("-----")? + "-----".len();
    let body = &text[start..];
    Found::new(start..start + body.find("-----END").unwrap_or(body.len()))
}

impl Walk<'_> {
    /// The text after the name of an HTTP scheme: `Bearer` and a token, `Basic` and a user with a password.
    pub(super) fn after_scheme(&self, word: &Range<usize>) -> Option<Found> {
        let scheme = &self.text[word.clone()];
        if !["bearer", "basic"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        let start = self.after_blanks(word.end);
        let end = self.end_of(start, |byte| !(byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)));
        let token = &self.text[start..end];
        (start > word.end && !is_word(token)).then(|| Found::new(start..end)).flatten()
    }
}

/// Whether a text is a normal word and not a token: letters only, and only the first may be a capital.
pub(super) fn is_word(text: &str) -> bool {
    /// No word is that long.
    const LONGEST: usize = 24;
    let text = text.trim_end_matches(['.', '-', '/']);
    let letters = |part: &str| part.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    text.len() < LONGEST
        && text.split(['-', '/']).all(|part| !part.starts_with(|c: char| c.is_ascii_digit()) && letters(part))
}
