//! The section `elasticjob.reg-center`.

use std::path::PathBuf;

use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperTls};
use elasticjob::secret::Secret;

use super::error::SettingError;
use super::load::filled;
use super::node::Origin;
use super::read::{Reader, Sourced, items};
use super::schema::Key;

/// The setting that the longest pause is compared with.
const BASE_SLEEP: &str = "base-sleep-time-milliseconds";

/// `elasticjob.reg-center`, or one of `elasticjob.reg-centers`: the address of the registry center and the settings of
/// the connection. Values that are not set have the defaults of ElasticJob.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegCenterSettings {
    /// The place of the section, or of its first setting.
    pub origin: Origin,
    /// `host:port` of the ZooKeeper servers. Empty: the embedded registry of this process.
    pub server_lists: Vec<String>,
    /// The node under which the jobs are kept.
    pub namespace: Option<String>,
    /// Shortest wait between two attempts to connect, in milliseconds.
    pub base_sleep_time_milliseconds: Option<u32>,
    /// Longest wait between two attempts to connect, in milliseconds.
    pub max_sleep_time_milliseconds: Option<u32>,
    /// The number of times that an attempt to connect is repeated.
    pub max_retries: Option<u32>,
    /// The time for which the server keeps a session without a sign of life, in milliseconds; 0 for the default.
    pub session_timeout_milliseconds: Option<u32>,
    /// The time that one attempt to connect may take, in milliseconds; 0 for the default.
    pub connection_timeout_milliseconds: Option<u32>,
    /// `user:password` of the scheme `digest`.
    pub digest: Option<Secret>,
    /// TLS to the servers; `None` where it is off.
    pub tls: Option<ZookeeperTls>,
}

impl RegCenterSettings {
    /// The settings that say where it connects, as they may be shown: without the digest.
    pub fn shown(&self) -> Vec<(&'static str, String)> {
        let is_set = |set: bool| if set { Secret::MASK.to_owned() } else { "not set".to_owned() };
        if self.server_lists.is_empty() {
            return vec![("server-lists", "the embedded registry of this process".to_owned())];
        }
        vec![
            ("server-lists", self.server_lists.join(",")),
            ("namespace", self.namespace.clone().unwrap_or_default()),
            ("digest", is_set(self.digest.is_some())),
            ("tls", if self.tls.is_some() { "on" } else { "off" }.to_owned()),
        ]
    }

    /// The configuration of ZooKeeper, `None` when no servers are set.
    pub fn zookeeper(&self) -> Option<ZookeeperConfiguration> {
        if self.server_lists.is_empty() {
            return None;
        }
        let mut zookeeper =
            ZookeeperConfiguration::new(self.server_lists.join(","), self.namespace.clone().unwrap_or_default());
        let set = |target: &mut u64, value: Option<u32>| *target = value.map_or(*target, u64::from);
        set(&mut zookeeper.base_sleep_time_milliseconds, self.base_sleep_time_milliseconds);
        set(&mut zookeeper.max_sleep_time_milliseconds, self.max_sleep_time_milliseconds);
        set(&mut zookeeper.session_timeout_milliseconds, self.session_timeout_milliseconds);
        set(&mut zookeeper.connection_timeout_milliseconds, self.connection_timeout_milliseconds);
        zookeeper.max_retries = self.max_retries.unwrap_or(zookeeper.max_retries);
        zookeeper.digest = self.digest.clone();
        zookeeper.tls = self.tls.clone();
        Some(zookeeper)
    }
}

/// Setting only a file turns TLS on, too.
fn tls(reader: &mut Reader<'_>, section: &Key) -> Option<ZookeeperTls> {
    let enabled = reader.flag(&section.child("enabled"));
    let mut file = |name| filled(reader.text(&section.child(name))).map(PathBuf::from);
    let mut tls = ZookeeperTls::default();
    tls.trust_store = file("trust-store");
    tls.client_certificate = file("client-certificate");
    tls.client_key = file("client-key");
    let is_on = enabled.unwrap_or_else(|| tls != ZookeeperTls::default());
    is_on.then_some(tls)
}

/// The servers. An empty text means none: a placeholder with an empty default leaves one. Commas or blanks alone are what is
/// left of servers where variables have no value: jobs must not run on the embedded registry for that.
fn servers(reader: &mut Reader<'_>, key: &Key) -> Vec<String> {
    let Some(Sourced { value: given, origin }) = reader.text(key) else { return Vec::new() };
    let servers = items(&given);
    if servers.is_empty() && !given.is_empty() {
        let reason = "no server is left in it. Write `host:port`, with commas between several, or nothing at all for the \
                      embedded registry of this process";
        reader.doubt.add(key.clone());
        let (key, reason) = (key.to_string(), reason.to_owned());
        reader.errors.push(SettingError::Refused { origin, key, value: given, reason });
    }
    servers
}

/// Reads the section, or a named section of the same form.
pub(super) fn read(reader: &mut Reader<'_>, section: &Key) -> RegCenterSettings {
    let key = |name: &str| name.split('.').fold(section.clone(), |key, segment| key.child(segment));
    let settings = RegCenterSettings {
        origin: reader.origin(section).unwrap_or_else(|| Origin::place("settings")),
        server_lists: servers(reader, &key("server-lists")),
        namespace: filled(reader.text(&key("namespace"))),
        base_sleep_time_milliseconds: reader.whole(&key("base-sleep-time-milliseconds")),
        max_sleep_time_milliseconds: reader.whole(&key("max-sleep-time-milliseconds")),
        max_retries: reader.whole(&key("max-retries")),
        session_timeout_milliseconds: reader.whole(&key("session-timeout-milliseconds")),
        connection_timeout_milliseconds: reader.whole(&key("connection-timeout-milliseconds")),
        digest: filled(reader.text(&key("digest"))).map(Secret::from),
        tls: tls(reader, &section.child("tls")),
    };
    // Servers that cannot be read still count as servers, so that the other problems are reported, too.
    let meant = match reader.doubt.is_about(&key("server-lists")) {
        true => RegCenterSettings { server_lists: vec!["localhost".to_owned()], ..settings.clone() },
        false => settings.clone(),
    };
    for problem in meant.zookeeper().iter().flat_map(ZookeeperConfiguration::problems) {
        // A missing setting of TLS is reported at the place of the TLS settings.
        let whole = if problem.key.starts_with("tls.") { "tls" } else { "server-lists" };
        let origin = |name| reader.origin(&key(name)).unwrap_or_else(|| Origin::place("settings"));
        let (name, reason) = (key(problem.key), problem.reason);
        match problem.value.is_empty() {
            // The other settings make it necessary.
            true => reader.missing(origin(whole), &name, reason),
            // It was compared with the default, but another value was given that cannot be read.
            false if problem.key == "max-sleep-time-milliseconds" && reader.doubt.is_about(&key(BASE_SLEEP)) => {}
            false => {
                let given = if reader.origin(&name).is_some() { problem.key } else { whole };
                let (origin, key) = (origin(given), name.to_string());
                reader.errors.push(SettingError::Refused { origin, key, value: problem.value, reason });
            }
        }
    }
    settings
}
