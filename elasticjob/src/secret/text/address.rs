//! Users with passwords in addresses.

use std::ops::Range;

use super::{Found, Walk, is_quote};
use crate::secret::text::shape::is_word;

/// The address that was searched last, so that an address with many schemes is not searched for each of them.
#[derive(Debug, Default)]
pub(super) struct Address {
    end: usize,
    last_at: Option<usize>,
}

impl Walk<'_> {
    /// The part between `://` and the last `@` of an address, where that is a user with a password. The password may
    /// contain any character: many passwords are not escaped as an address requires.
    pub(super) fn user_of_address(&mut self, word: &Range<usize>) -> Option<Found> {
        let rest = &self.text[word.end..];
        // JSON may escape slashes.
        let start = word.end + ["://", r":\/\/"].iter().find(|sign| rest.starts_with(**sign))?.len();
        if start > self.address.end {
            let end =
                self.end_of(start, |byte| byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b'<' | b'>'));
            let last_at = self.text[start..end].rfind('@').map(|at| start + at);
            self.address = Address { end, last_at };
        }
        let at = self.address.last_at.filter(|at| *at >= start)?;
        let user = &self.text[start..at];
        let host = &user[..user.find(['/', '?', '#', '\\']).unwrap_or(user.len())];
        let is_user = match host.split_once(':') {
            // Without a colon it is a token, or a user alone. Where a path follows it is only a host so far.
            None => host.len() == user.len() && user.len() >= 16 && !is_word(user),
            // After a port comes a path, which may contain an `@`.
            Some((_, port)) => host.len() == user.len() || host.contains('@') || !is_port(port),
        };
        if is_user { Found::new(start..at) } else { None }
    }
}

fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
