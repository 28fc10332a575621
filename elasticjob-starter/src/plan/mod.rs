//! The plan: which jobs run, with which function and which settings. Code and settings meet here, and everything that
//! does not fit together is found before any registry center is touched.

mod configuration;
mod error;
mod linked;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use elasticjob::api::{Beans, ItemHandler, JobDescriptor, JobKind};
use elasticjob::config::{JobConfiguration, JobSettings};
use elasticjob::ident::JobName;
use elasticjob::spi::Catalog;

pub use error::PlanError;
pub(crate) use linked::Linked;
use linked::{NotOne, place};

use crate::settings::{JobEntry, Origin, Settings};

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

/// A job before its settings are checked.
struct Draft<'a> {
    name: JobName,
    code: JobCode,
    settings: JobSettings,
    entry: Option<&'a JobEntry>,
}

impl Draft<'_> {
    /// Where a setting stands: in a source of settings, else in the attribute.
    fn origin(&self, setting: &str) -> Origin {
        // Properties come from one place; where there are none, it is what needs them that makes one necessary.
        let places = match setting.starts_with("props.") {
            true => &["props", "job-error-handler-type", "elastic-job-type"][..],
            false => &[setting],
        };
        let given = self.entry.and_then(|entry| places.iter().find_map(|place| entry.origins.get(place)));
        match (given, self.code, self.entry) {
            (Some(origin), ..) => origin.clone(),
            (None, JobCode::Function(function), _) => Origin::place(place(function)),
            (None, JobCode::Type, entry) => {
                entry.map_or_else(|| Origin::place("settings"), |entry| entry.origin.clone())
            }
        }
    }
}

/// What the application has beside the settings.
pub(crate) struct Surroundings<'a> {
    /// Names of registry centers given to the builder.
    pub registry_centers: &'a BTreeSet<String>,
    /// Names of provided values.
    pub provided: &'a BTreeSet<String>,
    /// What settings can name, `None` while that is not known.
    pub catalog: Option<&'a Catalog>,
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
        let drafts = drafts(linked, settings, around.catalog, &mut errors);
        let mut jobs = Vec::new();
        for draft in drafts {
            match configuration::configure(&draft, around.catalog) {
                Ok(configuration) => {
                    jobs.push(planned(draft, configuration, around, &mut errors));
                }
                Err(wrong) => errors.extend(wrong),
            }
        }
        duplicate_beans(&jobs, around, &mut errors);
        if errors.is_empty() { Ok(Self { jobs }) } else { Err(errors) }
    }
}

/// The arguments of a job function, found.
///
/// # Errors
/// Everything that the application does not provide.
pub(crate) fn bind(job: &PlannedJob, function: &JobDescriptor, beans: &Beans) -> Result<ItemHandler, Vec<PlanError>> {
    (function.bind)(beans).map_err(|missing| {
        let named = |missing| PlanError::MissingBean {
            job: job.configuration.job_name().to_string(),
            place: place(function),
            missing: Box::new(missing),
        };
        missing.into_iter().map(named).collect()
    })
}

fn drafts<'a>(
    linked: &Linked<'static>,
    settings: &'a Settings,
    catalog: Option<&Catalog>,
    errors: &mut Vec<PlanError>,
) -> Vec<Draft<'a>> {
    let mut drafts = Vec::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for entry in &settings.jobs {
        match code_of(linked, catalog, entry) {
            Ok(code) => {
                if let JobCode::Function(function) = code {
                    used.insert(function.function);
                }
                draft(code, &entry.name, Some(entry), &mut drafts, errors);
            }
            Err(error) => errors.push(error),
        }
    }
    for function in linked.iter() {
        if settings.jobs.iter().any(|entry| entry.name == function.name) {
            continue;
        }
        if (function.settings)().sharding_total_count.is_some() {
            draft(JobCode::Function(function), function.name, None, &mut drafts, errors);
        } else if !used.contains(function.function) {
            // A function that entries refer to and that has no count itself is only their code.
            errors.push(PlanError::NotConfigured { job: function.name.to_owned(), place: place(function) });
        }
    }
    drafts
}

fn draft<'a>(
    code: JobCode,
    name: &str,
    entry: Option<&'a JobEntry>,
    drafts: &mut Vec<Draft<'a>>,
    errors: &mut Vec<PlanError>,
) {
    match JobName::new(name) {
        Ok(name) => {
            let attribute = match code {
                JobCode::Function(function) => (function.settings)(),
                JobCode::Type => JobSettings::default(),
            };
            let draft = Draft { name, code, settings: configuration::over(attribute, entry), entry };
            errors.extend(check_kind(&draft).err());
            drafts.push(draft);
        }
        Err(error) => {
            let origin = match (entry, code) {
                (Some(entry), _) => entry.origin.clone(),
                (None, JobCode::Function(function)) => Origin::place(place(function)),
                (None, JobCode::Type) => Origin::place("settings"),
            };
            errors.push(PlanError::InvalidName { origin, reason: error.to_string() });
        }
    }
}

