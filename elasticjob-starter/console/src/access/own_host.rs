//! Tells whether a request comes from the console's own host, for what is open there without a login.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::http::header::{FORWARDED, HOST};

use super::host::{HostName, OwnAddress};
use super::proxy::is_trusted;
use crate::options::ConsoleOptions;

/// What proxies add to the requests of others.
const OF_PROXIES: [&str; 4] = ["x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

/// Whether a program of this host calls, and not a visitor behind a proxy, nor a page that a browser of this host shows under
/// a foreign name. A console whose server is not its own does not know who reaches it: there no request is near.
pub(crate) fn is_near(options: &ConsoleOptions, request: &Request) -> bool {
    let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(address)| address.ip());
    let own = request.extensions().get::<OwnAddress>().map(|OwnAddress(address)| address.ip());
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let is_behind_a_proxy = options.secure_cookies || !options.base_path.is_empty();
    let is_forwarded = request.headers().contains_key(FORWARDED)
        || OF_PROXIES.iter().any(|header| request.headers().contains_key(*header));
    own.is_some_and(|ip| ip.is_loopback())
        && from.is_some_and(|ip| ip.is_loopback() && !is_trusted(options, ip))
        && host.and_then(HostName::of_header).is_some_and(|name| name.is_loopback())
        && !is_behind_a_proxy
        && !is_forwarded
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn request(from: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = Request::new(Body::empty());
        let from: SocketAddr = from.parse().expect("an address");
        request.extensions_mut().insert(ConnectInfo(from));
        request.extensions_mut().insert(OwnAddress(([127, 0, 0, 1], 8_899).into()));
        for (name, value) in headers {
            let name: axum::http::HeaderName = name.parse().expect("a name");
            request.headers_mut().insert(name, value.parse().expect("a value"));
        }
        request
    }

    #[test]
    fn programs_of_this_host_are_near() {
        let options = ConsoleOptions::default();
        for host in ["127.0.0.1:8899", "localhost", "LOCALHOST:8899", "[::1]:8899", "127.0.0.2"] {
            assert!(is_near(&options, &request("127.0.0.1:5000", &[("host", host)])), "{host}");
        }
        assert!(is_near(&options, &request("[::1]:5000", &[("host", "localhost")])));
    }

    #[test]
    fn nobody_else_is() {
        let options = ConsoleOptions::default();
        let near = [("host", "127.0.0.1:8899")];
        assert!(!is_near(&options, &request("192.0.2.7:5000", &near)), "another host");
        assert!(!is_near(&options, &request("127.0.0.1:5000", &[])), "no name");
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8899", "192.0.2.7"] {
            assert!(!is_near(&options, &request("127.0.0.1:5000", &[("host", host)])), "{host}");
        }
        for header in OF_PROXIES.into_iter().chain(["forwarded"]) {
            assert!(!is_near(&options, &request("127.0.0.1:5000", &[near[0], (header, "192.0.2.7")])), "{header}");
        }
        let mut foreign = request("127.0.0.1:5000", &near);
        foreign.extensions_mut().remove::<OwnAddress>();
        assert!(!is_near(&options, &foreign), "a server of the user's own that tells who calls");
        foreign.extensions_mut().clear();
        assert!(!is_near(&options, &foreign), "and one that does not");
        let mut open = request("127.0.0.1:5000", &near);
        open.extensions_mut().insert(OwnAddress(([0, 0, 0, 0], 8_899).into()));
        assert!(!is_near(&options, &open), "other hosts reach it");
        let trusted_proxies = vec!["127.0.0.1".parse().expect("an address")];
        let proxied = ConsoleOptions { trusted_proxies, ..ConsoleOptions::default() };
        let below = ConsoleOptions { base_path: "/jobs".to_owned(), ..ConsoleOptions::default() };
        let secure = ConsoleOptions { secure_cookies: true, ..ConsoleOptions::default() };
        for options in [proxied, below, secure] {
            assert!(!is_near(&options, &request("127.0.0.1:5000", &near)), "{options:?}");
        }
    }
}
