//! The names of the console, for callers that show no secret. A page of another host whose name leads here by a trick of its
//! name server (DNS rebinding) makes a browser call the console; the name that it calls is still its own.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::extract::{ConnectInfo, Request};
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
        name_and_port(host).0.parse().ok()
    }

    /// The name as a part of an address.
    fn in_address(&self) -> String {
        if self.0.contains(':') { format!("[{self}]") } else { self.to_string() }
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

/// The parts of a `Host`; the port is empty where there is none.
fn name_and_port(host: &str) -> (&str, &str) {
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (!name.contains(':') || name.ends_with(']')) => (name, port),
        _ => (host, ""),
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
pub(crate) struct Misnamed {
    /// The name under which it called.
    host: String,
    /// Whether the server is the console's own: then it listens on the address of the options.
    is_own_server: bool,
    /// Whether callers without a login are let in under the right name. A proxy may log its callers in instead: no address
    /// but its own helps them.
    lets_visitors_in: bool,
}

/// The begin of an address under which callers without a login are let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpenAddress {
    /// A browser anywhere may open it.
    Anywhere(String),
    /// A browser on the host of the console may open it.
    HostOfConsole(String),
}

impl Misnamed {
    pub(super) fn of(request: &Request, lets_visitors_in: bool) -> Self {
        let host = request.headers().get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
        let host = host.or_else(|| Some(request.uri().authority()?.to_string()));
        Self {
            host: host.unwrap_or_default().chars().take(100).collect(),
            is_own_server: request.extensions().get::<ConnectInfo<SocketAddr>>().is_some(),
            lets_visitors_in,
        }
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// The name as the setting takes it; `None` where no host can have it.
    pub(crate) fn name(&self) -> Option<HostName> {
        HostName::of_header(&self.host)
    }

    /// Where the caller is let in: under the first allowed name, with the port that it called, else on the address that the
    /// console listens on. `None` where that is not known, and where it is behind a proxy: it leads around that.
    pub(crate) fn open_address(&self, options: &ConsoleOptions) -> Option<OpenAddress> {
        if !self.lets_visitors_in {
            return None;
        }
        if let Some(name) = options.allowed_hosts.iter().find(|name| !name.is_loopback()) {
            let scheme = if options.secure_cookies { "https" } else { "http" };
            let port = match name_and_port(&self.host).1 {
                "" => String::new(),
                port => format!(":{port}"),
            };
            return Some(OpenAddress::Anywhere(format!("{scheme}://{}{port}", name.in_address())));
        }
        let listen = options.listen;
        let is_behind_proxy =
            !options.trusted_proxies.is_empty() || !options.base_path.is_empty() || options.secure_cookies;
        let is_known = self.is_own_server && !is_behind_proxy && !listen.ip().is_unspecified() && listen.port() != 0;
        let address = || format!("http://{listen}");
        is_known.then(|| match listen.ip().is_loopback() {
            true => OpenAddress::HostOfConsole(address()),
            false => OpenAddress::Anywhere(address()),
        })
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
    use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_TYPE};
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

    #[test]
    fn the_address_that_lets_visitors_in_is_an_allowed_name_or_the_one_that_the_console_listens_on() {
        let open = |host: &str, is_own_server: bool, options: &ConsoleOptions| {
            let misnamed = Misnamed { host: host.to_owned(), is_own_server, lets_visitors_in: true };
            misnamed.open_address(options)
        };
        let anywhere = |address: &str| Some(OpenAddress::Anywhere(address.to_owned()));
        let mut options = ConsoleOptions::default();
        let here = Some(OpenAddress::HostOfConsole("http://127.0.0.1:8899".to_owned()));
        assert_eq!(open("other.example:80", true, &options), here);
        assert_eq!(open("other.example:80", false, &options), None, "a server of the user's own listens elsewhere");
        options.listen = ([10, 0, 0, 5], 8899).into();
        assert_eq!(open("other.example", true, &options), anywhere("http://10.0.0.5:8899"));
        options.trusted_proxies = vec!["10.0.0.1".parse().expect("a range")];
        assert_eq!(open("other.example", true, &options), None, "it leads around the proxy");
        options.trusted_proxies.clear();
        options.listen = ([10, 0, 0, 5], 0).into();
        assert_eq!(open("other.example", true, &options), None, "any free port");
        options.listen = ([0, 0, 0, 0], 8899).into();
        assert_eq!(open("other.example", true, &options), None, "all addresses");
        options.allowed_hosts =
            ["localhost", "jobs.example", "fd00::1"].map(|name| name.parse().expect("a name")).into();
        assert_eq!(open("other.example:8080", false, &options), anywhere("http://jobs.example:8080"));
        let of_proxy = Misnamed { host: "other.example".to_owned(), is_own_server: true, lets_visitors_in: false };
        assert_eq!(of_proxy.open_address(&options), None, "only the proxy lets anyone in");
        options.secure_cookies = true;
        assert_eq!(open("[fd00::2]", true, &options), anywhere("https://jobs.example"));
        options.allowed_hosts.remove(1);
        assert_eq!(open("[fd00::2]:", true, &options), anywhere("https://[fd00::1]"));
    }

    #[tokio::test]
    async fn the_page_for_a_wrong_name_says_in_the_language_of_the_reader_what_allows_it_and_where_to_go() {
        let options = ConsoleOptions { anonymous: vec![Grant::everywhere(Role::Viewer)], ..with_users() };
        let base_path = "/ops".to_owned();
        let allowed_hosts = vec!["jobs.example".parse().expect("a name")];
        let console = console(ConsoleOptions { base_path, allowed_hosts, ..options });
        let page = async |accepted: &'static str, host: &str| {
            let mut request = called("GET", "/ops/r/default/jobs?q=a&status=OK", None, host);
            request.headers_mut().insert(ACCEPT_LANGUAGE, HeaderValue::from_static(accepted));
            let page = call(&console, request).await;
            assert_eq!(page.status, StatusCode::MISDIRECTED_REQUEST, "{}", page.body);
            assert_eq!(page.headers[CONTENT_TYPE], "text/html; charset=utf-8", "{}", page.body);
            page.body
        };
        let english = page("en", "other.example:8080").await;
        for part in [
            "lang=\"en\"",
            "<code>other.example:8080</code>",
            "<code>elasticjob.console.allowed-hosts</code>",
            "<code>other.example</code>",
            "href=\"http://jobs.example:8080/ops/r/default/jobs?q=a&#38;status=OK\"",
            "href=\"/ops/login?next=%2Fr%2Fdefault%2Fjobs%3Fq%3Da%26status%3DOK\"",
        ] {
            assert!(english.contains(part), "{part}: {english}");
        }
        let chinese = page("zh-CN", "other.example").await;
        assert!(chinese.contains("lang=\"zh-CN\"") && chinese.contains("控制台"), "{chinese}");
        let nonsense = page("en", "a b<script>").await;
        assert!(!nonsense.contains("<script>") && !nonsense.contains("allowed-hosts"), "{nonsense}");
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
