//! The differences between the configuration of the program and the one of the registry.

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
        let (here, there) = (self.texts(), registry.texts());
        let texts = here.into_iter().zip(there).filter(|((_, here), (_, there))| here != there).map(
            |((setting, here), (_, there))| {
                format!("{setting}: '{}' here, '{}' in the registry", mask_inside(&here), mask_inside(&there))
            },
        );
        // The registry should not have secrets and permissions of the program, so they are no difference.
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
