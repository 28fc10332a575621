//! Logins that have begun, until the browser comes back from the issuer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a reader may take at the issuer.
pub(crate) const LASTS: Duration = Duration::from_secs(600);

/// How many logins wait at a time; of more the oldest goes.
const MOST: usize = 10_000;

/// The longest page that a login leads to, in bytes: of more it leads to the first page.
const LONGEST_NEXT: usize = 1_024;

/// A login that waits.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Begun {
    /// The secret that the browser has in a cookie: an answer that another browser brings is not of this login.
    pub(super) browser: String,
    /// The ID token has to have it, so that one of another login does not count.
    pub(super) nonce: String,
    /// The issuer changes the code for this alone (PKCE).
    pub(super) verifier: String,
    pub(super) next: String,
    pub(super) at: Instant,
}

/// The logins that wait, by their state.
#[derive(Default)]
pub(super) struct BegunLogins(Mutex<HashMap<String, Begun>>);

/// Without its secrets.
impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begun").finish_non_exhaustive()
    }
}

/// Without the `state` that each of them is kept by.
impl fmt::Debug for BegunLogins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BegunLogins").finish_non_exhaustive()
    }
}

impl BegunLogins {
    pub(super) fn put(&self, state: String, mut begun: Begun) {
        if begun.next.len() > LONGEST_NEXT {
            begun.next = "/".to_owned();
        }
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= MOST {
            waiting.retain(|_, one| begun.at.duration_since(one.at) < LASTS);
        }
        if waiting.len() >= MOST
            && let Some(oldest) = waiting.iter().min_by_key(|(_, one)| one.at).map(|(state, _)| state.clone())
        {
            waiting.remove(&oldest);
        }
        waiting.insert(state, begun);
    }

    /// The login of this state and browser, once.
    pub(super) fn take(&self, state: &str, browser: &str, now: Instant) -> Option<Begun> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = waiting.get(state)?;
        if begun.browser != browser || browser.is_empty() {
            return None;
        }
        waiting.remove(state).filter(|begun| now.duration_since(begun.at) < LASTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(at: Instant) -> Begun {
        let text = |name: &str| name.to_owned();
        Begun { browser: text("b"), nonce: text("n"), verifier: text("v"), next: text("/"), at }
    }

    #[test]
    fn what_is_printed_of_a_login_has_no_secret() {
        let logins = BegunLogins::default();
        logins.put("state-of-it".to_owned(), Begun { verifier: "verifier-of-it".to_owned(), ..begun(Instant::now()) });
        let printed = format!("{logins:?} {:?}", Begun { browser: "cookie-of-it".to_owned(), ..begun(Instant::now()) });
        assert!(!printed.contains("of-it"), "{printed}");
    }

    #[test]
    fn an_answer_counts_once_for_its_browser_and_for_ten_minutes() {
        let (logins, now) = (BegunLogins::default(), Instant::now());
        for state in ["used", "foreign", "late"] {
            logins.put(state.to_owned(), begun(now));
        }
        assert!(logins.take("used", "b", now).is_some());
        assert_eq!(logins.take("used", "b", now), None, "it comes twice");
        assert_eq!(logins.take("foreign", "other", now), None);
        assert_eq!(logins.take("foreign", "", now), None);
        assert!(logins.take("foreign", "b", now).is_some(), "another browser does not use it up");
        assert_eq!(logins.take("late", "b", now + LASTS), None);
        assert_eq!(logins.take("", "b", now), None);
    }

    #[test]
    fn a_page_with_a_long_address_is_not_kept() {
        let (logins, now) = (BegunLogins::default(), Instant::now());
        for (length, kept) in [(LONGEST_NEXT, LONGEST_NEXT), (LONGEST_NEXT + 1, 1)] {
            logins.put("s".to_owned(), Begun { next: "/".repeat(length), ..begun(now) });
            assert_eq!(logins.take("s", "b", now).expect("it waits").next.len(), kept);
        }
    }

    #[test]
    fn of_too_many_the_oldest_goes() {
        let (logins, now) = (BegunLogins::default(), Instant::now());
        for number in 0..=MOST {
            logins.put(number.to_string(), begun(now + Duration::from_millis(number as u64)));
        }
        assert_eq!(logins.take("0", "b", now), None);
        assert!(logins.take("1", "b", now).is_some());
    }
}
