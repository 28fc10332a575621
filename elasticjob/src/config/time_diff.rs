//! `max-time-diff-seconds` in three forms: set by a program, kept in the registry center, in force.
//!
//! Java writes -1 where nothing is set, and ignores every negative value. So in the registry center -1 still means "not
//! set", and stands for the default of this implementation. Another negative value means "switched off".

use super::defaults;

/// The value in the registry center where nothing is set.
const NOT_SET: i32 = -1;
/// The value in the registry center where a program switches the check off.
const OFF: i32 = -2;

/// The value in the registry center.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MaxTimeDiff(i32);

impl MaxTimeDiff {
    /// The value for a setting.
    pub(super) fn of(setting: Option<i32>) -> Self {
        Self(setting.map_or(NOT_SET, |seconds| if seconds < 0 { OFF } else { seconds }))
    }

    /// The value that the registry center has; `None` where its key is missing.
    pub(super) fn read(stored: Option<i32>) -> Self {
        Self(stored.unwrap_or(NOT_SET))
    }

    /// The number in the registry center.
    pub(super) fn stored(self) -> i32 {
        self.0
    }

    /// The setting that the value stands for.
    pub(super) fn setting(self) -> Option<i32> {
        (self.0 != NOT_SET).then_some(self.0)
    }

    /// The limit that is in force; `None` where the check is switched off. The default is far more than well-kept clocks
    /// differ, and harmless where fires are minutes apart.
    pub(super) fn in_force(self) -> Option<u32> {
        u32::try_from(self.setting().unwrap_or(defaults::max_time_diff_seconds())).ok()
    }

    /// The text of the value in a comparison of two configurations.
    pub(super) fn text(self) -> String {
        let shown = self.in_force().map_or_else(|| "off".to_owned(), |seconds| seconds.to_string());
        if self.0 == NOT_SET { format!("{shown} (not set)") } else { shown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{JobConfiguration, JobSettings, wire};
    use crate::ident::JobName;

    /// The stored text of a setting, and the value that is read back from it.
    fn kept(max_time_diff_seconds: Option<i32>) -> (String, Option<u32>) {
        let job = JobName::new("job").unwrap();
        let settings = JobSettings { sharding_total_count: Some(1), max_time_diff_seconds, ..JobSettings::default() };
        let configuration = JobConfiguration::from_settings(job.clone(), &settings).unwrap();
        let yaml = wire::to_yaml(&configuration);
        let read = wire::from_yaml(&job, yaml.as_bytes()).unwrap();
        assert_eq!(read, configuration);
        assert_eq!(read.with_settings(&read.settings()).unwrap(), read, "made again of its settings");
        let line = yaml.lines().find(|line| line.starts_with("maxTimeDiffSeconds")).unwrap();
        (line.to_owned(), read.max_time_diff_seconds())
    }

    #[test]
    fn the_check_is_on_unless_it_is_switched_off_and_java_reads_its_own_default() {
        assert_eq!(kept(None), ("maxTimeDiffSeconds: -1".to_owned(), Some(60)));
        for off in [-1, -2, -7] {
            assert_eq!(kept(Some(off)), ("maxTimeDiffSeconds: -2".to_owned(), None), "{off}");
        }
        for seconds in [0, 1, 3_600] {
            let text = format!("maxTimeDiffSeconds: {seconds}");
            assert_eq!(kept(Some(seconds)), (text, Some(seconds.cast_unsigned())));
        }
    }

    #[test]
    fn a_difference_says_what_counts() {
        assert_eq!([-1, -2, 5].map(|stored| MaxTimeDiff::read(Some(stored)).text()), ["60 (not set)", "off", "5"]);
    }
}
