//! The jobs that functions and settings name, before their settings are checked.

use std::collections::BTreeSet;

use elasticjob::api::JobKind;
use elasticjob::config::JobSettings;
use elasticjob::ident::JobName;
use elasticjob::spi::Catalog;

use super::linked::{GIVEN, Linked, NotOne, place};
use super::{JobCode, PlanError, Surroundings, configuration};
use crate::settings::{DEFAULT, Doubt, JobEntry, Key, Origin, Settings};

/// A job before its settings are checked.
pub(super) struct Draft<'a> {
    /// Its name as it is written.
    pub title: String,
    /// Its name; a replacement where the written name is not valid.
    pub name: JobName,
    /// `None` where the code is reported as wrong.
    pub code: Option<JobCode>,
    pub settings: JobSettings,
    pub entry: Option<&'a JobEntry>,
    /// Whether a missing setting may be in the attribute of a function that is not known, or is reported already.
    pub is_incomplete: bool,
}

impl Draft<'_> {
    /// The place of a setting: in a source of settings, else in the attribute.
    pub fn origin(&self, setting: &str) -> Origin {
        let given = self.entry.and_then(|entry| match setting.strip_prefix("props.") {
            // For a missing property, the place of the setting that requires it.
            Some(key) => entry.prop_origins.get(key).or_else(|| {
                ["props", "job-error-handler-type", "elastic-job-type"].iter().find_map(|name| entry.origins.get(name))
            }),
            None => entry.origins.get(setting),
        });
        match (given, &self.code, self.entry) {
            (Some(origin), ..) => origin.clone(),
            (None, Some(JobCode::Function(function)), _) => Origin::place(place(function)),
            (None, _, entry) => entry.map_or_else(|| Origin::place("settings"), |entry| entry.origin.clone()),
        }
    }

    /// A setting of the job.
    pub fn key(&self, setting: &str) -> Key {
        let job = Key::of(["jobs", &self.title]);
        match setting.strip_prefix("props.") {
            Some(property) => job.child("props").child(property),
            None => job.child(setting),
        }
    }

    /// Whether it has a schedule, or jobs that it runs after, valid or not.
    pub fn has_schedule(&self) -> bool {
        self.settings.cron.as_ref().is_some_and(|cron| !cron.trim().is_empty())
            || self.settings.depends_on.as_ref().is_some_and(|jobs| !jobs.is_empty())
    }

    /// The name that its settings give its handle.
    pub fn own_bean_name(&self) -> Option<&str> {
        self.settings.job_bootstrap_bean_name.as_deref().filter(|name| !name.trim().is_empty())
    }

    /// The name under which its handle is found.
    pub fn bean_name(&self) -> String {
        self.own_bean_name().map_or_else(|| self.usual_bean_name(self.has_schedule()), str::to_owned)
    }

    /// The name of a handle whose settings give none.
    pub fn usual_bean_name(&self, has_schedule: bool) -> String {
        let kind = if has_schedule { "ScheduleJobBootstrap" } else { "OneOffJobBootstrap" };
        format!("{}{kind}", self.title)
    }

    /// The name of its registry center, `None` for the one without a name.
    pub fn registry_center(&self) -> Option<&str> {
        reference(&self.settings.registry_center_ref)
    }

    /// The name of its tracing, `None` for the one without a name.
    pub fn tracing(&self) -> Option<&str> {
        reference(&self.settings.tracing_ref)
    }
}

fn reference(given: &Option<String>) -> Option<&str> {
    given.as_deref().map(str::trim).filter(|name| !name.is_empty() && *name != DEFAULT)
}

