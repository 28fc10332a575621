//! Makes the configuration of a job of its settings.

use elasticjob::config::{JobConfiguration, JobSettings};

use super::{Draft, PlanError};
use crate::settings::JobEntry;

/// What the entry sets, over what the attribute sets.
pub(super) fn over(attribute: JobSettings, entry: Option<&JobEntry>) -> JobSettings {
    match entry {
        Some(entry) => entry.settings.clone().over(attribute),
        None => attribute,
    }
}

/// The checked configuration.
pub(super) fn configure(draft: &Draft<'_>) -> Result<JobConfiguration, Vec<PlanError>> {
    let mut settings = draft.settings.clone();
    // An empty schedule is how a setting takes that of the attribute away.
    settings.cron = settings.cron.filter(|cron| !cron.trim().is_empty());
    JobConfiguration::from_settings(draft.name.clone(), &settings).map_err(|wrong| {
        let named = |wrong: elasticjob::config::Invalid| PlanError::Invalid {
            origin: draft.origin(wrong.setting),
            job: draft.name.to_string(),
            reason: wrong.reason,
        };
        wrong.into_iter().map(named).collect()
    })
}
