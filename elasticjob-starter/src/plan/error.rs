//! Problems of the jobs of a program.

use elasticjob::api::MissingBean;

use crate::settings::Origin;

/// A problem of the jobs that the code and the settings describe together. The text names the job, the place and the
/// remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Two functions registered under one name.
    #[error(
        "two jobs are named '{job}': {first} and {second}; give one of them another name with `#[elastic_job(name = \"...\")]`"
    )]
    DuplicateJob {
        /// The name.
        job: String,
        /// Function and place of one.
        first: String,
        /// Function and place of the other.
        second: String,
    },
    /// A configured job for which the program has no function.
    #[error(
        "{origin}: elasticjob.jobs.{job}: no job function {wanted} is linked into the program; {linked}. The jobs of a library crate \
         appear when the program names it: `use the_crate as _;`"
    )]
    NoCode {
        /// The place of the entry or of its class.
        origin: Origin,
        /// The job.
        job: String,
        /// The code that was looked for.
        wanted: String,
        /// The functions that exist, with the nearest name.
        linked: String,
    },
    /// A reference to a function that several functions match.
    #[error(
        "{origin}: elasticjob.jobs.{job}.elastic-job-class: '{class}' could be each of {functions}; write the whole path"
    )]
    AmbiguousFunction {
        /// The place of the reference.
        origin: Origin,
        /// The job.
        job: String,
        /// The reference.
        class: String,
        /// Paths of the functions.
        functions: String,
    },
    /// Both a class and a type.
    #[error(
        "{origin}: elasticjob.jobs.{job}: `elastic-job-class` and `elastic-job-type` exclude each other; keep one of them"
    )]
    ClassAndType {
        /// The place of the type.
        origin: Origin,
        /// The job.
        job: String,
    },
    /// A job of a type that does not exist.
    #[error(
        "{origin}: elasticjob.jobs.{job}.elastic-job-type: {unknown}; a function is named with `elastic-job-class`"
    )]
    NoSuchType {
        /// The place of the type.
        origin: Origin,
        /// The job.
        job: String,
        /// The type that was looked for, and the types that exist.
        unknown: String,
    },
    /// A job of a type for which there is also a function.
    #[error(
        "{origin}: elasticjob.jobs.{job}: there are two things to run, the type '{kind}' and {place}; remove the setting that \
         names the type, or give one of the two another name"
    )]
    TypeAndFunction {
        /// The place where the type is named.
        origin: Origin,
        /// The job.
        job: String,
        /// The type.
        kind: String,
        /// The function.
        place: String,
    },
    /// A job whose settings name another kind than the kind of its code.
    #[error(
        "{origin}: elasticjob.jobs.{job}.elastic-job-type: it says {named}, and {place} is {is}; remove the setting, or correct it"
    )]
    OtherKind {
        /// The place of the type.
        origin: Origin,
        /// The job.
        job: String,
        /// The kind that is named.
        named: &'static str,
        /// The kind of the code.
        is: &'static str,
        /// The code.
        place: String,
    },
    /// A name that no job can have.
    #[error("{origin}: {reason}")]
    InvalidName {
        /// The place of the name.
        origin: Origin,
        /// The reason.
        reason: String,
    },
    /// A job without its required settings.
    #[error(
        "job '{job}' ({place}) is configured nowhere: set `sharding-total-count`, and `cron` unless it is a one-off job, in the attribute or \
         below `elasticjob.jobs.{job}`"
    )]
    NotConfigured {
        /// The job.
        job: String,
        /// Function and place.
        place: String,
    },
    /// A setting that is missing or not valid.
    #[error("{origin}: job '{job}': {reason}")]
    Invalid {
        /// The place of the setting, or of the function where the setting is missing.
        origin: Origin,
        /// The job.
        job: String,
        /// The setting, its value and what to write instead.
        reason: String,
    },
    /// Two handles, or a handle and a provided value, with the same name.
    #[error(
        "the bean name '{bean}' is taken twice: by {first} and by {second}; set `job-bootstrap-bean-name` of one of them"
    )]
    DuplicateBean {
        /// The name.
        bean: String,
        /// One owner.
        first: String,
        /// The other owner.
        second: String,
    },
    /// A registry center, or a tracing, that the application does not have.
    #[error("{origin}: job '{job}': {setting}: {unknown}")]
    UnknownReference {
        /// The place of the name.
        origin: Origin,
        /// The job.
        job: String,
        /// The setting that names it.
        setting: &'static str,
        /// The name that was looked for, and the names that exist.
        unknown: String,
    },
    /// An argument that has no value.
    #[error("job '{job}' ({place}): {missing}")]
    MissingBean {
        /// The job.
        job: String,
        /// Function and place.
        place: String,
        /// The argument, its type and the values that exist.
        missing: Box<MissingBean>,
    },
}
