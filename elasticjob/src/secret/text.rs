//! Secrets inside of other texts: addresses, command lines, headers, parameters, errors.
//!
//! One walk over the text, word by word. Each part is read only a few times, so that the cost grows only linearly with
//! the length: another client may have made a long text.

mod address;
mod command;
#[cfg(test)]
mod fuzz;
mod name;
mod shape;
mod value;

use std::ops::Range;

use self::command::Command;
use super::Secret;

/// A text without the secrets in it: users with passwords before a host, parameters of addresses and command lines,
/// headers, values in JSON and YAML, keys in PEM, and tokens that their shape shows.
pub(crate) fn mask_inside(text: &str) -> String {
    let mut walk = Walk { text, command: Command::default(), address: address::Address::default() };
    let mut masked = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(word) = walk.next_word(at) {
        at = word.end;
        if let Some(Found { secret, shown }) = walk.secret_at(&word) {
            masked.push_str(&text[copied..secret.start]);
            masked.push_str(shown);
            (copied, at) = (secret.end, secret.end.max(word.end));
        }
    }
    masked.push_str(&text[copied..]);
    masked
}

/// The part to mask, and the text to show instead.
#[derive(Debug)]
struct Found {
    secret: Range<usize>,
    shown: &'static str,
}

impl Found {
    fn new(secret: Range<usize>) -> Option<Self> {
        (!secret.is_empty()).then_some(Self { secret, shown: Secret::MASK })
    }

    /// A secret in JSON: the masked value is still valid JSON.
    fn in_json(secret: Range<usize>, escaped: bool) -> Option<Self> {
        Some(Self { secret, shown: if escaped { r#"\"***\""# } else { r#""***""# } })
    }
}

/// The state of the walk.
struct Walk<'t> {
    text: &'t str,
    /// The program of the command line that the walk is in.
    command: Command,
    address: address::Address,
}

impl Walk<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn before(&self, at: usize) -> Option<u8> {
        self.byte(at.checked_sub(1)?)
    }

    /// The next run of characters that can be part of a name.
    fn next_word(&mut self, from: usize) -> Option<Range<usize>> {
        let rest = &self.text.as_bytes()[from..];
        let start = from + rest.iter().position(|byte| is_name(*byte))?;
        if rest[..start - from].contains(&b'\n') {
            self.command = Command::default();
        }
        Some(start..self.end_of(start, |byte| !is_name(byte)))
    }

    /// The secret that a word is, or that follows the word.
    fn secret_at(&mut self, word: &Range<usize>) -> Option<Found> {
        let shaped = || shape::token(self.text, word).or_else(|| shape::private_key(self.text, word));
        let found = shaped().or_else(|| self.user_of_address(word)).or_else(|| self.of_command(word));
        found.or_else(|| self.named(word)).or_else(|| self.after_scheme(word))
    }

    /// The first place from here on with such a byte, or the end.
    fn end_of(&self, from: usize, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
    }

    /// The first place from here on that is not a blank in the line.
    fn after_blanks(&self, from: usize) -> usize {
        self.end_of(from, |byte| !matches!(byte, b' ' | b'\t'))
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_at_the_start_of_a_text_inside_of_it_and_in_json() {
        for (text, masked) in [
            ("token=hunter2&all=1", "token=***&all=1"),
            ("'api_token=hunter2'", "'api_token=***'"),
            ("0=password=hunter2", "0=password=***"),
            ("run.sh --access-key=hunter2 --full", "run.sh --access-key=*** --full"),
            (
                "cannot GET http://h/x?all=1&access_token=hunter2: refused",
                "cannot GET http://h/x?all=1&access_token=*** refused",
            ),
            ("http://sa:hunter2@h/x", "http://***@h/x"),
            (r#"{"user": "sa", "apiToken": "hunter2", "a": 1}"#, r#"{"user": "sa", "apiToken": "***", "a": 1}"#),
            (r#"{"password":"a\"hunter2"}"#, r#"{"password":"***"}"#),
            (r#"{"pwd":12,"secrets":["hunter2","hunter2"]}"#, r#"{"pwd":"***","secrets":"***"}"#),
            (r#""{\"secret\": \"hunter2\", \"a\": 1}""#, r#""{\"secret\": \"***\", \"a\": 1}""#),
        ] {
            assert_eq!(mask_inside(text), masked);
        }
    }

    #[test]
    fn secrets_of_command_lines_may_be_quoted_or_stand_apart() {
        for (text, masked) in [
            ("run --password='hunter 2' -v", "run --password=*** -v"),
            (r#"DB_PWD="hunter 2" run"#, "DB_PWD=*** run"),
            (r#"{"error":"run --api-key=\"hunter 2\" failed"}"#, r#"{"error":"run --api-key=*** failed"}"#),
            ("'run --password=''hunter 2'' -v'", "'run --password=*** -v'"),
            ("run --password hunter2 -v", "run --password *** -v"),
            ("run -token 'hunter 2'", "run -token ***"),
            ("run --no-password --full", "run --no-password --full"),
        ] {
            assert_eq!(mask_inside(text), masked);
        }
    }

    #[test]
    fn a_text_without_secrets_stays_as_it_is() {
        for text in [
            "0=Beijing,1=Shanghai",
            "invalid token: expected a word",
            "http://h:8080/x?all=1",
            r#"{"last":{"attempt":{"term":1},"error":"boom"}}"#,
        ] {
            assert_eq!(mask_inside(text), text);
        }
    }
}
