//! The login with the account of a company: to its server, and back.

use std::time::Instant;

use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use i18n_embed_fl::fl;

use super::error;
use super::login::{Next, own_path, refused, with_cookie, with_session};
use crate::access::Event;
use crate::access::oidc::{Answer, LASTS, OidcProblem};
use crate::app::App;
use crate::here::Who;
use crate::text::cookie;

/// What ties a login to the browser that began it.
const COOKIE: &str = "elasticjob_login";

/// The cookie, for the path of the login alone.
fn set(app: &App, value: &str, seconds: u64) -> String {
    let secure = if app.options.secure_cookies { "; Secure" } else { "" };
    let path = &app.options.base_path;
    let name = app.cookies.named(COOKIE);
    format!("{name}={value}; Path={path}/login; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}")
}

/// Leads to the server of the company.
pub(crate) async fn begin(who: Who, headers: HeaderMap, Query(Next { next }): Query<Next>) -> Response {
    let Some(oidc) = &who.app.oidc else { return error::no_such_page(&who.app, &who.identity, &headers) };
    match oidc.begin(own_path(&next)).await {
        Ok(begin) => {
            with_cookie(Redirect::to(&begin.to).into_response(), &set(&who.app, &begin.browser, LASTS.as_secs()))
        }
        Err(problem) => told(&who, &problem),
    }
}

/// Takes a browser in that comes back from there.
pub(crate) async fn finish(who: Who, headers: HeaderMap, Query(answer): Query<Answer>) -> Response {
    let app = &who.app;
    let Some(oidc) = &app.oidc else { return error::no_such_page(app, &who.identity, &headers) };
    let browser = cookie(&headers, &app.cookies.named(COOKIE)).unwrap_or_default();
    let entered = match oidc.finish(&answer, browser).await {
        Ok(entered) => entered,
        Err(problem) => return told(&who, &problem),
    };
    app.access.add(&entered.account.to_string(), who.from.clone(), Event::LoggedInElsewhere(entered.account.origin()));
    match app.sessions.begin(entered.account, who.from.clone(), Instant::now()) {
        Ok(token) => {
            let to = Redirect::to(&format!("{}{}", app.options.base_path, own_path(&entered.next)));
            with_session(with_cookie(to.into_response(), &set(app, "", 0)), app, &token)
        }
        Err(error) => told(&who, &OidcProblem::Random(error.to_string())),
    }
}

/// The login page with what a visitor may know. The log of logins has the rest, for administrators.
fn told(who: &Who, problem: &OidcProblem) -> Response {
    problem.log();
    let loader = who.text.loader();
    let (status, text) = match problem {
        OidcProblem::Issuer(_) | OidcProblem::Random(_) => (StatusCode::BAD_GATEWAY, fl!(loader, "login-company-away")),
        OidcProblem::Stale => (StatusCode::BAD_REQUEST, fl!(loader, "login-company-stale")),
        OidcProblem::Refused(_) | OidcProblem::Token(_) => {
            (StatusCode::UNAUTHORIZED, fl!(loader, "login-company-refused"))
        }
        OidcProblem::NoRole(name) => {
            (StatusCode::FORBIDDEN, fl!(loader, "login-company-no-role", name = name.as_str()))
        }
    };
    let name = match problem {
        OidcProblem::NoRole(name) => format!("oidc:{name}"),
        _ => String::new(),
    };
    who.app.access.add(&name, who.from.clone(), Event::ElsewhereRefused(problem.to_string()));
    refused(who, status, text)
}
