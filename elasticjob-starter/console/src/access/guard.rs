//! Finds out who calls, and keeps callers out of what they may not do. Every route has a guard: see
//! [`Routes`](crate::router::Routes).

use std::time::Instant;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chrono::Utc;

use super::grant::{Grant, Permission, Role};
use super::host::{Misnamed, is_named_right};
use super::identity::Identity;
use super::log::{Event, address, in_short};
use super::own_host::is_near;
use super::proxy;
use super::session::{COOKIE, SessionToken};
use crate::api::{Problem, is_api};
use crate::app::App;
use crate::pages;
use crate::text::cookie;

/// The session that a request shows.
pub(crate) fn shown_session(app: &App, headers: &HeaderMap) -> Option<SessionToken> {
    cookie(headers, &app.cookies.named(COOKIE)).map(SessionToken::from_cookie)
}

/// The token that a request shows. `Basic` and other schemes are those of proxies in front of the console.
fn shown_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Puts the identity of the caller into the request.
pub(crate) async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let identity = match shown_token(request.headers()) {
        // A program that shows a token means it: it is not taken for a visitor where the token does not count.
        Some(token) => match app.tokens.identity(token, &app.users, Utc::now()) {
            Ok(identity) => identity,
            Err(invalid) => {
                let problem = Problem::invalid_token(invalid);
                app.access.add("", address(request.extensions()), Event::TokenRefused(problem.code().to_owned()));
                return problem.into_response();
            }
        },
        None => {
            let session = || {
                shown_session(&app, request.headers())
                    .and_then(|token| app.sessions.account(&token, Instant::now()))
                    .and_then(|(account, ended)| Some(account.identity(&app.users)?.until(ended)))
            };
            // These callers show no secret: all that tells them from a foreign page in a browser is the name they call.
            let by_proxy = proxy::identity(&app, request.extensions(), request.headers());
            let visitor = Identity::anonymous(app.options.anonymous.clone());
            let is_forwarded = proxy::is_forwarded(request.extensions());
            if is_named_right(&app.options, request.headers(), request.uri(), is_forwarded) {
                by_proxy.or_else(session).unwrap_or(visitor)
            } else if let Some(user) = session() {
                user
            } else {
                if by_proxy.is_some() || visitor.has_grants() {
                    let misnamed = Misnamed::of(&request, visitor.has_grants());
                    request.extensions_mut().insert(misnamed);
                }
                Identity::anonymous(Vec::new())
            }
        }
    };
    let identity = if app.options.read_only { identity.capped(Role::Viewer) } else { identity };
    request.extensions_mut().insert(identity);
    next.run(request).await
}

/// Lets a caller pass who has the permission that the route asks for.
pub(crate) async fn guard(
    State((app, permission)): State<(App, Permission)>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(wrong) => return Problem::bad_request(wrong.body_text()).into_response(),
    };
    let named = |wanted: &str| params.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let identity = request.extensions().get::<Identity>().cloned().unwrap_or_else(|| Identity::anonymous(Vec::new()));
    let is_unknown = identity.is_anonymous();
    if permission == Permission::KnownOrNear && is_unknown && is_near(&app.options, &request) {
        request.extensions_mut().insert(Identity::anonymous(vec![Grant::everywhere(Role::Viewer)]));
        return next.run(request).await;
    }
    if identity.may(permission, named("registry"), named("job")) {
        return next.run(request).await;
    }
    if !is_unknown {
        let wanted = in_short(request.method(), request.uri().path());
        app.access.add(identity.name(), address(request.extensions()), Event::Forbidden(wanted));
    }
    // Programs call these: they read no page, and cannot log in. A stream of a page is followed by a script, which would read the
    // login again and again.
    let path = request.uri().path();
    let is_for_programs = is_api(path) || permission == Permission::KnownOrNear || path.ends_with("/events");
    if let Some(misnamed) = request.extensions().get::<Misnamed>() {
        return match is_for_programs {
            true => Problem::misnamed(misnamed.remedy(&app.options)).into_response(),
            false => pages::wrong_host::show(&app, misnamed, &request),
        };
    }
    if is_for_programs {
        return match is_unknown {
            true => Problem::not_logged_in().into_response(),
            false => Problem::forbidden(permission, app.options.read_only).into_response(),
        };
    }
    match is_unknown {
        // A page that follows its job keeps what it shows, and what is typed in it: the login would take its place.
        true if request.headers().contains_key("hx-request") => pages::login::keep_the_page(),
        true if request.method() == Method::GET => pages::login::redirect(&app, request.uri()),
        true => pages::login::redirect_to_start(&app),
        false => pages::error::forbidden(&app, &identity, request.headers(), permission),
    }
}
