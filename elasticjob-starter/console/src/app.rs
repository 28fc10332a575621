//! The console: what all its routes share.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use elasticjob::__private::log::{apart, warn};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "oidc")]
use crate::access::oidc::Oidc;
use crate::access::{
    AccessLog, FirstPassword, PasswordProblem, Passwords, Sessions, Throttle, Tokens, UntrustedProxies, Users,
    note_proxy,
};
use crate::api::Answers;
use crate::cloud::Rest;
use crate::cookies::Cookies;
use crate::headers;
use crate::options::ConsoleOptions;
use crate::pages::chart::pictures::Pictures;
use crate::registries::Registry;
use crate::request_id;
use crate::requests::Requests;
use crate::router;
use crate::service::alarms::{self, Acknowledgements};
use crate::service::versions::{self, Versions};
use crate::streams::Streams;
use crate::text::Texts;

/// What all routes share. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: ConsoleOptions,
    pub(crate) registries: BTreeMap<String, Arc<Registry>>,
    pub(crate) users: Users,
    pub(crate) tokens: Tokens,
    pub(crate) passwords: Passwords,
    /// The login with the accounts of a company.
    #[cfg(feature = "oidc")]
    pub(crate) oidc: Option<Oidc>,
    pub(crate) sessions: Sessions,
    pub(crate) throttle: Throttle,
    pub(crate) untrusted_proxies: UntrustedProxies,
    pub(crate) access: AccessLog,
    pub(crate) versions: Arc<Versions>,
    pub(crate) answers: Answers,
    pub(crate) requests: Requests,
    pub(crate) acknowledgements: Arc<Acknowledgements>,
    pub(crate) cookies: Cookies,
    pub(crate) texts: Texts,
    /// Pictures of the graph that were laid out before.
    pub(crate) pictures: Pictures,
    /// The places of streams.
    pub(crate) streams: Streams,
    /// Ends streams, so that a shutdown does not wait for them.
    pub(crate) ending: CancellationToken,
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// What follows registry centers ends with the console, also where a server of the user's own served it.
impl Drop for Shared {
    fn drop(&mut self) {
        self.ending.cancel();
    }
}

impl App {
    /// What happens also while no user looks: alarms end, and a data file has each version of a configuration.
    fn follow_registries(&self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for registry in self.registries.values() {
            runtime.spawn(alarms::follow(registry.clone(), self.acknowledgements.clone(), self.ending.clone()));
            if self.options.data.is_some() {
                runtime.spawn(versions::follow(registry.clone(), self.versions.clone(), self.ending.clone()));
            }
        }
    }
}

/// The web console.
#[derive(Debug)]
pub struct Console {
    app: App,
    first_password: Option<FirstPassword>,
    /// Routes of the server that are not the console's.
    more: Router,
    /// The scheduler of carried jobs on its port.
    cloud: Option<Rest>,
    /// All routes, once they were asked for.
    router: OnceLock<Router>,
}

/// A console cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// Every host of the network could reach a console whose password is printed at each start.
    #[error(
        "the console would listen on {0}, where other hosts reach it, and has no users: set \
         `elasticjob.console-users`, or listen on 127.0.0.1"
    )]
    OpenToOthers(SocketAddr),
    /// Every host of the network could change jobs.
    #[error(
        "visitors without a login could change jobs, as other hosts reach {0}: give them the role viewer, or listen on 127.0.0.1"
    )]
    AnonymousMayChange(SocketAddr),
    /// The base path.
    #[error(
        "the base path '{0}' cannot be used: it begins with `/`, does not end with it, and has letters, digits, `-`, `_` and `.` between"
    )]
    BasePath(String),
    /// The name of a registry center.
    #[error(
        "'{0}' cannot be the name of a registry center here: it is a part of addresses, so it has letters, digits, `-` and `_` alone"
    )]
    RegistryName(String),
    /// Two registry centers have one name.
    #[error("two registry centers are named '{0}'")]
    RegistryTwice(String),
    /// The login with the accounts of a company.
    #[error("the login by OpenID Connect cannot be used: {0}")]
    Oidc(String),
    /// The address of the console in browsers, to which the issuer sends them back.
    #[error("'{0}' is not the address of the console in browsers: write https://HOST/PATH, without a slash at its end")]
    PublicUrl(String),
    /// The logins that a proxy makes.
    #[error("logins by headers of a proxy cannot be used: {0}")]
    ProxyLogin(&'static str),
    /// No page could be kept up to date.
    #[error("`elasticjob.console.{0}` is 0, and no page could be kept up to date: write a number from 1 on")]
    NoStreams(&'static str),
    /// There is nothing to show.
    #[error("the console has no registry center to show")]
    NoRegistry,
    /// The password of the first user cannot be made.
    #[error(transparent)]
    Password(#[from] PasswordProblem),
    /// The address cannot be listened on.
    #[error("the console cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        cause: std::io::Error,
    },
    /// The texts of the console cannot be read: a mistake in its build.
    #[error("the texts of the console cannot be read: {0}")]
    Texts(String),
}

/// A token that leaks counts until it expires or the settings change.
fn warn_of_endless(tokens: &Tokens) {
    let names = tokens.without_end().iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        apart(move || warn!("tokens of the settings that never expire: {names}; give each an end with `expires`"));
    }
}

