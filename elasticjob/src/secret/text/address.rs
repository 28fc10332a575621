//! Users with their passwords in addresses.

use std::ops::Range;

use super::{Found, Walk, is_quote};
use crate::secret::text::shape::is_word;

/// The address that was looked at last, so that one of many schemes is not looked through for each of them.
#[derive(Debug, Default)]
pub(super) struct Address {
    end: usize,
    last_at: Option<usize>,
}

impl Walk<'_> {
    /// What stands between `://` and the last `@` of an address, where that is a user with a password. The password may
    /// have any character in it: many are not written as an address wants them.
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
            // Without one it is a token, or a user alone; and so far nothing but a host where something follows.
            None => host.len() == user.len() && user.len() >= 16 && !is_word(user),
            // A port is followed by a path, in which there may be an `@`.
            Some((_, port)) => host.len() == user.len() || host.contains('@') || !is_port(port),
        };
        if is_user { Found::new(start..at) } else { None }
    }
}

fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
