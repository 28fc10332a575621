//! Warns of addresses whose `X-Forwarded-For` is not read, as they are no trusted proxies: to the console all clients of such
//! a proxy are one, and the settings do not say so.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::throttle::network;

/// The shortest time between two warnings: each host that reaches the console can send the header.
const BETWEEN: Duration = Duration::from_secs(60);

/// How many addresses are remembered; of more the oldest goes.
const MOST: usize = 1_000;

/// The addresses that the log has a warning of.
#[derive(Debug, Default)]
pub(crate) struct UntrustedProxies(Mutex<Warned>);

#[derive(Debug, Default)]
struct Warned {
    networks: VecDeque<IpAddr>,
    last: Option<Instant>,
}

impl UntrustedProxies {
    /// The warning of a request with the header from this address: once for each, and one a minute at the most. An address for
    /// which it is too early has its turn with a later request.
    pub(super) fn warning(&self, peer: IpAddr, now: Instant) -> Option<String> {
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let network = network(peer);
        let is_early = warned.last.is_some_and(|last| now.duration_since(last) < BETWEEN);
        if is_early || warned.networks.contains(&network) {
            return None;
        }
        if warned.networks.len() >= MOST {
            warned.networks.pop_front();
        }
        warned.networks.push_back(network);
        warned.last = Some(now);
        let peer = peer.to_canonical();
        Some(format!(
            "the header X-Forwarded-For of requests from {peer} is not read, as {peer} is no trusted proxy: all its clients count \
             as one. If it is a proxy of yours, add {peer} to `elasticjob.console.trusted-proxies`; else the client itself sent \
             the header, and nothing is to be done"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn each_address_is_warned_of_once_and_the_warning_names_the_setting() {
        let (proxies, now) = (UntrustedProxies::default(), Instant::now());
        let warning = proxies.warning(ip("::ffff:10.0.0.1"), now).expect("it is the first one");
        assert!(warning.contains("10.0.0.1 to `elasticjob.console.trusted-proxies`"), "{warning}");
        assert!(!warning.contains("::ffff"), "the setting takes the other form: {warning}");
        for hour in 0..24 {
            assert_eq!(proxies.warning(ip("10.0.0.1"), now + hour * Duration::from_secs(3_600)), None);
        }
        let later = now + BETWEEN;
        assert!(proxies.warning(ip("2001:db8:0:1::1"), later).is_some());
        assert_eq!(proxies.warning(ip("2001:db8:0:1::2"), later + BETWEEN), None, "the same host");
    }

    #[test]
    fn many_addresses_fill_neither_the_log_nor_the_memory() {
        let (proxies, mut now) = (UntrustedProxies::default(), Instant::now());
        let address = |number: usize| ip(&format!("10.0.{}.{}", number / 256, number % 256));
        let warned = (0..=MOST).filter(|number| proxies.warning(address(*number), now).is_some());
        assert_eq!(warned.count(), 1);
        now += BETWEEN;
        assert!(proxies.warning(address(7), now).is_some(), "its turn comes later");
        for number in 0..=MOST {
            now += BETWEEN;
            proxies.warning(address(number), now);
        }
        assert_eq!(proxies.0.lock().expect("no test panicked").networks.len(), MOST);
    }
}
