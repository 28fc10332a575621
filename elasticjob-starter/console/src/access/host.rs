//! The names of the console, for callers that show no secret. A page of another host whose name leads here by a trick of its
//! name server (DNS rebinding) makes a browser call the console; the name that it calls is still its own.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};

use crate::options::ConsoleOptions;

/// The name of a host without a port: `jobs.example.com`, `192.0.2.7`, `fd00::1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName(String);

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Ok(Self(ip.to_canonical().to_string()));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_name = name.split('.').all(|label| !label.is_empty() && label.chars().all(fits));
        let wrong = || format!("'{text}' is no name of a host: write jobs.example.com, without port and path");
        is_name.then(|| Self(name.to_ascii_lowercase())).ok_or_else(wrong)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HostName {
    /// The name in a `Host`, with or without a port.
    pub(super) fn of_header(host: &str) -> Option<Self> {
        let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        let name = match host.rsplit_once(':') {
            Some((name, port)) if is_port(port) && (!name.contains(':') || name.ends_with(']')) => name,
            _ => host,
        };
        name.parse().ok()
    }

    fn ip(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }

    /// Whether it names this host, whoever asks.
    pub(super) fn is_loopback(&self) -> bool {
        self.0 == "localhost" || self.ip().is_some_and(|ip| ip.is_loopback())
    }

    /// Whether it is a name of this console: of this host, the address that it listens on, or one of the options.
    pub(super) fn is_of(&self, options: &ConsoleOptions) -> bool {
        let listen = options.listen.ip().to_canonical();
        // A console on all addresses does not know them. A name server cannot say that an address is another one.
        let is_own = |ip: IpAddr| ip == listen || listen.is_unspecified();
        self.is_loopback() || self.ip().is_some_and(is_own) || options.allowed_hosts.contains(self)
    }
}

/// Whether each name under which the request calls is one of this console.
pub(super) fn is_named_right(options: &ConsoleOptions, headers: &HeaderMap, uri: &Uri) -> bool {
    let is_own = |name: &str| HostName::of_header(name).is_some_and(|name| name.is_of(options));
    let mut named = headers.get_all(HOST).iter().map(|host| host.to_str().ok()).peekable();
    let authority = uri.authority().map(|authority| authority.as_str());
    (named.peek().is_some() || authority.is_some())
        && named.all(|host| host.is_some_and(is_own))
        && authority.is_none_or(is_own)
}

/// The caller would have been let in without a login under another name.
#[derive(Debug, Clone)]
pub(super) struct Misnamed {
    /// The name under which it called.
    host: String,
}

impl Misnamed {
    pub(super) fn of(request: &Request) -> Self {
        let host = request.headers().get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
        let host = host.or_else(|| Some(request.uri().authority()?.to_string()));
        Self { host: host.unwrap_or_default().chars().take(100).collect() }
    }

    /// What to do.
    pub(super) fn remedy(&self) -> String {
        format!(
            "no caller is let in without a login under the name {:?}: log in, use http://127.0.0.1 on the host of the console, or \
             add the name to `elasticjob.console.allowed-hosts`",
            self.host
        )
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue, StatusCode};

    use super::super::grant::{Grant, Role};
    use super::super::proxy::ProxyLogin;
    use super::*;
    use crate::testing::{call, console, cookie_of, request, with_users};

    fn names(options: &ConsoleOptions, host: &str) -> bool {
        HostName::of_header(host).is_some_and(|name| name.is_of(options))
    }

    fn called(method: &str, path: &str, cookie: Option<&str>, host: &str) -> Request {
        let mut request = request(method, path, cookie);
        request.headers_mut().insert(HOST, host.parse().expect("a value"));
        request
    }

