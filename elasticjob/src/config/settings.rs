//! The settings of a job as somebody gives them: each may be missing, none is checked yet.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::masked::Masked;

/// Where the registry center keeps `max-late-begin-seconds`. Java refuses a configuration with a key that it does not know,
/// and carries properties on.
pub(super) const MAX_LATE_BEGIN_PROP: &str = "elasticjob.max-late-begin-seconds";

/// Settings of a job as the attribute or a file gives them.
///
/// What is missing falls back to the next weaker source, and at last to the default that
/// [`JobConfiguration`](super::JobConfiguration) documents.
///
/// `Debug` shows them [`masked`](Self::masked), so that what holds settings can be logged.
#[derive(Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct JobSettings {
    /// When it fires, in the Quartz dialect. A job without it is a one-off job.
    pub cron: Option<String>,
    /// Zone of the schedule: an IANA name, or `GMT+8:00`.
    pub time_zone: Option<String>,
    /// How many items a fire is split into.
    pub sharding_total_count: Option<u32>,
    /// Parameters of the items: `0=Beijing,1=Shanghai`.
    pub sharding_item_parameters: Option<String>,
    /// Parameter of the whole job.
    pub job_parameter: Option<String>,
    /// Whether the registry knows which items run.
    pub monitor_execution: Option<bool>,
    /// Whether items of a crashed run are taken over at once.
    pub failover: Option<bool>,
    /// Whether a fire missed because of an overrunning one is made up for.
    pub misfire: Option<bool>,
    /// How late a fire may begin that nobody began in time, in seconds; negative: until the next one.
    pub max_late_begin_seconds: Option<i32>,
    /// How far the clock may be off, in seconds; negative: not checked. Missing: 60.
    pub max_time_diff_seconds: Option<i32>,
    /// How often the leader looks for wrong assignments, in minutes; below 1: never.
    pub reconcile_interval_minutes: Option<i32>,
    /// Type name of the sharding strategy.
    pub job_sharding_strategy_type: Option<String>,
    /// Type name of the pool that runs items.
    pub job_executor_thread_pool_size_provider_type: Option<String>,
    /// Type name of the error handler.
    pub job_error_handler_type: Option<String>,
    /// Type names of listeners.
    pub job_listener_types: Option<Vec<String>>,
    /// A text for people.
    pub description: Option<String>,
    /// Further properties, of handlers and job kinds.
    pub props: Option<BTreeMap<String, String>>,
    /// Whether the server starts disabled.
    pub disabled: Option<bool>,
    /// Whether these settings replace those in the registry at each start.
    pub overwrite: Option<bool>,
    /// Stored, never used.
    pub label: Option<String>,
    /// Whether items keep their owner when instances and servers come and go.
    pub static_sharding: Option<bool>,
    /// The function of the job, and what the root node names.
    pub elastic_job_class: Option<String>,
    /// The kind of a job that needs no function.
    pub elastic_job_type: Option<String>,
    /// Name of the handle.
    pub job_bootstrap_bean_name: Option<String>,
    /// Name of the registry center, where there are several.
    pub registry_center_ref: Option<String>,
    /// Name of the tracing, where there are several.
    pub tracing_ref: Option<String>,
}

/// What is done with every setting: one that is missing from the list does not compile.
macro_rules! settings {
    ($($field:ident,)*) => {
        impl JobSettings {
            /// Names of all settings, as the fields are called.
            pub const NAMES: &[&str] = &["props", $(stringify!($field)),*];

            /// These settings, and where they are missing, those of `base`. Properties are joined key by key.
            #[must_use]
            pub fn over(self, base: Self) -> Self {
                Self {
                    props: match (base.props, self.props) {
                        (Some(mut base), Some(props)) => {
                            base.extend(props);
                            Some(base)
                        }
                        (base, props) => props.or(base),
                    },
                    $($field: self.$field.or(base.$field)),*
                }
            }

            /// These settings without their secrets: properties of such names, and passwords and the like inside of
            /// texts.
            #[must_use]
            pub fn masked(&self) -> Self {
                Self { props: self.props.masked(), $($field: self.$field.masked()),* }
            }
        }

        impl fmt::Debug for JobSettings {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let shown = self.masked();
                f.debug_struct("JobSettings")
                    .field("props", &shown.props)
                    $(.field(stringify!($field), &shown.$field))*
                    .finish()
            }
        }
    };
}

settings! {
    cron,
    time_zone,
    sharding_total_count,
    sharding_item_parameters,
    job_parameter,
    monitor_execution,
    failover,
    misfire,
    max_late_begin_seconds,
    max_time_diff_seconds,
    reconcile_interval_minutes,
    job_sharding_strategy_type,
    job_executor_thread_pool_size_provider_type,
    job_error_handler_type,
    job_listener_types,
    description,
    disabled,
    overwrite,
    label,
    static_sharding,
    elastic_job_class,
    elastic_job_type,
    job_bootstrap_bean_name,
    registry_center_ref,
    tracing_ref,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn props(pairs: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
        Some(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn the_stronger_source_wins_field_by_field() {
        let base = JobSettings {
            cron: Some("0/5 * * * * ?".into()),
            failover: Some(true),
            props: props(&[("a", "1"), ("b", "2")]),
            ..JobSettings::default()
        };
        let stronger =
            JobSettings { failover: Some(false), props: props(&[("b", "3"), ("c", "4")]), ..JobSettings::default() };
        let both = stronger.over(base);
        assert_eq!(both.cron.as_deref(), Some("0/5 * * * * ?"));
        assert_eq!(both.failover, Some(false));
        assert_eq!(both.props, props(&[("a", "1"), ("b", "3"), ("c", "4")]));
    }

    #[test]
    fn secrets_are_masked_by_the_names_of_properties_and_inside_of_all_texts() {
        let settings = JobSettings {
            sharding_total_count: Some(2),
            sharding_item_parameters: Some("0=http://sa:hunter2@a,1=http://b".into()),
            job_parameter: Some("token=hunter2&all=1".into()),
            job_listener_types: Some(vec!["tell https://h?page=1&token=hunter2".into()]),
            description: Some("run with --password=hunter2".into()),
            props: props(&[
                ("email.password", "hunter2"),
                ("email.username", "reports"),
                ("http.data", "hunter2"),
                ("http.uri", "http://sa:hunter2@h/x"),
                ("script.command.line", "run.sh --password=hunter2 --full"),
                ("wechat.webhook", "https://h/hunter2"),
            ]),
            ..JobSettings::default()
        };
        let masked = JobSettings {
            sharding_total_count: Some(2),
            sharding_item_parameters: Some("0=http://***@a,1=http://b".into()),
            job_parameter: Some("token=***&all=1".into()),
            job_listener_types: Some(vec!["tell https://h?page=1&token=***".into()]),
            description: Some("run with --password=***".into()),
            props: props(&[
                ("email.password", "***"),
                ("email.username", "reports"),
                ("http.data", "***"),
                ("http.uri", "http://***@h/x"),
                ("script.command.line", "run.sh --password=*** --full"),
                ("wechat.webhook", "***"),
            ]),
            ..JobSettings::default()
        };
        assert_eq!(settings.masked(), masked);
        let shown = format!("{settings:?} {settings:#?}");
        assert!(shown.contains("reports") && !shown.contains("hunter2"), "{shown}");
    }
}
