//! What the registry stores: the configuration and the instances as YAML, as SnakeYAML writes it for ElasticJob 3.0.5.
//!
//! Written: the keys of Java in their order and no other one, because Java refuses unknown keys. Read: any YAML, also
//! with keys of other releases.

mod emit;
mod implicit;
mod scalar;

use std::collections::BTreeMap;

use serde_yaml_ng::Value;

use super::job::{Invalid, JobConfiguration, Origin};
use super::settings::JobSettings;
use crate::ident::{InstanceId, JobName};

/// A configuration in the registry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It is not YAML.
    #[error("it is not YAML: {0}")]
    Syntax(String),
    /// It is not a map of settings.
    #[error("it is not a map of settings")]
    NotAMap,
    /// A key has a value of the wrong type.
    #[error("{key}: '{value}' is not {expected}")]
    Type {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
    /// Settings with values that cannot be used.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Settings(Vec<Invalid>),
}

/// The text of the node `config`.
pub fn to_yaml(configuration: &JobConfiguration) -> String {
    let c = configuration;
    let mut out = emit::Document::default();
    out.optional("cron", c.schedule.as_ref().map(|schedule| schedule.cron().as_str()));
    out.text("description", &c.description);
    out.plain("disabled", c.disabled);
    out.plain("failover", c.failover);
    out.optional("jobErrorHandlerType", c.error_handler.as_deref());
    out.optional("jobExecutorThreadPoolSizeProviderType", c.thread_pool.as_deref());
    out.lines(c.extra.as_deref());
    out.list("jobListenerTypes", c.listeners.iter().map(AsRef::as_ref));
    out.text("jobName", c.name.as_str());
    out.text("jobParameter", &c.parameter);
    out.optional("jobShardingStrategyType", c.strategy.as_deref());
    out.optional("label", c.label.as_deref());
    out.plain("maxTimeDiffSeconds", c.max_time_diff_seconds);
    out.plain("misfire", c.misfire);
    out.plain("monitorExecution", c.monitor_execution);
    out.plain("overwrite", c.overwrite);
    out.map("props", c.props.iter().map(|(key, value)| (key.as_ref(), value.as_ref())));
    out.plain("reconcileIntervalMinutes", c.reconcile_interval_minutes);
    out.text("shardingItemParameters", c.items.as_str());
    out.plain("shardingTotalCount", c.total);
    out.plain("staticSharding", c.static_sharding);
    out.optional("timeZone", c.time_zone.as_deref());
    out.into_string()
}

/// Reads the node `config`. A missing key has the default of Java's reader, which for `monitorExecution` and `misfire`
/// is false and for `reconcileIntervalMinutes` 0.
///
/// # Errors
/// [`WireError`] names the key and what would be right.
pub fn from_yaml(job: &JobName, data: &[u8]) -> Result<JobConfiguration, WireError> {
    let text = std::str::from_utf8(data).map_err(|error| WireError::Syntax(error.to_string()))?;
    let document: Value = serde_yaml_ng::from_str(text).map_err(|error| WireError::Syntax(error.to_string()))?;
    let Value::Mapping(map) = document else { return Err(WireError::NotAMap) };
    let fields = Fields(map);
    let settings = JobSettings {
        cron: fields.text("cron"),
        time_zone: fields.text("timeZone"),
        sharding_total_count: Some(fields.number("shardingTotalCount", 0)?),
        sharding_item_parameters: fields.text("shardingItemParameters"),
        job_parameter: fields.text("jobParameter"),
        monitor_execution: Some(fields.flag("monitorExecution")?),
        failover: Some(fields.flag("failover")?),
        misfire: Some(fields.flag("misfire")?),
        max_time_diff_seconds: Some(fields.number("maxTimeDiffSeconds", 0)?),
        reconcile_interval_minutes: Some(fields.number("reconcileIntervalMinutes", 0)?),
        job_sharding_strategy_type: fields.text("jobShardingStrategyType"),
        // The second name is that of the releases before 3.0.5.
        job_executor_thread_pool_size_provider_type: fields
            .text("jobExecutorThreadPoolSizeProviderType")
            .or_else(|| fields.text("jobExecutorServiceHandlerType")),
        job_error_handler_type: fields.text("jobErrorHandlerType"),
        job_listener_types: Some(fields.texts("jobListenerTypes")?),
        description: fields.text("description"),
        props: Some(fields.pairs("props")?),
        disabled: Some(fields.flag("disabled")?),
        overwrite: Some(fields.flag("overwrite")?),
        label: fields.text("label"),
        static_sharding: Some(fields.flag("staticSharding")?),
        ..JobSettings::default()
    };
    let configuration =
        JobConfiguration::check(job.clone(), &settings, Origin::Registry).map_err(WireError::Settings)?;
    Ok(JobConfiguration { extra: extra_block(text), ..configuration })
}

/// The text of a node `instances/{id}`.
pub fn instance_yaml(instance: &InstanceId) -> String {
    let mut out = emit::Document::default();
    out.text("jobInstanceId", instance.as_str());
    out.text("serverIp", instance.server_ip());
    out.into_string()
}

/// The lines of `jobExtraConfigurations` as they stand.
fn extra_block(text: &str) -> Option<Box<str>> {
    let mut lines = text.split_inclusive('\n').skip_while(|line| !line.starts_with("jobExtraConfigurations:"));
    let first = lines.next()?;
    let block: String = std::iter::once(first).chain(lines.take_while(|line| line.starts_with([' ', '-']))).collect();
    Some(block.into())
}

struct Fields(serde_yaml_ng::Mapping);

impl Fields {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(scalar)
    }

    fn flag(&self, key: &'static str) -> Result<bool, WireError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            // YAML 1.1, which Java writes, has more words than the reader knows.
            Some(value) => match scalar(value).to_lowercase().as_str() {
                "true" | "yes" | "on" => Ok(true),
                "false" | "no" | "off" => Ok(false),
                _ => Err(WireError::Type { key, value: scalar(value), expected: "true or false" }),
            },
        }
    }

    fn number<N: std::str::FromStr>(&self, key: &'static str, missing: N) -> Result<N, WireError> {
        let Some(value) = self.get(key) else { return Ok(missing) };
        let text = scalar(value);
        text.trim().parse().map_err(|_| WireError::Type {
            key,
            value: text,
            expected: "a whole number that is possible here",
        })
    }

    fn texts(&self, key: &'static str) -> Result<Vec<String>, WireError> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Sequence(values)) => Ok(values.iter().map(scalar).collect()),
            Some(value) => Err(WireError::Type { key, value: scalar(value), expected: "a list" }),
        }
    }

    fn pairs(&self, key: &'static str) -> Result<BTreeMap<String, String>, WireError> {
        match self.get(key) {
            None => Ok(BTreeMap::new()),
            Some(Value::Mapping(map)) => Ok(map.iter().map(|(key, value)| (scalar(key), scalar(value))).collect()),
            Some(value) => Err(WireError::Type { key, value: scalar(value), expected: "a map" }),
        }
    }
}

/// A scalar as the text somebody wrote, as far as it is still known.
fn scalar(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Tagged(tagged) => scalar(&tagged.value),
        Value::Sequence(_) | Value::Mapping(_) => serde_yaml_ng::to_string(value).unwrap_or_default().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests;
