//! The end of a command that serves: a second signal ends it at once, and leaving in order takes a limited time. A thread of its own
//! sees to both, so that code that blocks the other threads delays neither.

use std::future::pending;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::exit;
use std::thread;
use std::time::Duration;

use elasticjob_starter::__private::{Signals, patient_stderr};
use tokio::sync::{oneshot, watch};

use crate::failure::Failure;

/// How long leaving may take, besides the grace of processes that it ends. The console before it has 10 s to answer its last requests:
/// together that is less than the 30 s after which Kubernetes kills a pod.
const LIMIT: Duration = Duration::from_secs(15);

/// The signals of a command that serves, and its leaving. Dropping it says that the command has left.
pub(crate) struct Leaving {
    heard: Heard,
    begun: watch::Sender<Option<Leave>>,
}

/// The first signal.
#[derive(Clone)]
pub(crate) struct Heard(watch::Receiver<Option<&'static str>>);

/// A leaving that has begun.
#[derive(Debug, Clone, PartialEq)]
struct Leave {
    limit: Duration,
    /// The exit code and the text of the failure that the command leaves for; `None` where it was asked to leave.
    failure: Option<(u8, String)>,
}

/// What the thread has to do in the end.
#[derive(Debug, PartialEq)]
enum End {
    /// The command has left.
    Left,
    /// A second signal came.
    Again(&'static str),
    /// Leaving took too long.
    Overtime(Leave),
}

impl Leaving {
    /// Listens to signals from now on.
    ///
    /// # Errors
    /// [`Failure::Console`] when they cannot be received.
    pub(crate) async fn listen() -> Result<Self, Failure> {
        let (sends_heard, heard) = watch::channel(None);
        let (begun, sees_begun) = watch::channel(None);
        let (answer, answered) = oneshot::channel();
        let watching = move || watch_over(answer, sends_heard, sees_begun);
        let fails = |why: String| Failure::Console(format!("signals cannot be received: {why}"));
        thread::Builder::new().name("signals".to_owned()).spawn(watching).map_err(|error| fails(error.to_string()))?;
        match answered.await {
            Ok(Ok(())) => Ok(Self { heard: Heard(heard), begun }),
            Ok(Err(why)) => Err(fails(why)),
            Err(_) => Err(fails("their thread has ended".to_owned())),
        }
    }

    /// The first signal, for those that wait for it.
    pub(crate) fn heard(&self) -> Heard {
        self.heard.clone()
    }

    /// Leaving begins, with so much time for the processes that it ends. When the time is over, the process ends: with the exit code of
    /// this failure, or with 1.
    pub(crate) fn begin(&self, grace: Duration, failure: Option<&Failure>) {
        let failure = failure.map(|failure| (failure.exit_code(), failure.to_string()));
        self.begun.send_replace(Some(Leave { limit: LIMIT + grace, failure }));
    }
}

impl Heard {
    /// Completes with the first signal. Never when none can be heard any more, which the thread has said.
    pub(crate) async fn next(&mut self) -> &'static str {
        match self.0.wait_for(Option::is_some).await.map(|heard| *heard) {
            Ok(Some(signal)) => signal,
            _ => pending().await,
        }
    }
}

/// The thread.
fn watch_over(
    answer: oneshot::Sender<Result<(), String>>,
    heard: watch::Sender<Option<&'static str>>,
    begun: watch::Receiver<Option<Leave>>,
) {
    let listening = || {
        // With drivers of its own: those of the other runtime stand still when its threads are blocked.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let signals = runtime.block_on(async { Signals::listen() }).map_err(|error| error.to_string())?;
        Ok((runtime, signals))
    };
    let (runtime, mut signals) = match listening() {
        Ok(listening) => listening,
        Err(why) => return drop(answer.send(Err(why))),
    };
    if answer.send(Ok(())).is_err() {
        return;
    }
    let next = async |last: Option<&'static str>| match last {
        None => signals.next().await,
        Some(last) => signals.after(last).await,
    };
    let watched = catch_unwind(AssertUnwindSafe(|| runtime.block_on(watched(next, heard, begun, say))));
    match watched {
        Ok(End::Left) => {}
        Ok(End::Again(signal)) => {
            say(format!("{signal} is the second signal: the program ends at once, without leaving in order"));
            exit(code_of(signal));
        }
        Ok(End::Overtime(Leave { limit, failure })) => {
            say(format!("the program has not left within {} s: it ends without leaving in order", limit.as_secs()));
            let (code, why) = failure.unzip();
            if let Some(why) = why {
                say(format!("error: {}", crate::shown(&why)));
            }
            exit(code.map_or(1, i32::from));
        }
        Err(_) => say("signals are heard no more, by a bug: kill -9 ends the program, and nothing else".to_owned()),
    }
}

