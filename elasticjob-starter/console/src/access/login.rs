//! A name and a password become a session, for the page and for programs.

use std::time::{Duration, Instant};

use super::account::Account;
use super::log::Event;
use super::session::SessionToken;
use super::user::LONGEST_NAME;
use crate::app::App;

/// What a login came to.
pub(crate) enum LoginOutcome {
    /// A session has begun.
    In(SessionToken),
    /// The name or the password is wrong.
    Wrong,
    /// There were too many attempts: the next one counts after this time.
    Slowed(Duration),
    /// The operating system gives no random bytes.
    NoSession(getrandom::Error),
}

/// Logs in.
pub(crate) async fn log_in(app: &App, name: &str, password: String, address: Option<String>) -> LoginOutcome {
    let hash = app.users.password_of(name);
    // Nothing keeps it: a name can be as long as a request.
    if hash.is_none() && name.chars().count() > LONGEST_NAME {
        app.access.add(name, address, Event::LoginRefused);
        return LoginOutcome::Wrong;
    }
    let attempt = match app.throttle.begin(name, address.as_deref(), Instant::now()) {
        Ok(attempt) => attempt,
        Err(wait) => {
            app.access.add(name, address, Event::LoginSlowed);
            return LoginOutcome::Slowed(wait);
        }
    };
    let is_right = app.passwords.check(hash.as_ref(), password).await;
    // An administrator may have changed the user meanwhile: then no session begins that the change would have ended.
    if !is_right || app.users.password_of(name) != hash {
        app.access.add(name, address, Event::LoginRefused);
        return LoginOutcome::Wrong;
    }
    app.throttle.succeeded(&attempt);
    app.access.add(name, address.clone(), Event::LoggedIn);
    match app.sessions.begin(Account::Local(name.to_owned()), address, Instant::now()) {
        Ok(token) => LoginOutcome::In(token),
        Err(error) => LoginOutcome::NoSession(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PASSWORD, console, with_users};

    const HERE: &str = "192.0.2.1";

    async fn log_in_from(app: &App, name: &str, password: &str, address: &str) -> LoginOutcome {
        log_in(app, name, password.to_owned(), Some(address.to_owned())).await
    }

    #[tokio::test]
    async fn guesses_at_the_same_time_are_slowed_as_those_after_each_other() {
        let console = console(with_users());
        let then = Instant::now();
        let guesses = (0..30).map(|_| log_in_from(console.app(), "admin", "guessed", HERE));
        let outcomes = futures_util::future::join_all(guesses).await;
        let tried = outcomes.iter().filter(|outcome| matches!(outcome, LoginOutcome::Wrong)).count();
        assert_eq!(tried, 6, "the others wait");
        let owner = log_in_from(console.app(), "admin", PASSWORD, "203.0.113.9").await;
        assert!(matches!(owner, LoginOutcome::In(_)), "the owner is elsewhere, and is not kept out");
        // A machine that is busy may take longer for the guesses than the wait is.
        let here = console.app().throttle.begin("admin", Some(HERE), then);
        assert!(here.is_err(), "here the wait goes on");
    }

    #[tokio::test]
    async fn a_name_that_is_too_long_is_wrong_and_is_not_kept() {
        let console = console(with_users());
        for _ in 0..50 {
            let outcome = log_in_from(console.app(), &"x".repeat(LONGEST_NAME + 1), "guessed", HERE).await;
            assert!(matches!(outcome, LoginOutcome::Wrong), "it is not counted either");
        }
        let outcome = log_in_from(console.app(), &"x".repeat(LONGEST_NAME), "guessed", HERE).await;
        assert!(matches!(outcome, LoginOutcome::Wrong));
    }
}
