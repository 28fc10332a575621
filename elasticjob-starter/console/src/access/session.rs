//! Sessions of browsers, in memory: a console that starts again asks all users to log in again.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::account::Account;

/// The name of the cookie.
pub(crate) const COOKIE: &str = "elasticjob_session";

/// A session ends when nothing was asked for this long.
const IDLE: Duration = Duration::from_secs(12 * 3600);

/// A session ends after this time whatever happens.
const AT_MOST: Duration = Duration::from_secs(7 * 24 * 3600);

/// That of an account of a company ends earlier: the console is not told when the company takes a role away.
const COMPANY_AT_MOST: Duration = Duration::from_secs(12 * 3600);

/// How many sessions are kept; the one that was used longest ago ends first.
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
    account: Account,
    /// The address that the login came from.
    from: Option<String>,
    began: Instant,
    used: Instant,
    /// The times of the clock on the wall, in milliseconds since 1970.
    began_at: i64,
    used_at: i64,
    /// Ends what the session streams.
    ended: CancellationToken,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        let at_most = match self.account {
            Account::Local(_) => AT_MOST,
            Account::Company(_) => COMPANY_AT_MOST,
        };
        now.duration_since(self.used) >= IDLE || now.duration_since(self.began) >= at_most
    }
}

/// A session, as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionView {
    /// A part of the hash of its cookie: it tells sessions apart, and is no use for a login.
    pub(crate) id: String,
    pub(crate) user: String,
    pub(crate) from: Option<String>,
    pub(crate) began_at: i64,
    pub(crate) used_at: i64,
}

fn id_of(key: &[u8; 32]) -> String {
    key.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The sessions that go on.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    sessions: Mutex<HashMap<[u8; 32], Session>>,
}

impl Sessions {
    /// A new session of this account. Each login makes one, so that no visitor can fix the session of another user
    /// before.
    pub(crate) fn begin(
        &self,
        account: Account,
        from: Option<String>,
        now: Instant,
    ) -> Result<SessionToken, getrandom::Error> {
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
        let (ended, at) = (CancellationToken::new(), crate::service::now());
        let session = Session { account, from, began: now, used: now, began_at: at, used_at: at, ended };
        sessions.insert(token.key(), session);
        Ok(token)
    }

    /// Whose a session is that goes on, and what is cancelled when it ends.
    pub(crate) fn account(&self, token: &SessionToken, now: Instant) -> Option<(Account, CancellationToken)> {
        let mut sessions = self.lock();
        let key = token.key();
        let session = sessions.get_mut(&key)?;
        if session.is_over(now) {
            session.ended.cancel();
            sessions.remove(&key);
            return None;
        }
        (session.used, session.used_at) = (now, crate::service::now());
        Some((session.account.clone(), session.ended.clone()))
    }

    /// Ends a session, with all that it streams.
    pub(crate) fn end(&self, token: &SessionToken) {
        if let Some(session) = self.lock().remove(&token.key()) {
            session.ended.cancel();
        }
    }

    /// The sessions that go on, the one that began last first.
    pub(crate) fn list(&self, now: Instant) -> Vec<SessionView> {
        let sessions = self.lock();
        let going = sessions.iter().filter(|(_, session)| !session.is_over(now));
        let view = |(key, session): (&[u8; 32], &Session)| SessionView {
            id: id_of(key),
            user: session.account.to_string(),
            from: session.from.clone(),
            began_at: session.began_at,
            used_at: session.used_at,
        };
        let mut views: Vec<SessionView> = going.map(view).collect();
        views.sort_by(|one, other| (other.began_at, &one.id).cmp(&(one.began_at, &other.id)));
        views
    }

    /// Ends the session with this id; returns whose it was.
    pub(crate) fn end_by_id(&self, id: &str) -> Option<String> {
        let mut sessions = self.lock();
        let key = sessions.keys().find(|key| id_of(key) == id).copied()?;
        let session = sessions.remove(&key)?;
        session.ended.cancel();
        Some(session.account.to_string())
    }

    /// Ends all sessions of a user of the console.
    pub(crate) fn end_of(&self, user: &str) {
        self.lock().retain(|_, session| {
            let is_of_user = session.account.is_user(user);
            if is_of_user {
                session.ended.cancel();
            }
            !is_of_user
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Session>> {
        // A thread that panicked left the map whole: each change is one call.
        self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Account {
        Account::Local(name.to_owned())
    }

    fn user(sessions: &Sessions, token: &SessionToken, now: Instant) -> Option<String> {
        sessions.account(token, now).map(|(account, _)| account.to_string())
    }

    #[test]
    fn sessions_are_ended_by_their_id_and_by_their_user_with_what_they_stream() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let begin = |name| sessions.begin(of(name), Some("192.0.2.7".to_owned()), now).expect("random");
        let (one, other, li) = (begin("zhang"), begin("zhang"), begin("li"));
        let streams = [&one, &other, &li].map(|token| sessions.account(token, now).expect("it goes on").1);
        let list = sessions.list(now);
        assert_eq!(list.len(), 3);
        assert!(list.iter().all(|view| view.from.as_deref() == Some("192.0.2.7") && !one.as_str().contains(&view.id)));
        let of_li = list.iter().find(|view| view.user == "li").expect("it is listed");
        assert_eq!(sessions.end_by_id(&of_li.id).as_deref(), Some("li"));
        assert_eq!(sessions.end_by_id(&of_li.id), None);
        assert_eq!(streams.each_ref().map(CancellationToken::is_cancelled), [false, false, true]);
        sessions.end_of("zhang");
        assert!(streams.iter().all(CancellationToken::is_cancelled) && sessions.list(now).is_empty());
    }

    #[test]
    fn a_session_ends_when_it_is_not_used_and_after_a_week() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let token = sessions.begin(of("zhang"), None, start).expect("random");
        let mut now = start;
        while now < start + AT_MOST - IDLE {
            now += IDLE / 2;
            assert_eq!(user(&sessions, &token, now).as_deref(), Some("zhang"));
        }
        assert_eq!(user(&sessions, &token, start + AT_MOST), None);
        let idle = sessions.begin(of("li"), None, start).expect("random");
        assert_eq!(user(&sessions, &idle, start + IDLE), None);
        assert_eq!(user(&sessions, &idle, start), None, "it does not come back");
    }

    #[test]
    fn a_session_of_a_company_ends_after_half_a_day_however_much_it_is_used() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let account = super::super::account::CompanyAccount::new("https://id.example", "7", "zhang", Vec::new());
        let token = sessions.begin(Account::Company(account.into()), None, start).expect("random");
        assert_eq!(user(&sessions, &token, start + COMPANY_AT_MOST / 2).as_deref(), Some("oidc:zhang"));
        sessions.end_of("oidc:zhang");
        sessions.end_of("zhang");
        assert!(user(&sessions, &token, start + COMPANY_AT_MOST - Duration::from_secs(1)).is_some(), "it is no user");
        assert_eq!(user(&sessions, &token, start + COMPANY_AT_MOST), None);
    }

    #[test]
    fn a_session_that_was_ended_is_not_known_and_no_other_is() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let (one, other) = (
            sessions.begin(of("zhang"), None, now).expect("random"),
            sessions.begin(of("zhang"), None, now).expect("random"),
        );
        sessions.end(&one);
        assert_eq!(user(&sessions, &one, now), None);
        assert_eq!(user(&sessions, &other, now).as_deref(), Some("zhang"));
        assert_eq!(user(&sessions, &SessionToken::from_cookie(""), now), None);
    }
}
