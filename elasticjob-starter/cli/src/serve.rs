//! A command that serves until a signal, which may come during its start.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::{RegistryCenter, SessionState};
use elasticjob::trace::Tracing;
#[cfg(all(feature = "cloud", unix))]
use elasticjob_cloud::scheduler::Scheduler;
use elasticjob_console::{Console as WebConsole, FirstPassword};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::Console;
use crate::failure::Failure;
use crate::leaving::{Heard, Leaving};

/// What a command has to leave when it ends, as far as its start came.
#[derive(Default)]
pub(crate) struct Held {
    /// The data file of the console, where it has one.
    pub(crate) data: Option<PathBuf>,
    pub(crate) centers: Vec<HeldCenter>,
    pub(crate) recordings: Vec<HeldRecording>,
    #[cfg(all(feature = "cloud", unix))]
    pub(crate) scheduler: Option<Arc<Scheduler>>,
}

/// A registry center with its name.
pub(crate) struct HeldCenter {
    pub(crate) name: String,
    pub(crate) center: Arc<dyn RegistryCenter>,
}

/// A tracing with the name of its database.
pub(crate) struct HeldRecording {
    pub(crate) at: String,
    pub(crate) tracing: Tracing,
}

impl HeldCenter {
    fn part(&self) -> String {
        format!("the registry center '{}'", self.name)
    }
}

impl HeldRecording {
    fn part(&self) -> String {
        format!("the records for {}", self.at)
    }
}

/// The part of leaving that ends the scheduler, by its name.
#[cfg(all(feature = "cloud", unix))]
const SCHEDULER: &str = "the scheduler";

impl Held {
    /// How long the processes that are ended with the command may take.
    fn grace(&self) -> Duration {
        #[cfg(all(feature = "cloud", unix))]
        if let Some(scheduler) = &self.scheduler {
            return scheduler.shutdown_grace();
        }
        Duration::ZERO
    }

    /// # Errors
    /// [`Failure::Watch`] where a registry center has ended its session.
    fn session_ended(&self) -> Result<(), Failure> {
        match self.centers.iter().any(|held| *held.center.session().borrow() == SessionState::Closed) {
            true => Err(Failure::Watch("the registry center closed the session".to_owned())),
            false => Ok(()),
        }
    }

    /// The part of leaving that answers the last requests and writes their effects, by its name.
    fn requests(&self) -> String {
        match &self.data {
            Some(data) => format!("answers that are under way, the data file {}", data.display()),
            None => "answers that are under way".to_owned(),
        }
    }

    /// The other parts of leaving, by their names.
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        #[cfg(all(feature = "cloud", unix))]
        parts.extend(self.scheduler.iter().map(|_| SCHEDULER.to_owned()));
        parts.extend(self.centers.iter().map(HeldCenter::part));
        parts.extend(self.recordings.iter().map(HeldRecording::part));
        parts
    }

    /// Leaves. The scheduler goes first, as its jobs need the others until they have left. Those wait for nothing but their own
    /// servers, so that several that do not answer cost the time of one.
    async fn leave(self, leaving: &Leaving, mut say: impl FnMut(String)) {
        #[cfg(all(feature = "cloud", unix))]
        if let Some(scheduler) = self.scheduler {
            scheduler.shutdown().await;
            leaving.done(SCHEDULER);
        }
        let mut closing = JoinSet::new();
        for held in self.centers {
            closing.spawn(async move {
                held.center.close().await;
                (held.part(), 0)
            });
        }
        for recording in self.recordings {
            closing.spawn(async move {
                let lost = recording.tracing.close(crate::audit_writer::WRITE_LIMIT).await;
                (recording.part(), lost)
            });
        }
        while let Some(closed) = closing.join_next().await {
            // One that panicked is not done.
            let Ok((part, lost)) = closed else { continue };
            leaving.done(&part);
            if lost > 0 {
                say(format!("{part} were not all written in time: {lost} are lost"));
            }
        }
    }
}

