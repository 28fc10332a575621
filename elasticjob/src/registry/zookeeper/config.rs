//! Settings of a ZooKeeper registry center.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use super::tls::{self, ZookeeperTls};
use crate::registry::limits;
use crate::secret::Secret;

/// Repeating the servers up to this number keeps the client from doubling its pauses while it reconnects: it pauses
/// only between rounds over all of them.
const MIN_DIALLED_SERVERS: usize = 20;

/// What holds where a time-out is not set, or 0, in milliseconds.
const SESSION_TIMEOUT: u64 = 60_000;
const CONNECTION_TIMEOUT: u64 = 15_000;

/// How to reach a ZooKeeper ensemble, and where in it the jobs live. Names, defaults and meaning are ElasticJob's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZookeeperConfiguration {
    /// Servers, `host:port` with commas between them. Without a port 2181.
    pub server_lists: String,
    /// The node below which all jobs live. May contain `/`, has none at its ends.
    pub namespace: String,
    /// The first pause between two attempts to connect; it grows at random. Default 1000.
    pub base_sleep_time_milliseconds: u64,
    /// The longest pause between two attempts to connect. Default 3000.
    pub max_sleep_time_milliseconds: u64,
    /// The first connect is given up after `max_sleep_time_milliseconds` times this. Default 3.
    pub max_retries: u32,
    /// After how long without a sign of life the server ends the session; the server may grant another. Default
    /// 60000, which 0 stands for as well.
    pub session_timeout_milliseconds: u64,
    /// After how long a connection attempt, or a silent connection, is given up. Default 15000, which 0 stands for
    /// as well.
    pub connection_timeout_milliseconds: u64,
    /// `user:password` of the digest scheme. With it, only this user has access to what is created.
    pub digest: Option<Secret>,
    /// TLS to all servers. `None`: everything goes over the network in clear text. Needs the feature `zookeeper-tls`.
    pub tls: Option<ZookeeperTls>,
    /// Whether the namespace is created when missing; otherwise that is an error, for whoever operates jobs that are
    /// there. Default true.
    pub create_namespace: bool,
}

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} '{value}' is not valid: {reason}")]
pub struct InvalidSetting {
    /// The key, as it is written below `elasticjob.reg-center`.
    pub key: &'static str,
    /// The value; [`Secret::MASK`] where it is a secret.
    pub value: String,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl ZookeeperConfiguration {
    /// Settings with the defaults of ElasticJob.
    pub fn new(server_lists: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            server_lists: server_lists.into(),
            namespace: namespace.into(),
            base_sleep_time_milliseconds: 1000,
            max_sleep_time_milliseconds: 3000,
            max_retries: 3,
            session_timeout_milliseconds: SESSION_TIMEOUT,
            connection_timeout_milliseconds: CONNECTION_TIMEOUT,
            digest: None,
            tls: None,
            create_namespace: true,
        }
    }

    /// Every setting that cannot be, with the reason. Reads the files of TLS.
    pub fn problems(&self) -> Vec<InvalidSetting> {
        let mut problems = Vec::new();
        let mut report = |key, value: &dyn fmt::Display, reason: String| {
            problems.push(InvalidSetting { key, value: value.to_string(), reason });
        };
        for server in self.server_lists.split(',') {
            if let Err(reason) = check_server(server.trim()) {
                report("server-lists", &self.server_lists, reason);
            }
        }
        if self.namespace.is_empty() || !limits::is_valid_path(&self.root()) {
            let reason = "give the path of a node without '/' at its ends, like 'my-app' or 'team/my-app'";
            report("namespace", &self.namespace, reason.into());
        }
        if self.base_sleep_time_milliseconds == 0 {
            report("base-sleep-time-milliseconds", &0, "it must be at least 1".into());
        }
        if self.max_sleep_time_milliseconds < self.base_sleep_time_milliseconds {
            let reason =
                format!("it must be at least base-sleep-time-milliseconds, {}", self.base_sleep_time_milliseconds);
            report("max-sleep-time-milliseconds", &self.max_sleep_time_milliseconds, reason);
        }
        if !(1..=29).contains(&self.max_retries) {
            report("max-retries", &self.max_retries, "it must be from 1 to 29".into());
        }
        for (key, value) in [
            ("max-sleep-time-milliseconds", self.max_sleep_time_milliseconds),
            ("session-timeout-milliseconds", self.session_timeout_milliseconds),
            ("connection-timeout-milliseconds", self.connection_timeout_milliseconds),
        ] {
            if value > i32::MAX as u64 {
                report(key, &value, format!("it must be at most {}", i32::MAX));
            }
        }
        let has_user = |digest: &&Secret| digest.reveal().split_once(':').is_some_and(|(user, _)| !user.is_empty());
        if let Some(digest) = self.digest.as_ref().filter(|digest| !has_user(digest)) {
            report("digest", digest, "it must have the form user:password".into());
        }
        if let Some(tls) = &self.tls {
            for server in self.servers().filter(|server| check_server(server).is_ok() && !tls::valid_name(host(server)))
            {
                let reason =
                    format!("no certificate can be for '{server}': with TLS give a host name or an IP address");
                problems.push(InvalidSetting { key: "server-lists", value: self.server_lists.clone(), reason });
            }
            problems.extend(tls.problems());
        }
        problems
    }

    /// How many bytes the namespace adds to each path on its way to the server.
    pub fn namespace_bytes(&self) -> usize {
        self.root().len()
    }

