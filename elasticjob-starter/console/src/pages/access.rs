//! The page of accepted and refused access.

use askama::Template;
use axum::response::Response;
use i18n_embed_fl::fl;

use super::query::Query;
use super::time::Clock;
use super::{Layout, error, page};
use crate::access::{Change, Entry, Event};
use crate::api::access::Which;
use crate::here::Who;
use crate::text::t;

#[derive(Template)]
#[template(path = "access.html")]
struct AccessPage {
    layout: Layout,
    clock: Clock,
    entries: Vec<Entry>,
    /// The query of the page with older events.
    next: Option<String>,
    /// Whether this is not the first page.
    is_later: bool,
    /// Whether the events outlive the console.
    is_kept: bool,
}

/// How many events are on a page.
const OF_A_PAGE: u32 = 200;

impl AccessPage {
    fn event(&self, event: &Event) -> String {
        let loader = self.layout.text.loader();
        match event {
            Event::LoggedIn => fl!(loader, "access-logged-in"),
            Event::LoggedInElsewhere(_) => fl!(loader, "access-logged-in-elsewhere"),
            Event::ElsewhereRefused(_) => fl!(loader, "access-elsewhere-refused"),
            Event::LoginRefused => fl!(loader, "access-login-refused"),
            Event::LoginSlowed => fl!(loader, "access-login-slowed"),
            Event::LoggedOut => fl!(loader, "access-logged-out"),
            Event::TokenRefused(_) => fl!(loader, "access-token-refused"),
            Event::Forbidden(_) => fl!(loader, "access-forbidden"),
            Event::Changed(change, _) => match change {
                Change::UserAdded => fl!(loader, "access-user-added"),
                Change::UserChanged => fl!(loader, "access-user-changed"),
                Change::UserRemoved => fl!(loader, "access-user-removed"),
                Change::PasswordSet => fl!(loader, "access-password-set"),
                Change::TokenMade => fl!(loader, "access-token-made"),
                Change::TokenRemoved => fl!(loader, "access-token-removed"),
                Change::SessionEnded => fl!(loader, "access-session-ended"),
            },
            Event::Other(code, _) => code.clone(),
        }
    }
}

pub(crate) async fn show(who: Who, Query(Which { cursor, .. }): Query<Which>) -> Response {
    // A text that is no cursor leads to the first page.
    let before = cursor.parse().ok();
    let layout = Layout::of_console(&who);
    match who.app.access.page(before, OF_A_PAGE).await {
        Ok((entries, next)) => page(&AccessPage {
            layout,
            clock: Clock::in_zone(None),
            entries,
            next: next.map(|next| format!("cursor={next}")),
            is_later: before.is_some(),
            is_kept: who.app.access.is_kept(),
        }),
        Err(failed) => error::problem_of_console(&who, &failed.into()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::http::header::AUTHORIZATION;
    use elasticjob::registry::memory::MemoryRegistry;

    use crate::testing::{call, console_of, cookie_of, login, request};

    #[tokio::test]
    async fn who_came_in_and_who_was_kept_out_is_told_to_administrators_alone() {
        let console = console_of(&MemoryRegistry::new());
        let wrong = call(&console, login("<b>root", "wrong", "/")).await;
        assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
        let viewer = cookie_of(&console, "viewer").await;
        for path in ["/access", "/api/v1/access"] {
            assert_eq!(
                call(&console, request("GET", path, Some(&viewer))).await.status,
                StatusCode::FORBIDDEN,
                "{path}"
            );
        }
        let mut token = request("GET", "/api/v1/me", None);
        token.headers_mut().insert(AUTHORIZATION, "Bearer ejt_wrong".parse().expect("a value"));
        assert_eq!(call(&console, token).await.status, StatusCode::UNAUTHORIZED);
        let admin = cookie_of(&console, "admin").await;
        let told = call(&console, request("GET", "/api/v1/access", Some(&admin))).await.body;
        let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        let events: Vec<_> =
            told.as_array().into_iter().flatten().map(|one| [&one["event"], &one["who"], &one["detail"]]).collect();
        let expected = serde_json::json!([
            ["logged-in", "admin", null],
            ["token-refused", "", "unknown-token"],
            ["forbidden", "viewer", "GET /api/v1/access"],
            ["forbidden", "viewer", "GET /access"],
            ["logged-in", "viewer", null],
            ["login-refused", "<b>root", null],
        ]);
        assert_eq!(serde_json::json!(events), expected);
        let page = call(&console, request("GET", "/access", Some(&admin))).await;
        assert!(page.status == StatusCode::OK && page.body.contains("&#60;b&#62;root"), "{}", page.body);
    }
}
