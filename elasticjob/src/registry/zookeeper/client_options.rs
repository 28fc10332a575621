//! Says the configuration in the form in which the client library takes it: servers, time-outs and pauses.

use std::net::IpAddr;
use std::time::Duration;

use super::ZookeeperConfiguration;
use super::config::{CONNECTION_TIMEOUT, SESSION_TIMEOUT, host};

/// The list of servers is repeated up to this number, so that the client does not double its pauses while it
/// reconnects: it pauses only between rounds over the whole list.
const MIN_DIALLED_SERVERS: usize = 20;

impl ZookeeperConfiguration {
    /// The same configuration for one of the servers alone.
    pub(super) fn only(&self, server: &str) -> Self {
        Self { server_lists: server.to_owned(), ..self.clone() }
    }

    /// The servers in the form that the client library takes.
    pub(super) fn dialled_once(&self) -> String {
        let scheme = if self.tls.is_some() { "tcp+tls" } else { "tcp" };
        self.servers().map(|server| format!("{scheme}://{server}")).collect::<Vec<_>>().join(",")
    }

    /// The same, repeated.
    pub(super) fn dialled_servers(&self) -> String {
        vec![self.dialled_once(); MIN_DIALLED_SERVERS.div_ceil(self.servers().count())].join(",")
    }

    /// Whether the digest, which is user and password, goes unencrypted over a network.
    pub(super) fn shows_digest(&self) -> bool {
        let is_here = |server: &str| {
            let host = host(server);
            host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        };
        self.digest.is_some() && self.tls.is_none() && !self.servers().all(is_here)
    }

    /// The time after which the first connect is given up.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.max_sleep_time_milliseconds.saturating_mul(u64::from(self.max_retries)))
    }

    pub(super) fn session_timeout(&self) -> Duration {
        Duration::from_millis(or_default(self.session_timeout_milliseconds, SESSION_TIMEOUT))
    }

    pub(super) fn connection_timeout(&self) -> Duration {
        Duration::from_millis(or_default(self.connection_timeout_milliseconds, CONNECTION_TIMEOUT))
    }

    /// The pause before retry `retry`, counted from 0: the base times a random factor. The factor is below 2 at first,
    /// and its bound doubles each time, so that clients do not reconnect at the same moments.
    pub(super) fn pause(&self, retry: u32, random: u64) -> Duration {
        let factor = random % (2 << retry.min(self.max_retries));
        let pause = self.base_sleep_time_milliseconds.saturating_mul(factor.max(1));
        Duration::from_millis(pause.min(self.max_sleep_time_milliseconds))
    }
}

fn or_default(milliseconds: u64, default: u64) -> u64 {
    if milliseconds == 0 { default } else { milliseconds }
}

#[cfg(test)]
mod tests {
    use super::super::ZookeeperTls;
    use super::*;

    #[test]
    fn a_digest_in_clear_text_on_a_network_is_seen() {
        let shown = |servers: &str| {
            let digest = Some("robot:secret".into());
            ZookeeperConfiguration { digest, ..ZookeeperConfiguration::new(servers, "ns") }.shows_digest()
        };
        assert!(shown("zk1:2181") && shown("localhost,192.0.2.1:2181") && shown("[2001:db8::1]:2181"));
        for servers in ["localhost", "127.0.0.1:2181,127.0.0.7", "[::1]:2181"] {
            assert!(!shown(servers), "{servers}");
        }
        assert!(!ZookeeperConfiguration::new("zk1:2181", "ns").shows_digest());
        let tls = Some(ZookeeperTls::default());
        let encrypted = ZookeeperConfiguration { tls, ..ZookeeperConfiguration::new("zk1:2281", "ns") };
        assert!(!ZookeeperConfiguration { digest: Some("robot:secret".into()), ..encrypted }.shows_digest());
    }

    #[test]
    fn servers_are_repeated_until_there_are_twenty() {
        assert_eq!(ZookeeperConfiguration::new("a:1, b:2,c:3", "ns").dialled_servers().split(',').count(), 21);
        assert_eq!(ZookeeperConfiguration::new("a:1", "ns").dialled_servers().split(',').count(), 20);
    }

    #[test]
    fn pauses_grow_up_to_the_longest_one() {
        let config = ZookeeperConfiguration::new("a:1", "ns");
        assert_eq!(config.pause(0, 0), Duration::from_secs(1));
        assert_eq!(config.pause(0, 1), Duration::from_secs(1));
        assert_eq!(config.pause(1, 2), Duration::from_secs(2));
        assert_eq!(config.pause(9, u64::MAX), Duration::from_secs(3));
    }
}
