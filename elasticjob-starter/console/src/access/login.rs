//! A name and a password become a session, for the page and for programs.

use std::time::{Duration, Instant};

use super::account::Account;
use super::log::Event;
use super::session::SessionToken;
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
    let keys: Vec<String> =
        [format!("user {name}")].into_iter().chain(address.iter().map(|ip| format!("address {ip}"))).collect();
    if let Some(wait) = app.throttle.wait(&keys, Instant::now()) {
        app.access.add(name, address, Event::LoginSlowed);
        return LoginOutcome::Slowed(wait);
    }
    let hash = app.users.password_of(name);
    let is_right = app.passwords.check(hash.as_ref(), password).await;
    // An administrator may have changed the user meanwhile: then no session begins that the change would have ended.
    if !is_right || app.users.password_of(name) != hash {
        app.throttle.failed(&keys, Instant::now());
        app.access.add(name, address, Event::LoginRefused);
        return LoginOutcome::Wrong;
    }
    app.throttle.succeeded(&keys);
    app.access.add(name, address.clone(), Event::LoggedIn);
    match app.sessions.begin(Account::Local(name.to_owned()), address, Instant::now()) {
        Ok(token) => LoginOutcome::In(token),
        Err(error) => LoginOutcome::NoSession(error),
    }
}
