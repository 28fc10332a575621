//! The start of a command that serves until a signal, which may come during the start.

use elasticjob_starter::__private::Signals;

use crate::Console;
use crate::failure::Failure;

/// Listens to SIGTERM and Ctrl-C from now on.
pub(crate) fn signals() -> Result<Signals, Failure> {
    Signals::listen().map_err(|error| Failure::Console(error.to_string()))
}

/// What the start comes to. A signal that comes first is the error: the start is dropped then, as a registry center or a database
/// may keep it waiting.
pub(crate) async fn unless_signalled<T>(
    signals: &mut Signals,
    start: impl Future<Output = T>,
) -> Result<T, &'static str> {
    tokio::select! {
        biased;
        started = start => Ok(started),
        signal = signals.next() => Err(signal),
    }
}

/// Says why it ends without having served.
pub(crate) fn tell(signal: &str, console: &mut Console<'_>) {
    let _ = writeln!(console.stderr, "{signal} during the start: the program ends");
}
