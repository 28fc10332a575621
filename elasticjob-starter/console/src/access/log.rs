//! Logs accepted and refused access: the last events of this console, in memory and in its log. A console with a data
//! file keeps them there as well.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use axum::extract::ConnectInfo;
use axum::http::Extensions;
use elasticjob::__private::log::{apart, info, warn};

use super::proxy::Forwarded;
use crate::store::{AccessCursor, DataFile, StoreError};

/// How many events are kept.
const MOST: usize = 1_000;

/// Names and paths are cut after so many characters: a caller that is not known may send long ones.
const LONGEST: usize = 200;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    LoggedIn,
    /// With the account of a company: what names it there, with the issuer.
    #[cfg_attr(
        not(any(feature = "data", feature = "oidc")),
        expect(dead_code, reason = "no company logs in without the feature")
    )]
    LoggedInElsewhere(String),
    /// The same did not work: why.
    #[cfg_attr(
        not(any(feature = "data", feature = "oidc")),
        expect(dead_code, reason = "no company logs in without the feature")
    )]
    ElsewhereRefused(String),
    /// Wrong name or password.
    LoginRefused,
    /// Too many attempts.
    LoginSlowed,
    LoggedOut,
    /// A token that does not count, and why.
    TokenRefused(String),
    /// A request that the caller may not make: its method and path.
    Forbidden(String),
    /// A user, a token or a session that an administrator changed, by name.
    Changed(Change, String),
    /// An event that another release wrote, by its name.
    #[cfg_attr(not(feature = "data"), expect(dead_code, reason = "no event comes from another release without a file"))]
    Other(String, Option<String>),
}

/// What an administrator did to users, tokens and sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    UserAdded,
    UserChanged,
    UserRemoved,
    PasswordSet,
    TokenMade,
    TokenRemoved,
    SessionEnded,
}

impl Change {
    #[cfg(feature = "data")]
    const ALL: [Self; 7] = [
        Self::UserAdded,
        Self::UserChanged,
        Self::UserRemoved,
        Self::PasswordSet,
        Self::TokenMade,
        Self::TokenRemoved,
        Self::SessionEnded,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::UserAdded => "user-added",
            Self::UserChanged => "user-changed",
            Self::UserRemoved => "user-removed",
            Self::PasswordSet => "password-set",
            Self::TokenMade => "token-made",
            Self::TokenRemoved => "token-removed",
            Self::SessionEnded => "session-ended",
        }
    }
}

impl Event {
    /// Its name for programs.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::LoggedIn => "logged-in",
            Self::LoggedInElsewhere(_) => "logged-in-elsewhere",
            Self::ElsewhereRefused(_) => "elsewhere-refused",
            Self::LoginRefused => "login-refused",
            Self::LoginSlowed => "login-slowed",
            Self::LoggedOut => "logged-out",
            Self::TokenRefused(_) => "token-refused",
            Self::Forbidden(_) => "forbidden",
            Self::Changed(change, _) => change.code(),
            Self::Other(code, _) => code,
        }
    }

    /// The event of a name, with what else was known of it.
    #[cfg(feature = "data")]
    pub(crate) fn of(code: &str, detail: Option<String>) -> Self {
        match (code, detail) {
            ("logged-in", _) => Self::LoggedIn,
            ("logged-in-elsewhere", Some(subject)) => Self::LoggedInElsewhere(subject),
            ("elsewhere-refused", Some(why)) => Self::ElsewhereRefused(why),
            ("login-refused", _) => Self::LoginRefused,
            ("login-slowed", _) => Self::LoginSlowed,
            ("logged-out", _) => Self::LoggedOut,
            ("token-refused", Some(why)) => Self::TokenRefused(why),
            ("forbidden", Some(request)) => Self::Forbidden(request),
            (code, detail) => match (Change::ALL.into_iter().find(|change| change.code() == code), detail) {
                (Some(change), Some(name)) => Self::Changed(change, name),
                (_, detail) => Self::Other(code.to_owned(), detail),
            },
        }
    }

    /// What else is known of it.
    pub(crate) fn detail(&self) -> Option<&str> {
        match self {
            Self::LoggedInElsewhere(detail)
            | Self::ElsewhereRefused(detail)
            | Self::TokenRefused(detail)
            | Self::Forbidden(detail)
            | Self::Changed(_, detail) => Some(detail),
            Self::Other(_, detail) => detail.as_deref(),
            _ => None,
        }
    }

    /// Whether a caller was kept out.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::LoginRefused
                | Self::LoginSlowed
                | Self::ElsewhereRefused(_)
                | Self::TokenRefused(_)
                | Self::Forbidden(_)
        )
    }
}

/// An event, or several of the same kind that followed each other.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The time of the last one, in milliseconds since 1970.
    pub(crate) at: i64,
    /// The name that was given; empty where none was.
    pub(crate) who: String,
    /// The address that it came from: behind a trusted proxy that of the client, behind another one that of the proxy.
    pub(crate) from: Option<String>,
    pub(crate) event: Event,
    pub(crate) count: usize,
}

