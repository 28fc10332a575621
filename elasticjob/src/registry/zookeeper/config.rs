//! Settings of a ZooKeeper registry center.

use std::fmt;

use super::tls::{self, ZookeeperTls};
use crate::registry::limits;
use crate::secret::Secret;

/// The time-outs in milliseconds that apply where a time-out is not set, or is 0.
pub(super) const SESSION_TIMEOUT: u64 = 60_000;
pub(super) const CONNECTION_TIMEOUT: u64 = 15_000;

/// The way to a ZooKeeper ensemble, and the namespace of the jobs in it. Names, defaults and meaning are ElasticJob's.
///
/// Later releases have more settings: begin with [`new`](Self::new), which has the defaults, and set fields.
///
/// ```
/// use elasticjob::registry::zookeeper::ZookeeperConfiguration;
///
/// let mut configuration = ZookeeperConfiguration::new("zk1:2181,zk2:2181,zk3:2181", "shop");
/// configuration.session_timeout_milliseconds = 30_000;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The time for which the server keeps the session without a sign of life from the client; the server may grant another time.
    /// Default 60000, also for 0.
    pub session_timeout_milliseconds: u64,
    /// The time that a connection attempt may take, and that a connection may be silent, before the client gives it up.
    /// Default 15000, also for 0.
    pub connection_timeout_milliseconds: u64,
    /// `user:password` of the digest scheme. With it, only this user has access to the nodes that are created.
    pub digest: Option<Secret>,
    /// TLS to all servers. `None`: everything goes over the network in clear text. Needs the feature `zookeeper-tls`.
    pub tls: Option<ZookeeperTls>,
    /// Whether a missing namespace is created. Set it to `false` for programs that only operate existing jobs: a
    /// missing namespace is an error then. Default true.
    pub create_namespace: bool,
}

/// A setting with a value that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} '{value}' is not valid: {reason}")]
#[non_exhaustive]
pub struct InvalidSetting {
    /// The key, as it is written below `elasticjob.reg-center`.
    pub key: &'static str,
    /// The value; [`Secret::MASK`] where it is a secret.
    pub value: String,
    /// The reason, and what to write instead.
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

    /// All settings with values that are not valid, each with the reason. Reads the files of TLS.
    pub fn problems(&self) -> Vec<InvalidSetting> {
        let mut problems = without_client(&self.server_lists);
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

    /// The number of bytes that the namespace adds to each path on its way to the server.
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
}

/// Without a client no server can be reached.
fn without_client(server_lists: &str) -> Vec<InvalidSetting> {
    let reason = "this program is built without ZooKeeper: build it with the feature zookeeper of elasticjob or \
                  elasticjob-starter; without server-lists the jobs run on the embedded registry of the process";
    let problem = InvalidSetting { key: "server-lists", value: server_lists.to_owned(), reason: reason.to_owned() };
    if cfg!(feature = "zookeeper") { Vec::new() } else { vec![problem] }
}

/// The host of `host:port`, without brackets.
pub(super) fn host(server: &str) -> &str {
    match server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => server.split_once(':').map_or(server, |(host, _)| host),
    }
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

#[cfg(all(test, feature = "zookeeper"))]
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
}
