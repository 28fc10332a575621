//! Takes what arrives for a driver (session, watch events, answers, letters) and feeds it to the engine.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;

use super::{Driver, by_own_clock};
use crate::engine::Event;
use crate::registry::SessionState;
use crate::runtime::handle::{Letter, ShutdownMode};

impl Driver {
    pub(super) fn take_session(&mut self) {
        let state = *self.session.borrow_and_update();
        // The gap comes before the session that is back: an engine that registers at once would trust what was so
        // before the gap.
        self.drain_watch();
        self.feed_proof();
        self.feed(Event::Session(state));
        self.feed_proof();
    }

    pub(super) fn take_watch_event(&mut self, event: Option<Event>) {
        match event {
            Some(event) => {
                self.gather(event);
                self.drain_watch();
                // The events of an own transaction come just before its answer: both are decided on together. A session
                // that changed meanwhile goes first.
                let answer = match self.session.has_changed() {
                    Ok(false) => self.answers.next().now_or_never(),
                    _ => None,
                };
                match answer {
                    Some(answer) => self.take_answer(answer),
                    None => self.feed(Event::Tick),
                }
            }
            // The registry center is closed; its session says so too.
            None => self.feed(Event::Session(SessionState::Closed)),
        }
    }

    /// Notes the watch events that have arrived. The caller has to let the engine decide afterwards.
    pub(super) fn drain_watch(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(event)) = self.watches.poll_next(&mut cx) {
            self.gather(event);
        }
    }

    pub(super) fn take_answer(&mut self, event: Event) {
        self.feed_proof();
        let mut gathered = self.take_one_answer(event);
        // Takes all answers that came together before the driver waits again. It does not take the answers to questions
        // that are asked meanwhile: between a question and its answer the engine must hear of everything else that
        // happens.
        for _ in 0..self.answers.len() {
            let Some(event) = self.answers.next().now_or_never() else { break };
            self.drain_watch();
            gathered = self.take_one_answer(event);
        }
        if gathered {
            self.feed(Event::Tick);
        }
    }

    /// What was read is gathered: each decision looks at all items, and there may be thousands of answers. Returns whether
    /// the engine has still to decide.
    fn take_one_answer(&mut self, event: Event) -> bool {
        let is_read = matches!(event, Event::Read { .. } | Event::Listed { .. });
        if is_read {
            self.gather(event)
        } else {
            self.feed(event)
        }
        is_read
    }

    pub(super) fn take_letters(&mut self) {
        for letter in self.mailbox.take() {
            match letter {
                Letter::Trigger(reply, trace_parent) => {
                    self.last_trigger += 1;
                    self.triggers.insert(self.last_trigger, reply);
                    self.feed(Event::Trigger(self.last_trigger, trace_parent));
                }
                Letter::Shutdown(mode) => {
                    self.feed(match mode {
                        ShutdownMode::Graceful => Event::Shutdown { grace: self.environment.shutdown_grace() },
                        ShutdownMode::Now => Event::Shutdown { grace: Duration::ZERO },
                        ShutdownMode::Restart => Event::Restart,
                    });
                }
                Letter::ItemEnded(item, end) => {
                    // The engine makes the same of it, by the record.
                    let told = self.running.get(&item).map_or_else(|| end.clone(), |live| live.end_of(end.clone()));
                    let failed = self.running.remove(&item).and_then(|live| live.ended(&told));
                    if let Some((run, error)) = failed {
                        self.report_item(item, run, error);
                    }
                    if let Some(recorder) = &mut self.recorder {
                        recorder.item_ended(item, &told);
                    }
                    if let Some(observed) = &self.observed {
                        observed.ended(item, &told);
                    }
                    self.gather(Event::ItemEnded { item, end });
                }
                Letter::Parent(job, view) => self.gather(Event::Parent { job, view }),
                Letter::ListenersCalled(round) => {
                    self.listening.remove(&round);
                    self.feed(Event::ListenersCalled { round });
                }
                // Not answered: nothing is handed over while a driver is at work.
                Letter::HandOver(_) => {}
            }
        }
        // Lets the engine decide on the gathered events. The timer rings the same bell as the mailbox.
        self.feed(Event::Tick);
    }

    /// Reports to the engine until when requests of this job or of another job prove the session.
    fn feed_proof(&mut self) {
        if let Some(proof) = self.registry.proof() {
            let (session, at) = by_own_clock(&self.environment, proof);
            self.feed(Event::Proven { session, at });
        }
    }
}
