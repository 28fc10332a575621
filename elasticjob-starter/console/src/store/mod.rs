//! Keeps what is not in the registry centers: in the file that `elasticjob.console.data` names, or in memory.
//!
//! | file | what it holds |
//! |---|---|
//! | `storage` | the seam: what can be kept |
//! | `sqlite` | opens the file; its schema, version by version |
//! | `login_log` | the log of logins |
//! | `action_log` | what operators did, where no database of traces records it |
//! | `acknowledged` | which alarms an operator looks after |
//! | `users_and_tokens` | users and tokens |
//! | `versions` | configurations that jobs had |

#[cfg(feature = "data")]
mod acknowledged;
#[cfg(feature = "data")]
mod action_log;
mod error;
#[cfg(feature = "data")]
mod login_log;
#[cfg(feature = "data")]
mod sqlite;
mod storage;
#[cfg(feature = "data")]
mod users_and_tokens;
#[cfg(feature = "data")]
mod versions;

#[cfg(all(test, feature = "data"))]
pub(crate) mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::access::{Change, Entry, Event, KeptUser, PasswordHash};

pub use error::DataError;
pub(crate) use storage::{AccessCursor, Storage, StoreError};

/// The file in which a console keeps what has to outlive it. Clones are the same file.
#[derive(Clone)]
pub struct DataFile {
    storage: Arc<dyn Storage>,
    at: Arc<str>,
}

impl DataFile {
    /// Opens the file, or makes it: SQLite, for its owner alone. One console at a time uses it.
    ///
    /// Call it within a Tokio runtime. What is older than 400 days is removed from the file by itself.
    ///
    /// # Errors
    /// [`DataError`], each with the file and what to do. [`DataError::NotBuiltIn`] without the cargo feature `data`.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = path.as_ref();
        let at: Arc<str> = path.display().to_string().into();
        #[cfg(feature = "data")]
        let opened = sqlite::SqliteFile::open(path).await.map(|file| Self { storage: Arc::new(file), at });
        #[cfg(not(feature = "data"))]
        let opened = Err(DataError::NotBuiltIn { file: at.to_string() });
        opened
    }

    /// Gives a user of the file another password, and lets the user log in again. For a file that no console has open; the log
    /// of logins says that it was done.
    ///
    /// # Errors
    /// [`DataError::NoSuchUser`], [`DataError::Unusable`].
    pub async fn set_password(&self, user: &str, password: PasswordHash) -> Result<(), DataError> {
        let (users, file) = (self.storage.users(), self.at.to_string());
        let Some(kept) = users.iter().find(|kept| kept.name == user) else {
            let known: Vec<&str> = users.iter().map(|kept| kept.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(DataError::NoSuchUser { file, user: user.to_owned(), known });
        };
        let at = crate::service::now();
        let saved = self.storage.save_user(KeptUser { password, enabled: true, changed_at: at, ..kept.clone() }).await;
        saved.map_err(|error| DataError::Unusable { file, why: error.to_string() })?;
        let event = Event::Changed(Change::PasswordSet, user.to_owned());
        self.storage.add_access(Entry { at, who: "command line".to_owned(), from: None, event, count: 1 });
        Ok(())
    }

    /// Writes what waits, and lets go of the file.
    pub async fn close(self) {
        self.storage.close().await;
    }

    /// The path, for operators.
    pub(crate) fn at(&self) -> &str {
        &self.at
    }

    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }
}

impl fmt::Debug for DataFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataFile").field(&self.at).finish()
    }
}
