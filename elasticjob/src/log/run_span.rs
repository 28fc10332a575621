//! The span of the run of an item, which lines of a job are within. Only where the logs of runs are kept.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tracing::Span;

use super::guarded;

/// A span of `tracing`. A panic of the subscriber costs the span, and never ends the run.
pub(crate) struct RunSpan(Option<Span>);

impl RunSpan {
    pub(crate) fn new(job: &str, item: u32) -> Self {
        let mut span = None;
        guarded(|| span = Some(tracing::info_span!(target: "elasticjob::run", "run", job, item)));
        Self(span)
    }

    /// Calls `f` within the span.
    pub(crate) fn within<T>(&self, f: impl FnOnce() -> T) -> T {
        self.each(|id, dispatch| dispatch.enter(id));
        let _exit = Exit(self);
        f()
    }

    /// The future within the span.
    pub(crate) fn around<F: Future + Unpin>(self, future: F) -> impl Future<Output = F::Output> {
        Within { span: self, future }
    }

    fn each(&self, act: impl Fn(&tracing::Id, &tracing::Dispatch)) {
        let Some(span) = &self.0 else { return };
        guarded(|| {
            span.with_subscriber(|(id, dispatch)| act(id, dispatch));
        });
    }
}

impl Drop for RunSpan {
    fn drop(&mut self) {
        // The subscriber closes a span when the last handle to it is dropped.
        let span = self.0.take();
        guarded(|| drop(span));
    }
}

/// Leaves the span, also where the code within it panics.
struct Exit<'a>(&'a RunSpan);

impl Drop for Exit<'_> {
    fn drop(&mut self) {
        self.0.each(|id, dispatch| dispatch.exit(id));
    }
}

struct Within<F> {
    span: RunSpan,
    future: F,
}

impl<F: Future + Unpin> Future for Within<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { span, future } = self.get_mut();
        span.within(|| Pin::new(future).poll(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics at all that is done to a span.
    struct Panicking;

    impl tracing::Subscriber for Panicking {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
            tracing::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}

        fn event(&self, _: &tracing::Event<'_>) {}

        fn enter(&self, _: &tracing::Id) {
            panic!("enter");
        }

        fn exit(&self, _: &tracing::Id) {
            panic!("exit");
        }

        fn try_close(&self, _: tracing::Id) -> bool {
            panic!("close");
        }
    }

    #[tokio::test]
    async fn a_subscriber_that_panics_costs_the_span_and_not_the_run() {
        let _default = tracing::subscriber::set_default(Panicking);
        let run = RunSpan::new("settle", 0).around(Box::pin(async {
            tokio::task::yield_now().await;
            7
        }));
        assert_eq!(run.await, 7);
    }
}
