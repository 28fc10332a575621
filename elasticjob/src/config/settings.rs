//! The settings of a job as a user gives them: each may be missing, and none is checked yet.

use std::collections::BTreeMap;
use std::fmt;

use elasticjob_syntax::each_job_setting;
use serde::{Deserialize, Serialize};

use super::redact::Masked;

/// The property in which the registry center keeps `max-late-begin-seconds`. Java refuses a configuration with an
/// unknown key, but keeps unknown properties.
pub(super) const MAX_LATE_BEGIN_PROP: &str = "elasticjob.max-late-begin-seconds";

/// The property in which the registry center keeps `depends-on`.
pub(super) const DEPENDS_ON_PROP: &str = "elasticjob.depends-on";

/// The table of settings has their names, kinds and meaning.
macro_rules! job_settings {
    ($($group:ident { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:tt)* }
    )* })*) => {
        /// Settings of a job as the attribute or a file gives them.
        ///
        /// A missing setting comes from the next weaker source, and at last from the default that
        /// [`JobConfiguration`](super::JobConfiguration) documents.
        ///
        /// `Debug` shows them [`masked`](Self::masked), so that values that contain settings can be logged.
        ///
        /// Later releases have more settings: begin with [`default`](Self::default), which has none, and set fields.
        ///
        /// ```
        /// use elasticjob::config::JobSettings;
        ///
        /// let mut settings = JobSettings::default();
        /// settings.cron = Some("0 0 3 * * ?".to_owned());
        /// settings.sharding_total_count = Some(2);
        /// ```
        #[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
        #[non_exhaustive]
        pub struct JobSettings {
            $($(
                #[doc = $meaning]
                pub $field: Option<type_of!($kind)>,
            )*)*
        }

        impl JobSettings {
            /// These settings; missing ones come from `base`. Properties are joined key by key.
            #[must_use]
            pub fn over(self, base: Self) -> Self {
                Self { $($($field: self.$field.over(base.$field),)*)* }
            }

            /// These settings without their secrets: without the values of properties whose names mean a secret, and
            /// without passwords and the like inside texts.
            #[must_use]
            pub fn masked(&self) -> Self {
                Self { $($($field: self.$field.masked(),)*)* }
            }

            /// The key of each setting with its text. Properties are left out, as they have keys of their own.
            pub(super) fn texts(&self) -> Vec<(&'static str, String)> {
                let all = [$($(($key, self.$field.text()),)*)*];
                all.into_iter().filter_map(|(key, text)| Some((key, text?))).collect()
            }
        }

        impl fmt::Debug for JobSettings {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let shown = self.masked();
                f.debug_struct("JobSettings")$($(.field(stringify!($field), &shown.$field))*)*.finish()
            }
        }
    };
}

/// The type of a setting.
macro_rules! type_of {
    (Text) => { String };
    (Name) => { String };
    (Flag) => { bool };
    (Count) => { u32 };
    (Number) => { i32 };
    (Names) => { Vec<String> };
    (Props) => { BTreeMap<String, String> };
}

each_job_setting!(job_settings);

/// A setting that may be missing.
trait Setting {
    /// This setting of a stronger source over the setting of a weaker one.
    fn over(self, base: Self) -> Self;

    /// Its value as one text, empty where it is missing. `None` where it has no single text.
    fn text(&self) -> Option<String>;
}

macro_rules! single {
    ($($type:ty),*) => {
        $(impl Setting for Option<$type> {
            fn over(self, base: Self) -> Self {
                self.or(base)
            }

            fn text(&self) -> Option<String> {
                Some(self.as_ref().map(ToString::to_string).unwrap_or_default())
            }
        })*
    };
}

single!(String, bool, u32, i32);

impl Setting for Option<Vec<String>> {
    fn over(self, base: Self) -> Self {
        self.or(base)
    }

    fn text(&self) -> Option<String> {
        Some(self.as_deref().unwrap_or_default().join(","))
    }
}

impl Setting for Option<BTreeMap<String, String>> {
    fn over(self, base: Self) -> Self {
        match (base, self) {
            (Some(mut base), Some(props)) => {
                base.extend(props);
                Some(base)
            }
            (base, props) => props.or(base),
        }
    }

    fn text(&self) -> Option<String> {
        None
    }
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
