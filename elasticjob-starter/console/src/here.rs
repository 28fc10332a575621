//! The context of a request: registry center, caller, language.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use elasticjob::fire::CancelRequest;
use elasticjob::ident::JobName;
use elasticjob::operations::{Operations, Origin, Surface};

use crate::access::{Identity, Role, address};
use crate::api::{Problem, is_api};
use crate::app::App;
use crate::cloud::Rest;
use crate::pages;
use crate::registries::Registry;
use crate::request_id::RequestId;
use crate::text::{Language, Text};
use crate::theme::Theme;
use crate::trace_parent;

/// The registry center of the path, with the caller, whom the guard let pass.
#[derive(Debug, Clone)]
pub(crate) struct Here {
    pub(crate) app: App,
    pub(crate) registry: Arc<Registry>,
    pub(crate) identity: Identity,
    /// From where the caller acts.
    pub(crate) origin: Origin,
    pub(crate) text: Text,
    pub(crate) theme: Theme,
    /// The path and the query, below the base path.
    pub(crate) place: String,
    /// Whether the console is beside the scheduler of the carried jobs of this registry center.
    pub(crate) has_scheduler: bool,
}

impl Here {
    /// Operations for views.
    pub(crate) fn views(&self) -> &Operations {
        self.registry.views()
    }

    /// Operations that change something, in the name of the caller.
    pub(crate) fn operations(&self, reason: &str) -> Operations {
        self.registry.operations_of(self.identity.name(), self.origin.clone(), reason)
    }

    /// The wish of the caller that runs end.
    pub(crate) fn cancel_request(&self, reason: &str) -> CancelRequest {
        CancelRequest::new(self.identity.name(), reason)
    }

    pub(crate) fn sees(&self, job: &JobName) -> bool {
        self.identity.sees_job(self.registry.name(), job.as_str())
    }

    /// Whether the caller has the role for this job.
    pub(crate) fn may(&self, role: Role, job: &JobName) -> bool {
        self.identity.has(role, self.registry.name(), job.as_str())
    }
}

impl FromRequestParts<App> for Here {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let who = Who::from_request_parts(parts, app).await?;
        let params = RawPathParams::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        let named = params.iter().find(|(name, _)| *name == "registry").map(|(_, value)| value.to_owned());
        let name = named.unwrap_or_default();
        match app.registries.get(&name) {
            Some(registry) => {
                let Who { app, identity, text, theme, place, from } = who;
                let surface = if is_api(parts.uri.path()) { Surface::Rest } else { Surface::Page };
                let origin = Origin::new(surface)
                    .address(from)
                    .request(RequestId::of(&parts.extensions))
                    .caused_by(trace_parent::of(&parts.headers));
                let has_scheduler = Rest::of(parts, &name).is_some();
                Ok(Self { app, registry: registry.clone(), identity, origin, text, theme, place, has_scheduler })
            }
            None if is_api(parts.uri.path()) => Err(Problem::no_such_registry(&name).into_response()),
            None => Err(pages::error::no_such_page(app, &who.identity, &parts.headers)),
        }
    }
}

/// The caller of a request that is about no registry center.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) app: App,
    pub(crate) identity: Identity,
    pub(crate) text: Text,
    pub(crate) theme: Theme,
    /// The path and the query, below the base path.
    pub(crate) place: String,
    /// The address that the request came from.
    pub(crate) from: Option<String>,
}

impl FromRequestParts<App> for Who {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let anonymous = || Identity::anonymous(Vec::new());
        let identity = parts.extensions.get::<Identity>().cloned().unwrap_or_else(anonymous);
        let language = Language::of_request(&parts.headers, app.options.language);
        // A browser comes back to a page by GET: to the answer of a form it cannot.
        let place = parts.uri.path_and_query().filter(|_| parts.method == Method::GET);
        let place = place.map_or("/", |place| place.as_str()).to_owned();
        let (text, theme) = (app.texts.of(language).clone(), Theme::of_request(&parts.headers));
        let from = address(&parts.extensions);
        Ok(Self { app: app.clone(), identity, text, theme, place, from })
    }
}
