//! Makes the configuration of a job of its settings.

use elasticjob::config::{Invalid, JobConfiguration, JobSettings};

use elasticjob::spi::Catalog;

use super::{Draft, JobCode, PlanError};
use crate::settings::JobEntry;

/// What the entry sets, over what the attribute sets.
pub(super) fn over(attribute: JobSettings, entry: Option<&JobEntry>) -> JobSettings {
    match entry {
        Some(entry) => entry.settings.clone().over(attribute),
        None => attribute,
    }
}

/// The checked configuration, of which this program can do everything.
pub(super) fn configure(draft: &Draft<'_>, catalog: Option<&Catalog>) -> Result<JobConfiguration, Vec<PlanError>> {
    let invalid = |setting: &str, reason: String| PlanError::Invalid {
        origin: draft.origin(setting),
        job: draft.name.to_string(),
        reason,
    };
    let named = |wrong: Invalid| invalid(&wrong.setting, wrong.to_string());
    let checked = JobConfiguration::from_settings(draft.name.clone(), &draft.settings);
    let configuration = checked.map_err(|wrong| wrong.into_iter().map(named).collect::<Vec<_>>())?;
    let unknown = catalog.map(|catalog| catalog.problems(&configuration)).into_iter().flatten().map(named);
    let of_code = match (draft.code, catalog, configuration.job_type()) {
        (JobCode::Function(function), ..) => function.kind.check().problems(&configuration),
        (JobCode::Type, Some(catalog), Some(kind)) => {
            let job_type = catalog.job_types().get(kind);
            job_type.map(|job_type| job_type.handler().problems_of_program(&configuration)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let of_code = of_code.into_iter().map(named);
    let refused: Vec<PlanError> = unknown.chain(of_code).collect();
    if refused.is_empty() { Ok(configuration) } else { Err(refused) }
}
