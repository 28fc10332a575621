//! Builds the router from rows of method, path, permission and handler; a route cannot be added without a permission, and
//! none that changes something without a rule for its reason. The rows are in `declare` of `pages` and of `api`; the few here belong to neither.

use axum::handler::Handler;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};
use axum::{Router, extract::Request};
use tower::ServiceExt;
use tower_http::csrf::CsrfLayer;
use tower_http::limit::RequestBodyLimitLayer;

use crate::access::{Permission, ReasonRule, authenticate, guard, insist, note_proxy};
use crate::api::{self, Problem, base_path, is_api};
use crate::app::App;
use crate::cloud::Rest;
use crate::here::Who;
use crate::{assets, headers, health, metrics, pages, request_id, requests, to_its_end, turned_away};

/// The longest body of a request, in bytes.
const BODY_LIMIT: usize = 256 * 1024;

/// A route as it was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) permission: Permission,
    /// When the console may insist on a reason.
    pub(crate) reason: ReasonRule,
}

/// Routes under construction.
pub(crate) struct Routes {
    app: App,
    router: Router<App>,
    declared: Vec<Declared>,
}

impl Routes {
    fn new(app: App) -> Self {
        Self { app, router: Router::new(), declared: Vec::new() }
    }

    fn route<H, T>(mut self, declared: Declared, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let Declared { method, path, permission, reason } = declared;
        let filter = match method {
            "POST" => MethodFilter::POST,
            "PUT" => MethodFilter::PUT,
            "PATCH" => MethodFilter::PATCH,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        };
        let insisting = on(filter, handler).route_layer(from_fn_with_state((self.app.clone(), reason), insist));
        let guarded = insisting.route_layer(from_fn_with_state((self.app.clone(), permission), guard));
        self.router = self.router.route(path, guarded);
        self.declared.push(declared);
        self
    }

    pub(crate) fn get<H: Handler<T, App>, T: 'static>(self, path: &'static str, needs: Permission, handler: H) -> Self {
        let reason = ReasonRule::Free;
        self.route(Declared { method: "GET", path, permission: needs, reason }, handler)
    }

    pub(crate) fn post<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        permission: Permission,
        reason: ReasonRule,
        handler: H,
    ) -> Self {
        self.route(Declared { method: "POST", path, permission, reason }, handler)
    }

    pub(crate) fn put<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        permission: Permission,
        reason: ReasonRule,
        handler: H,
    ) -> Self {
        self.route(Declared { method: "PUT", path, permission, reason }, handler)
    }

    pub(crate) fn patch<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        permission: Permission,
        reason: ReasonRule,
        handler: H,
    ) -> Self {
        self.route(Declared { method: "PATCH", path, permission, reason }, handler)
    }

    pub(crate) fn delete<H: Handler<T, App>, T: 'static>(
        self,
        path: &'static str,
        permission: Permission,
        reason: ReasonRule,
        handler: H,
    ) -> Self {
        self.route(Declared { method: "DELETE", path, permission, reason }, handler)
    }
}

/// Every route of the console.
fn declare(app: App) -> Routes {
    let routes = Routes::new(app)
        .get("/healthz", Permission::Public, health::healthy)
        .get("/readyz", Permission::Public, health::ready)
        .get("/metrics", Permission::KnownOrNear, metrics::show)
        .get("/assets/{version}/{name}", Permission::Public, assets::asset);
    api::declare(pages::declare(routes))
}

/// The declarations of all routes.
pub(crate) fn declared(app: App) -> Vec<Declared> {
    declare(app).declared
}

/// The router of all routes, below the base path.
pub(crate) fn router(app: App) -> Router {
    let base = app.options.base_path.clone();
    let router = declare(app.clone()).router.fallback(unknown).method_not_allowed_fallback(not_allowed);
    let router = router
        .layer(from_fn_with_state(app.clone(), authenticate))
        .layer(RequestBodyLimitLayer::new(BODY_LIMIT))
        // A page of another origin can make a browser send a request, with the cookie in it.
        .layer(CsrfLayer::new().with_rejection_response(turned_away::foreign_origin))
        .layer(from_fn_with_state(app.clone(), turned_away::in_own_form))
        .layer(from_fn_with_state(app.clone(), base_path::of_problems))
        .layer(from_fn(headers::add))
        .layer(from_fn(request_id::mark))
        .layer(from_fn_with_state(app.clone(), note_proxy))
        .layer(from_fn_with_state(app.clone(), requests::count))
        .layer(from_fn(to_its_end::run))
        .with_state(app);
    match base.as_str() {
        "" => router,
        base => {
            // Proxies that pass on a folder ask for its first page with a slash, which `nest` does not.
            let first = router.clone();
            let show = move |request: Request| first_page(first.clone(), request);
            Router::new().nest(base, router).route(&format!("{base}/"), get(show))
        }
    }
}

async fn first_page(console: Router, mut request: Request) -> Response {
    let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    match format!("/{query}").parse() {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return StatusCode::BAD_REQUEST.into_response(),
    }
    match console.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn unknown(who: Who, request: Request) -> Response {
    match is_api(request.uri().path()) {
        true if Rest::has(&who.app, &request) => Rest::no_such_route(),
        true => Problem::no_such_route().into_response(),
        false => pages::error::no_such_page(&who.app, &who.identity, request.headers()),
    }
}

async fn not_allowed(request: Request) -> Response {
    match is_api(request.uri().path()) {
        true => Problem::wrong_method().into_response(),
        false => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

#[cfg(test)]
mod odd;
#[cfg(test)]
mod tests;
