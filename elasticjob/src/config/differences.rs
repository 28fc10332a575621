//! The differences between two configurations: that of the program and that of the registry, or the one before a change and
//! the one after it.

use std::collections::BTreeSet;

use super::bound::is_of_program;
use super::job::JobConfiguration;
use super::settings::JobSettings;
use crate::secret::mask_inside;

/// Settings that are not compared: they only concern how the program and the registry center relate, or are not in the
/// node of the configuration.
const NOT_COMPARED: [&str; 3] = ["overwrite", "elastic-job-class", "elastic-job-type"];

impl JobConfiguration {
    /// The settings in which this configuration differs from the one of the registry, as
    /// `setting: 'this' here, 'that' in the registry`. Secrets in the values are masked; properties are listed without
    /// values. Left out are `overwrite`, which only says which of the two configurations wins, and blocks that are only
    /// carried along.
    pub fn differences(&self, registry: &Self) -> Vec<String> {
        let text = |here: &str, there: &str| format!("'{here}' here, '{there}' in the registry");
        // The registry should not have secrets and permissions of the program, so they are no difference.
        let is_compared = |key: &str| !is_of_program(key) || registry.props.contains_key(key);
        let names = ["another value here than in the registry", "only here", "only in the registry"];
        self.compare(registry, text, is_compared, names)
    }

    /// The settings that another configuration changes, as `setting: 'before' -> 'after'`. Secrets in the values are masked;
    /// properties are listed without values.
    pub fn changes(&self, after: &Self) -> Vec<String> {
        let text = |before: &str, after: &str| format!("'{before}' -> '{after}'");
        self.compare(after, text, |_| true, ["another value", "removed", "added"])
    }

    /// The settings in which two configurations differ, each with a text of both values; then the properties of which
    /// `is_compared` holds, each with one of three names: for another value, for one that only this configuration has, and
    /// for one that only the other one has.
    fn compare(
        &self,
        other: &Self,
        text: impl Fn(&str, &str) -> String,
        is_compared: impl Fn(&str) -> bool,
        [another, only_here, only_there]: [&str; 3],
    ) -> Vec<String> {
        let both = self.texts().into_iter().zip(other.texts()).filter(|((_, here), (_, there))| here != there);
        let texts = both.map(|((setting, here), (_, there))| {
            format!("{setting}: {}", text(&mask_inside(&here), &mask_inside(&there)))
        });
        let keys: BTreeSet<&str> = self.props.keys().chain(other.props.keys()).map(AsRef::as_ref).collect();
        let props = keys.into_iter().filter(|key| is_compared(key)).filter_map(|key| {
            let difference = match (self.props.get(key), other.props.get(key)) {
                (Some(here), Some(there)) if here != there => another,
                (Some(_), None) => only_here,
                (None, Some(_)) => only_there,
                _ => return None,
            };
            Some(format!("props.{key}: {difference}"))
        });
        texts.chain(props).collect()
    }

    /// The settings that are compared, as texts; properties are compared one by one.
    pub(crate) fn texts(&self) -> Vec<(&'static str, String)> {
        let strategy = Some(self.sharding_strategy_type().to_owned());
        let mut texts = JobSettings { job_sharding_strategy_type: strategy, ..self.settings() }.texts();
        texts.retain(|(setting, _)| !NOT_COMPARED.contains(setting));
        for (_, text) in texts.iter_mut().filter(|(setting, _)| *setting == "max-time-diff-seconds") {
            *text = self.max_time_diff_seconds.text();
        }
        texts
    }
}
