//! Trusted proxies: they may give the address of the client, and may name the caller.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::Response;
use elasticjob::__private::log::{apart, warn};

use super::grant::Grant;
use super::identity::Identity;
use crate::app::App;
use crate::options::ConsoleOptions;

/// The longest name that a proxy gives, in characters.
const LONGEST: usize = 64;

/// The header with the addresses that a request came by, the client first.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// An address, or a range of them: `192.0.2.7`, `10.0.0.0/8`, `fd00::/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpRange {
    address: IpAddr,
    /// How many bits at the begin are those of the range.
    bits: u32,
}

impl IpRange {
    /// Whether it has this address. An IPv4 address that is written as IPv6 is the same one.
    pub fn contains(&self, address: IpAddr) -> bool {
        let number = |address: IpAddr| match address.to_canonical() {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, true),
            IpAddr::V6(address) => (address.to_bits(), false),
        };
        let ((own, is_v4), (other, other_is_v4)) = (number(self.address), number(address));
        let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
        is_v4 == other_is_v4 && own & mask == other & mask
    }
}

impl FromStr for IpRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no address: write 192.0.2.7, or 10.0.0.0/8 for a range");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.trim().parse()).map_err(|_| wrong())?;
        if bits <= most { Ok(Self { address, bits }) } else { Err(wrong()) }
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// Logins that a trusted proxy makes: it says in headers who the caller is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProxyLogin {
    /// The header with the name of the account.
    pub user_header: HeaderName,
    /// The header with the groups of the account, with commas between.
    pub groups_header: HeaderName,
    /// The roles of the members of groups. An account of none of them may do nothing.
    pub groups: Vec<(String, Grant)>,
}

impl ProxyLogin {
    /// Logins by these headers, with the roles of these groups.
    pub fn new(user_header: HeaderName, groups_header: HeaderName, groups: Vec<(String, Grant)>) -> Self {
        Self { user_header, groups_header, groups }
    }

    fn identity(&self, headers: &HeaderMap) -> Option<Identity> {
        // A header that came twice may have been the client's once.
        let one = |name: &HeaderName| {
            let mut values = headers.get_all(name).iter();
            values.next().filter(|_| values.next().is_none())?.to_str().ok()
        };
        let name: String = one(&self.user_header)?.trim().chars().take(LONGEST).collect();
        if name.is_empty() {
            return None;
        }
        let groups: Vec<&str> = one(&self.groups_header).unwrap_or_default().split(',').map(str::trim).collect();
        let of = self.groups.iter().filter(|(group, _)| groups.contains(&group.as_str()));
        Some(Identity::company(format!("proxy:{name}"), of.map(|(_, grant)| grant.clone()).collect()))
    }
}

/// A request that came from a trusted proxy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forwarded {
    /// The address of the client, as the proxies say; that of the proxy where they say nothing.
    pub(super) client: IpAddr,
}

/// Notes that a request came from a trusted proxy, and from whom.
pub(crate) async fn note(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
    if let Some(client) = peer.and_then(|peer| client_of(&app, peer, request.headers())) {
        request.extensions_mut().insert(Forwarded { client });
    }
    next.run(request).await
}

/// Whether a connection from this address is one of a trusted proxy.
pub(super) fn is_trusted(options: &ConsoleOptions, peer: IpAddr) -> bool {
    options.trusted_proxies.iter().any(|range| range.contains(peer))
}

/// Whether a request came from a trusted proxy.
pub(super) fn is_forwarded(extensions: &Extensions) -> bool {
    extensions.get::<Forwarded>().is_some()
}

/// The client of a request that came from a trusted proxy. The log has a warning of what another address says.
pub(super) fn client_of(app: &App, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
    if is_trusted(&app.options, peer) {
        return Some(client(peer, headers, &app.options.trusted_proxies));
    }
    if headers.contains_key(FORWARDED_FOR)
        && let Some(warning) = app.untrusted_proxies.warning(peer, Instant::now())
    {
        apart(move || warn!("{warning}"));
    }
    None
}

/// The client of a request: going back from the nearest proxy, the first address that is not a trusted one. What stands before
/// it, the client may have made up.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpRange]) -> IpAddr {
    let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let all: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    let mut nearest = peer;
    for text in all.into_iter().rev() {
        let Ok(address) = text.parse::<IpAddr>() else { return nearest };
        nearest = address;
        if !trusted.iter().any(|range| range.contains(address)) {
            return nearest;
        }
    }
    nearest
}

