//! The plan: which jobs run, with which function and which settings. Code and settings meet here, and everything that
//! does not fit together is found before any registry center is touched.

mod arguments;
mod configuration;
mod drafts;
mod error;
mod linked;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use elasticjob::api::{Beans, ItemHandler, JobDescriptor};
use elasticjob::config::JobConfiguration;
use elasticjob::spi::Catalog;

pub use error::PlanError;
pub(crate) use linked::Linked;
use linked::place;

use self::drafts::Draft;
use crate::settings::{Doubt, Settings};

/// The jobs to start.
pub(crate) struct Plan {
    pub jobs: Vec<PlannedJob>,
}

/// A job that fits together.
pub(crate) struct PlannedJob {
    pub configuration: JobConfiguration,
    pub code: JobCode,
    /// The name under which its handle is found.
    pub bean_name: String,
    /// The registry center it belongs to, `None` for the one of the settings.
    pub registry_center: Option<String>,
}

impl PlannedJob {
    pub fn is_one_off(&self) -> bool {
        self.configuration.schedule().is_none()
    }
}

/// What runs the items of a job.
#[derive(Clone, Copy)]
pub(crate) enum JobCode {
    Function(&'static JobDescriptor),
    /// The type that its settings name.
    Type,
}

/// What the application has beside the settings, and what of the settings is not known.
pub(crate) struct Surroundings<'a> {
    /// Names of registry centers given to the builder.
    pub registry_centers: &'a BTreeSet<String>,
    /// Names of provided values.
    pub provided: &'a BTreeSet<String>,
    /// Provided values.
    pub beans: &'a Beans,
    /// What settings can name, `None` while that is not known.
    pub catalog: Option<&'a Catalog>,
    /// What only follows from settings that cannot be read is not told.
    pub doubt: &'a Doubt,
}

impl Plan {
    /// Puts functions and settings together.
    ///
    /// # Errors
    /// Everything that does not fit.
    pub fn make(
        linked: &Linked<'static>,
        settings: &Settings,
        around: &Surroundings<'_>,
    ) -> Result<Self, Vec<PlanError>> {
        let mut errors = linked.duplicates();
        let drafts = drafts::of(linked, settings, around, &mut errors);
        let mut jobs = Vec::new();
        for draft in &drafts {
            let (configuration, wrong) = configuration::configure(draft, around);
            errors.extend(wrong);
            errors.extend(no_registry_center(draft, around));
            if let Some((configuration, code)) = configuration.zip(draft.code) {
                let (bean_name, registry_center) = (draft.bean_name(), draft.registry_center().map(str::to_owned));
                jobs.push(PlannedJob { configuration, code, bean_name, registry_center });
            }
        }
        errors.extend(arguments::missing(&drafts, around));
        errors.extend(duplicate_beans(&drafts, around));
        if errors.is_empty() { Ok(Self { jobs }) } else { Err(errors) }
    }
}

/// The arguments of a job function, found.
///
/// # Errors
/// Everything that the application does not provide.
pub(crate) fn bind(job: &str, function: &JobDescriptor, beans: &Beans) -> Result<ItemHandler, Vec<PlanError>> {
    (function.bind)(beans).map_err(|missing| {
        let named = |missing| PlanError::MissingBean {
            job: job.to_owned(),
            place: place(function),
            missing: Box::new(missing),
        };
        missing.into_iter().map(named).collect()
    })
}

fn no_registry_center(draft: &Draft<'_>, around: &Surroundings<'_>) -> Option<PlanError> {
    let center = draft.registry_center().filter(|center| !around.registry_centers.contains(*center))?;
    let known: Vec<&str> = around.registry_centers.iter().map(String::as_str).collect();
    Some(PlanError::NoRegistryCenter {
        job: draft.title.clone(),
        place: draft.origin("registry-center").to_string(),
        center: center.to_owned(),
        known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
    })
}

fn duplicate_beans(drafts: &[Draft<'_>], around: &Surroundings<'_>) -> Vec<PlanError> {
    let mut provided: BTreeSet<&str> = around.provided.iter().map(String::as_str).collect();
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    let mut errors = Vec::new();
    for draft in drafts {
        let (bean, second) = (draft.bean_name(), format!("job '{}'", draft.title));
        if provided.remove(bean.as_str()) {
            let first = "a provided value".to_owned();
            errors.push(PlanError::DuplicateBean { bean: bean.clone(), first, second: second.clone() });
        }
        // Two jobs of one name are told as such.
        if let Some(first) = owners.insert(bean.clone(), &draft.title).filter(|first| *first != draft.title) {
            errors.push(PlanError::DuplicateBean { bean, first: format!("job '{first}'"), second });
        }
    }
    errors
}
