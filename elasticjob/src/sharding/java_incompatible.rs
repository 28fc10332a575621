//! Values that Java instances of the same job cannot use.

use std::fmt;

use super::ShardingStrategies;
use crate::config::JobConfiguration;

/// A value that only Rust instances understand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignToJava {
    /// The setting in kebab-case.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// The effect of the value on a Java instance.
    pub consequence: &'static str,
}

impl JobConfiguration {
    /// The values that Java instances of the job, if there are any, refuse or misunderstand.
    pub fn foreign_to_java(&self, strategies: &ShardingStrategies) -> Vec<ForeignToJava> {
        let zone = self.time_zone().filter(|zone| !zone.starts_with("GMT")).map(|zone| ForeignToJava {
            setting: "time-zone",
            value: zone.to_owned(),
            consequence: "they refuse it at start and when the schedule changes; both know the form GMT+8:00",
        });
        let strategy = Some(self.sharding_strategy_type()).filter(|name| strategies.is_own(name));
        let strategy = strategy.map(|name| ForeignToJava {
            setting: "job-sharding-strategy-type",
            value: name.to_owned(),
            consequence: "they do not have it and assign by AVG_ALLOCATION when one of them leads",
        });
        zone.into_iter().chain(strategy).collect()
    }
}

impl fmt::Display for ForeignToJava {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}' ({})", self.setting, self.value, self.consequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_of_java_and_built_in_strategies_are_understood() {
        let strategies = ShardingStrategies::built_in();
        let builder = || JobConfiguration::builder("job", 1).job_sharding_strategy_type("ODEVITY");
        for zone in ["GMT", "GMT+8:00", ""] {
            assert_eq!(builder().time_zone(zone).build().unwrap().foreign_to_java(&strategies), [], "{zone}");
        }
        for zone in ["Asia/Shanghai", "UTC"] {
            let foreign = builder().time_zone(zone).build().unwrap().foreign_to_java(&strategies);
            assert_eq!(foreign.len(), 1, "{zone}");
            assert!(foreign[0].to_string().starts_with(&format!("time-zone '{zone}' (they refuse it")));
        }
    }
}
