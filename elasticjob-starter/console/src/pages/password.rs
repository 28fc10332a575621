//! The reader's own password.

use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::form::{self, Fields};
use super::outcome::{Said, Tone};
use super::{Layout, login, with_status};
use crate::access::{Account, Kind, NotChanged, PasswordProblem};
use crate::api::Problem;
use crate::here::Who;
use crate::text::t;
use crate::translated;

const PATH: &str = "/password";

/// Where the password of the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// In the data file, which this page changes.
    File,
    Settings,
    Elsewhere,
}

#[derive(Template)]
#[template(path = "password.html")]
struct PasswordPage {
    layout: Layout,
    said: Option<Said>,
    kept: Kept,
    problem: Option<String>,
}

impl PasswordPage {
    fn of(who: &Who) -> Self {
        let kept = match who.identity.kind() {
            Kind::User if who.app.users.has_changeable_password(who.identity.name()) => Kept::File,
            Kind::User => Kept::Settings,
            _ => Kept::Elsewhere,
        };
        Self { layout: Layout::of_console(who).at(PATH), said: None, kept, problem: None }
    }
}

pub(crate) async fn show(who: Who, headers: HeaderMap) -> Response {
    let page = PasswordPage { said: Said::of(&who.app, &headers), ..PasswordPage::of(&who) };
    Said::forget(&who.app, with_status(StatusCode::OK, &page))
}

/// Changes it. This browser gets a new session; the others have to log in again.
pub(crate) async fn change(who: Who, Form(sent): Fields) -> Response {
    let (now, new) = (form::one(&sent, "now").to_owned(), form::one(&sent, "new").to_owned());
    let mut page = PasswordPage::of(&who);
    if new != form::one(&sent, "again") {
        page.problem = Some(t!(page, "password-differ"));
        return with_status(StatusCode::UNPROCESSABLE_ENTITY, &page);
    }
    let changed = who.change_own_password(now, new).await;
    let session = changed.and_then(|()| {
        let begun =
            who.app.sessions.begin(Account::Local(who.identity.name().to_owned()), who.from.clone(), Instant::now());
        begun.map_err(|error| NotChanged::Password(PasswordProblem::not_made(error)))
    });
    match session {
        Ok(token) => login::with_session(Said::done(t!(page, "password-done")).at(&who.app, PATH), &who.app, &token),
        Err(problem) => {
            page.problem = Some(translated::shown(&who.text, &problem.message()));
            with_status(Problem::from(problem).status(), &page)
        }
    }
}

#[cfg(all(test, feature = "data"))]
mod tests {
    use axum::body::Body;
    use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
    use elasticjob::registry::memory::MemoryRegistry;
    use serde_json::json;

    use super::*;
    use crate::DataFile;
    use crate::store::tests::{Folder, console_with};
    use crate::testing::{Answer, PASSWORD, call, cookie_of, json as send, login, request};

    const NEW: &str = "another horse battery";

    async fn change(console: &crate::Console, cookie: &str, fields: [(&str, &str); 3]) -> Answer {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut request = request("POST", PATH, Some(cookie));
        request.headers_mut().insert(CONTENT_TYPE, "application/x-www-form-urlencoded".parse().expect("a value"));
        *request.body_mut() = Body::from(form);
        call(console, request).await
    }

    #[tokio::test]
    async fn a_user_changes_the_own_password_and_other_sessions_end() {
        let folder = Folder::new("password");
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&MemoryRegistry::new(), &data);
        let admin = cookie_of(&console, "admin").await;
        let li = json!({ "name": "li", "password": PASSWORD, "grants": [{ "role": "viewer" }] });
        assert_eq!(call(&console, send("POST", "/api/v1/users", &admin, &li)).await.status, StatusCode::CREATED);
        let (here, elsewhere) = (cookie_of(&console, "li").await, cookie_of(&console, "li").await);
        for (fields, status) in [
            ([("now", PASSWORD), ("new", NEW), ("again", "other horse battery")], StatusCode::UNPROCESSABLE_ENTITY),
            ([("now", "wrong horse battery"), ("new", NEW), ("again", NEW)], StatusCode::UNPROCESSABLE_ENTITY),
            ([("now", PASSWORD), ("new", "short"), ("again", "short")], StatusCode::UNPROCESSABLE_ENTITY),
        ] {
            let refused = change(&console, &here, fields).await;
            assert!(
                refused.status == status && refused.body.contains("role=\"alert\""),
                "{fields:?}: {}",
                refused.body
            );
        }
        let changed = change(&console, &here, [("now", PASSWORD), ("new", NEW), ("again", NEW)]).await;
        assert_eq!(changed.status, StatusCode::SEE_OTHER, "{}", changed.body);
        let cookies = changed.headers.get_all(SET_COOKIE).iter().filter_map(|one| one.to_str().ok());
        let mut sessions = cookies.filter(|one| one.starts_with("elasticjob_session="));
        let new = sessions.next().and_then(|one| one.split(';').next()).expect("a new session").to_owned();
        for (cookie, status) in [(&new, 200), (&here, 401), (&elsewhere, 401)] {
            assert_eq!(call(&console, request("GET", "/api/v1/me", Some(cookie))).await.status, status);
        }
        assert_eq!(call(&console, login("li", PASSWORD, "/")).await.status, StatusCode::UNAUTHORIZED);
        assert_eq!(call(&console, login("li", NEW, "/")).await.status, StatusCode::SEE_OTHER);
        data.storage().close().await;
    }

    #[tokio::test]
    async fn guesses_of_the_own_password_are_slowed_down_and_users_of_the_settings_are_told_where_it_is() {
        let folder = Folder::new("guessed");
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&MemoryRegistry::new(), &data);
        let viewer = cookie_of(&console, "viewer").await;
        let page = call(&console, request("GET", PATH, Some(&viewer))).await;
        assert!(page.body.contains("hash-password") && !page.body.contains("name=\"now\""), "{}", page.body);
        let own = |now: &str| send("POST", "/api/v1/me/password", &viewer, &json!({ "now": now, "new": NEW }));
        let settings = call(&console, own(PASSWORD)).await;
        assert!(settings.body.contains("of-settings"), "{}", settings.body);
        let mut codes = Vec::new();
        // The first waits are over while a busy machine checks a password; they double.
        while codes.len() < 12 && !codes.ends_with(&[429]) {
            codes.push(call(&console, own("wrong horse battery")).await.status.as_u16());
        }
        assert!(codes.starts_with(&[422]) && codes.ends_with(&[429]), "{codes:?}");
        data.storage().close().await;
    }
}
