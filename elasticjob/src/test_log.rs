//! The log, for tests that read it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Dispatch;

/// Collects the log while it is the default subscriber: a line for each event, the level first.
#[derive(Debug, Clone)]
pub(crate) struct Logged(Arc<Mutex<Vec<String>>>);

/// A second subscriber, which is never the default one. While there is only one subscriber, `tracing` asks the first thread that
/// logs a line whether its default subscriber wants that line, and keeps the answer for all threads. The thread of another test
/// has no subscriber, and the line would be lost.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Logged(Arc::default())));

impl Default for Logged {
    fn default() -> Self {
        LazyLock::force(&SECOND);
        Self(Arc::default())
    }
}

impl Logged {
    pub(crate) fn lines(&self) -> Vec<String> {
        crate::log::drain();
        self.0.lock().unwrap().clone()
    }

    /// The lines since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        crate::log::drain();
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl tracing::Subscriber for Logged {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = event.metadata().level().to_string();
        event.record(&mut |_: &tracing::field::Field, value: &dyn std::fmt::Debug| line += &format!(" {value:?}"));
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// A subscriber that panics about every line.
#[derive(Debug, Clone)]
pub(crate) struct Panicking {
    told: Arc<AtomicU64>,
}

impl Panicking {
    pub(crate) fn always() -> Self {
        Self { told: Arc::default() }
    }

    /// How many lines it has received.
    pub(crate) fn lines(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }
}

impl tracing::Subscriber for Panicking {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        self.told.fetch_add(1, Ordering::Relaxed);
        panic!("the subscriber of a test panics about {:?}", event.metadata().level());
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
