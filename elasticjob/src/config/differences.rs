//! What differs between the configuration of the program and that of the registry.

use std::collections::BTreeSet;

use super::bound::is_of_program;
use super::job::JobConfiguration;
use super::time_diff;
use crate::secret::mask_inside;

impl JobConfiguration {
    /// The settings in which this configuration differs from that of the registry, as `setting: 'this' here, 'that' in
    /// the registry`, with secrets in the values masked; of properties without the values. What never takes part is left out:
    /// `overwrite`, which is about the two, and what is only carried.
    pub fn differences(&self, registry: &Self) -> Vec<String> {
        let (here, there) = (self.texts(), registry.texts());
        let texts = here.into_iter().zip(there).filter(|((_, here), (_, there))| here != there).map(
            |((setting, here), (_, there))| {
                format!("{setting}: '{}' here, '{}' in the registry", mask_inside(&here), mask_inside(&there))
            },
        );
        // A secret is not expected there, nor what only the program can allow.
        let here = self.props.keys().filter(|key| !is_of_program(key) || registry.props.contains_key(*key));
        let keys: BTreeSet<&str> = here.chain(registry.props.keys()).map(AsRef::as_ref).collect();
        let props = keys.into_iter().filter_map(|key| {
            let difference = match (self.props.get(key), registry.props.get(key)) {
                (Some(here), Some(there)) if here != there => "another value here than in the registry",
                (Some(_), None) => "only here",
                (None, Some(_)) => "only in the registry",
                _ => return None,
            };
            Some(format!("props.{key}: {difference}"))
        });
        texts.chain(props).collect()
    }

    pub(crate) fn texts(&self) -> [(&'static str, String); 19] {
        let or_none = |value: &Option<Box<str>>| value.as_deref().unwrap_or_default().to_owned();
        let cron = self.schedule.as_ref().map(|schedule| schedule.cron().to_string()).unwrap_or_default();
        [
            ("cron", cron),
            ("time-zone", or_none(&self.time_zone)),
            ("sharding-total-count", self.total.to_string()),
            ("sharding-item-parameters", self.items.to_string()),
            ("job-parameter", self.parameter.to_string()),
            ("monitor-execution", self.monitor_execution.to_string()),
            ("failover", self.failover.to_string()),
            ("misfire", self.misfire.to_string()),
            ("max-late-begin-seconds", self.max_late_begin_seconds.to_string()),
            ("max-time-diff-seconds", time_diff::text(self.max_time_diff_seconds)),
            ("reconcile-interval-minutes", self.reconcile_interval_minutes.to_string()),
            ("job-sharding-strategy-type", self.sharding_strategy_type().to_owned()),
            ("job-executor-thread-pool-size-provider-type", or_none(&self.thread_pool)),
            ("job-error-handler-type", or_none(&self.error_handler)),
            ("job-listener-types", self.listeners.join(",")),
            ("description", self.description.to_string()),
            ("disabled", self.disabled.to_string()),
            ("label", or_none(&self.label)),
            ("static-sharding", self.static_sharding.to_string()),
        ]
    }
}
