//! The errors of the file of the console.

/// The file of a console cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The crate was built without SQLite.
    #[error(
        "{file}: keeping data is not built in: build with the cargo feature `console-data` of elasticjob-starter, or `data` of \
         elasticjob-console"
    )]
    NotBuiltIn {
        /// The file.
        file: String,
    },
    /// The file cannot be made, read or written.
    #[error("{file} cannot be opened: {why}")]
    Unusable {
        /// The file.
        file: String,
        /// The answer of the system or of SQLite.
        why: String,
    },
    /// Others may read it, and it has hashes of passwords.
    #[error("{file} can be read by others (mode {mode:o}), and it has hashes of passwords: run `chmod 600 {file}`")]
    OpenToOthers {
        /// The file.
        file: String,
        /// Its mode.
        mode: u32,
    },
    /// Another console has it open.
    #[error("{file} is used by another console: stop that one, or give each console a file of its own")]
    InUse {
        /// The file.
        file: String,
    },
    /// It has no user of this name.
    #[error("{file} has no user '{user}'; it has {known}")]
    NoSuchUser {
        /// The file.
        file: String,
        /// The name.
        user: String,
        /// The users that it has.
        known: String,
    },
    /// It is not a file of a console.
    #[error("{file} is a database, and not one of a console: give another name, and the console makes the file")]
    Foreign {
        /// The file.
        file: String,
    },
    /// A later release made it.
    #[error(
        "{file} has the schema version {found}, and this release knows versions up to {known}: use the release that wrote it, or \
         a later one"
    )]
    Newer {
        /// The file.
        file: String,
        /// Its version.
        found: i64,
        /// The last version that is known here.
        known: i64,
    },
}
