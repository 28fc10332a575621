//! A command that serves until a signal, which may come during its start.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::registry::{RegistryCenter, SessionState};
use elasticjob::trace::Tracing;
#[cfg(all(feature = "cloud", unix))]
use elasticjob_cloud::scheduler::Scheduler;
use elasticjob_console::{Console as WebConsole, FirstPassword};
use tokio::task::JoinSet;

use crate::Console;
use crate::failure::Failure;
use crate::leaving::{Heard, Leaving};

/// What a command has to leave when it ends, as far as its start came.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) centers: Vec<Arc<dyn RegistryCenter>>,
    pub(crate) recordings: Vec<Tracing>,
    #[cfg(all(feature = "cloud", unix))]
    pub(crate) scheduler: Option<Arc<Scheduler>>,
}

impl Held {
    /// How long the processes that are ended with the command may take.
    fn grace(&self) -> Duration {
        #[cfg(all(feature = "cloud", unix))]
        if let Some(scheduler) = &self.scheduler {
            return scheduler.shutdown_grace();
        }
        Duration::ZERO
    }

    async fn leave(self) {
        #[cfg(all(feature = "cloud", unix))]
        if let Some(scheduler) = self.scheduler {
            scheduler.shutdown().await;
        }
        for center in self.centers {
            center.close().await;
        }
        for recording in self.recordings {
            recording.close(crate::audit_writer::WRITE_LIMIT).await;
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
        Ok(Ok(ready)) => Box::pin(serve(ready, &held.centers, heard, console)).await,
        Ok(Err(failure)) => Err(failure),
        Err(signal) => {
            let _ = writeln!(console.stderr, "{signal} during the start: the program ends");
            Ok(())
        }
    };
    leaving.begin(held.grace(), served.as_ref().err());
    held.leave().await;
    served.map(|()| String::new())
}

/// Serves until the program is asked to end, or a registry center ends its session.
async fn serve(
    Ready { web, first }: Ready,
    centers: &[Arc<dyn RegistryCenter>],
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
    for center in centers {
        let mut session = center.session();
        // An error means that the sender is gone, so no change will come.
        closed.spawn(async move { drop(session.wait_for(|state| *state == SessionState::Closed).await) });
    }
    let end = async move {
        tokio::select! {
            _ = heard.next() => {}
            _ = closed.join_next() => {}
        }
    };
    listening.serve(end).await;
    match centers.iter().any(|center| *center.session().borrow() == SessionState::Closed) {
        true => Err(Failure::Watch("the registry center closed the session".to_owned())),
        false => Ok(()),
    }
}
