//! The job functions of the program, and how settings refer to them.

use std::collections::BTreeMap;

use elasticjob::api::JobDescriptor;

use super::PlanError;
use crate::settings::nearest;

/// The functions that were linked.
pub(crate) struct Linked<'a> {
    functions: &'a [JobDescriptor],
}

/// A reference to a function that is not exactly one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotOne {
    Nothing,
    Several(Vec<&'static str>),
}

impl<'a> Linked<'a> {
    pub fn new(functions: &'a [JobDescriptor]) -> Self {
        Self { functions }
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a JobDescriptor> + use<'a> {
        self.functions.iter()
    }

    /// Names that several functions have.
    pub fn duplicates(&self) -> Vec<PlanError> {
        let mut by_name: BTreeMap<&str, &JobDescriptor> = BTreeMap::new();
        let mut errors = Vec::new();
        for function in self.functions {
            if let Some(first) = by_name.insert(function.name, function) {
                errors.push(PlanError::DuplicateJob {
                    job: function.name.to_owned(),
                    first: place(first),
                    second: place(function),
                });
            }
        }
        errors
    }

    /// The function of a job by its name.
    pub fn named(&self, name: &str) -> Option<&'a JobDescriptor> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The function that `elastic-job-class` refers to: by its path, by its own name, by the name of its job, or by the
    /// class name that its attribute gives.
    pub fn referred(&self, class: &str) -> Result<&'a JobDescriptor, NotOne> {
        let own_name = |function: &JobDescriptor| function.function.rsplit("::").next() == Some(class);
        let by: [&dyn Fn(&JobDescriptor) -> bool; 4] =
            [&|function| function.function == class, &own_name, &|function| function.name == class, &|function| {
                (function.settings)().elastic_job_class.as_deref() == Some(class)
            }];
        for is_meant in by {
            let found: Vec<&JobDescriptor> = self.functions.iter().filter(|function| is_meant(function)).collect();
            match found.as_slice() {
                [] => {}
                [only] => return Ok(only),
                several => return Err(NotOne::Several(several.iter().map(|function| function.function).collect())),
            }
        }
        Err(NotOne::Nothing)
    }

    /// The functions that a reference which is not exactly one may mean.
    pub fn meant(&self, class: &str) -> Vec<&'static str> {
        match self.referred(class) {
            Ok(function) => vec![function.function],
            Err(NotOne::Several(functions)) => functions,
            Err(NotOne::Nothing) => {
                let near = self.near(class);
                let is_near = |function: &&JobDescriptor| [function.name, function.function].map(Some).contains(&near);
                self.functions.iter().filter(is_near).map(|function| function.function).collect()
            }
        }
    }

    fn near(&self, wanted: &str) -> Option<&'static str> {
        let names = self.functions.iter().map(|function| function.name);
        nearest(wanted, names.chain(self.functions.iter().map(|function| function.function)))
    }

    /// What there is, for a reference that was not found.
    pub fn listing(&self, wanted: &str) -> String {
        if self.functions.is_empty() {
            return "none is linked at all".to_owned();
        }
        let near = self.near(wanted).map(|name| format!("did you mean '{name}'? ")).unwrap_or_default();
        let mut all: Vec<String> =
            self.functions.iter().map(|function| format!("'{}' ({})", function.name, function.function)).collect();
        all.sort();
        format!("{near}Linked: {}", all.join(", "))
    }
}

/// A function and where it stands.
pub(super) fn place(function: &JobDescriptor) -> String {
    format!("{} at {}", function.function, function.place)
}