impl Console {
    /// A console of these registry centers.
    ///
    /// # Errors
    /// All of [`ConsoleError`] but those of listening.
    pub fn new(options: ConsoleOptions, registries: impl IntoIterator<Item = Registry>) -> Result<Self, ConsoleError> {
        options.check()?;
        let data = options.data.clone();
        let kept = |registry: Registry| match &data {
            Some(data) => registry.kept_in(data),
            None => registry.kept_in_memory(),
        };
        let mut named = BTreeMap::new();
        for registry in registries {
            if !registry.has_usable_name() {
                return Err(ConsoleError::RegistryName(registry.name().to_owned()));
            }
            registry.follow_session();
            if let Some(twice) = named.insert(registry.name().to_owned(), Arc::new(kept(registry))) {
                return Err(ConsoleError::RegistryTwice(twice.name().to_owned()));
            }
        }
        if named.is_empty() {
            return Err(ConsoleError::NoRegistry);
        }
        let (users, first_password) = Users::new(options.users.clone(), data.clone(), options.only_users_log_in())?;
        let tokens = Tokens::new(options.tokens.clone(), data.clone());
        warn_of_endless(&tokens);
        let app = App(Arc::new(Shared {
            #[cfg(feature = "oidc")]
            oidc: options.oidc.clone().map(Oidc::new),
            streams: Streams::new(&options),
            options,
            registries: named,
            users,
            tokens,
            passwords: Passwords::new(),
            sessions: Sessions::default(),
            throttle: Throttle::default(),
            untrusted_proxies: UntrustedProxies::default(),
            versions: Arc::new(Versions::new(data.clone())),
            acknowledgements: Arc::new(Acknowledgements::new(data.clone())),
            access: AccessLog::new(data),
            answers: Answers::default(),
            requests: Requests::default(),
            cookies: Cookies::default(),
            texts: Texts::load().map_err(ConsoleError::Texts)?,
            pictures: Pictures::default(),
            ending: CancellationToken::new(),
        }));
        app.follow_registries();
        Ok(Self { app, first_password, more: Router::new(), cloud: None, router: OnceLock::new() })
    }

    /// The user that the console made, as nobody could log in otherwise. Print it where the operator sees it, and nowhere else.
    pub fn first_password(&self) -> Option<&FirstPassword> {
        self.first_password.as_ref()
    }

    /// All routes, to be merged into a server of yours. The base path of the options is a part of them.
    ///
    /// The address that the server listens on is not checked then: give the options users where other hosts reach it.
    /// The port is not known either, so it is no part of the names of cookies: two consoles on one host need different base paths.
    pub fn router(&self) -> Router {
        self.router.get_or_init(|| self.all_routes()).clone()
    }

    fn all_routes(&self) -> Router {
        let own = router::router(self.app.clone());
        match &self.cloud {
            None => own.merge(self.more.clone()),
            Some(rest) => {
                let api = rest.router().clone().layer(from_fn(headers::add)).layer(from_fn(request_id::mark));
                let api = api.layer(from_fn_with_state(self.app.clone(), note_proxy));
                own.layer(Extension(rest.clone())).merge(api).merge(self.more.clone())
            }
        }
    }

    /// The same console, with more routes on its port. Their paths have no base path, and they keep callers out by
    /// themselves, with [`access`](Self::access).
    #[must_use]
    pub fn with_routes(self, more: Router) -> Self {
        Self { more, router: OnceLock::new(), ..self }
    }

    /// The same console beside a scheduler of carried jobs: with its REST API on the same port, and with pages of applications
    /// and carried jobs, which call this API. `registry` is the registry center of its registrations.
    ///
    /// The API finds a [`Caller`](crate::Caller) among the extensions of a request that a page makes.
    #[must_use]
    pub fn with_cloud(self, registry: &str, rest: Router) -> Self {
        Self { cloud: Some(Rest::new(registry, rest)), router: OnceLock::new(), ..self }
    }

    pub(crate) fn app(&self) -> &App {
        &self.app
    }
}
