//! Users, tokens and roles of a console, for other routes of the same server.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::http::{Extensions, HeaderMap, Uri};
use chrono::Utc;
use elasticjob::config::Message;
use elasticjob::operations::{Operations, Origin, Surface};

use super::grant::{Permission, Role};
use super::host::is_named_right;
use super::identity::Identity;
use super::log::Event;
use super::login::{LoginOutcome, log_in};
use super::proxy::is_trusted;
use super::session::SessionToken;
use crate::api::Problem;
use crate::app::{App, Console};
use crate::request_id::RequestId;
use crate::texts;
use crate::trace_parent;

/// Lets callers of other routes in, as the console does: with the same users, tokens, sessions and roles. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Access(App);

/// A user who may call, and from where. What he or she may do is asked for each request.
#[derive(Debug, Clone)]
pub struct Caller(Identity, Origin);

/// A caller was not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}", self.message())]
pub enum NotKnown {
    /// The name or the password is wrong.
    WrongPassword,
    /// There were too many attempts.
    Slowed(Duration),
    /// The token counts no more, or never did.
    Token,
    /// The operating system gives no random bytes.
    NoSession(String),
}

impl NotKnown {
    /// The message: why the caller is not let in, and what helps.
    pub fn message(&self) -> Message {
        match self {
            Self::WrongPassword => texts::login_refused(),
            Self::Slowed(wait) => texts::too_many_attempts((wait.as_secs() + 1).to_string()),
            Self::Token => texts::token_refused(),
            Self::NoSession(why) => texts::session_refused(why),
        }
    }
}

impl Console {
    /// Its users, tokens and roles, for other routes of the same server.
    pub fn access(&self) -> Access {
        Access(self.app().clone())
    }
}

impl Access {
    /// Begins a session. The text that it returns is what [`caller`](Self::caller) takes; it is shown once.
    ///
    /// # Errors
    /// [`NotKnown`]. Guesses are slowed down, as on the page.
    pub async fn log_in(&self, name: &str, password: String, from: Option<IpAddr>) -> Result<String, NotKnown> {
        match log_in(&self.0, name, password, from.map(|ip| ip.to_string())).await {
            LoginOutcome::In(token) => Ok(token.as_str().to_owned()),
            LoginOutcome::Wrong => Err(NotKnown::WrongPassword),
            LoginOutcome::Slowed(wait) => Err(NotKnown::Slowed(wait)),
            LoginOutcome::NoSession(error) => Err(NotKnown::NoSession(error.to_string())),
        }
    }

    /// Whether a caller that shows nothing may call under the names of its request, each `Host` and the authority of the
    /// address: they are of this host, the address that the console listens on, or the
    /// [allowed hosts](crate::ConsoleOptions::allowed_hosts). From a trusted proxy, `peer`, the allowed hosts alone count where
    /// there are any.
    pub fn is_named_right(&self, headers: &HeaderMap, uri: &Uri, peer: Option<IpAddr>) -> bool {
        let is_forwarded = peer.is_some_and(|peer| is_trusted(&self.0.options, peer));
        is_named_right(&self.0.options, headers, uri, is_forwarded)
    }