/// The caller that the proxy names, where it is asked.
pub(super) fn identity(app: &App, extensions: &Extensions, headers: &HeaderMap) -> Option<Identity> {
    app.options.proxy_login.as_ref().filter(|_| is_forwarded(extensions))?.identity(headers)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::http::{HeaderValue, StatusCode};

    use super::super::grant::Role;
    use super::super::host::OwnAddress;
    use super::*;
    use crate::Console;
    use crate::testing::{call, console, login, request, with_users};

    fn range(text: &str) -> IpRange {
        text.parse().expect("a range")
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn a_range_has_the_addresses_with_its_first_bits() {
        for (of, address, is_in) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "2001:db8::1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
        ] {
            assert_eq!(range(of).contains(ip(address)), is_in, "{of} {address}");
        }
        for wrong in ["", "proxy", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::1/129"] {
            assert!(wrong.parse::<IpRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_client_is_the_first_address_that_no_trusted_proxy_has() {
        let trusted = [range("10.0.0.0/8")];
        for (said, found) in [
            (vec![], "10.0.0.1"),
            (vec!["203.0.113.9"], "203.0.113.9"),
            (vec!["198.51.100.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
            (vec!["198.51.100.1", "203.0.113.9"], "203.0.113.9"),
            (vec!["198.51.100.1, nonsense"], "10.0.0.1"),
            (vec!["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ] {
            let name = HeaderName::from_static("x-forwarded-for");
            let headers = HeaderMap::from_iter(said.iter().map(|it| (name.clone(), HeaderValue::from_static(it))));
            assert_eq!(client(ip("10.0.0.1"), &headers, &trusted), ip(found), "{said:?}");
        }
    }

    fn behind_a_proxy() -> Console {
        let groups = vec![("ops".to_owned(), Grant::everywhere(Role::Operator).jobs("billing-*"))];
        let header = HeaderName::from_static;
        let proxy_login = Some(ProxyLogin::new(header("x-remote-user"), header("x-remote-groups"), groups));
        let allowed_hosts = vec!["console.example".parse().expect("a name")];
        console(ConsoleOptions {
            trusted_proxies: vec![range("10.0.0.0/8")],
            proxy_login,
            allowed_hosts,
            ..with_users()
        })
    }

    fn from(
        peer: &str,
        mut request: axum::http::Request<axum::body::Body>,
        headers: &[(&'static str, &'static str)],
    ) -> axum::http::Request<axum::body::Body> {
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(ip(peer), 5_000)));
        for (name, value) in headers {
            request.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        request
    }

    #[tokio::test]
    async fn a_trusted_proxy_says_who_calls_and_nobody_else_does() {
        let console = behind_a_proxy();
        let zhang = [("x-remote-user", "zhang"), ("x-remote-groups", "staff, ops")];
        let me = async |peer: &str, headers: &[(&'static str, &'static str)]| {
            call(&console, from(peer, request("GET", "/api/v1/me", None), headers)).await
        };
        let known = me("10.0.0.1", &zhang).await;
        assert!(known.status == StatusCode::OK && known.body.contains("proxy:zhang"), "{}", known.body);
        assert!(known.body.contains("billing-*"), "{}", known.body);
        assert_eq!(me("192.0.2.7", &zhang).await.status, StatusCode::UNAUTHORIZED, "no proxy");
        assert_eq!(me("10.0.0.1", &[]).await.status, StatusCode::UNAUTHORIZED, "the proxy names nobody");
        let twice = [zhang[0], ("x-remote-user", "admin"), zhang[1]];
        assert_eq!(me("10.0.0.1", &twice).await.status, StatusCode::UNAUTHORIZED, "one of them is not the proxy's");
        assert_eq!(me("10.0.0.1", &zhang[..1]).await.status, StatusCode::FORBIDDEN, "no group has a role");
    }

    #[tokio::test]
    async fn a_header_that_is_not_read_is_told_and_one_of_a_trusted_proxy_is_not() {
        let console = behind_a_proxy();
        let forwarded = [("x-forwarded-for", "203.0.113.9")];
        for (peer, headers) in [("10.0.0.1", &forwarded[..]), ("192.0.2.1", &[]), ("192.0.2.7", &forwarded)] {
            call(&console, from(peer, request("GET", "/login", None), headers)).await;
        }
        let warned = &console.app().untrusted_proxies;
        let later = Instant::now() + Duration::from_secs(3_600);
        assert_eq!(warned.warning(ip("192.0.2.7"), later), None, "it is told already");
        assert!(warned.warning(ip("192.0.2.1"), later).is_some(), "it did not send the header");
        assert!(warned.warning(ip("10.0.0.1"), later + Duration::from_secs(3_600)).is_some(), "it is trusted");
    }

    /// The status of a page and of the metrics for a visitor who comes from this address under this name.
    async fn statuses(console: &Console, peer: &str, host: &'static str) -> [StatusCode; 2] {
        let get = async |path: &str| {
            let mut request = from(peer, request("GET", path, None), &[]);
            request.headers_mut().insert("host", HeaderValue::from_static(host));
            call(console, request).await.status
        };
        [get("/r/default/jobs").await, get("/metrics").await]
    }

    fn open_to_visitors(trusted: &str, allowed_hosts: &[&str]) -> Console {
        let allowed_hosts = allowed_hosts.iter().map(|name| name.parse().expect("a name")).collect();
        let anonymous = vec![Grant::everywhere(Role::Viewer)];
        console(ConsoleOptions { trusted_proxies: vec![range(trusted)], anonymous, allowed_hosts, ..with_users() })
    }

    #[tokio::test]
    async fn without_allowed_hosts_the_names_of_this_host_count_behind_a_trusted_proxy_too() {
        let console = open_to_visitors("10.0.0.0/8", &[]);
        // A proxy may also send these in the place of the name that the browser called: the console cannot tell.
        for host in ["localhost", "127.0.0.1:8899", "[::1]"] {
            assert_eq!(statuses(&console, "10.0.0.1", host).await, [StatusCode::OK; 2], "{host}");
        }
        let foreign = statuses(&console, "10.0.0.1", "evil.example").await;
        assert_eq!(foreign, [StatusCode::MISDIRECTED_REQUEST; 2]);
    }

    #[tokio::test]
    async fn with_allowed_hosts_these_names_alone_count_behind_a_trusted_proxy() {
        let console = open_to_visitors("10.0.0.0/8", &["jobs.example"]);
        assert_eq!(statuses(&console, "10.0.0.1", "jobs.example").await, [StatusCode::OK; 2]);
        for host in ["localhost", "127.0.0.1:8899", "[::1]", "evil.example"] {
            let of_proxy = statuses(&console, "10.0.0.1", host).await;
            assert_eq!(
                of_proxy,
                [StatusCode::MISDIRECTED_REQUEST; 2],
                "{host}: the browser may have called another name"
            );
        }
        for host in ["localhost:8899", "127.0.0.1:8899", "[::1]:8899"] {
            assert_eq!(statuses(&console, "127.0.0.1", host).await, [StatusCode::OK; 2], "{host}: no proxy is between");
        }
        let named = open_to_visitors("10.0.0.0/8", &["jobs.example", "localhost"]);
        assert_eq!(statuses(&named, "10.0.0.1", "localhost").await, [StatusCode::OK; 2], "it is one of the setting");
    }

    #[tokio::test]
    async fn what_a_trusted_proxy_passes_on_is_not_near_although_it_adds_no_header() {
        let of_users = ConsoleOptions { trusted_proxies: vec![range("127.0.0.1")], ..with_users() };
        let console = console(of_users);
        let mut request = from("127.0.0.1", request("GET", "/metrics", None), &[]);
        request.headers_mut().insert("host", HeaderValue::from_static("127.0.0.1:8899"));
        request.extensions_mut().insert(OwnAddress(SocketAddr::from(([127, 0, 0, 1], 8_899))));
        assert_eq!(call(&console, request).await.status, StatusCode::UNAUTHORIZED);
    }

    #[tokio::test]
    async fn the_log_has_the_client_behind_a_trusted_proxy_and_believes_no_other_header() {
        let console = behind_a_proxy();
        for peer in ["10.0.0.1", "192.0.2.7"] {
            let attempt = from(peer, login("admin", "wrong", "/"), &[("x-forwarded-for", "203.0.113.9")]);
            assert_eq!(call(&console, attempt).await.status, StatusCode::UNAUTHORIZED);
        }
        let (log, _) = console.app().access.page(None, 10).await.expect("it is in memory");
        let from: Vec<_> = log.iter().filter_map(|entry| entry.from.as_deref()).collect();
        assert!(from.contains(&"203.0.113.9") && from.contains(&"192.0.2.7") && from.len() == 2, "{from:?}");
    }
}
