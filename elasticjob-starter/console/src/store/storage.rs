//! The seam between the console and the file that keeps its data.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;

use elasticjob::config::Message;
use elasticjob::ident::JobName;
use elasticjob::trace::{AnyTraceReader, Tracing};

use crate::access::{Entry, KeptToken, KeptUser};
use crate::service::alarms::Acknowledged;
use crate::service::versions::Version;
use crate::texts;

/// The file did not do what was asked. The cause is in the log, not in the text: it may name what only administrators know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreError;

impl StoreError {
    /// The same for every cause.
    pub(crate) fn message(&self) -> Message {
        texts::data_unusable()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for StoreError {}

/// An answer that is under way.
pub(crate) type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A place in the log of logins, which is read from the last event on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessCursor {
    pub(crate) at: i64,
    pub(crate) id: i64,
}

impl fmt::Display for AccessCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at, self.id)
    }
}

impl FromStr for AccessCursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
        let (at, id) = numbers.ok_or("it is no cursor: take the text that came with the page before as it is")?;
        Ok(Self { at, id })
    }
}

/// Keeps what has to outlive the console.
pub(crate) trait Storage: Send + Sync {
    /// Keeps an event of the log of logins, soon. It never waits: an event that does not fit into the queue is lost, and the
    /// log of the process has it.
    fn add_access(&self, entry: Entry);

    /// At most `limit` events before a place in the log, the last one first, with the place to go on from.
    fn access(&self, before: Option<AccessCursor>, limit: u32) -> Pending<'_, (Vec<Entry>, Option<AccessCursor>)>;

    /// The users as they were when the file was opened.
    fn users(&self) -> Vec<KeptUser>;

    /// Adds the first user, soon: it is made before anything waits for the file.
    fn add_first_user(&self, user: KeptUser);

    /// Adds a user, or replaces the one with this name.
    fn save_user(&self, user: KeptUser) -> Pending<'_, ()>;

    fn remove_user(&self, name: &str) -> Pending<'_, ()>;

    /// The tokens as they were when the file was opened.
    fn tokens(&self) -> Vec<KeptToken>;

    fn save_token(&self, token: KeptToken) -> Pending<'_, ()>;

    fn remove_token(&self, name: &str) -> Pending<'_, ()>;

    /// Keeps when a token was shown last, soon. It never waits.
    fn note_token_use(&self, name: &str, at: i64);

    /// Keeps a version of a configuration, unless it is there. Who wrote it is added to one that is there without.
    fn add_version(&self, registry: &str, job: &JobName, version: Version) -> Pending<'_, ()>;

    /// At most `most` versions of a job, the last one first.
    fn versions(&self, registry: &str, job: &JobName, most: u32) -> Pending<'_, Vec<Version>>;

    /// The alarms that operators look after, as they were when the file was opened: registry center, id, and who does.
    fn acknowledgements(&self) -> Vec<(String, String, Acknowledged)>;

    /// Keeps who looks after an alarm.
    fn save_acknowledgement(&self, registry: &str, alarm: &str, by: Acknowledged) -> Pending<'_, ()>;

    /// Forgets it: the alarm is over.
    fn remove_acknowledgement(&self, registry: &str, alarm: &str) -> Pending<'_, ()>;

    /// Records what operators do in a registry center, where no database of traces does.
    fn record_actions(&self, registry: &str) -> Tracing;

    /// Reads what was recorded so.
    fn actions(&self, registry: &str) -> AnyTraceReader;

    /// The number of things that are kept soon and not written so far, but for actions.
    fn unwritten(&self) -> usize;

    /// The number of things that were to be kept soon and never will be, but for actions.
    fn lost(&self) -> usize;

    /// Writes what waits to be kept soon, but for actions. What comes later is not kept.
    fn write_rest(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Writes what waits, and lets go of the file.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
