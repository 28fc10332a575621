//! `elasticjob status --watch`: written again whenever something changes.

use std::future::poll_fn;
use std::io::Write;
use std::task::Poll;

use elasticjob::ident::JobName;
use elasticjob::operations::Operations;
use elasticjob::registry::WatchStream;
use elasticjob::registry::path::JobPath;

use crate::failure::Failure;
use crate::status::render;

/// Clears the screen and goes to its top.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Writes the status of a job now and after each change, until Ctrl-C or until nobody reads it any more.
pub(crate) async fn watch(
    operations: &Operations,
    job: &JobName,
    as_json: bool,
    stdout: &mut (dyn Write + Send),
) -> Result<String, Failure> {
    let mut changes = operations.registry().watch(&JobPath::Root.absolute(job));
    let follow = async {
        loop {
            if !changed(changes.as_mut()).await {
                return Err(Failure::Watch("the registry center closed the session".to_owned()));
            }
            let text = render(&operations.snapshot(job).await?, as_json);
            let clear = if as_json { "" } else { CLEAR };
            if stdout.write_all(format!("{clear}{text}").as_bytes()).and_then(|()| stdout.flush()).is_err() {
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