/// A console that can listen, and the login to tell the operator.
pub(crate) struct Ready {
    pub(crate) web: WebConsole,
    pub(crate) first: Option<FirstPassword>,
}

/// Starts, and serves until SIGTERM or Ctrl-C. The start is dropped where a signal comes first, as a registry center or a database
/// may keep it waiting: what it has made by then has to be in [`Held`]. A start that has ended counts: it may have made a password that is shown
/// once.
///
/// A second signal, and a leaving that takes too long, end the process.
pub(crate) async fn until_signal(
    start: impl AsyncFnOnce(&mut Held, &mut Console<'_>) -> Result<Ready, Failure>,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let leaving = Leaving::listen().await?;
    let mut heard = leaving.heard();
    let mut held = Held::default();
    // On the heap: its state is large for the stack of a thread.
    let starting = Box::pin(start(&mut held, console));
    let started = tokio::select! {
        biased;
        signal = heard.next() => Err(signal),
        started = starting => Ok(started),
    };
    let served = match started {
        Ok(Ok(ready)) => Box::pin(serve(ready, &held, &leaving, heard, console)).await,
        Ok(Err(failure)) => Err(failure),
        Err(signal) => {
            let _ = writeln!(console.stderr, "{signal} during the start: the program ends");
            Ok(())
        }
    };
    leaving.begin(held.grace(), served.as_ref().err(), held.parts());
    let say = |text: String| drop(writeln!(console.stderr, "{text}"));
    held.leave(&leaving, say).await;
    served.map(|()| String::new())
}

/// Serves until the program is asked to end, or a registry center ends its session. Leaving begins with that: the time for answers that
/// are under way is a part of its time.
async fn serve(
    Ready { web, first }: Ready,
    held: &Held,
    leaving: &Leaving,
    mut heard: Heard,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let listening = web.listen().await?;
    let mut say = |text: String| {
        let _ = writeln!(console.stderr, "{text}");
    };
    say(format!("the console is at {}", listening.url()));
    if let Some(first) = first {
        say(format!("log in as {} with the password {}", first.user, first.password));
        let until = match first.kept {
            true => "it is shown only once: the data file keeps the user; the page Settings, Users changes it",
            false => "it holds until the console ends; elasticjob.console-users or --data FILE has users that stay",
        };
        say(until.to_owned());
    }
    let mut closed = JoinSet::new();
    for held in &held.centers {
        let mut session = held.center.session();
        // An error means that the sender is gone, so no change will come.
        closed.spawn(async move { drop(session.wait_for(|state| *state == SessionState::Closed).await) });
    }
    let (ends, ended) = oneshot::channel();
    let asked = async {
        tokio::select! {
            _ = heard.next() => {}
            _ = closed.join_next() => {}
        }
        leaving.begin(
            held.grace(),
            held.session_ended().err().as_ref(),
            [vec![held.requests()], held.parts()].concat(),
        );
        // The listener goes on until it hears of it.
        let _ = ends.send(());
    };
    tokio::join!(listening.serve(async move { drop(ended.await) }), asked);
    leaving.done(&held.requests());
    held.session_ended()
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use elasticjob::ident::JobName;
    use elasticjob::registry::memory::MemoryRegistry;
    use elasticjob::registry::{
        Answer, CommitError, Committed, NodeData, Proof, RequestCount, Transaction, WatchEvent, WatchStream,
    };
    use elasticjob::trace::{
        DecisionKind, JobDecisionEvent, JobEvent, TracingConfiguration, TracingStorage, WriteError,
    };
    use tokio::runtime::Handle;
    use tokio::sync::watch;
    use tokio::time::Instant;

    use super::*;

    /// The time that a registry center that is lost takes to close.
    const CLOSE: Duration = Duration::from_secs(5);

    /// A registry center that answers nothing and takes its time to close; a database that answers nothing.
    #[derive(Debug)]
    struct Silent;

    impl WatchStream for Silent {
        fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
            Poll::Pending
        }
    }

    impl RegistryCenter for Silent {
        fn get(&self, _: &str) -> Answer<Option<NodeData>> {
            Box::pin(pending())
        }

        fn children(&self, _: &str) -> Answer<Option<Vec<String>>> {
            Box::pin(pending())
        }

        fn commit(&self, _: Transaction) -> Answer<Committed, CommitError> {
            Box::pin(pending())
        }

        fn watch(&self, _: &str) -> Box<dyn WatchStream> {
            Box::new(Self)
        }

        fn session(&self) -> watch::Receiver<SessionState> {
            watch::channel(SessionState::Connecting).1
        }

        fn proof(&self) -> Option<Proof> {
            None
        }

        fn requests(&self) -> RequestCount {
            RequestCount::default()
        }

        fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
            Box::pin(tokio::time::sleep(CLOSE))
        }
    }

    impl TracingStorage for Silent {
        fn type_name(&self) -> &str {
            "SILENT"
        }

        async fn write(&self, _: &[JobEvent]) -> Result<(), WriteError> {
            pending().await
        }
    }

    /// A database that takes everything at once.
    struct Fast;

    impl TracingStorage for Fast {
        fn type_name(&self) -> &str {
            "FAST"
        }

        fn write(&self, _: &[JobEvent]) -> impl Future<Output = Result<(), WriteError>> {
            ready(Ok(()))
        }
    }

    /// A tracing with a record that waits.
    fn recording(at: &str, storage: impl TracingStorage) -> HeldRecording {
        let tracing = Tracing::start(TracingConfiguration::new(storage), &Handle::current());
        let job = JobName::new("work").expect("a name");
        tracing.post(JobEvent::Decision(JobDecisionEvent::new(job, DecisionKind::Operator)));
        HeldRecording { at: at.to_owned(), tracing }
    }

    #[tokio::test(start_paused = true)]
    async fn servers_that_do_not_answer_are_left_at_the_same_time_and_told_by_name() {
        let center = |name: &str| HeldCenter { name: name.to_owned(), center: Arc::new(Silent) };
        let held = Held {
            centers: vec![center("default"), center("second")],
            recordings: vec![recording("silent", Silent), recording("fast", Fast), recording("deaf", Silent)],
            ..Held::default()
        };
        let leaving = Leaving::unwatched();
        leaving.begin(held.grace(), None, held.parts());
        assert_eq!(leaving.rest().len(), 5);
        let (begun, mut said) = (Instant::now(), Vec::new());
        held.leave(&leaving, |text| said.push(text)).await;
        // Each of them takes 5 s by itself.
        let passed = begun.elapsed();
        assert!((CLOSE..CLOSE + Duration::from_millis(100)).contains(&passed), "{passed:?}");
        assert_eq!(leaving.rest(), Vec::<String>::new());
        said.sort_unstable();
        let lost = |at: &str| format!("the records for {at} were not all written in time: 1 are lost");
        assert_eq!(said, [lost("deaf"), lost("silent")]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_closed_so_far_is_known_by_name() {
        let fast = HeldCenter { name: "fast".to_owned(), center: Arc::new(MemoryRegistry::new().connect()) };
        let silent = HeldCenter { name: "silent".to_owned(), center: Arc::new(Silent) };
        let held = Held { data: Some(PathBuf::from("/data")), centers: vec![fast, silent], ..Held::default() };
        let leaving = Leaving::unwatched();
        leaving.begin(held.grace(), None, [vec![held.requests()], held.parts()].concat());
        assert_eq!(leaving.rest()[0], "answers that are under way, the data file /data");
        leaving.done(&held.requests());
        let left = tokio::time::timeout(CLOSE / 2, held.leave(&leaving, |_| ())).await;
        assert!(left.is_err());
        assert_eq!(leaving.rest(), ["the registry center 'silent'"]);
    }
}