    /// The address of the client of a request that came from `peer`: that which a trusted proxy gives, else `peer`.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        super::proxy::client_of(&self.0, peer, headers).unwrap_or(peer)
    }

    /// Operations in a registry center of the console that record what this caller does, as the console does. `None` where the
    /// console has no registry center of this name.
    pub fn operations(&self, caller: &Caller, registry: &str) -> Option<Operations> {
        self.0.registries.get(registry).map(|registry| registry.operations_of(caller.name(), caller.1.clone(), ""))
    }

    /// The caller that shows this: the text of a session, or the token of a program. A caller that shows nothing has
    /// the rights that the options give visitors. The log of logins has the address that a token was refused to. The extensions are
    /// those of the request: where the console gave it an id, the records of actions have that. The headers are those of the request,
    /// for the trace context that the runs of the jobs which the caller triggers are linked to.
    ///
    /// # Errors
    /// [`NotKnown::Token`].
    pub fn caller(
        &self,
        shown: Option<&str>,
        from: Option<IpAddr>,
        extensions: &Extensions,
        headers: &HeaderMap,
    ) -> Result<Caller, NotKnown> {
        let app = &self.0;
        let identity = match shown {
            None => Identity::anonymous(app.options.anonymous.clone()),
            Some(shown) => {
                let user = app.sessions.account(&SessionToken::from_cookie(shown), Instant::now());
                let user = user.and_then(|(account, ended)| Some(account.identity(&app.users)?.until(ended)));
                match user.map_or_else(|| app.tokens.identity(shown, &app.users, Utc::now()), Ok) {
                    Ok(identity) => identity,
                    Err(invalid) => {
                        let why = Problem::invalid_token(invalid).code().to_owned();
                        app.access.add("", from.map(|ip| ip.to_string()), Event::TokenRefused(why));
                        return Err(NotKnown::Token);
                    }
                }
            }
        };
        let address = from.map(|ip| ip.to_string());
        let origin = Origin::new(Surface::Rest).address(address).request(RequestId::of(extensions));
        let origin = origin.caused_by(trace_parent::of(headers));
        Ok(Caller(if app.options.read_only { identity.capped(Role::Viewer) } else { identity }, origin))
    }
}

impl Caller {
    /// The caller of a page, for what the page calls.
    pub(crate) fn of(identity: &Identity, origin: Origin) -> Self {
        Self(identity.clone(), origin)
    }

    /// The name, for the log.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether nothing was shown.
    pub fn is_anonymous(&self) -> bool {
        self.0.is_anonymous()
    }

    /// Whether the caller has a role in a registry center, for a job or, without one, for all jobs. A viewer of some jobs may
    /// look at lists of them: what a list shows is asked for each job.
    pub fn may(&self, role: Role, registry: &str, job: Option<&str>) -> bool {
        self.0.may(Permission::Has(role), Some(registry), job)
    }

    /// The patterns of the names of the jobs that the caller sees in a registry center, for questions to a database. `*` stands for any
    /// number of characters. Empty where it sees none.
    pub fn seen_jobs(&self, registry: &str) -> Vec<String> {
        self.0.seen_jobs(registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PASSWORD, console, with_users};
    use crate::{ConsoleOptions, Grant, Token, TokenHash};

    #[tokio::test]
    async fn a_session_and_a_token_let_in_what_their_roles_allow_and_nothing_else_does() {
        let (token, hash) = TokenHash::new_token().expect("random");
        let tokens = vec![Token::new("ci", hash, [Grant::everywhere(Role::Operator).jobs("billing-*")])];
        let access = console(ConsoleOptions { tokens, ..with_users() }).access();
        let (of_request, headers) = (Extensions::new(), HeaderMap::new());
        let session = access.log_in("admin", PASSWORD.to_owned(), None).await.expect("it is the password");
        let admin = access.caller(Some(&session), None, &of_request, &headers).expect("it goes on");
        assert!(admin.name() == "admin" && admin.may(Role::Admin, "default", Some("orders")));
        let program = access.caller(Some(&token), None, &of_request, &headers).expect("it counts");
        assert!(program.may(Role::Operator, "default", Some("billing-1")));
        assert!(!program.may(Role::Operator, "default", Some("orders")));
        assert!(!program.may(Role::Admin, "default", Some("billing-1")));
        let visitor = access.caller(None, None, &of_request, &headers).expect("nothing was shown");
        assert!(visitor.is_anonymous() && !visitor.may(Role::Viewer, "default", None));
        assert_eq!(access.caller(Some("ejt_other"), None, &of_request, &headers).unwrap_err(), NotKnown::Token);
        let wrong = access.log_in("admin", "guessed".to_owned(), None).await;
        assert_eq!(wrong.unwrap_err(), NotKnown::WrongPassword);
    }
}
