//! The sources of settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The command line, the environment and the folders that settings are read from, as values.
#[derive(Clone)]
pub struct Sources {
    pub(super) arguments: Vec<String>,
    pub(super) options: Vec<SetOption>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) working_folder: PathBuf,
    pub(super) location: Option<PathBuf>,
    pub(super) profiles: Vec<String>,
    pub(super) has_files: bool,
}

/// A setting that the program reads under a name of its own.
#[derive(Clone)]
pub(super) struct SetOption {
    pub name: String,
    pub key: String,
    pub value: String,
}

impl Sources {
    /// The sources of this process.
    pub fn of_process() -> Self {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Self {
            arguments: std::env::args_os().skip(1).map(text).collect(),
            options: Vec::new(),
            environment: std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect(),
            working_folder: PathBuf::from("."),
            location: None,
            profiles: Vec::new(),
            has_files: true,
        }
    }

    /// A folder without arguments and environment.
    pub fn in_folder(folder: impl AsRef<Path>) -> Self {
        Self {
            arguments: Vec::new(),
            options: Vec::new(),
            environment: BTreeMap::new(),
            working_folder: folder.as_ref().to_owned(),
            location: None,
            profiles: Vec::new(),
            has_files: true,
        }
    }

    /// Arguments only, without environment and files: for settings that are given one by one, for example to an
    /// operation.
    pub fn of_arguments<T: Into<String>>(arguments: impl IntoIterator<Item = T>) -> Self {
        Self { has_files: false, ..Self::in_folder(".") }.arguments(arguments)
    }

    /// Replaces the arguments. The name of the program is not one of them.
    pub fn arguments<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a setting that the user gives under a name of the program's own, for example `--server-lists`; messages use
    /// that name. `key` is its key below `elasticjob`. It is as strong as an argument; giving both is an error.
    pub fn option(mut self, name: impl Into<String>, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push(SetOption { name: name.into(), key: key.into(), value: value.into() });
        self
    }

    /// Replaces the environment.
    pub fn environment<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<String>,
    {
        self.environment = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }

    /// The file or folder to read instead of the usual places. `elasticjob.config.location` in the environment or an
    /// argument wins over it.
    pub fn location(mut self, location: impl Into<PathBuf>) -> Self {
        self.location = Some(location.into());
        self
    }

    /// Adds a profile that is always active, before those of `elasticjob.profiles.active`.
    pub fn profile(mut self, profile: impl Into<String>) -> Self {
        self.profiles.push(profile.into());
        self
    }
}