/// The last events.
#[derive(Debug, Default)]
pub(crate) struct AccessLog {
    entries: Mutex<VecDeque<Entry>>,
    data: Option<DataFile>,
    logins: [AtomicU64; 3],
}

/// How attempts to log in ended, in the order of the counts.
pub(crate) const LOGINS: [&str; 3] = ["accepted", "refused", "slowed"];

/// The address that a request came from: behind a proxy that is trusted, that of the client.
pub(crate) fn address(extensions: &Extensions) -> Option<String> {
    if let Some(Forwarded { client }) = extensions.get() {
        return Some(client.to_string());
    }
    extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip().to_string())
}

impl AccessLog {
    pub(crate) fn new(data: Option<DataFile>) -> Self {
        Self { data, ..Self::default() }
    }

    pub(crate) fn add(&self, who: &str, from: Option<String>, event: Event) {
        let login = match event {
            Event::LoggedIn | Event::LoggedInElsewhere(_) => Some(0),
            Event::LoginRefused | Event::ElsewhereRefused(_) => Some(1),
            Event::LoginSlowed => Some(2),
            _ => None,
        };
        if let Some(login) = login {
            self.logins[login].fetch_add(1, Ordering::Relaxed);
        }
        let who: String = who.chars().take(LONGEST).collect();
        let (code, detail) = (event.code().to_owned(), event.detail().map(str::to_owned));
        let (user, address) = (who.clone(), from.clone());
        match event.is_refusal() {
            true => apart(move || warn!(target: "elasticjob::audit", ?user, from = ?address, ?detail, "{code}")),
            false => apart(move || info!(target: "elasticjob::audit", ?user, from = ?address, "{code}")),
        }
        let at = crate::service::now();
        if let Some(data) = &self.data {
            data.storage().add_access(Entry { at, who, from, event, count: 1 });
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller that guesses passwords must not push out the events of others.
        let is_same = |it: &Entry| event.is_refusal() && it.who == who && it.from == from && it.event == event;
        let before = entries.iter().position(is_same).and_then(|place| entries.remove(place)).map_or(0, |it| it.count);
        entries.truncate(MOST - 1);
        entries.push_front(Entry { at, who, from, event, count: before + 1 });
    }

    /// How many attempts to log in ended how since the start: see [`LOGINS`].
    pub(crate) fn logins(&self) -> [u64; 3] {
        [0, 1, 2].map(|login: usize| self.logins[login].load(Ordering::Relaxed))
    }

    /// The events before a place, the last one first, with the place to go on from. In memory there are so few that all of
    /// them come.
    pub(crate) async fn page(
        &self,
        before: Option<AccessCursor>,
        limit: u32,
    ) -> Result<(Vec<Entry>, Option<AccessCursor>), StoreError> {
        match &self.data {
            Some(data) => data.storage().access(before, limit).await,
            None => Ok((self.entries(), None)),
        }
    }

    /// Whether the events outlive the console.
    pub(crate) fn is_kept(&self) -> bool {
        self.data.is_some()
    }

    /// The events in memory, the last one first.
    fn entries(&self) -> Vec<Entry> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries: Vec<Entry> = entries.iter().cloned().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        entries
    }
}

/// A request in short. A client may make up its method as well.
pub(crate) fn in_short(method: &axum::http::Method, path: &str) -> String {
    method.as_str().chars().chain([' ']).chain(path.chars()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_in_short_is_short_with_any_method_and_path() {
        let made_up = axum::http::Method::from_bytes("LONG".repeat(9_000).as_bytes()).expect("a method");
        for (method, path) in [(&made_up, "/login"), (&axum::http::Method::PUT, &*"/long".repeat(9_000))] {
            assert_eq!(in_short(method, path).chars().count(), LONGEST);
        }
        assert_eq!(in_short(&axum::http::Method::PUT, "/login"), "PUT /login");
    }

    #[test]
    fn refusals_of_a_kind_are_one_entry_and_the_oldest_events_go_first() {
        let log = AccessLog::default();
        log.add("zhang", None, Event::LoggedIn);
        for _ in 0..5_000 {
            log.add("root", Some("192.0.2.7".to_owned()), Event::LoginRefused);
        }
        assert_eq!(log.logins(), [1, 5_000, 0]);
        let entries = log.entries();
        let told: Vec<_> = entries.iter().map(|it| (it.who.as_str(), it.count)).collect();
        assert_eq!(told, [("root", 5_000), ("zhang", 1)]);
        for name in 0..MOST {
            log.add(&name.to_string(), None, Event::LoginRefused);
        }
        let entries = log.entries();
        assert_eq!(entries.len(), MOST);
        assert!(entries.iter().all(|it| it.who != "zhang"));
        log.add(&"x".repeat(10_000), None, Event::LoginRefused);
        assert!(log.entries().iter().all(|it| it.who.chars().count() <= LONGEST));
    }
}
