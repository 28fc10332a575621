//! The sources of settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The command line, the environment and the folders that settings are read from, as values.
#[derive(Clone)]
pub struct Sources {
    pub(super) arguments: Vec<String>,
    /// Arguments that are not UTF-8 text, as far as they are.
    pub(super) garbled_arguments: Vec<String>,
    pub(super) options: Vec<SetOption>,
    /// The variables; `None` for a value that is not UTF-8 text.
    pub(super) environment: Environment,
    pub(super) working_folder: PathBuf,
    pub(super) location: Option<PathBuf>,
    pub(super) profiles: Vec<String>,
    pub(super) has_files: bool,
}

/// Without arguments, options and variables, in which there may be secrets.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("working_folder", &self.working_folder)
            .field("location", &self.location)
            .field("profiles", &self.profiles)
            .field("has_files", &self.has_files)
            .finish_non_exhaustive()
    }
}

/// Variables by name; `None` for a value that is not UTF-8 text.
pub(super) type Environment = BTreeMap<String, Option<String>>;

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
        Self::of_texts(std::env::args_os().skip(1), std::env::vars_os())
    }

    /// Arguments and variables as the operating system has them: any bytes.
    fn of_texts(
        arguments: impl Iterator<Item = OsString>,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Self {
        let mut sources = Self::in_folder(".");
        for argument in arguments {
            match argument.into_string() {
                Ok(argument) => sources.arguments.push(argument),
                Err(garbled) => sources.garbled_arguments.push(garbled.to_string_lossy().into_owned()),
            }
        }
        let variables = variables.map(|(name, value)| (name.to_string_lossy().into_owned(), value.into_string().ok()));
        Self { environment: variables.collect(), ..sources }
    }

    /// A folder without arguments and environment.
    pub fn in_folder(folder: impl AsRef<Path>) -> Self {
        Self {
            arguments: Vec::new(),
            garbled_arguments: Vec::new(),
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
        self.garbled_arguments.clear();
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
        self.environment = variables.into_iter().map(|(name, value)| (name.into(), Some(value.into()))).collect();
        self
    }

    /// A variable of the environment; `None` where its value is not UTF-8 text.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name)?.as_deref()
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::super::Settings;
    use super::*;

    fn os(bytes: &[u8]) -> OsString {
        OsString::from_vec(bytes.to_vec())
    }

    fn problems(arguments: &[&[u8]], variables: &[(&str, &[u8])]) -> Vec<String> {
        let variables = variables.iter().map(|(name, value)| (os(name.as_bytes()), os(value)));
        let sources = Sources::of_texts(arguments.iter().map(|argument| os(argument)), variables);
        let sources = Sources { has_files: false, ..sources };
        Settings::load(&sources, &[]).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_value_that_is_not_utf_8_is_an_error_that_names_its_place_and_its_key() {
        let variables: [(&str, &[u8]); 3] = [
            ("ELASTICJOB_REG_CENTER_DIGEST", b"me:\xe4"),
            ("NAME", b"\xe4"),
            ("ELASTICJOB_PREFERRED_NETWORK_INTERFACE", b"${NAME}"),
        ];
        let problems = problems(&[b"--elasticjob.preferred.network.ip=\xe4", b"--elasticjob.dump.port=0"], &variables);
        let expected = [
            "environment variable ELASTICJOB_REG_CENTER_DIGEST: elasticjob.reg-center.digest: a text that is not UTF-8",
            "argument --elasticjob.preferred.network.ip: elasticjob.preferred.network.ip: a text that is not UTF-8",
            "elasticjob.preferred.network.interface: the environment variable `NAME` of the placeholder `${NAME}` is not UTF-8",
        ];
        assert_eq!(problems.len(), expected.len(), "{problems:#?}");
        for part in expected {
            assert!(problems.iter().any(|problem| problem.contains(part)), "no {part:?} in {problems:#?}");
        }
    }

    #[test]
    fn secrets_among_the_sources_are_not_shown() {
        let sources = Sources::in_folder("here")
            .arguments(["--elasticjob.reg-center.digest=me:hunter2"])
            .option("--digest", "reg-center.digest", "me:hunter2")
            .environment([("ELASTICJOB_REG_CENTER_DIGEST", "me:hunter2")])
            .profile("night");
        let shown = format!("{sources:?}");
        assert!(shown.contains("here") && shown.contains("night") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn what_is_not_utf_8_and_no_setting_does_not_matter() {
        let variables: [(&str, &[u8]); 2] = [("LS_COLORS", b"\xff"), ("ELASTICJOB_SERVICE_HOST", b"\xff")];
        assert_eq!(problems(&[b"--own=\xff", b"\xff"], &variables), [""; 0]);
    }
}
