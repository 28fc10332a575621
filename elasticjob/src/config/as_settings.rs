//! The settings that a configuration was made of.

use std::collections::BTreeMap;

use elasticjob_syntax::each_job_setting;

use super::dependency::Dependency;
use super::items::ItemParameters;
use super::job::JobConfiguration;
use super::settings::JobSettings;
use super::time_diff::MaxTimeDiff;
use crate::schedule::Schedule;

/// A field of a configuration, which gives its setting back.
trait AsSetting<S> {
    /// The setting that the field was made of.
    fn setting(&self) -> Option<S>;
}

/// The configuration has a field of the same name for each of them.
macro_rules! settings {
    (configuration { $(
        $field:ident = $key:literal: $kind:ident, $meaning:literal, $how:ident $unset:literal, $example:literal
        { $($more:tt)* }
    )* } program { $($program:tt)* }) => {
        impl JobConfiguration {
            /// The settings of this configuration. Blocks that it carries without understanding them are not among
            /// them, nor is what only says how a program handles the job.
            pub fn settings(&self) -> JobSettings {
                JobSettings { $($field: self.$field.setting(),)* ..JobSettings::default() }
            }
        }
    };
}

each_job_setting!(settings);

macro_rules! as_it_is {
    ($($type:ty),*) => {
        $(impl AsSetting<$type> for $type {
            fn setting(&self) -> Option<$type> {
                Some(*self)
            }
        })*
    };
}

as_it_is!(bool, u32, i32);

impl AsSetting<i32> for MaxTimeDiff {
    fn setting(&self) -> Option<i32> {
        Self::setting(*self)
    }
}

impl AsSetting<String> for Box<str> {
    fn setting(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl AsSetting<String> for Option<Box<str>> {
    fn setting(&self) -> Option<String> {
        self.as_deref().map(str::to_owned)
    }
}

impl AsSetting<String> for Option<Schedule> {
    fn setting(&self) -> Option<String> {
        self.as_ref().map(|schedule| schedule.cron().to_string())
    }
}

impl AsSetting<String> for ItemParameters {
    fn setting(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl AsSetting<Vec<String>> for Box<[Dependency]> {
    fn setting(&self) -> Option<Vec<String>> {
        Some(self.iter().map(ToString::to_string).collect())
    }
}

impl AsSetting<Vec<String>> for Vec<Box<str>> {
    fn setting(&self) -> Option<Vec<String>> {
        Some(self.iter().map(ToString::to_string).collect())
    }
}

impl AsSetting<BTreeMap<String, String>> for BTreeMap<Box<str>, Box<str>> {
    fn setting(&self) -> Option<BTreeMap<String, String>> {
        Some(self.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
    }
}
