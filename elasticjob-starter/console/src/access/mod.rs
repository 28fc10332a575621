//! Access control.

mod account;
mod grant;
mod guard;
mod host;
mod identity;
mod log;
mod login;
#[cfg(feature = "oidc")]
pub(crate) mod oidc;
mod other_routes;
mod own_host;
mod password;
mod proxy;
mod reason;
mod session;
mod throttle;
mod token;
mod untrusted_proxy;
mod user;
mod visible;

pub use grant::{Grant, Role};
pub use host::HostName;
pub use other_routes::{Access, Caller, NotKnown};
pub use password::{PasswordHash, PasswordProblem};
pub use proxy::{IpRange, ProxyLogin};
pub use token::{Token, TokenHash, TokenProblem};
pub use user::{FirstPassword, User};

pub(crate) use account::Account;
pub(crate) use grant::{Glob, Permission};
pub(crate) use guard::{authenticate, guard, shown_session};
pub(crate) use host::{Misnamed, OpenAddress, OwnAddress};
pub(crate) use identity::{Identity, Kind};
pub(crate) use log::{AccessLog, Change, Entry, Event, LOGINS, address, in_short};
pub(crate) use login::{LoginOutcome, log_in};
pub(crate) use password::Passwords;
pub(crate) use proxy::note as note_proxy;
pub(crate) use reason::{LONGEST_REASON, REASON, ReasonRule, given, insist};
pub(crate) use session::{COOKIE, SessionToken, SessionView, Sessions};
pub(crate) use throttle::{Throttle, network};
#[cfg(feature = "data")]
pub(crate) use token::KEPT_AFTER_END;
pub(crate) use token::{Invalid, KeptToken, TokenView, Tokens, USUAL_DAYS};
pub(crate) use untrusted_proxy::UntrustedProxies;
pub(crate) use user::{KeptUser, NotChanged, UserView, Users};
