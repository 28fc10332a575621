//! The settings of a console.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::access::{Grant, HostName, IpRange, ProxyLogin, Role, Token, User};
use crate::app::ConsoleError;
use crate::oidc_options::OidcOptions;
use crate::store::DataFile;
use crate::text::Language;

/// The port of the console of ElasticJob, which is ours as well.
const PORT: u16 = 8899;

/// The settings of a console. The default listens on `127.0.0.1:8899`, and makes a password for the user `admin` at each
/// start.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConsoleOptions {
    /// The address to listen on. An address that is not a loopback address needs [`users`](Self::users), [`oidc`](Self::oidc),
    /// [`proxy_login`](Self::proxy_login) or [`data`](Self::data).
    pub listen: SocketAddr,
    /// The path before all others when the console stands behind a proxy, for example `/jobs`; empty for none.
    pub base_path: String,
    /// No user may change anything, whatever the roles say.
    pub read_only: bool,
    /// No user disables, shuts down, removes, changes a configuration or cancels without a reason.
    pub require_reason: bool,
    /// The users that may log in. Without users, [`oidc`](Self::oidc) and [`proxy_login`](Self::proxy_login) the console makes one,
    /// `admin`, with a password that it makes at each start; a data file without users keeps it, so that it is made once.
    pub users: Vec<User>,
    /// The programs that may call the console, beside those who log in.
    pub tokens: Vec<Token>,
    /// The roles of visitors without a login. Without grants they may do nothing. More than to look needs a loopback address.
    pub anonymous: Vec<Grant>,
    /// The names of the console for callers that show no secret, beside those of this host and the address that it listens on:
    /// visitors and those whom a proxy names. Users and programs may call it by any name.
    pub allowed_hosts: Vec<HostName>,
    /// The language for browsers that ask for none that the console has.
    pub language: Language,
    /// Whether browsers reach the console by HTTPS through a proxy: then cookies are sent over HTTPS alone.
    pub secure_cookies: bool,
    /// The login with the accounts of a company, beside that of users. See [`OidcOptions`].
    pub oidc: Option<OidcOptions>,
    /// The proxies whose `X-Forwarded-For` is believed, and no other. Without them the address of a client is that of its
    /// connection.
    pub trusted_proxies: Vec<IpRange>,
    /// Logins that these proxies make: they say in headers who the caller is. The proxy has to take these headers out of the
    /// requests of its clients.
    pub proxy_login: Option<ProxyLogin>,
    /// The number of streams of events that may be open at a time: the tab in front of each reader has one. From 1; default 64.
    pub max_streams: usize,
    /// The number of them that one user, one token or one address of visitors may have. From 1; default 6.
    pub max_streams_of_caller: usize,
    /// The file that keeps what has to outlive the console: see [`DataFile`]. Without it that is kept in memory.
    pub data: Option<DataFile>,
}

impl ConsoleOptions {
    /// Checks what can be checked without a registry center.
    ///
    /// # Errors
    /// [`ConsoleError::OpenToOthers`], [`ConsoleError::AnonymousMayChange`], [`ConsoleError::BasePath`],
    /// [`ConsoleError::Oidc`], [`ConsoleError::PublicUrl`], [`ConsoleError::ProxyLogin`], [`ConsoleError::NoStreams`].
    pub fn check(&self) -> Result<(), ConsoleError> {
        if !is_base_path(&self.base_path) {
            return Err(ConsoleError::BasePath(self.base_path.clone()));
        }
        self.oidc.as_ref().map_or(Ok(()), OidcOptions::check)?;
        for (setting, most) in
            [("max-streams", self.max_streams), ("max-streams-of-caller", self.max_streams_of_caller)]
        {
            if most == 0 {
                return Err(ConsoleError::NoStreams(setting));
            }
        }
        match &self.proxy_login {
            Some(_) if self.trusted_proxies.is_empty() => {
                return Err(ConsoleError::ProxyLogin(
                    "no proxy is trusted: name the proxies whose header the console believes",
                ));
            }
            Some(login) if login.groups.is_empty() => {
                return Err(ConsoleError::ProxyLogin("no group has a role: no user could do anything"));
            }
            _ => {}
        }
        if self.anonymous.iter().any(|grant| grant.role() > Role::Viewer) && !self.listen.ip().is_loopback() {
            return Err(ConsoleError::AnonymousMayChange(self.listen));
        }
        // The password that a data file keeps is made once, and printed once.
        match self.users.is_empty()
            && self.only_users_log_in()
            && self.data.is_none()
            && !self.listen.ip().is_loopback()
        {
            true => Err(ConsoleError::OpenToOthers(self.listen)),
            false => Ok(()),
        }
    }

    /// Whether nobody but a user of the console can log in: no account of a company, and nobody whom a proxy names.
    pub(crate) fn only_users_log_in(&self) -> bool {
        self.oidc.is_none() && self.proxy_login.is_none()
    }
}

fn is_base_path(path: &str) -> bool {
    let fits = |segment: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !segment.is_empty() && segment.chars().all(fits) && !segment.chars().all(|c| c == '.')
    };
    path.is_empty() || path.strip_prefix('/').is_some_and(|path| path.split('/').all(fits))
}

impl Default for ConsoleOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            base_path: String::new(),
            read_only: false,
            require_reason: false,
            users: Vec::new(),
            tokens: Vec::new(),
            anonymous: Vec::new(),
            allowed_hosts: Vec::new(),
            language: Language::English,
            secure_cookies: false,
            oidc: None,
            trusted_proxies: Vec::new(),
            proxy_login: None,
            max_streams: 64,
            max_streams_of_caller: 6,
            data: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_users;

    #[test]
    fn visitors_may_change_something_on_this_host_alone() {
        let check = |listen: &str, role: Role| {
            let listen = listen.parse().expect("an address");
            ConsoleOptions { anonymous: vec![Grant::everywhere(role)], listen, ..with_users() }.check()
        };
        for role in Role::ALL {
            assert!(check("127.0.0.1:8899", role).is_ok() && check("[::1]:8899", role).is_ok(), "{role}");
            let open = check("0.0.0.0:8899", role);
            match role {
                Role::Viewer => assert!(open.is_ok()),
                _ => assert!(matches!(open, Err(ConsoleError::AnonymousMayChange(_))), "{role}: {open:?}"),
            }
        }
    }

    #[test]
    fn a_console_without_places_for_streams_does_not_start() {
        for (max_streams, max_streams_of_caller, setting) in
            [(0, 6, "`elasticjob.console.max-streams`"), (64, 0, "`elasticjob.console.max-streams-of-caller`")]
        {
            let options = ConsoleOptions { max_streams, max_streams_of_caller, ..with_users() };
            let refused = options.check().expect_err("no page could be kept up to date").to_string();
            assert!(refused.contains(setting) && refused.contains("from 1"), "{refused}");
        }
        let least = ConsoleOptions { max_streams: 1, max_streams_of_caller: 1, ..with_users() };
        assert!(least.check().is_ok());
    }
}
