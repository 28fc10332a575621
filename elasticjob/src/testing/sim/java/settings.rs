//! Reads the data of nodes as Java does. Data on which it would fail are a violation, unless an operator of the
//! simulation wrote them on purpose.

use std::collections::BTreeMap;

use super::jvm::Jvm;
use super::nodes::{CONFIG, INSTANCES};
use crate::config::wire;
use crate::ident::JobName;
use crate::schedule::Schedule;
use crate::yaml::{self, Value, yaml11_types};

/// Keys whose default in the reader of the release is not that of the manual, or that it cannot do without.
const NEEDED: [&str; 10] = [
    "disabled",
    "failover",
    "jobName",
    "maxTimeDiffSeconds",
    "misfire",
    "monitorExecution",
    "overwrite",
    "reconcileIntervalMinutes",
    "shardingTotalCount",
    "staticSharding",
];
/// The keys that 3.0.5 knows beside them. That of releases before it, for the pool, is not one of them.
const KNOWN: [&str; 12] = [
    "cron",
    "description",
    "jobErrorHandlerType",
    "jobExecutorThreadPoolSizeProviderType",
    "jobExtraConfigurations",
    "jobListenerTypes",
    "jobParameter",
    "jobShardingStrategyType",
    "label",
    "props",
    "shardingItemParameters",
    "timeZone",
];

/// The configuration as the release has it in force.
#[derive(Debug, Clone)]
pub(super) struct Configuration {
    pub(super) cron: String,
    pub(super) time_zone: Option<String>,
    pub(super) total: u32,
    pub(super) strategy: String,
    pub(super) disabled: bool,
    pub(super) failover: bool,
    pub(super) misfire: bool,
    pub(super) monitored: bool,
    pub(super) static_sharding: bool,
    pub(super) reconcile_minutes: i64,
    pub(super) checks_clock: bool,
}

/// Configurations read before: mostly it is the same one.
#[derive(Debug, Default)]
pub(super) struct Settings {
    read: BTreeMap<String, Option<Configuration>>,
}

/// The single values of a document that is a map, and all of its keys.
struct Entries(BTreeMap<String, Option<String>>);

impl Entries {
    fn parse(text: &str) -> Option<Self> {
        let Value::Map(entries) = yaml::parse(text, yaml::LIMITS_OF_CONFIGURATION).ok()??.value else { return None };
        let entries =
            entries.iter().map(|(key, value)| Some((key.text()?.to_owned(), value.text().map(str::to_owned))));
        entries.collect::<Option<_>>().map(Self)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_deref()
    }
}

impl Configuration {
    /// `None` where the release throws.
    fn read(text: &str) -> Option<Self> {
        let entries = Entries::parse(text)?;
        if !entries.keys().all(|key| NEEDED.contains(&key) || KNOWN.contains(&key)) {
            return None;
        }
        let flag = |key: &str| entries.text(key).and_then(yaml11_types::flag).unwrap_or(false);
        let text = |key: &str| entries.text(key).map(str::to_owned);
        let number = |key: &str| entries.text(key).and_then(yaml11_types::integer);
        Some(Self {
            cron: text("cron").unwrap_or_default(),
            time_zone: text("timeZone"),
            total: u32::try_from(number("shardingTotalCount")?).ok().filter(|total| *total > 0)?,
            strategy: text("jobShardingStrategyType").unwrap_or_default(),
            disabled: flag("disabled"),
            failover: flag("failover"),
            misfire: flag("misfire"),
            monitored: flag("monitorExecution"),
            static_sharding: flag("staticSharding"),
            reconcile_minutes: number("reconcileIntervalMinutes").unwrap_or(0),
            checks_clock: number("maxTimeDiffSeconds").is_some_and(|most| most >= 0),
        })
    }

    pub(super) fn schedule(&self) -> Option<Schedule> {
        Schedule::parse(&self.cron, self.time_zone.as_deref()).ok()
    }
}

/// Whether the release takes a configuration as it was meant: no key that it does not know, none missing that it would
/// take differently.
///
/// # Errors
/// What it would fail on.
pub fn check_configuration(job: &JobName, text: &str) -> Result<(), String> {
    let reading = wire::read(job, text.as_bytes()).map_err(|error| format!("the configuration: {error}"))?;
    if let Some(ignored) = reading.ignored.first() {
        return Err(format!("the configuration: {ignored}"));
    }
    let entries = Entries::parse(text).ok_or("the configuration is no map")?;
    if let Some(missing) = NEEDED.iter().find(|needed| entries.keys().all(|key| key != **needed)) {
        return Err(format!("the configuration: {missing} is missing, and Java's default is another one"));
    }
    match Configuration::read(text) {
        Some(_) => Ok(()),
        None => Err("the configuration: Java cannot read it".to_owned()),
    }
}

impl Jvm {
    /// The configuration in the cache. `None` where the release throws.
    pub(super) async fn configuration(&self) -> Option<Configuration> {
        let text = self.get(CONFIG).await?;
        self.read_configuration(&text)
    }

    /// The configuration on the server.
    pub(super) async fn configuration_directly(&self) -> Option<Configuration> {
        let text = self.get_directly(CONFIG).await?;
        self.read_configuration(&text)
    }

    pub(super) fn read_configuration(&self, text: &str) -> Option<Configuration> {
        let mut settings = self.settings.borrow_mut();
        settings.read.entry(text.to_owned()).or_insert_with(|| Configuration::read(text)).clone()
    }

    /// The server of an instance. `None` where the release leaves the instance out.
    pub(super) fn read_server_of(&self, id: &str, text: &str) -> Option<String> {
        if text.trim().is_empty() {
            return None;
        }
        let Some(entries) = Entries::parse(text) else {
            self.fail(format!("{INSTANCES}/{id} is no map: {text}"));
            return None;
        };
        for key in entries.keys() {
            if !["jobInstanceId", "labels", "serverIp"].contains(&key) {
                self.fail(format!("{INSTANCES}/{id} has the key {key}, on which Java fails"));
            }
        }
        if entries.text("jobInstanceId") != Some(id) {
            self.fail(format!("{INSTANCES}/{id} names {:?}", entries.text("jobInstanceId")));
        }
        let server = entries.text("serverIp");
        if server.is_none() {
            self.fail(format!("{INSTANCES}/{id} has no serverIp: Java takes its own"));
        }
        server.map(str::to_owned)
    }
}
