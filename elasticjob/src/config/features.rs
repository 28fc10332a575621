//! Settings whose features are not there yet: refused by name, never ignored.

use std::fmt;

use super::job::JobConfiguration;

/// A setting with a value that nothing acts on yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedSetting {
    /// The setting in kebab-case.
    pub setting: &'static str,
    /// Its value.
    pub value: String,
    /// What is possible.
    pub possible: &'static str,
}

impl fmt::Display for UnsupportedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: '{}' is not supported by this version yet; possible: {}",
            self.setting, self.value, self.possible
        )
    }
}

/// What a configuration asks for that this version cannot do.
pub fn unsupported(configuration: &JobConfiguration) -> Vec<UnsupportedSetting> {
    let mut refused = Vec::new();
    let mut refuse = |setting, value: String, possible| refused.push(UnsupportedSetting { setting, value, possible });
    if let Some(handler) = configuration.error_handler.as_deref().filter(|handler| *handler != "LOG") {
        refuse("job-error-handler-type", handler.into(), "LOG");
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_acts_on_is_refused_by_name() {
        let builder = || JobConfiguration::builder("job", 1);
        let cases = [("job-error-handler-type", builder().job_error_handler_type("EMAIL"))];
        for (setting, builder) in cases {
            let refused = unsupported(&builder.build().unwrap());
            assert_eq!(refused.iter().map(|refused| refused.setting).collect::<Vec<_>>(), [setting]);
        }
        let plain = builder()
            .misfire(false)
            .failover(true)
            .job_error_handler_type("LOG")
            .job_executor_thread_pool_size_provider_type("SINGLE_THREAD")
            .job_listener_type("a")
            .label("l")
            .static_sharding(true)
            .max_time_diff_seconds(0)
            .reconcile_interval_minutes(1)
            .build();
        assert!(unsupported(&plain.unwrap()).is_empty());
    }
}
