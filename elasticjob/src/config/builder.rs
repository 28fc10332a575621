//! Builds configurations by hand.

use elasticjob_syntax::each_job_setting;

use super::job::{ConfigError, JobConfiguration};
use super::settings::JobSettings;
use crate::ident::JobName;

impl JobConfiguration {
    /// Starts the configuration of a job with `sharding_total_count` items.
    pub fn builder(name: impl Into<String>, sharding_total_count: u32) -> JobConfigurationBuilder {
        let settings = JobSettings { sharding_total_count: Some(sharding_total_count), ..JobSettings::default() };
        JobConfigurationBuilder { name: name.into(), settings }
    }
}

/// Builds a [`JobConfiguration`] setting by setting. A setting that is not set has its default.
#[derive(Debug, Clone)]
pub struct JobConfigurationBuilder {
    name: String,
    settings: JobSettings,
}

/// One setter for each setting that has a single value.
macro_rules! setters {
    (configuration { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:tt)* }
    )* } program { $($program:tt)* }) => {
        impl JobConfigurationBuilder {
            $( setter!($field $kind, $meaning, concat!("Default: ", $unset, ".")); )*
        }
    };
}

macro_rules! setter {
    ($field:ident Text, $($doc:expr),*) => { setter!($field Name, $($doc),*); };
    ($field:ident Name, $($doc:expr),*) => { setter!(@ $field, impl Into<String>, Into::into, $($doc),*); };
    ($field:ident Flag, $($doc:expr),*) => { setter!(@ $field, bool, std::convert::identity, $($doc),*); };
    ($field:ident Number, $($doc:expr),*) => { setter!(@ $field, i32, std::convert::identity, $($doc),*); };
    // The total count is an argument of `builder`; listeners and properties are added one by one.
    ($field:ident $other:ident, $($doc:expr),*) => {};
    (@ $field:ident, $takes:ty, $into:expr, $meaning:expr, $unset:expr) => {
        #[doc = $meaning]
        #[doc = ""]
        #[doc = $unset]
        #[must_use]
        pub fn $field(mut self, value: $takes) -> Self {
            self.settings.$field = Some($into(value));
            self
        }
    };
}

each_job_setting!(setters);

impl JobConfigurationBuilder {
    /// Adds a listener by type name.
    #[must_use]
    pub fn job_listener_type(mut self, name: impl Into<String>) -> Self {
        self.settings.job_listener_types.get_or_insert_default().push(name.into());
        self
    }

    /// The jobs that it runs after: `JOB`, `JOB when failed`, `JOB when ended`. Replaces those that were set before.
    #[must_use]
    pub fn depends_on(mut self, jobs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.depends_on = Some(jobs.into_iter().map(Into::into).collect());
        self
    }

    /// Sets a property.
    #[must_use]
    pub fn prop(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.props.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Checks all settings.
    ///
    /// # Errors
    /// [`ConfigError`] with all problems.
    pub fn build(self) -> Result<JobConfiguration, ConfigError> {
        let name = JobName::new(self.name)?;
        JobConfiguration::from_settings(name.clone(), &self.settings)
            .map_err(|problems| ConfigError::Settings { job: name, problems })
    }
}