/// The jobs of settings and functions.
pub(super) fn of<'a>(
    linked: &Linked<'_>,
    settings: &'a Settings,
    around: &Surroundings<'_>,
    errors: &mut Vec<PlanError>,
) -> Vec<Draft<'a>> {
    let mut drafts = Vec::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for entry in &settings.jobs {
        let (code, is_incomplete) = match code_of(linked, around, entry) {
            Ok(code) => {
                let is_unknown = code.is_none();
                (code, is_unknown)
            }
            Err(wrong) => {
                used.extend(wrong.meant);
                let is_of_a_type = matches!(wrong.error, PlanError::NoSuchType { .. });
                errors.push(wrong.error);
                (None, !is_of_a_type)
            }
        };
        match &code {
            Some(JobCode::Function(function)) => drop(used.insert(function.function)),
            Some(JobCode::Given(_)) => {
                let named = entry.settings.elastic_job_class.as_deref().or(entry.settings.elastic_job_type.as_deref());
                used.insert(named.filter(|name| linked.given().contains_key(*name)).unwrap_or(&entry.name));
            }
            Some(JobCode::Type) | None => {}
        }
        drafts.push(Draft { is_incomplete, ..draft(code, &entry.name, Some(entry), errors) });
    }
    let is_class_in_doubt = |entry: &JobEntry| around.doubt.is_about(&class_of(entry));
    let any_may_be_used = settings.jobs.iter().any(is_class_in_doubt);
    for function in linked.iter() {
        if settings.jobs.iter().any(|entry| entry.name == function.name) {
            continue;
        }
        let code = Some(JobCode::Function(function));
        if (function.settings)().sharding_total_count.is_some() {
            drafts.push(draft(code, function.name, None, errors));
        } else if !used.contains(function.function) {
            // A function without a count of its own that entries refer to is only the code of those entries.
            let count = Key::of(["jobs", function.name, "sharding-total-count"]);
            if !any_may_be_used && !around.doubt.is_about(&count) {
                errors.push(PlanError::NotConfigured { job: function.name.to_owned(), place: place(function) });
            }
            drafts.push(Draft { is_incomplete: true, ..draft(code, function.name, None, errors) });
        }
    }
    let idle = linked.given().keys().filter(|name| !used.contains(name.as_str()));
    for name in idle.filter(|_| !any_may_be_used && !around.doubt.is_about(&Key::of(["jobs"]))) {
        errors.push(PlanError::NotConfigured { job: name.clone(), place: GIVEN.to_owned() });
    }
    drafts
}

fn draft<'a>(
    code: Option<JobCode>,
    title: &str,
    entry: Option<&'a JobEntry>,
    errors: &mut Vec<PlanError>,
) -> Draft<'a> {
    let attribute = match &code {
        Some(JobCode::Function(function)) => (function.settings)(),
        Some(JobCode::Given(_) | JobCode::Type) | None => JobSettings::default(),
    };
    let (name, wrong) = match JobName::new(title) {
        Ok(name) => (name, None),
        Err(error) => (JobName::new("job").expect("a name"), Some(error)),
    };
    let mut settings = configuration::over(attribute, entry);
    if matches!(code, Some(JobCode::Type)) && settings.elastic_job_type.is_none() {
        settings.elastic_job_type = settings.elastic_job_class.take();
    }
    let draft = Draft { title: title.to_owned(), name, code, settings, entry, is_incomplete: false };
    errors.extend(wrong.map(|error| {
        let origin = match (entry, &draft.code) {
            (Some(entry), _) => entry.origin.clone(),
            (None, Some(JobCode::Function(function))) => Origin::place(place(function)),
            (None, _) => Origin::place("settings"),
        };
        PlanError::InvalidName { origin, reason: error.to_string() }
    }));
    errors.extend(check_kind(&draft).err());
    draft
}

/// Compares the kind in the settings of a job, if there is one, with the kind of its code.
fn check_kind(draft: &Draft<'_>) -> Result<(), PlanError> {
    let Some(JobCode::Function(function)) = &draft.code else { return Ok(()) };
    match draft.settings.elastic_job_type.as_deref().and_then(JobKind::named) {
        Some(kind) if kind != function.kind => Err(PlanError::OtherKind {
            origin: draft.origin("elastic-job-type"),
            job: draft.title.clone(),
            named: kind.type_name(),
            is: function.kind.type_name(),
            place: place(function),
        }),
        _ => Ok(()),
    }
}

/// An entry without code.
struct NoCode {
    error: PlanError,
    /// The functions that may be meant.
    meant: Vec<&'static str>,
}

impl NoCode {
    fn new(error: PlanError, meant: Vec<&'static str>) -> Box<Self> {
        Box::new(Self { error, meant })
    }
}

fn class_of(entry: &JobEntry) -> Key {
    Key::of(["jobs", &entry.name, "elastic-job-class"])
}

fn type_of(entry: &JobEntry) -> Key {
    Key::of(["jobs", &entry.name, "elastic-job-type"])
}

