//! Login, logout, and the choice of language and theme.

use askama::Template;
use axum::Form;
use axum::extract::Query;
use axum::http::header::{RETRY_AFTER, SET_COOKIE};
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use elasticjob::__private::log::{apart, error};
use serde::Deserialize;

use super::{Layout, with_status};
use crate::access::{self, COOKIE, Event, LoginOutcome, SessionToken, address, shown_session};
use crate::app::App;
use crate::here::Who;
use crate::text::{LANGUAGE_COOKIE, Language, t};
use crate::theme::{THEME_COOKIE, Theme};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    layout: Layout,
    /// Where to go after the login: a path of the console, below the base path.
    next: String,
    name: String,
    problem: Option<String>,
    /// Whether accounts of a company may log in.
    has_company: bool,
}

impl LoginPage {
    fn of(who: &Who, next: String, name: String) -> Self {
        let has_company = who.app.options.oidc.is_some();
        Self { layout: Layout::of_console(who), next, name, problem: None, has_company }
    }

    /// The address that leads to the company.
    fn company(&self) -> String {
        let next: String = form_urlencoded::byte_serialize(self.next.as_bytes()).collect();
        self.layout.url(&format!("/login/oidc?next={next}"))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Next {
    pub(super) next: String,
}

#[derive(Deserialize)]
pub(crate) struct Login {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

#[derive(Deserialize)]
pub(crate) struct LanguageChoice {
    language: String,
    #[serde(default)]
    next: String,
}

#[derive(Deserialize)]
pub(crate) struct ThemeChoice {
    theme: String,
    #[serde(default)]
    next: String,
}

/// The login, and then back to where the reader wanted to go.
pub(crate) fn redirect(app: &App, wanted: &Uri) -> Response {
    let next = wanted.path_and_query().map_or("/", |wanted| wanted.as_str());
    Redirect::to(&format!("{}{}", app.options.base_path, path_to(next))).into_response()
}

/// The answer to a script of a page whose session has ended: the page says so, and stays as it is.
pub(crate) fn keep_the_page() -> Response {
    (StatusCode::UNAUTHORIZED, [("hx-reswap", "none")]).into_response()
}

/// The path of the login, below the base path, from where a reader goes on to this path.
pub(super) fn path_to(next: &str) -> String {
    let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    format!("/login?next={next}")
}

pub(crate) fn redirect_to_start(app: &App) -> Response {
    Redirect::to(&format!("{}/login", app.options.base_path)).into_response()
}

/// A path of this console, and nothing else: an address of another host must not come from a link.
pub(super) fn own_path(next: &str) -> &str {
    let is_own = next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\r', '\n', '\t']);
    if is_own { next } else { "/" }
}

pub(crate) async fn show(who: Who, Query(Next { next }): Query<Next>) -> Response {
    let page = LoginPage::of(&who, next, String::new());
    with_status(StatusCode::OK, &page)
}

pub(crate) async fn log_in(who: Who, extensions: Extensions, Form(login): Form<Login>) -> Response {
    let app = &who.app;
    let outcome = access::log_in(app, &login.name, login.password, address(&extensions)).await;
    let mut page = LoginPage::of(&who, login.next, login.name);
    match outcome {
        LoginOutcome::Slowed(wait) => {
            let seconds = wait.as_secs() + 1;
            page.problem = Some(t!(page, "login-wait", seconds = seconds));
            let mut response = with_status(StatusCode::TOO_MANY_REQUESTS, &page);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            response
        }
        LoginOutcome::Wrong => {
            page.problem = Some(t!(page, "login-wrong"));
            with_status(StatusCode::UNAUTHORIZED, &page)
        }
        LoginOutcome::In(token) => {
            let to = Redirect::to(&format!("{}{}", app.options.base_path, own_path(&page.next)));
            with_session(to.into_response(), app, &token)
        }
        LoginOutcome::NoSession(error) => {
            apart(move || error!("no random bytes for a session: {error}"));
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The page with why a login elsewhere did not work.
#[cfg(feature = "oidc")]
pub(super) fn refused(who: &Who, status: StatusCode, problem: String) -> Response {
    let mut page = LoginPage::of(who, "/".to_owned(), String::new());
    (page.problem, page.layout) = (Some(problem), page.layout.at("/login"));
    with_status(status, &page)
}

/// The answer with the cookie of a session that has begun.
pub(super) fn with_session(response: Response, app: &App, token: &SessionToken) -> Response {
    let secure = if app.options.secure_cookies { "; Secure" } else { "" };
    let base = if app.options.base_path.is_empty() { "/" } else { &app.options.base_path };
    let (name, token) = (app.cookies.named(COOKIE), token.as_str());
    with_cookie(response, &format!("{name}={token}; Path={base}; HttpOnly; SameSite=Lax{secure}"))
}

pub(crate) async fn log_out(who: Who, headers: HeaderMap, extensions: Extensions) -> Response {
    if let Some(token) = shown_session(&who.app, &headers) {
        who.app.sessions.end(&token);
        if !who.identity.is_anonymous() {
            who.app.access.add(who.identity.name(), address(&extensions), Event::LoggedOut);
        }
    }
    let base = if who.app.options.base_path.is_empty() { "/" } else { &who.app.options.base_path };
    let name = who.app.cookies.named(COOKIE);
    let cookie = format!("{name}=; Path={base}; HttpOnly; SameSite=Lax; Max-Age=0");
    with_cookie(Redirect::to(&format!("{}/login", who.app.options.base_path)).into_response(), &cookie)
}

pub(crate) async fn choose_language(who: Who, Form(choice): Form<LanguageChoice>) -> Response {
    let language = choice.language.parse::<Language>().ok().map(Language::tag);
    chosen(&who.app, LANGUAGE_COOKIE, language, &choice.next)
}

pub(crate) async fn choose_theme(who: Who, Form(choice): Form<ThemeChoice>) -> Response {
    let theme = choice.theme.parse::<Theme>().ok().map(Theme::as_str);
    chosen(&who.app, THEME_COOKIE, theme, &choice.next)
}

/// Goes back, and keeps the choice for a year. Something that cannot be chosen changes nothing.
fn chosen(app: &App, cookie: &str, value: Option<&str>, next: &str) -> Response {
    let base = &app.options.base_path;
    let to = Redirect::to(&format!("{base}{}", own_path(next)));
    let path = if base.is_empty() { "/" } else { base };
    match value {
        Some(value) => {
            with_cookie(to.into_response(), &format!("{cookie}={value}; Path={path}; SameSite=Lax; Max-Age=31536000"))
        }
        None => to.into_response(),
    }
}

pub(super) fn with_cookie(mut response: Response, cookie: &str) -> Response {
    // It has no character that a header cannot have: the token is base64, the path was checked at the start.
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}
