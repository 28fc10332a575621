//! Makes the configuration of a job from its settings.

use std::collections::BTreeSet;

use elasticjob::config::{Invalid, JobConfiguration, JobSettings};

use super::drafts::Draft;
use super::{JobCode, PlanError, Surroundings};
use crate::settings::JobEntry;

/// The settings of the entry over the settings of the attribute.
pub(super) fn over(attribute: JobSettings, entry: Option<&JobEntry>) -> JobSettings {
    match entry {
        Some(entry) => entry.settings.clone().over(attribute),
        None => attribute,
    }
}

/// The configuration, if it is valid and this program can do all of it; and the problems.
pub(super) fn configure(draft: &Draft<'_>, around: &Surroundings<'_>) -> (Option<JobConfiguration>, Vec<PlanError>) {
    let checked = JobConfiguration::from_settings(draft.name.clone(), &draft.settings);
    // The types that settings name are checked even when other settings are wrong.
    let looked_at = checked.clone().ok().or_else(|| with_names_alone(draft));
    let unfit = looked_at.iter().flat_map(|configuration| problems(draft, configuration, around));
    let wrong: Vec<Invalid> = checked.as_ref().err().cloned().into_iter().flatten().chain(unfit).collect();
    let configuration = checked.ok().filter(|_| wrong.is_empty());
    let told = wrong.into_iter().filter(|wrong| !is_consequence(draft, wrong, around));
    let errors = told.map(|wrong| PlanError::Invalid {
        origin: draft.origin(&wrong.setting),
        job: draft.title.clone(),
        reason: wrong.to_string(),
    });
    (configuration, errors.collect())
}

/// The parts of a configuration that this program cannot do.
fn problems(draft: &Draft<'_>, configuration: &JobConfiguration, around: &Surroundings<'_>) -> Vec<Invalid> {
    let catalog = around.catalog;
    let of_code = match (&draft.code, catalog, configuration.job_type()) {
        (Some(JobCode::Function(function)), ..) => function.kind.check().problems(configuration),
        (Some(JobCode::Given(handler)), ..) => handler.problems_of_program(configuration),
        (Some(JobCode::Type), Some(catalog), Some(kind)) => {
            let job_type = catalog.job_types().get(kind);
            job_type.map(|job_type| job_type.handler().problems_of_program(configuration)).unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let of_size = configuration.problems_of_size();
    let Some(catalog) = catalog else { return [of_code, of_size].concat() };
    let at_start = catalog.error_handlers().problems_at_start(configuration);
    [catalog.problems(configuration), of_code, at_start, of_size].concat()
}

/// A configuration with the types and properties of a job, and valid values for everything else.
fn with_names_alone(draft: &Draft<'_>) -> Option<JobConfiguration> {
    let given = &draft.settings;
    let mut seen = BTreeSet::new();
    let mut listeners = given.job_listener_types.clone();
    listeners.iter_mut().for_each(|names| names.retain(|name| seen.insert(name.clone())));
    let mut settings = JobSettings::default();
    settings.sharding_total_count = Some(1);
    settings.job_sharding_strategy_type = given.job_sharding_strategy_type.clone();
    settings.job_executor_thread_pool_size_provider_type = given.job_executor_thread_pool_size_provider_type.clone();
    settings.job_error_handler_type = given.job_error_handler_type.clone();
    settings.job_listener_types = listeners;
    settings.props = given.props.clone();
    settings.elastic_job_type = given.elastic_job_type.clone();
    JobConfiguration::from_settings(draft.name.clone(), &settings).ok()
}

/// Whether the problem only follows from another one: a setting seems to be missing because its value cannot be read,
/// or because it may be given elsewhere.
fn is_consequence(draft: &Draft<'_>, wrong: &Invalid, around: &Surroundings<'_>) -> bool {
    let given = &draft.settings;
    let is_missing = match wrong.setting.strip_prefix("props.") {
        Some(key) => given.props.as_ref().is_none_or(|props| !props.contains_key(key)),
        None => wrong.setting == "sharding-total-count" && given.sharding_total_count.is_none(),
    };
    is_missing && (draft.is_incomplete || around.doubt.is_about(&draft.key(&wrong.setting)))
}
