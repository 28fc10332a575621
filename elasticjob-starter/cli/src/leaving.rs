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
use tokio::time::{Instant, timeout_at};

use crate::failure::Failure;

/// The time for leaving, besides the grace of processes that it ends. One after the other come, at the most, 10 s for answers that are
/// under way, 4 s for the data file, 7 s for a scheduler, and 5 s for registry centers and databases. All of it is less than the 30 s
/// after which Kubernetes kills a pod.
const LIMIT: Duration = Duration::from_secs(28);

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
    since: Instant,
    /// The time for the processes that it ends.
    grace: Duration,
    /// The parts that are not done, by the names that an operator knows.
    rest: Vec<String>,
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
    /// this failure, or with 1, and says what of the `rest` is not [done](Self::done). Called again it goes on, with this grace and
    /// failure.
    pub(crate) fn begin(&self, grace: Duration, failure: Option<&Failure>, rest: impl IntoIterator<Item = String>) {
        let failure = failure.map(|failure| (failure.exit_code(), failure.to_string()));
        self.begun.send_modify(|begun| match begun {
            Some(leave) => (leave.grace, leave.failure) = (grace, failure),
            None => *begun = Some(Leave { since: Instant::now(), grace, rest: rest.into_iter().collect(), failure }),
        });
    }

    /// A part of leaving is done.
    pub(crate) fn done(&self, part: &str) {
        self.begun.send_modify(|begun| {
            let Some(Leave { rest, .. }) = begun else { return };
            if let Some(at) = rest.iter().position(|left| left == part) {
                rest.remove(at);
            }
        });
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

impl Leave {
    fn limit(&self) -> Duration {
        LIMIT + self.grace
    }

    fn overtime(&self) -> String {
        let seconds = self.limit().as_secs();
        let rest = if self.rest.is_empty() { String::new() } else { format!("; not done: {}", self.rest.join(", ")) };
        format!("the program has not left within {seconds} s: it ends without leaving in order{rest}")
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
        Ok(End::Overtime(leave)) => {
            say(leave.overtime());
            let (code, why) = leave.failure.unzip();
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
        loop {
            let leave = begun.borrow_and_update().clone();
            let changed = match &leave {
                None => begun.changed().await,
                Some(leave) => match timeout_at(leave.since + leave.limit(), begun.changed()).await {
                    Ok(changed) => changed,
                    Err(_) => return End::Overtime(leave.clone()),
                },
            };
            // It ends with its sender.
            if changed.is_err() {
                return End::Left;
            }
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

    impl Leaving {
        /// One that no thread watches over.
        pub(crate) fn unwatched() -> Self {
            Self { heard: Heard(watch::channel(None).1), begun: watch::channel(None).0 }
        }

        /// The parts that are not done.
        pub(crate) fn rest(&self) -> Vec<String> {
            self.begun.borrow().iter().flat_map(|leave| leave.rest.clone()).collect()
        }
    }

    fn failure() -> Failure {
        Failure::Watch("the registry center closed the session".to_owned())
    }

    fn rest(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The end of a leaving while which these signals come, the first signal and what was said. Where it `leaves`, it has left when all of
    /// them were heard.
    async fn end(signals: &[&'static str], leaves: bool) -> (End, Option<&'static str>, Vec<String>) {
        let (sends_heard, heard) = watch::channel(None);
        let leaving = Leaving::unwatched();
        leaving.begin(Duration::ZERO, Some(&failure()), rest(&["the scheduler"]));
        let (sees_begun, mut signals, mut leaving) = (leaving.begun.subscribe(), signals.iter(), Some(leaving));
        let next = async |_: Option<&'static str>| match signals.next() {
            Some(signal) => *signal,
            None => {
                if leaves {
                    drop(leaving.take());
                }
                pending().await
            }
        };
        let said = RefCell::new(Vec::new());
        let end = watched(next, sends_heard, sees_begun, |text| said.borrow_mut().push(text)).await;
        let first = *heard.borrow();
        (end, first, said.into_inner())
    }

    #[tokio::test(start_paused = true)]
    async fn the_second_signal_ends_it_and_the_first_one_after_a_failure_of_its_own_does_not() {
        let (ended, first, said) = end(&["SIGTERM"], true).await;
        assert_eq!((ended, first), (End::Left, Some("SIGTERM")));
        assert_eq!(said, ["SIGTERM: the program is leaving already; a second signal ends it at once"]);
        let (ended, first, _) = end(&["SIGTERM", "Ctrl-C"], false).await;
        assert_eq!((ended, first), (End::Again("Ctrl-C"), Some("SIGTERM")));
    }

    /// The leaving that took too long and its time, where it has so much grace and does this meanwhile.
    async fn overtime(grace: Duration, meanwhile: impl AsyncFnOnce(&Leaving)) -> (Leave, Duration) {
        let leaving = Leaving::unwatched();
        let (sends_heard, _) = watch::channel(None);
        let begun = Instant::now();
        leaving.begin(grace, None, rest(&["the data file /data", "the scheduler"]));
        let watched = watched(async |_| pending().await, sends_heard, leaving.begun.subscribe(), |_| ());
        let (end, ()) = tokio::join!(watched, meanwhile(&leaving));
        let End::Overtime(leave) = end else { panic!("{end:?}") };
        (leave, begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_for_leaving_counts_from_its_begin_whatever_is_done_meanwhile() {
        let second = Duration::from_secs(1);
        let (leave, passed) = overtime(second, async |leaving| {
            tokio::time::sleep(20 * second).await;
            leaving.done("the data file /data");
        })
        .await;
        assert_eq!((passed, leave.rest.clone()), (LIMIT + second, rest(&["the scheduler"])));
        let told = leave.overtime();
        assert!(told.contains("within 29 s") && told.ends_with("; not done: the scheduler"), "{told}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_leaving_that_is_begun_again_has_the_later_grace_and_failure_and_the_first_begin() {
        let second = Duration::from_secs(1);
        let (leave, passed) = overtime(second, async |leaving| {
            tokio::time::sleep(20 * second).await;
            leaving.begin(5 * second, Some(&failure()), rest(&["anything else"]));
        })
        .await;
        assert_eq!(passed, LIMIT + 5 * second);
        assert_eq!(leave.rest, ["the data file /data", "the scheduler"]);
        assert_eq!(leave.failure, Some((failure().exit_code(), failure().to_string())));
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_that_has_not_begun_to_leave_has_no_limit_and_ends_with_its_sender() {
        let (sends_heard, _) = watch::channel(None);
        let leaving = Leaving::unwatched();
        let sees_begun = leaving.begun.subscribe();
        let ends = async {
            tokio::time::sleep(100 * LIMIT).await;
            drop(leaving);
        };
        let (end, ()) = tokio::join!(watched(async |_| pending().await, sends_heard, sees_begun, |_| ()), ends);
        assert_eq!(end, End::Left);
    }

    #[test]
    fn the_exit_codes_are_those_of_shells() {
        assert_eq!((code_of("SIGTERM"), code_of("Ctrl-C")), (143, 130));
    }
}
