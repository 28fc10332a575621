//! The users: those of the settings, and those that the data file has.

use askama::Template;
use axum::Form;
use axum::http::HeaderMap;
use axum::response::Response;

use super::super::form::{self, Fields};
use super::super::outcome::{Said, Tone};
use super::super::time::Clock;
use super::super::{Layout, page};
use super::{GrantRow, ended, grants};
use crate::access::{NotChanged, Role, UserView};
use crate::here::Who;
use crate::text::t;

pub(super) const PATH: &str = "/settings/users";

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    layout: Layout,
    clock: Clock,
    users: Vec<UserView>,
    /// Whether there is a data file that keeps changes.
    can_be_changed: bool,
    said: Option<Said>,
    /// A password that was made for a user, to be shown this once.
    made: Option<(String, String)>,
}

impl UsersPage {
    fn of(who: &Who) -> Self {
        Self {
            layout: Layout::of_console(who).at(PATH),
            clock: Clock::in_zone(None),
            users: who.app.users.list(),
            can_be_changed: who.app.users.can_be_changed(),
            said: None,
            made: None,
        }
    }
}

pub(crate) async fn show(who: Who, headers: HeaderMap) -> Response {
    let shown = page(&UsersPage { said: Said::of(&who.app, &headers), ..UsersPage::of(&who) });
    Said::forget(&who.app, shown)
}

/// Adds a user. Where the form has no password, the answer has the one that was made.
pub(crate) async fn add(who: Who, Form(given): Fields) -> Response {
    let (name, password) = (form::one(&given, "name").trim(), form::one(&given, "password"));
    let password = (!password.is_empty()).then(|| password.to_owned());
    let added = who.add_user(name, password, grants(&given)).await;
    with_password(&who, name, added)
}

/// Changes, removes, or gives another password.
pub(crate) async fn change(who: Who, Form(given): Fields) -> Response {
    let name = form::one(&given, "name");
    let done = |who: &Who| t!(UsersPage::of(who), "done-account", name = name);
    match form::one(&given, "action") {
        "password" => {
            let set = who.set_password(name, None).await;
            with_password(&who, name, set)
        }
        "remove" => ended(&who, who.remove_user(name).await, done(&who), PATH),
        _ => {
            let is_enabled = form::one(&given, "enabled") == "true";
            ended(&who, who.change_user(name, grants(&given), is_enabled).await, done(&who), PATH)
        }
    }
}

/// The page with a password that was made. It is no redirect: the password would have to be kept until then.
fn with_password(who: &Who, name: &str, made: Result<Option<String>, NotChanged>) -> Response {
    let of_page = UsersPage::of(who);
    match made {
        Ok(Some(password)) => page(&UsersPage { made: Some((name.to_owned(), password)), ..of_page }),
        other => {
            let done = t!(of_page, "done-account", name = name);
            ended(who, other.map(drop), done, PATH)
        }
    }
}
