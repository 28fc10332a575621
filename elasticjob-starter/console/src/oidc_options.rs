//! The settings of a login with the accounts of a company.

use elasticjob::secret::Secret;

use crate::ConsoleError;
use crate::access::Grant;

/// A login with the accounts of a company, by OpenID Connect: the code flow with PKCE. It needs the cargo feature `oidc`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OidcOptions {
    /// The issuer, as its discovery document names it: `https://id.example.com/realms/staff`.
    pub issuer: String,
    /// The name that the issuer gave the console.
    pub client_id: String,
    /// The secret that the issuer gave the console; `None` for a public client.
    pub client_secret: Option<Secret>,
    /// The address of the console in browsers, with its base path and without a slash at its end:
    /// `https://jobs.example.com/ops`. The issuer sends browsers back to `/login/oidc/callback` below it.
    pub public_url: String,
    /// The scopes to ask for. Default: `openid`, `profile`, `email`.
    pub scopes: Vec<String>,
    /// The claim of the ID token that lists the groups of an account. Default: `groups`.
    pub groups_claim: String,
    /// The roles of the members of groups. An account of none of these groups is not let in.
    pub groups: Vec<(String, Grant)>,
}

impl OidcOptions {
    /// The login of this client at this issuer, for a console with this address in browsers.
    pub fn new(issuer: impl Into<String>, client_id: impl Into<String>, public_url: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            client_id: client_id.into(),
            client_secret: None,
            public_url: public_url.into(),
            scopes: ["openid", "profile", "email"].map(str::to_owned).into(),
            groups_claim: "groups".to_owned(),
            groups: Vec::new(),
        }
    }

    /// Checks what can be checked without the issuer.
    pub(crate) fn check(&self) -> Result<(), ConsoleError> {
        let is_address = |text: &str| is_safe(text) && !text.ends_with('/');
        let wrong = |why: &str| Err(ConsoleError::Oidc(why.to_owned()));
        if !cfg!(feature = "oidc") {
            return wrong("it is not built in: build with the cargo feature `console-oidc` of elasticjob-starter");
        }
        if !is_safe(&self.issuer) {
            return wrong(&format!("the issuer '{}' is no https:// address", self.issuer));
        }
        if !is_address(&self.public_url) {
            return Err(ConsoleError::PublicUrl(self.public_url.clone()));
        }
        if self.client_id.is_empty() {
            return wrong("the client id is missing");
        }
        if self.groups.is_empty() {
            return wrong("no group has a role, so no user could come in");
        }
        Ok(())
    }
}

/// Whether an address is read by HTTPS; by HTTP it may be on this host alone.
pub(crate) fn is_safe(address: &str) -> bool {
    let host = |rest: &str| rest.split(['/', '?', '#']).next().map(str::to_owned).filter(|host| !host.is_empty());
    if let Some(host) = address.strip_prefix("https://").and_then(host) {
        return !host.contains('@');
    }
    let Some(host) = address.strip_prefix("http://").and_then(host) else { return false };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default().to_owned(),
        None => host.split(':').next().unwrap_or_default().to_owned(),
    };
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_https_or_of_this_host() {
        for safe in [
            "https://id.example.com",
            "https://id.example.com:8443/realms/a",
            "http://127.0.0.1:9",
            "http://[::1]/x",
            "http://localhost/",
        ] {
            assert!(is_safe(safe), "{safe}");
        }
        for unsafe_one in [
            "",
            "id.example.com",
            "http://id.example.com",
            "http://127.0.0.1.evil.example",
            "https://",
            "https://a@b",
            "ftp://127.0.0.1",
        ] {
            assert!(!is_safe(unsafe_one), "{unsafe_one}");
        }
    }
}
