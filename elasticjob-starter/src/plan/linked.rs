//! The job functions of the program, and the search for the function that settings refer to.

use std::collections::BTreeMap;

use elasticjob::api::{ItemHandler, JobDescriptor};

use super::PlanError;
use crate::settings::nearest;

/// The functions that were linked, and the code that the application's builder was given.
pub(crate) struct Linked<'a> {
    functions: Vec<&'static JobDescriptor>,
    given: &'a BTreeMap<String, ItemHandler>,
}

/// The place of code that the builder was given, for messages.
pub(super) const GIVEN: &str = "given to the application's builder";

/// A reference that does not match exactly one function.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotOne {
    Nothing,
    Several(Vec<&'static str>),
}

impl<'a> Linked<'a> {
    pub fn new(functions: &'static [JobDescriptor], given: &'a BTreeMap<String, ItemHandler>) -> Self {
        Self { functions: functions.iter().collect(), given }
    }

    /// Leaves only the functions that are one of these paths, or below it; all where no path is given.
    pub fn within(mut self, paths: &[String]) -> Self {
        let is_within = |function: &str, path: &str| {
            function.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        self.functions.retain(|job| paths.is_empty() || paths.iter().any(|path| is_within(job.function, path)));
        self
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static JobDescriptor> {
        self.functions.iter().copied()
    }

    /// The code that the builder was given, by name.
    pub fn given(&self) -> &'a BTreeMap<String, ItemHandler> {
        self.given
    }

    /// The names of all jobs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.name).chain(self.given.keys().map(String::as_str))
    }

    /// Names that several functions have.
    pub fn duplicates(&self) -> Vec<PlanError> {
        let mut by_name: BTreeMap<&str, &JobDescriptor> = BTreeMap::new();
        let mut errors = Vec::new();
        for function in self.iter() {
            if let Some(first) = by_name.insert(function.name, function) {
                errors.push(PlanError::DuplicateJob {
                    job: function.name.to_owned(),
                    first: place(first),
                    second: place(function),
                });
            }
        }
        let twice = self.given.keys().filter_map(|name| self.named(name));
        errors.extend(twice.map(|function| PlanError::DuplicateJob {
            job: function.name.to_owned(),
            first: place(function),
            second: GIVEN.to_owned(),
        }));
        errors
    }

    /// The function of a job by its name.
    pub fn named(&self, name: &str) -> Option<&'static JobDescriptor> {
        self.iter().find(|function| function.name == name)
    }

    /// The function that `elastic-job-class` refers to: by its path, by the last part of its path, by the name of its
    /// job, or by the class name that its attribute gives.
    pub fn referred(&self, class: &str) -> Result<&'static JobDescriptor, NotOne> {
        let own_name = |function: &JobDescriptor| function.function.rsplit("::").next() == Some(class);
        let by: [&dyn Fn(&JobDescriptor) -> bool; 4] =
            [&|function| function.function == class, &own_name, &|function| function.name == class, &|function| {
                (function.settings)().elastic_job_class.as_deref() == Some(class)
            }];
        for is_meant in by {
            let found: Vec<&'static JobDescriptor> = self.iter().filter(|function| is_meant(function)).collect();
            match found.as_slice() {
                [] => {}
                [only] => return Ok(only),
                several => return Err(NotOne::Several(several.iter().map(|function| function.function).collect())),
            }
        }
        Err(NotOne::Nothing)
    }

    /// The functions that a reference may mean which does not match exactly one.
    pub fn meant(&self, class: &str) -> Vec<&'static str> {
        match self.referred(class) {
            Ok(function) => vec![function.function],
            Err(NotOne::Several(functions)) => functions,
            Err(NotOne::Nothing) => {
                let near = self.near(class);
                let is_near = |function: &&JobDescriptor| [function.name, function.function].map(Some).contains(&near);
                self.iter().filter(is_near).map(|function| function.function).collect()
            }
        }
    }

    fn near(&self, wanted: &str) -> Option<&str> {
        nearest(wanted, self.names().chain(self.functions.iter().map(|function| function.function)))
    }

    /// The functions that exist, for a reference that was not found.
    pub fn listing(&self, wanted: &str) -> String {
        if self.functions.is_empty() && self.given.is_empty() {
            return "none is linked at all".to_owned();
        }
        let near = self.near(wanted).map(|name| format!("did you mean '{name}'? ")).unwrap_or_default();
        let mut all: Vec<String> =
            self.functions.iter().map(|function| format!("'{}' ({})", function.name, function.function)).collect();
        all.extend(self.given.keys().map(|name| format!("'{name}' ({GIVEN})")));
        all.sort();
        format!("{near}Linked: {}", all.join(", "))
    }
}

/// A function and its place.
pub(super) fn place(function: &JobDescriptor) -> String {
    format!("{} at {}", function.function, function.place)
}
