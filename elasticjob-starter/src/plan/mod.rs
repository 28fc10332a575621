//! The plan: the jobs that run, each with its function and its settings. It brings code and settings together, and
//! finds everything that does not fit before any connection to a registry center.

mod arguments;
mod configuration;
mod drafts;
mod error;
mod linked;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use elasticjob::api::{Beans, ItemHandler, JobDescriptor};
use elasticjob::config::{Dependency, DependencyItems, JobConfiguration};
use elasticjob::spi::Catalog;

pub use error::PlanError;
pub(crate) use linked::Linked;
use linked::place;

use self::drafts::Draft;
use crate::settings::{DEFAULT, Doubt, Key, Settings, nearest};

/// The jobs to start.
pub(crate) struct Plan {
    pub jobs: Vec<PlannedJob>,
}

/// A job whose code and settings fit together.
pub(crate) struct PlannedJob {
    pub configuration: JobConfiguration,
    pub code: JobCode,
    /// The name under which its handle is found.
    pub bean_name: String,
    /// The registry center that it belongs to; `None` for the one without a name.
    pub registry_center: Option<String>,
    /// Its tracing; `None` for the one without a name.
    pub tracing: Option<String>,
}

impl PlannedJob {
    pub fn is_one_off(&self) -> bool {
        !self.configuration.fires_by_itself()
    }

    /// The name of its type.
    #[cfg(feature = "opentelemetry")]
    pub fn type_name(&self) -> &str {
        match &self.code {
            JobCode::Function(function) => function.kind.type_name(),
            JobCode::Given(_) | JobCode::Type => self.configuration.job_type().unwrap_or("SIMPLE"),
        }
    }
}

/// The code that runs the items of a job.
#[derive(Clone)]
pub(crate) enum JobCode {
    Function(&'static JobDescriptor),
    /// Code that the application's builder was given.
    Given(ItemHandler),
    /// The type that its settings name.
    Type,
}

/// The parts of the application besides the settings, and the settings that could not be read.
pub(crate) struct Surroundings<'a> {
    /// Names of the registry centers of the settings and of the builder.
    pub registry_centers: &'a BTreeSet<String>,
    /// Names of tracings.
    pub tracings: &'a BTreeSet<String>,
    /// Names of provided values.
    pub provided: &'a BTreeSet<String>,
    /// Provided values.
    pub beans: &'a Beans,
    /// The implementations that settings can name; `None` while they are not known.
    pub catalog: Option<&'a Catalog>,
    /// Settings that cannot be read. A problem that only follows from them is not reported.
    pub doubt: &'a Doubt,
}

impl Plan {
    /// Brings functions and settings together.
    ///
    /// # Errors
    /// Everything that does not fit.
    pub fn make(linked: &Linked<'_>, settings: &Settings, around: &Surroundings<'_>) -> Result<Self, Vec<PlanError>> {
        let mut errors = linked.duplicates();
        let drafts = drafts::of(linked, settings, around, &mut errors);
        let mut jobs = Vec::new();
        for draft in &drafts {
            let (configuration, wrong) = configuration::configure(draft, around);
            errors.extend(wrong);
            errors.extend(unknown_references(draft, around));
            if let Some((configuration, code)) = configuration.zip(draft.code.clone()) {
                let (registry_center, tracing) = (draft.registry_center(), draft.tracing());
                jobs.push(PlannedJob {
                    configuration,
                    code,
                    bean_name: draft.bean_name(),
                    registry_center: registry_center.map(str::to_owned),
                    tracing: tracing.map(str::to_owned),
                });
            }
        }
        errors.extend(unequal_totals(&drafts, &jobs));
        errors.extend(arguments::missing(&drafts, around));
        errors.extend(duplicate_beans(&drafts, around));
        if errors.is_empty() { Ok(Self { jobs }) } else { Err(errors) }
    }
}

/// Jobs whose items follow those of another job of the program item by item, and that have another number of items.
fn unequal_totals(drafts: &[Draft<'_>], jobs: &[PlannedJob]) -> Vec<PlanError> {
    let mut errors = Vec::new();
    for PlannedJob { configuration, registry_center, .. } in jobs {
        let own = configuration.sharding_total_count();
        let Some(draft) = drafts.iter().find(|draft| draft.name == *configuration.job_name()) else { continue };
        let same = configuration.depends_on().iter().filter(|after| after.items == DependencyItems::Same);
        for Dependency { job, .. } in same {
            let is_meant = |other: &&PlannedJob| {
                other.configuration.job_name() == job && other.registry_center == *registry_center
            };
            let total = jobs.iter().find(is_meant).map(|other| other.configuration.sharding_total_count());
            if let Some(total) = total.filter(|total| *total != own) {
                let reason = format!(
                    "depends-on: `items same` needs as many items as job '{job}' has: that has {total} and this one {own}; give \
                     both the same sharding-total-count"
                );
                let origin = draft.origin("depends-on");
                errors.push(PlanError::Invalid { origin, job: draft.title.clone(), reason });
            }
        }
    }
    errors
}

/// Finds the arguments of a job function.
///
/// # Errors
/// All arguments that the application does not provide.
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

/// The names that a job refers to and that do not exist.
fn unknown_references(draft: &Draft<'_>, around: &Surroundings<'_>) -> Vec<PlanError> {
    let centers = around.registry_centers.iter().map(String::as_str);
    let tracings = around.tracings.iter().map(String::as_str);
    let center = unknown_reference(draft, around, draft.registry_center(), &References::REGISTRY_CENTERS, centers);
    let tracing = unknown_reference(draft, around, draft.tracing(), &References::TRACINGS, tracings);
    center.into_iter().chain(tracing).collect()
}

fn unknown_reference<'a>(
    draft: &Draft<'_>,
    around: &Surroundings<'_>,
    name: Option<&str>,
    of: &References,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<PlanError> {
    let name = name?;
    let is_known = known.clone().any(|known| known == name) || around.doubt.is_about(&Key::of([of.section, name]));
    (!is_known).then(|| PlanError::UnknownReference {
        origin: draft.origin(of.setting),
        job: draft.title.clone(),
        setting: of.setting,
        unknown: of.unknown(name, known),
    })
}

/// The kinds of names that jobs refer to.
struct References {
    setting: &'static str,
    section: &'static str,
    what: &'static str,
    /// The other place that can define such a name.
    builder: &'static str,
}

impl References {
    const REGISTRY_CENTERS: Self = Self {
        setting: "registry-center-ref",
        section: "reg-centers",
        what: "registry center",
        builder: ", or give it to the application's builder with `.registry_center(\"...\", ...)`",
    };
    const TRACINGS: Self = Self { setting: "tracing-ref", section: "tracings", what: "tracing", builder: "" };

    fn unknown<'a>(&self, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
        let Self { section, what, builder, .. } = self;
        let all = known.filter(|name| *name != DEFAULT).chain([DEFAULT]);
        let near = nearest(name, all.clone()).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
        let all = Vec::from_iter(all).join(", ");
        format!("there is no {what} '{name}'; {near}set it below `elasticjob.{section}.{name}`{builder}; known: {all}")
    }
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
        // Two jobs with one name are reported as such.
        if let Some(first) = owners.insert(bean.clone(), &draft.title).filter(|first| *first != draft.title) {
            errors.push(PlanError::DuplicateBean { bean, first: format!("job '{first}'"), second });
        }
    }
    errors
}
