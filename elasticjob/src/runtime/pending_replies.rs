//! Answers of the registry that are on their way to a driver. They take no memory while none is under way.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::engine::{Action, Event};
use crate::ident::JobName;
use crate::registry::RegistryCenter;

/// A request whose answer becomes an event.
type Answer = Pin<Box<dyn Future<Output = Event> + Send>>;

#[derive(Default)]
pub(super) struct Answers(Option<FuturesUnordered<Answer>>);

impl Answers {
    pub(super) fn push(&mut self, answer: impl Future<Output = Event> + Send + 'static) {
        self.0.get_or_insert_default().push(Box::pin(answer));
    }

    /// Sends the request that an action asks for. Gives an action that needs no registry center back to the caller.
    pub(super) fn ask(&mut self, registry: &dyn RegistryCenter, job: &JobName, action: Action) -> Option<Action> {
        match action {
            Action::List { generation, paths } => {
                for path in paths {
                    let answer = registry.children(&path.absolute(job));
                    self.push(async move { Event::Listed { generation, path, children: answer.await } });
                }
            }
            Action::Read { generation, paths } => {
                for path in paths {
                    let answer = registry.get(&path.absolute(job));
                    self.push(async move { Event::Read { generation, path, node: answer.await } });
                }
            }
            Action::Commit(transaction) => {
                let answer = registry.commit(transaction);
                self.push(async move { Event::Committed(answer.await) });
            }
            other => return Some(other),
        }
        None
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, FuturesUnordered::len)
    }

    /// The next answer. Never completes while none is on its way. Dropping the future loses nothing.
    pub(super) fn next(&mut self) -> impl Future<Output = Event> {
        poll_fn(|cx| self.poll_next(cx))
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        let Some(waiting) = &mut self.0 else { return Poll::Pending };
        let next = waiting.poll_next_unpin(cx);
        if waiting.is_empty() {
            self.0 = None;
        }
        match next {
            Poll::Ready(Some(event)) => Poll::Ready(event),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn each_answer_comes_once_and_nothing_is_kept_when_all_came() {
        let mut answers = Answers::default();
        assert!(answers.next().now_or_never().is_none());
        answers.push(std::future::ready(Event::Tick));
        answers.push(std::future::pending());
        answers.push(std::future::ready(Event::ProofAnswered(None)));
        assert_eq!(answers.len(), 3);
        assert!(matches!(answers.next().now_or_never(), Some(Event::Tick | Event::ProofAnswered(None))));
        assert!(matches!(answers.next().now_or_never(), Some(Event::Tick | Event::ProofAnswered(None))));
        assert!(answers.next().now_or_never().is_none());
        assert_eq!(answers.len(), 1);
    }
}