/// Tells the operator, without waiting for a reader.
fn say(text: String) {
    let _ = writeln!(patient_stderr(), "{text}");
}

/// The exit code of a process that a signal ends, as shells have it.
fn code_of(signal: &str) -> i32 {
    match signal {
        "SIGTERM" => 143,
        _ => 130,
    }
}

/// Waits for the end. `next` gives the next signal that is no repetition of the last one.
async fn watched(
    mut next: impl AsyncFnMut(Option<&'static str>) -> &'static str,
    heard: watch::Sender<Option<&'static str>>,
    mut begun: watch::Receiver<Option<Leave>>,
    say: impl Fn(String),
) -> End {
    let seen = begun.clone();
    let signals = async {
        let first = next(None).await;
        let does = if seen.borrow().is_some() { "is leaving already" } else { "leaves" };
        say(format!("{first}: the program {does}; a second signal ends it at once"));
        heard.send_replace(Some(first));
        End::Again(next(Some(first)).await)
    };
    let time = async {
        let begins = begun.wait_for(Option::is_some).await.ok().and_then(|leave| leave.clone());
        let Some(leave) = begins else { return End::Left };
        // It ends with its sender.
        match tokio::time::timeout(leave.limit, async { while begun.changed().await.is_ok() {} }).await {
            Ok(()) => End::Left,
            Err(_) => End::Overtime(leave),
        }
    };
    tokio::select! {
        biased;
        end = time => end,
        end = signals => end,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const LONG: Duration = Duration::from_secs(3_600);

    /// A leaving for a failure of its own, with so much time.
    fn leave(limit: Duration) -> Leave {
        Leave { limit, failure: Some((3, "the registry center closed the session".to_owned())) }
    }

    /// The end of a leaving while which these signals come, the first signal and what was said. Where it `leaves`, it has left when all of
    /// them were heard.
    async fn end(leave: Leave, signals: &[&'static str], leaves: bool) -> (End, Option<&'static str>, Vec<String>) {
        let (sends_heard, heard) = watch::channel(None);
        let (begun, sees_begun) = watch::channel(Some(leave));
        let (mut signals, mut begun) = (signals.iter(), Some(begun));
        let next = async |_: Option<&'static str>| match signals.next() {
            Some(signal) => *signal,
            None => {
                if leaves {
                    drop(begun.take());
                }
                pending().await
            }
        };
        let said = RefCell::new(Vec::new());
        let end = watched(next, sends_heard, sees_begun, |text| said.borrow_mut().push(text)).await;
        let first = *heard.borrow();
        (end, first, said.into_inner())
    }

    #[tokio::test]
    async fn the_second_signal_ends_it_and_the_first_one_after_a_failure_of_its_own_does_not() {
        let (ended, first, said) = end(leave(LONG), &["SIGTERM"], true).await;
        assert_eq!((ended, first), (End::Left, Some("SIGTERM")));
        assert_eq!(said, ["SIGTERM: the program is leaving already; a second signal ends it at once"]);
        let (ended, first, _) = end(leave(LONG), &["SIGTERM", "Ctrl-C"], false).await;
        assert_eq!((ended, first), (End::Again("Ctrl-C"), Some("SIGTERM")));
    }

    #[tokio::test]
    async fn leaving_takes_a_limited_time_and_the_failure_that_it_left_for_is_kept() {
        let short = leave(Duration::from_millis(1));
        assert_eq!(end(short.clone(), &["SIGTERM"], false).await.0, End::Overtime(short));
    }

    #[tokio::test]
    async fn a_command_that_has_not_begun_to_leave_has_no_limit_and_ends_with_its_sender() {
        let (sends_heard, _) = watch::channel(None);
        let (begun, sees_begun) = watch::channel(None::<Leave>);
        drop(begun);
        assert_eq!(watched(async |_| pending().await, sends_heard, sees_begun, |_| ()).await, End::Left);
    }

    #[test]
    fn the_exit_codes_are_those_of_shells() {
        assert_eq!((code_of("SIGTERM"), code_of("Ctrl-C")), (143, 130));
    }
}
