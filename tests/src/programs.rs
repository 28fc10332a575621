//! Programs that tests need and that may not be installed.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is not there, and what to do about it.
#[derive(Debug, Clone)]
pub struct Missing(String);

impl Missing {
    /// Something is missing, and what to do about it.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Looks for a program, first among those of the Java that `JAVA_HOME` names.
///
/// # Errors
/// [`Missing`] names the Debian package that has it.
pub fn find(name: &str, package: &str) -> Result<PathBuf, Missing> {
    env::var_os("JAVA_HOME")
        .map(|home| Path::new(&home).join("bin"))
        .into_iter()
        .chain(env::var_os("PATH").iter().flat_map(env::split_paths))
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
        .ok_or_else(|| Missing(format!("no '{name}' on PATH; on Debian install {package}")))
}