    /// The node of the namespace.
    pub(super) fn root(&self) -> String {
        format!("/{}", self.namespace)
    }

    /// The servers one by one.
    pub(super) fn servers(&self) -> impl Iterator<Item = &str> {
        self.server_lists.split(',').map(str::trim)
    }

    /// The same for one of the servers alone.
    pub(super) fn only(&self, server: &str) -> Self {
        Self { server_lists: server.to_owned(), ..self.clone() }
    }

    /// The servers as the client wants them.
    pub(super) fn dialled_once(&self) -> String {
        let scheme = if self.tls.is_some() { "tcp+tls" } else { "tcp" };
        self.servers().map(|server| format!("{scheme}://{server}")).collect::<Vec<_>>().join(",")
    }

    /// The same, repeated.
    pub(super) fn dialled_servers(&self) -> String {
        vec![self.dialled_once(); MIN_DIALLED_SERVERS.div_ceil(self.servers().count())].join(",")
    }

    /// Whether the digest, which is user and password, goes over a network where it can be read.
    pub(super) fn shows_digest(&self) -> bool {
        let is_here = |server: &str| {
            let host = host(server);
            host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        };
        self.digest.is_some() && self.tls.is_none() && !self.servers().all(is_here)
    }

    /// After how long the first connect is given up.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.max_sleep_time_milliseconds.saturating_mul(u64::from(self.max_retries)))
    }

    pub(super) fn session_timeout(&self) -> Duration {
        Duration::from_millis(or_default(self.session_timeout_milliseconds, SESSION_TIMEOUT))
    }

    pub(super) fn connection_timeout(&self) -> Duration {
        Duration::from_millis(or_default(self.connection_timeout_milliseconds, CONNECTION_TIMEOUT))
    }

    /// The pause before retry `retry`, counted from 0: the base times a random factor, below 2 at first and below twice
    /// as much each time, so that clients do not come back in step.
    pub(super) fn pause(&self, retry: u32, random: u64) -> Duration {
        let factor = random % (2 << retry.min(self.max_retries));
        let pause = self.base_sleep_time_milliseconds.saturating_mul(factor.max(1));
        Duration::from_millis(pause.min(self.max_sleep_time_milliseconds))
    }
}

/// The host of `host:port`, without brackets.
pub(super) fn host(server: &str) -> &str {
    match server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => server.split_once(':').map_or(server, |(host, _)| host),
    }
}

fn or_default(milliseconds: u64, default: u64) -> u64 {
    if milliseconds == 0 { default } else { milliseconds }
}

fn check_server(server: &str) -> Result<(), String> {
    let (host, port) = match server.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(None) => return Err(format!("the bracket of '{server}' is not closed")),
        Some(Some((host, port))) => (host, port),
        None => match server.find(':') {
            Some(colon) => server.split_at(colon),
            None => (server, ""),
        },
    };
    if host.is_empty() {
        Err("give the servers as host:port with commas between them".into())
    } else if server.contains("//") {
        Err(format!("'{server}' has a scheme: give host:port alone"))
    } else if server.contains('/') {
        Err(format!("'{server}' has a path: that belongs into namespace"))
    } else if server.contains(char::is_whitespace) {
        Err(format!("'{server}' has white space inside: put commas between servers"))
    } else if !port.is_empty()
        && port.strip_prefix(':').and_then(|port| port.parse().ok()).is_none_or(|port: u16| port == 0)
    {
        Err(format!("the port of '{server}' is not a number from 1 to 65535"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::in_one_line;

    fn problem(change: impl FnOnce(&mut ZookeeperConfiguration)) -> String {
        let mut config = ZookeeperConfiguration::new("a:2181,b:2181", "ns");
        change(&mut config);
        in_one_line(&config.problems())
    }

    #[test]
    fn every_setting_that_cannot_be_is_named_with_what_would_be_right() {
        assert_eq!(problem(|_| ()), "");
        for servers in ["a", "a:2181, b", "[::1]:2181,[::1]", "127.0.0.1:1"] {
            assert_eq!(problem(|c| c.server_lists = servers.into()), "", "{servers}");
        }
        for servers in ["", "a:2181,", "a:x", "a:0", "a:2181/ns", "tcp://a", "a b", "[::1", ":2181", "a:1:2"] {
            let problem = problem(|c| c.server_lists = servers.into());
            assert!(problem.starts_with("server-lists '"), "{servers:?}: {problem}");
        }
        for namespace in ["", "/a", "a/", "a//b", "..", "a/../b"] {
            let problem = problem(|c| c.namespace = namespace.into());
            assert!(problem.starts_with("namespace '"), "{namespace:?}: {problem}");
        }
        assert_eq!(problem(|c| c.namespace = "lab/sub".into()), "");
        assert!(problem(|c| c.base_sleep_time_milliseconds = 0).starts_with("base-sleep"));
        assert!(problem(|c| c.max_sleep_time_milliseconds = 10).contains("base-sleep-time-milliseconds, 1000"));
        assert!(problem(|c| c.max_retries = 30).contains("1 to 29"));
        assert!(problem(|c| c.session_timeout_milliseconds = 1 << 40).starts_with("session-timeout"));
    }

    #[test]
    fn the_digest_is_shown_nowhere() {
        let mut config = ZookeeperConfiguration::new("a:2181", "ns");
        config.digest = Some("secret".into());
        let problem = config.problems()[0].to_string();
        assert!(problem.contains("user:password") && !problem.contains("secret"), "{problem}");
        assert!(!format!("{config:?}").contains("secret"));
    }

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