/// The code of an entry: the function that its class refers to, the type that it names, else the function with its
/// name. `None` where the settings that name it cannot be read.
///
/// The registry center keeps one name for both settings, so a file of exported settings may have the other one of them: a class that
/// refers to nothing may be a type, and a type that there is not may be a class.
fn code_of(linked: &Linked<'_>, around: &Surroundings<'_>, entry: &JobEntry) -> Result<Option<JobCode>, Box<NoCode>> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let origin = |setting: &str| entry.origins.get(setting).unwrap_or(&entry.origin).clone();
    let job = entry.name.clone();
    let by_name = linked.named(&entry.name);
    let doubt: &Doubt = around.doubt;
    match (given(&entry.settings.elastic_job_class), given(&entry.settings.elastic_job_type)) {
        (Some(class), Some(_)) => {
            let error = PlanError::ClassAndType { origin: origin("elastic-job-type"), job };
            Err(NoCode::new(error, linked.meant(&class)))
        }
        (Some(class), None) if linked.given().contains_key(&class) => Ok(given_code(linked, &class)),
        (Some(class), None) => match (linked.referred(&class), by_name) {
            (Ok(function), _) => Ok(Some(JobCode::Function(function))),
            (Err(NotOne::Several(functions)), _) => {
                let (origin, meant) = (origin("elastic-job-class"), functions.clone());
                let functions = functions.join(", ");
                Err(NoCode::new(PlanError::AmbiguousFunction { origin, job, class, functions }, meant))
            }
            (Err(NotOne::Nothing), _) if is_own_type(around.catalog, &class) => {
                code_of_type(linked, around.catalog, origin("elastic-job-class"), job, class)
            }
            // The name is the class of Java instances of the same job.
            (Err(NotOne::Nothing), Some(function)) => Ok(Some(JobCode::Function(function))),
            (Err(NotOne::Nothing), None) if linked.given().contains_key(&entry.name) => {
                Ok(given_code(linked, &entry.name))
            }
            (Err(NotOne::Nothing), None) => {
                let (wanted, listing) = (format!("'{class}' (elastic-job-class)"), linked.listing(&class));
                let error = PlanError::NoCode { origin: origin("elastic-job-class"), job, wanted, linked: listing };
                Err(NoCode::new(error, linked.meant(&class)))
            }
        },
        (None, _) if doubt.is_about(&class_of(entry)) => Ok(None),
        (None, Some(kind)) => code_of_type(linked, around.catalog, origin("elastic-job-type"), job, kind),
        (None, None) if doubt.is_about(&type_of(entry)) => Ok(None),
        (None, None) => {
            by_name.map(JobCode::Function).or_else(|| given_code(linked, &entry.name)).map(Some).ok_or_else(|| {
                let (wanted, listing) = (format!("'{}'", entry.name), linked.listing(&entry.name));
                let error = PlanError::NoCode { origin: entry.origin.clone(), job, wanted, linked: listing };
                NoCode::new(error, linked.meant(&entry.name))
            })
        }
    }
}

fn given_code(linked: &Linked<'_>, name: &str) -> Option<JobCode> {
    linked.given().get(name).cloned().map(JobCode::Given)
}

/// Whether there is a type of this name that needs no code.
fn is_own_type(catalog: Option<&Catalog>, name: &str) -> bool {
    JobKind::named(name).is_none() && catalog.is_some_and(|catalog| catalog.job_types().get(name).is_ok())
}

fn code_of_type(
    linked: &Linked<'_>,
    catalog: Option<&Catalog>,
    origin: Origin,
    job: String,
    kind: String,
) -> Result<Option<JobCode>, Box<NoCode>> {
    let known = catalog.map(|catalog| catalog.job_types().get(&kind).map(|_| ()));
    let function = linked.named(&job);
    let by_name = function.map(JobCode::Function).or_else(|| given_code(linked, &job));
    match (known, by_name) {
        (_, Some(JobCode::Function(function))) if JobKind::named(&kind).is_some() => {
            Ok(Some(JobCode::Function(function)))
        }
        (None | Some(Ok(())), None) => Ok(Some(JobCode::Type)),
        (None, Some(code)) => Ok(Some(code)),
        (Some(Ok(())), Some(_)) => {
            let place = function.map_or_else(|| format!("the code that was {GIVEN}"), place);
            Err(NoCode::new(PlanError::TypeAndFunction { origin, job, kind, place }, Vec::new()))
        }
        (Some(Err(unknown)), by_name) => match (linked.referred(&kind), given_code(linked, &kind).or(by_name)) {
            (Ok(function), _) => Ok(Some(JobCode::Function(function))),
            // The name is the type of Java instances of the same job.
            (Err(_), Some(code)) => Ok(Some(code)),
            (Err(_), None) => {
                let meant = linked.meant(&kind);
                Err(NoCode::new(PlanError::NoSuchType { origin, job, unknown: unknown.to_string() }, meant))
            }
        },
    }
}
