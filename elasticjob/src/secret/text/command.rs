//! Passwords in command lines that only their place shows: `-u user:password`, `-ppassword`.

use std::ops::Range;

use super::{Found, Walk, is_quote};

/// The program of a command line, where the option for its password is known.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// Any other program.
    #[default]
    Any,
    /// Its password follows `-p` without a blank.
    Attached,
    /// Its password is the word after this option, or follows the option without a blank.
    After(&'static str),
}

impl Command {
    fn of(program: &str) -> Option<Self> {
        const AFTER: [(&str, &str); 7] = [
            ("sshpass", "-p"),
            ("mongo", "-p"),
            ("redis-cli", "-a"),
            ("ldap", "-w"),
            ("sqlcmd", "-P"),
            ("plink", "-pw"),
            ("pscp", "-pw"),
        ];
        let attached = ["mysql", "mariadb"].iter().any(|name| program.starts_with(name));
        let after = AFTER.iter().find(|(name, _)| program.starts_with(name)).map(|(_, option)| Self::After(option));
        if attached { Some(Self::Attached) } else { after }
    }
}

impl Walk<'_> {
    pub(super) fn of_command(&mut self, word: &Range<usize>) -> Option<Found> {
        let text = &self.text[word.clone()];
        if !text.starts_with('-') {
            self.command = Command::of(text).unwrap_or(self.command);
            return None;
        }
        let begins = self.before(word.start).is_none_or(|byte| byte.is_ascii_whitespace() || is_quote(byte));
        if !begins {
            return None;
        }
        if let Command::After(option) = self.command
            && text.starts_with(option)
        {
            let start = if text == option { self.after_blanks(word.end) } else { word.start + option.len() };
            return Found::new(self.argument(start));
        }
        if let Some(option) = ["--user", "--proxy-user", "-u", "-U"].iter().find(|option| text.starts_with(**option)) {
            return self.user(word, option);
        }
        let attached =
            text.strip_prefix("-p").filter(|_| !text.starts_with("-pw") || self.command == Command::Attached)?;
        let argument = self.argument(word.start + "-p".len());
        let shown = &self.text[argument.clone()];
        let is_password = match self.command {
            Command::Attached => !shown.is_empty(),
            _ => !attached.is_empty() && looks_like_a_password(shown),
        };
        if is_password { Found::new(argument) } else { None }
    }

    /// The password after a user.
    fn user(&self, word: &Range<usize>, option: &str) -> Option<Found> {
        let after = word.start + option.len();
        let start = match self.byte(after) {
            Some(b'=') => after + 1,
            Some(b' ' | b'\t') => self.after_blanks(after),
            _ if option.len() == 2 => after,
            _ => return None,
        };
        let argument = self.argument(start);
        let (user, password) = self.text[argument.clone()].split_once(':')?;
        // Two numbers are the ids of a user and a group, not a user with a password.
        let is_number = |text: &str| text.trim_matches(['"', '\'']).bytes().all(|byte| byte.is_ascii_digit());
        let is_other = user.contains(['/', '=']) || is_number(user) && is_number(password);
        if is_other { None } else { Found::new(argument.start + user.len() + 1..argument.end) }
    }

    /// A word of a command line, which may be quoted.
    fn argument(&self, start: usize) -> Range<usize> {
        match self.byte(start) {
            Some(quote) if is_quote(quote) => start..self.closed(start + 1, quote),
            _ => start..self.end_of(start, |byte| byte.is_ascii_whitespace()),
        }
    }
}

/// Whether the text right after `-p` is probably not a name, a port or an option: letters mixed with other characters.
fn looks_like_a_password(text: &str) -> bool {
    /// An option of `find`, which is not a password either.
    const KNOWN: [&str; 1] = ["rint0"];
    let is_letters = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_place = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'/' | b'-'));
    !is_letters && !is_place && !text.contains(['=', '/']) && !KNOWN.contains(&text)
}