/// Compares the kind that the settings of a job name, if they do, with what its code is.
fn check_kind(draft: &Draft<'_>) -> Result<(), PlanError> {
    let JobCode::Function(function) = draft.code else { return Ok(()) };
    match draft.settings.elastic_job_type.as_deref().and_then(JobKind::named) {
        Some(kind) if kind != function.kind => Err(PlanError::OtherKind {
            origin: draft.origin("elastic-job-type"),
            job: draft.name.to_string(),
            named: kind.type_name(),
            is: function.kind.type_name(),
            place: place(function),
        }),
        _ => Ok(()),
    }
}

/// The code of an entry: the function its class refers to, the type it names, else the function of its name.
fn code_of(linked: &Linked<'static>, catalog: Option<&Catalog>, entry: &JobEntry) -> Result<JobCode, PlanError> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let origin = |setting: &str| entry.origins.get(setting).unwrap_or(&entry.origin).clone();
    let job = entry.name.clone();
    let by_name = linked.named(&entry.name);
    match (given(&entry.settings.elastic_job_class), given(&entry.settings.elastic_job_type)) {
        (Some(_), Some(_)) => Err(PlanError::ClassAndType { origin: origin("elastic-job-type"), job }),
        (Some(class), None) => match (linked.referred(&class), by_name) {
            (Ok(function), _) => Ok(JobCode::Function(function)),
            (Err(NotOne::Several(functions)), _) => {
                let functions = functions.join(", ");
                Err(PlanError::AmbiguousFunction { origin: origin("elastic-job-class"), job, class, functions })
            }
            // The class name that Java instances of the same job have.
            (Err(NotOne::Nothing), Some(function)) => Ok(JobCode::Function(function)),
            (Err(NotOne::Nothing), None) => Err(PlanError::NoCode {
                origin: origin("elastic-job-class"),
                job,
                wanted: format!("'{class}' (elastic-job-class)"),
                linked: linked.listing(&class),
            }),
        },
        (None, Some(kind)) => {
            let origin = origin("elastic-job-type");
            let known = catalog.map(|catalog| catalog.job_types().get(&kind).map(|_| ()));
            match (known, by_name) {
                (_, Some(function)) if JobKind::named(&kind).is_some() => Ok(JobCode::Function(function)),
                (None | Some(Ok(())), None) => Ok(JobCode::Type),
                // The type name that Java instances of the same job have.
                (None | Some(Err(_)), Some(function)) => Ok(JobCode::Function(function)),
                (Some(Ok(())), Some(function)) => {
                    Err(PlanError::TypeAndFunction { origin, job, kind, place: place(function) })
                }
                (Some(Err(unknown)), None) => Err(PlanError::NoSuchType { origin, job, unknown: unknown.to_string() }),
            }
        }
        (None, None) => by_name.map(JobCode::Function).ok_or_else(|| PlanError::NoCode {
            origin: entry.origin.clone(),
            job,
            wanted: format!("'{}'", entry.name),
            linked: linked.listing(&entry.name),
        }),
    }
}

fn planned(
    draft: Draft<'_>,
    configuration: JobConfiguration,
    around: &Surroundings<'_>,
    errors: &mut Vec<PlanError>,
) -> PlannedJob {
    let registry_center = draft.settings.registry_center.clone().filter(|center| !center.is_empty());
    if let Some(center) = registry_center.as_ref().filter(|center| !around.registry_centers.contains(*center))
        && let JobCode::Function(function) = draft.code
    {
        let known: Vec<&str> = around.registry_centers.iter().map(String::as_str).collect();
        errors.push(PlanError::NoRegistryCenter {
            job: draft.name.to_string(),
            place: place(function),
            center: center.clone(),
            known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
        });
    }
    let kind = if configuration.schedule().is_none() { "OneOffJobBootstrap" } else { "ScheduleJobBootstrap" };
    let named = draft.settings.job_bootstrap_bean_name.clone().filter(|name| !name.trim().is_empty());
    let bean_name = named.unwrap_or_else(|| format!("{}{kind}", draft.name));
    PlannedJob { configuration, code: draft.code, bean_name, registry_center }
}

fn duplicate_beans(jobs: &[PlannedJob], around: &Surroundings<'_>, errors: &mut Vec<PlanError>) {
    let provided = around.provided.iter().map(|name| (name.as_str(), "a provided value".to_owned()));
    let mut owners: BTreeMap<&str, String> = provided.collect();
    for job in jobs {
        let owner = format!("job '{}'", job.configuration.job_name());
        if let Some(first) = owners.insert(&job.bean_name, owner.clone()) {
            errors.push(PlanError::DuplicateBean { bean: job.bean_name.clone(), first, second: owner });
        }
    }
}
