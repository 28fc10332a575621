//! Builds configurations by hand.

use super::job::{ConfigError, JobConfiguration};
use super::settings::JobSettings;
use crate::ident::JobName;

impl JobConfiguration {
    /// Starts the configuration of a job with so many items.
    pub fn builder(name: impl Into<String>, sharding_total_count: u32) -> JobConfigurationBuilder {
        let settings = JobSettings { sharding_total_count: Some(sharding_total_count), ..JobSettings::default() };
        JobConfigurationBuilder { name: name.into(), settings }
    }
}

/// Builds a [`JobConfiguration`] setting by setting. What is not set has its default.
#[derive(Debug, Clone)]
pub struct JobConfigurationBuilder {
    name: String,
    settings: JobSettings,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $setter:ident: $kind:ident,)*) => {
        $( setters!(@ $(#[$doc])* $setter $kind); )*
    };
    (@ $(#[$doc:meta])* $setter:ident text) => {
        $(#[$doc])*
        #[must_use]
        pub fn $setter(mut self, value: impl Into<String>) -> Self {
            self.settings.$setter = Some(value.into());
            self
        }
    };
    (@ $(#[$doc:meta])* $setter:ident $kind:ident) => {
        $(#[$doc])*
        #[must_use]
        pub fn $setter(mut self, value: $kind) -> Self {
            self.settings.$setter = Some(value);
            self
        }
    };
}

impl JobConfigurationBuilder {
    setters! {
        /// When it fires, in the Quartz dialect: seconds, minutes, hours, day of month, month, day of week, year.
        cron: text,
        /// Zone of the schedule, an IANA name or `GMT+8:00`; default: that of the process. Java peers know only `GMT...`.
        time_zone: text,
        /// Parameters of the items: `0=Beijing,1=Shanghai`.
        sharding_item_parameters: text,
        /// Parameter of the whole job.
        job_parameter: text,
        /// Whether the registry knows which items run; default true. Costs two requests a fire, and gives one live owner
        /// an item and a fencing token.
        monitor_execution: bool,
        /// Whether items of a crashed run are taken over at once; default false.
        failover: bool,
        /// Whether a fire missed because of an overrunning one is made up for; default true.
        misfire: bool,
        /// How late a monitored fire may begin that no instance began in time, in seconds from 1; default -1: until the next
        /// fire is due, or 10 s where `misfire` is off.
        max_late_begin_seconds: i32,
        /// How far the clock of a host may be off from that of the registry center, in seconds; default 60. A job does not
        /// start on a host whose clock is further off, and fires are skipped while it is. A negative value switches the
        /// check off.
        max_time_diff_seconds: i32,
        /// How often the leader looks for wrong assignments, in minutes; default 10, below 1: never.
        reconcile_interval_minutes: i32,
        /// Type name of the sharding strategy; default `AVG_ALLOCATION`. Whether there is such a strategy is found out
        /// at start: that depends on the program.
        job_sharding_strategy_type: text,
        /// Type name of the pool that limits how many items run at a time in one process, for example `CPU`; default none:
        /// all items of an async job start together, and code that blocks has the pool `CPU`.
        job_executor_thread_pool_size_provider_type: text,
        /// Type name of the error handler; default `LOG`.
        job_error_handler_type: text,
        /// A text for people.
        description: text,
        /// Whether the server starts disabled; default false, which keeps what an operator set.
        disabled: bool,
        /// Whether this configuration replaces that of the registry at each start; default false.
        overwrite: bool,
        /// Stored, never used.
        label: text,
        /// Whether items keep their owner when instances and servers come and go, also an owner that is gone; default
        /// false. They are assigned at the first fire, and when the total count or the strategy changes.
        static_sharding: bool,
        /// What the root node names. Set it to the Java class where Java instances of the same job run.
        elastic_job_class: text,
        /// The kind of a job that needs no function.
        elastic_job_type: text,
    }

    /// Adds a listener by type name.
    #[must_use]
    pub fn job_listener_type(mut self, name: impl Into<String>) -> Self {
        self.settings.job_listener_types.get_or_insert_default().push(name.into());
        self
    }

    /// Sets a property.
    #[must_use]
    pub fn prop(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.props.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// [`ConfigError`] with all that is wrong.
    pub fn build(self) -> Result<JobConfiguration, ConfigError> {
        let name = JobName::new(self.name)?;
        JobConfiguration::from_settings(name.clone(), &self.settings)
            .map_err(|problems| ConfigError::Settings { job: name, problems })
    }
}
