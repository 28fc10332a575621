//! The names of the console, for callers that show no secret. A page of another host whose name leads here by a trick of its
//! name server (DNS rebinding) makes a browser call the console; the name that it calls is still its own.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};

use super::proxy::is_forwarded;
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

    /// Whether it is a name of this console: of this host, the address that it listens on, or one of the options. A proxy may
    /// write the first two in the place of the name that the browser called: behind it those of the options alone count,
    /// where there are any.
    pub(super) fn is_of(&self, options: &ConsoleOptions, is_forwarded: bool) -> bool {
        let is_allowed = options.allowed_hosts.contains(self);
        if is_forwarded && !options.allowed_hosts.is_empty() {
            return is_allowed;
        }
        let listen = options.listen.ip().to_canonical();
        // A console on all addresses does not know them. A name server cannot say that an address is another one.
        let is_own = |ip: IpAddr| ip == listen || listen.is_unspecified();
        is_allowed || self.is_loopback() || self.ip().is_some_and(is_own)
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
pub(super) fn is_named_right(options: &ConsoleOptions, headers: &HeaderMap, uri: &Uri, is_forwarded: bool) -> bool {
    let is_own = |name: &str| HostName::of_header(name).is_some_and(|name| name.is_of(options, is_forwarded));
    let mut named = headers.get_all(HOST).iter().map(|host| host.to_str().ok()).peekable();
    let authority = uri.authority().map(|authority| authority.as_str());
    (named.peek().is_some() || authority.is_some())
        && named.all(|host| host.is_some_and(is_own))
        && authority.is_none_or(is_own)
}

/// The address that the console's own server listens on. A request has it there; in a server of the user's own it has not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnAddress(pub(crate) SocketAddr);

/// The caller would have been let in without a login under another name.
#[derive(Debug, Clone)]
pub(crate) struct Misnamed {
    /// The name under which it called.
    host: String,
    /// The address that the console's own server listens on; `None` in a server of the user's own.
    own: Option<SocketAddr>,
    /// Whether a trusted proxy sent it.
    is_forwarded: bool,
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
            own: request.extensions().get::<OwnAddress>().map(|OwnAddress(address)| *address),
            is_forwarded: is_forwarded(request.extensions()),
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

    /// Whether a proxy wrote a name of this host in the place of the one that the browser called.
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.is_forwarded && self.name().is_some_and(|name| name.is_loopback())
    }

    /// Where the caller is let in: on the public address where that has an allowed name, else under the first of them, with the
    /// port that the caller used, else on the address that the console listens on. `None` where that is not known, and where it
    /// is behind a proxy: it leads around that.
    pub(crate) fn open_address(&self, options: &ConsoleOptions) -> Option<OpenAddress> {
        if !self.lets_visitors_in {
            return None;
        }
        if let Some(address) = public_address(options) {
            return Some(OpenAddress::Anywhere(address));
        }
        if let Some(name) = options.allowed_hosts.iter().find(|name| !name.is_loopback()) {
            let scheme = if options.secure_cookies { "https" } else { "http" };
            let port = match name_and_port(&self.host).1 {
                // The port is the console's own, which the proxy stands before.
                _ if self.is_of_proxy() => String::new(),
                "" => String::new(),
                port => format!(":{port}"),
            };
            return Some(OpenAddress::Anywhere(format!("{scheme}://{}{port}", name.in_address())));
        }
        let own = self.own.filter(|own| !own.ip().is_unspecified())?;
        let is_behind_proxy =
            !options.trusted_proxies.is_empty() || !options.base_path.is_empty() || options.secure_cookies;
        let address = || format!("http://{own}");
        (!is_behind_proxy).then(|| match own.ip().is_loopback() {
            true => OpenAddress::HostOfConsole(address()),
            false => OpenAddress::Anywhere(address()),
        })
    }

    /// What to do.
    pub(super) fn remedy(&self, options: &ConsoleOptions) -> String {
        let open = match self.open_address(options) {
            None => String::new(),
            Some(OpenAddress::Anywhere(address)) => format!(", use {address}"),
            Some(OpenAddress::HostOfConsole(address)) => format!(", use {address} on the host of the console"),
        };
        let setting = match self.is_of_proxy() {
            true => "let the proxy pass on the header `Host` of the browser",
            false => "add the name to `elasticjob.console.allowed-hosts`",
        };
        format!("no caller is let in without a login under the name {:?}: log in{open}, or {setting}", self.host)
    }
}

