//! Sessions of browsers, in memory: a console that starts again asks everybody to log in again.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// The name of the cookie.
pub(crate) const COOKIE: &str = "elasticjob_session";

/// A session ends when nothing was asked for this long.
const IDLE: Duration = Duration::from_secs(12 * 3600);

/// A session ends after this time whatever happens.
const AT_MOST: Duration = Duration::from_secs(7 * 24 * 3600);

/// So many sessions are kept; the one that was used longest ago ends first.
const MOST: usize = 10_000;

/// What a browser shows: 256 random bits. The console keeps its hash alone.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionToken(String);

impl SessionToken {
    pub(crate) fn from_cookie(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn random() -> Result<Self, getrandom::Error> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random_bytes::<32>()?)))
    }

    fn key(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }
}

/// Bytes from the operating system.
pub(super) fn random_bytes<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[derive(Debug)]
struct Session {
    user: String,
    began: Instant,
    used: Instant,
    /// Ends what the session streams.
    ended: CancellationToken,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.used) >= IDLE || now.duration_since(self.began) >= AT_MOST
    }
}

/// The sessions that go on.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    sessions: Mutex<HashMap<[u8; 32], Session>>,
}

impl Sessions {
    /// A new session of this user. Each login makes one, so that nobody can fix the session of somebody else before.
    pub(crate) fn begin(&self, user: &str, now: Instant) -> Result<SessionToken, getrandom::Error> {
        let token = SessionToken::random()?;
        let mut sessions = self.lock();
        if sessions.len() >= MOST {
            sessions.retain(|_, session| !session.is_over(now));
        }
        if sessions.len() >= MOST
            && let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.used).map(|(key, _)| *key)
            && let Some(session) = sessions.remove(&oldest)
        {
            session.ended.cancel();
        }
        let session = Session { user: user.to_owned(), began: now, used: now, ended: CancellationToken::new() };
        sessions.insert(token.key(), session);
        Ok(token)
    }

    /// The user of a session that goes on.
    pub(crate) fn user(&self, token: &SessionToken, now: Instant) -> Option<String> {
        let mut sessions = self.lock();
        let key = token.key();
        let session = sessions.get_mut(&key)?;
        if session.is_over(now) {
            session.ended.cancel();
            sessions.remove(&key);
            return None;
        }
        session.used = now;
        Some(session.user.clone())
    }

    /// Ends a session, with all that it streams.
    pub(crate) fn end(&self, token: &SessionToken) {
        if let Some(session) = self.lock().remove(&token.key()) {
            session.ended.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Session>> {
        // A thread that panicked left the map whole: each change is one call.
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A password of 20 characters, without those that look alike.
pub(super) fn random_password() -> Result<String, getrandom::Error> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut password = String::new();
    for (index, byte) in random_bytes::<20>()?.into_iter().enumerate() {
        let dash = if index > 0 && index % 5 == 0 { "-" } else { "" };
        // 256 is a multiple of 32, so that each letter is as likely as the others.
        let _ = write!(password, "{dash}{}", char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_when_it_is_not_used_and_after_a_week() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let token = sessions.begin("zhang", start).expect("random");
        let mut now = start;
        while now < start + AT_MOST - IDLE {
            now += IDLE / 2;
            assert_eq!(sessions.user(&token, now).as_deref(), Some("zhang"));
        }
        assert_eq!(sessions.user(&token, start + AT_MOST), None);
        let idle = sessions.begin("li", start).expect("random");
        assert_eq!(sessions.user(&idle, start + IDLE), None);
        assert_eq!(sessions.user(&idle, start), None, "it does not come back");
    }

    #[test]
    fn a_session_that_was_ended_is_not_known_and_no_other_is() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let (one, other) =
            (sessions.begin("zhang", now).expect("random"), sessions.begin("zhang", now).expect("random"));
        sessions.end(&one);
        assert_eq!(sessions.user(&one, now), None);
        assert_eq!(sessions.user(&other, now).as_deref(), Some("zhang"));
        assert_eq!(sessions.user(&SessionToken::from_cookie(""), now), None);
    }

    #[test]
    fn passwords_that_are_made_differ_and_are_long_enough() {
        let (one, other) = (random_password().expect("random"), random_password().expect("random"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 23);
    }
}