    #[test]
    fn a_name_of_the_console_is_of_this_host_or_its_address_or_allowed() {
        let mut options = ConsoleOptions { listen: ([10, 0, 0, 5], 8899).into(), ..ConsoleOptions::default() };
        options.allowed_hosts = ["Jobs.Example.", "fd00::1"].map(|name| name.parse().expect("a name")).into();
        let own = [
            "localhost",
            "LOCALHOST:8899",
            "127.0.0.1:8899",
            "127.9.9.9",
            "[::1]:8899",
            "[::1]",
            "10.0.0.5:8899",
            "jobs.example",
            "JOBS.example:443",
            "[fd00::1]:80",
        ];
        for host in own {
            assert!(names(&options, host), "{host}");
        }
        let others = [
            "",
            ":8899",
            "evil.example",
            "evil.example:8899",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "10.0.0.6",
            "jobs.example.evil",
            "a.jobs.example",
            "jobs.example@evil.example",
            "localhost:x",
            "[::1",
        ];
        for host in others {
            assert!(!names(&options, host), "{host}");
        }
        options.listen = ([0, 0, 0, 0], 8899).into();
        assert!(names(&options, "10.0.0.6:8899") && !names(&options, "evil.example"));
        for wrong in ["", "a b", "jobs.example:443", "https://jobs.example", "*", "a..b"] {
            assert!(wrong.parse::<HostName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn host_and_authority_have_to_be_right_both() {
        let options = ConsoleOptions::default();
        let is_right = |hosts: &[&str], uri: &str| {
            let headers = hosts.iter().map(|host| (HOST, HeaderValue::from_str(host).expect("a value"))).collect();
            is_named_right(&options, &headers, &uri.parse().expect("an address"))
        };
        assert!(is_right(&["localhost:8899"], "/"));
        assert!(is_right(&[], "http://localhost:8899/"));
        assert!(!is_right(&[], "/"), "no name");
        assert!(!is_right(&["localhost"], "http://evil.example/"));
        assert!(!is_right(&["evil.example"], "http://localhost/"));
        assert!(!is_right(&["localhost", "evil.example"], "/"));
    }

    #[tokio::test]
    async fn a_page_of_a_foreign_name_that_leads_here_is_no_visitor() {
        let anonymous = vec![Grant::everywhere(Role::Admin)];
        let mut options = ConsoleOptions { anonymous, ..with_users() };
        options.allowed_hosts = vec!["jobs.example".parse().expect("a name")];
        let console = console(options);
        let api = "/api/v1/registries/default/jobs";
        for (host, status) in [
            ("127.0.0.1:8899", StatusCode::OK),
            ("localhost:8899", StatusCode::OK),
            ("jobs.example", StatusCode::OK),
            ("evil.example:8899", StatusCode::MISDIRECTED_REQUEST),
            ("10.0.0.5", StatusCode::MISDIRECTED_REQUEST),
        ] {
            let answer = call(&console, called("GET", api, None, host)).await;
            assert_eq!(answer.status, status, "{host}: {}", answer.body);
            let page = call(&console, called("GET", "/r/default/jobs", None, host)).await;
            assert_eq!(page.status, status, "{host}: {}", page.body);
            let user = serde_json::json!({ "name": "evil", "grants": [{ "role": "admin" }] });
            let mut made = crate::testing::json("POST", "/api/v1/users", "", &user);
            made.headers_mut().insert(HOST, host.parse().expect("a value"));
            let made = call(&console, made).await;
            assert_eq!(made.status == StatusCode::MISDIRECTED_REQUEST, status != StatusCode::OK, "{}", made.body);
        }
        let refused = call(&console, called("GET", api, None, "evil.example")).await.body;
        assert!(refused.contains("allowed-hosts") && refused.contains("evil.example"), "{refused}");
        let cookie = cookie_of(&console, "viewer").await;
        let known = call(&console, called("GET", api, Some(&cookie), "any.example")).await;
        assert_eq!(known.status, StatusCode::OK, "a session is a secret: {}", known.body);
        let login = call(&console, called("GET", "/login", None, "any.example")).await;
        assert_eq!(login.status, StatusCode::OK, "users log in under any name");
    }

    #[tokio::test]
    async fn a_page_of_a_foreign_name_cannot_say_that_a_proxy_let_it_in() {
        let header = HeaderName::from_static;
        let groups = vec![("ops".to_owned(), Grant::everywhere(Role::Admin))];
        let mut options = with_users();
        options.proxy_login = Some(ProxyLogin::new(header("x-remote-user"), header("x-remote-groups"), groups));
        options.trusted_proxies = vec!["127.0.0.1".parse().expect("an address")];
        options.allowed_hosts = vec!["jobs.example".parse().expect("a name")];
        let console = console(options);
        let me = async |host: &str| {
            let mut request = called("GET", "/api/v1/me", None, host);
            let from = std::net::SocketAddr::from(([127, 0, 0, 1], 5_000));
            request.extensions_mut().insert(axum::extract::ConnectInfo(from));
            request.headers_mut().insert("x-remote-user", HeaderValue::from_static("zhang"));
            request.headers_mut().insert("x-remote-groups", HeaderValue::from_static("ops"));
            call(&console, request).await
        };
        assert_eq!(me("jobs.example").await.status, StatusCode::OK);
        let refused = me("evil.example:8899").await;
        assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST, "{}", refused.body);
        assert!(refused.body.contains("allowed-hosts"), "{}", refused.body);
    }
}