/// The begin of the address of the console in browsers, where the login with the accounts of a company says it and its name is an
/// allowed one.
fn public_address(options: &ConsoleOptions) -> Option<String> {
    let address: Uri = options.oidc.as_ref()?.public_url.parse().ok()?;
    let authority = address.authority()?.as_str();
    let is_allowed = HostName::of_header(authority).is_some_and(|name| options.allowed_hosts.contains(&name));
    is_allowed.then(|| Some(format!("{}://{authority}", address.scheme_str()?)))?
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
        HostName::of_header(host).is_some_and(|name| name.is_of(options, false))
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
            is_named_right(&options, &headers, &uri.parse().expect("an address"), false)
        };
        assert!(is_right(&["localhost:8899"], "/"));
        assert!(is_right(&[], "http://localhost:8899/"));
        assert!(!is_right(&[], "/"), "no name");
        assert!(!is_right(&["localhost"], "http://evil.example/"));
        assert!(!is_right(&["evil.example"], "http://localhost/"));
        assert!(!is_right(&["localhost", "evil.example"], "/"));
    }

    /// A caller of the console's own server, or of one of the user's own.
    fn misnamed(host: &str, own: Option<&str>) -> Misnamed {
        let own = own.map(|address| address.parse().expect("an address"));
        Misnamed { host: host.to_owned(), own, is_forwarded: false, lets_visitors_in: true }
    }

    #[test]
    fn the_address_that_lets_visitors_in_is_an_allowed_name_or_the_one_that_the_console_listens_on() {
        let anywhere = |address: &str| Some(OpenAddress::Anywhere(address.to_owned()));
        let mut options = ConsoleOptions::default();
        let open = |host: &str, own: Option<&str>, options: &ConsoleOptions| misnamed(host, own).open_address(options);
        let here = Some(OpenAddress::HostOfConsole("http://127.0.0.1:40123".to_owned()));
        assert_eq!(open("other.example:80", Some("127.0.0.1:40123"), &options), here, "a port that was free");
        assert_eq!(open("other.example:80", None, &options), None, "a server of the user's own listens elsewhere");
        let public = Some("10.0.0.5:8899");
        assert_eq!(open("other.example", public, &options), anywhere("http://10.0.0.5:8899"));
        assert_eq!(open("other.example", Some("0.0.0.0:8899"), &options), None, "all addresses");
        options.trusted_proxies = vec!["10.0.0.1".parse().expect("a range")];
        assert_eq!(open("other.example", public, &options), None, "it leads around the proxy");
        options.trusted_proxies.clear();
        options.allowed_hosts =
            ["localhost", "jobs.example", "fd00::1"].map(|name| name.parse().expect("a name")).into();
        assert_eq!(open("other.example:8080", None, &options), anywhere("http://jobs.example:8080"));
        let of_proxy = Misnamed { lets_visitors_in: false, ..misnamed("other.example", public) };
        assert_eq!(of_proxy.open_address(&options), None, "only the proxy lets anyone in");
        let written = Misnamed { is_forwarded: true, ..misnamed("127.0.0.1:8899", public) };
        assert_eq!(
            written.open_address(&options),
            anywhere("http://jobs.example"),
            "the port is not that of the proxy"
        );
        options.secure_cookies = true;
        assert_eq!(open("[fd00::2]", public, &options), anywhere("https://jobs.example"));
        let oidc = |address: &str| Some(crate::OidcOptions::new("https://id.example", "console", address));
        options.oidc = oidc("https://jobs.example:8443/ops");
        assert_eq!(open("other.example:8080", public, &options), anywhere("https://jobs.example:8443"), "it is said");
        options.oidc = oidc("https://elsewhere.example/ops");
        assert_eq!(
            open("other.example", public, &options),
            anywhere("https://jobs.example"),
            "no visitor gets in there"
        );
        options.allowed_hosts.remove(1);
        assert_eq!(open("[fd00::2]:", public, &options), anywhere("https://[fd00::1]"));
    }

    #[test]
    fn the_remedy_names_what_helps_this_caller() {
        let mut options = ConsoleOptions::default();
        let direct = misnamed("other.example", Some("127.0.0.1:40123"));
        let remedy = direct.remedy(&options);
        assert!(remedy.contains("use http://127.0.0.1:40123 on the host of the console, or add the name"), "{remedy}");
        let remedy = misnamed("other.example", None).remedy(&options);
        assert!(remedy.contains("log in, or add the name to `elasticjob.console.allowed-hosts`"), "{remedy}");
        options.allowed_hosts = vec!["jobs.example".parse().expect("a name")];
        let written = Misnamed { is_forwarded: true, ..misnamed("127.0.0.1:8899", None) };
        let remedy = written.remedy(&options);
        assert!(remedy.contains("use http://jobs.example, or let the proxy pass on the header `Host`"), "{remedy}");
    }

    #[tokio::test]
    async fn a_server_of_the_users_own_is_led_to_no_address_that_it_does_not_listen_on() {
        let console = console(ConsoleOptions { anonymous: vec![Grant::everywhere(Role::Viewer)], ..with_users() });
        let page = async |extend: fn(&mut Request)| {
            let mut request = called("GET", "/r/default/jobs", None, "other.example:8080");
            extend(&mut request);
            call(&console, request).await.body
        };
        let leads_here = |page: &str| page.contains("http://127.0.0.1:8899");
        let tells_who_calls: fn(&mut Request) = |request| {
            let from = SocketAddr::from(([127, 0, 0, 1], 5_000));
            request.extensions_mut().insert(axum::extract::ConnectInfo(from));
        };
        let own: fn(&mut Request) = |request| {
            request.extensions_mut().insert(OwnAddress(([127, 0, 0, 1], 8_899).into()));
        };
        assert!(!leads_here(&page(|_| ()).await) && !leads_here(&page(tells_who_calls).await));
        assert!(leads_here(&page(own).await));
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
