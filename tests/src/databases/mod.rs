//! Databases to trace to: SQLite files, and real servers on free ports in temporary folders.

mod database;
mod program;
mod server;

pub use database::Database;
pub use server::DatabaseServer;

/// What can be traced to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    Sqlite,
    /// A server of Debian's package postgresql, or one that is on PATH.
    Postgresql,
    /// A server of Debian's package mariadb-server, or one that is on PATH. It stands for MySQL as well.
    Mariadb,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgresql, Self::Mariadb];

    /// The name in lists of tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgresql => "postgresql",
            Self::Mariadb => "mariadb",
        }
    }
}
