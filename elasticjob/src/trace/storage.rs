//! The interface of storages that keep events.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::event::JobEvent;

/// Keeps events. The setting `elasticjob.tracing.type` names it.
///
/// A program adds its own ones with [`register_tracing_storage!`](crate::register_tracing_storage), or by hand with
/// [`CatalogBuilder::tracing_storage`](crate::spi::CatalogBuilder::tracing_storage).
///
/// # Examples
/// ```
/// use elasticjob::trace::{JobEvent, TracingStorage, WriteError};
///
/// struct StandardOutput;
///
/// impl TracingStorage for StandardOutput {
///     fn type_name(&self) -> &str {
///         "STDOUT"
///     }
///
///     async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
///         for event in events {
///             println!("{event:?}");
///         }
///         Ok(())
///     }
/// }
///
/// elasticjob::register_tracing_storage!(StandardOutput);
/// ```
pub trait TracingStorage: Send + Sync + 'static {
    /// The name in `elasticjob.tracing.type`. Always the same one.
    fn type_name(&self) -> &str;

    /// Keeps these events, at most 1,000, in the order in which they were posted.
    ///
    /// Calls follow one after the other. After [`WriteError::Unavailable`] the same events come again, so writing an
    /// event twice must do no harm. A panic counts as [`WriteError::Refused`].
    ///
    /// Later releases have further kinds of events: a storage leaves out those that it does not know.
    fn write(&self, events: &[JobEvent]) -> impl Future<Output = Result<(), WriteError>> + Send;

    /// Removes some events that are too old. Called between two writes, for the first time soon after the start.
    /// Returns the time until the next call, or `None` when no call should follow.
    fn clean(&self) -> impl Future<Output = Result<Option<Duration>, WriteError>> + Send {
        async { Ok(None) }
    }
}

/// Why events were not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The storage is away, or cannot take anything now: the writer tries again.
    #[error("{0}")]
    Unavailable(String),
    /// It will never take one of these events: the writer tries fewer together, and an event that is refused alone is lost.
    #[error("{0}")]
    Refused(String),
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, WriteError>> + Send + 'a>>;

/// A storage of any type.
pub struct AnyTracingStorage {
    type_name: Box<str>,
    calls: Box<dyn Calls>,
}

impl AnyTracingStorage {
    /// Wraps a storage.
    pub fn new(storage: impl TracingStorage) -> Self {
        Self { type_name: storage.type_name().into(), calls: Box::new(storage) }
    }

    /// The name in `elasticjob.tracing.type`.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    pub(super) async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        self.calls.write(events).await
    }

    pub(super) async fn clean(&self) -> Result<Option<Duration>, WriteError> {
        self.calls.clean().await
    }
}

impl fmt::Debug for AnyTracingStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyTracingStorage").field(&self.type_name).finish()
    }
}

/// A storage, called through a pointer.
trait Calls: Send + Sync {
    fn write<'a>(&'a self, events: &'a [JobEvent]) -> Pending<'a, ()>;
    fn clean(&self) -> Pending<'_, Option<Duration>>;
}

impl<S: TracingStorage> Calls for S {
    fn write<'a>(&'a self, events: &'a [JobEvent]) -> Pending<'a, ()> {
        Box::pin(TracingStorage::write(self, events))
    }

    fn clean(&self) -> Pending<'_, Option<Duration>> {
        Box::pin(TracingStorage::clean(self))
    }
}
