//! The web console of elasticjob: pages, and the same as a REST API, to look at the jobs in registry centers and to
//! operate them.
//!
//! It is no instance of a job: it reads and writes registry centers, and reads the databases that jobs trace to. It runs
//! on its own (`elasticjob console`), inside the program of the jobs (`elasticjob.console.port`, the only way to see an
//! embedded registry), or inside an axum server of yours, by [`Console::router`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use elasticjob::registry::RegistryCenter;
//! use elasticjob_console::{Console, ConsoleOptions, ConsoleError, Registry};
//!
//! /// Serves the console on 127.0.0.1:8899 until `end` completes.
//! async fn serve(center: Arc<dyn RegistryCenter>, end: impl Future<Output = ()> + Send + 'static) -> Result<(), ConsoleError> {
//!     let console = Console::new(ConsoleOptions::default(), [Registry::new("default", center)])?;
//!     if let Some(first) = console.first_password() {
//!         eprintln!("log in as {} with the password {}", first.user, first.password);
//!     }
//!     console.listen().await?.serve(end).await;
//!     Ok(())
//! }
//! ```
//!
//! # Modules
//! | module | what it holds |
//! |---|---|
//! | `access` | users, roles, sessions, and the guard in front of each route |
//! | `service` | what can be seen and done, without HTTP; pages and API call the same functions |
//! | `api` | the REST API below `/api/v1` |
//! | `pages` | one file a page; its template has the same name in `templates/` |
//! | `routes` | the table of all routes with the permission that each needs |
//! | `same` | each page and button as a call of the API and as a command, to be copied |
//! | `cloud` | the scheduler of carried jobs beside the console, called through its REST API |
//! | `store` | the file that keeps what has to outlive the console |
//! | `live` | tells pages and programs that something changed |
//! | `assets`, `text`, `theme` | style sheet; texts in English and Chinese; light or dark |
//! | `words` | schedules in words |

mod access;
mod api;
mod app;
mod assets;
mod cloud;
mod cookies;
mod headers;
mod health;
mod here;
mod live;
mod live_log;
mod metrics;
mod oidc_options;
mod options;
mod pages;
mod parity;
#[cfg(test)]
mod published_weaknesses;
mod registries;
mod request_id;
mod requests;
mod router;
mod schedule_words;
mod serve;
mod service;
mod slow_traces;
mod store;
mod streams;
#[cfg(test)]
mod testing;
mod text;
mod texts;
mod theme;
mod to_its_end;
mod trace_parent;
mod translated;
mod turned_away;

pub use access::{
    Access, Caller, FirstPassword, Grant, HostName, IpRange, NotKnown, PasswordHash, PasswordProblem, ProxyLogin, Role,
    Token, TokenHash, TokenProblem, User,
};
pub use api::unread_traces;
pub use app::{Console, ConsoleError};
/// The library of the router, and of the types of HTTP in signatures: a program that takes it from here has the same version.
pub use axum;
pub use cloud::Refused;
pub use oidc_options::OidcOptions;
pub use options::ConsoleOptions;
pub use registries::Registry;
pub use serve::Listening;
pub use store::{DataError, DataFile};
pub use text::Language;
