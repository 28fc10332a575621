//! `elasticjob status --watch`: written again whenever something changes.

use std::future::poll_fn;
use std::task::Poll;

use elasticjob::ident::JobName;
use elasticjob::operations::Operations;
use elasticjob::registry::WatchStream;
use elasticjob::registry::path::JobPath;

use crate::Console;
use crate::failure::Failure;
use crate::status::render;

/// Clears the screen and goes to its top.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Writes the status of a job now and after each change, until Ctrl-C or until nobody reads it any more. Waits while the
/// registry center is away.
pub(crate) async fn watch(
    operations: &Operations,
    job: &JobName,
    as_json: bool,
    console: &mut Console<'_>,
) -> Result<String, Failure> {
    let mut changes = operations.registry().watch(&JobPath::Root.absolute(job));
    let follow = async {
        loop {
            if !changed(changes.as_mut()).await {
                return Err(Failure::Watch("the registry center closed the session".to_owned()));
            }
            let text = match operations.snapshot(job).await {
                Ok(snapshot) => render(&snapshot, as_json),
                // The watch tells when it is back.
                Err(error) if error.is_unreachable() => {
                    let _ = writeln!(console.stderr, "waiting for the registry center: {error}");
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let text = match (as_json, console.is_terminal) {
                (true, _) => text,
                (false, true) => format!("{CLEAR}{text}"),
                (false, false) => text + "\n",
            };
            if console.stdout.write_all(text.as_bytes()).and_then(|()| console.stdout.flush()).is_err() {
                return Ok(String::new());
            }
        }
    };
    tokio::select! {
        ended = follow => ended,
        signal = tokio::signal::ctrl_c() => match signal {
            Ok(()) => Ok(String::new()),
            Err(error) => Err(Failure::Watch(error.to_string())),
        },
    }
}

/// Waits for a change and takes all that are there: one look shows them together. False when there will be none.
async fn changed(changes: &mut dyn WatchStream) -> bool {
    poll_fn(|cx| {
        let mut seen = false;
        loop {
            match changes.poll_next(cx) {
                Poll::Ready(Some(_)) => seen = true,
                Poll::Ready(None) => return Poll::Ready(seen),
                Poll::Pending if seen => return Poll::Ready(true),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}
