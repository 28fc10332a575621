//! The kinds of code that a job can have.

use super::{ConfigurationCheck, Invalid, JobConfiguration, OptionNames, Options};
use crate::texts;

/// The option of a dataflow job to go on in the same run as long as it fetches data.
pub(crate) const STREAMING: &str = "streaming.process";

/// The kind of code of a job. `elastic-job-type` may name it. Java knows such a job by its class alone, so the kind is
/// not written to the registry center.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobKind {
    /// A function.
    Simple,
    /// A type with the functions `fetch` and `process`.
    Dataflow,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Simple, Self::Dataflow];

    /// Its name in `elastic-job-type`.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Simple => "SIMPLE",
            Self::Dataflow => "DATAFLOW",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.type_name() == name)
    }

    /// The options of a job of this kind.
    pub fn options(self) -> OptionNames {
        match self {
            Self::Simple => &[],
            Self::Dataflow => &[&[STREAMING]],
        }
    }

    /// The check of the configuration of a job of this kind.
    pub fn check(self) -> ConfigurationCheck {
        match self {
            Self::Simple => ConfigurationCheck::default(),
            Self::Dataflow => {
                ConfigurationCheck::new(|configuration| is_streaming(configuration).err().unwrap_or_default())
            }
        }
    }
}

/// Whether a dataflow job of this configuration streams.
///
/// # Errors
/// The problem of the property.
pub(crate) fn is_streaming(configuration: &JobConfiguration) -> Result<bool, Vec<Invalid>> {
    let mut options = Options::of(configuration, texts::owner_dataflow());
    let streaming = options.flag(STREAMING, false);
    options.end(streaming)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_true_nor_false_is_no_answer_to_whether_a_job_streams() {
        let check = |value| {
            let configuration = JobConfiguration::builder("job", 1).prop(STREAMING, value).build().unwrap();
            JobKind::Dataflow.check().problems(&configuration).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(check("TRUE"), Vec::<String>::new());
        assert_eq!(check("yes"), ["props.streaming.process: 'yes': expected true or false"]);
    }

    #[test]
    fn a_kind_is_no_class_that_instances_in_java_could_compare_with_theirs() {
        let class = |kind: &str| {
            let configuration = JobConfiguration::builder("job", 1).elastic_job_type(kind).build().unwrap();
            configuration.class_name().map(str::to_owned)
        };
        assert_eq!(JobKind::ALL.map(|kind| class(kind.type_name())), [None, None]);
        assert_eq!(class("SCRIPT").as_deref(), Some("SCRIPT"));
    }
}
