//! Makes the configuration of a job of its settings.

use elasticjob::config::{Invalid, JobConfiguration, JobSettings, UnsupportedSetting, unsupported};
use elasticjob::engine::KnownListeners;

use super::{Draft, PlanError};
use crate::settings::JobEntry;

/// What the entry sets, over what the attribute sets.
pub(super) fn over(attribute: JobSettings, entry: Option<&JobEntry>) -> JobSettings {
    match entry {
        Some(entry) => entry.settings.clone().over(attribute),
        None => attribute,
    }
}

/// The checked configuration, of which this version of the library and this program can do everything.
pub(super) fn configure(
    draft: &Draft<'_>,
    listeners: Option<&KnownListeners>,
) -> Result<JobConfiguration, Vec<PlanError>> {
    let invalid = |setting: &str, reason: String| PlanError::Invalid {
        origin: draft.origin(setting),
        job: draft.name.to_string(),
        reason,
    };
    let checked = JobConfiguration::from_settings(draft.name.clone(), &draft.settings);
    let configuration = checked.map_err(|wrong| {
        let named = |wrong: Invalid| invalid(wrong.setting, wrong.to_string());
        wrong.into_iter().map(named).collect::<Vec<_>>()
    })?;
    let unknown = listeners.and_then(|listeners| listeners.plan(&configuration).err());
    let refused: Vec<PlanError> = unsupported(&configuration)
        .into_iter()
        .map(|refused: UnsupportedSetting| invalid(refused.setting, refused.to_string()))
        .chain(unknown.map(|unknown| invalid("job-listener-types", unknown)))
        .collect();
    if refused.is_empty() { Ok(configuration) } else { Err(refused) }
}
