//! The signals that end a program.

#[cfg(unix)]
use std::io;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::AppError;

/// A signal that is repeated within this time counts as one: `timeout` and some supervisors send one to the process and
/// one to its group.
const REPEATED: Duration = Duration::from_secs(1);

/// SIGTERM and Ctrl-C, from the moment when they are listened to.
#[cfg(unix)]
#[derive(Debug)]
pub struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on: they end the process by themselves no more.
    ///
    /// # Errors
    /// [`AppError::Signals`] when they cannot be received.
    pub fn listen() -> Result<Self, AppError> {
        Self::try_listen().map_err(AppError::Signals)
    }

    fn try_listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The name of the next signal.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "Ctrl-C",
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Ctrl-C is listened to by each [`next`](Self::next).
    ///
    /// # Errors
    /// None.
    pub fn listen() -> Result<Self, AppError> {
        Ok(Self)
    }

    /// The name of the next signal.
    pub async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            // No signal can be received: the operating system has to end the program.
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}

impl Signals {
    /// The name of the next signal that is not a repetition of `last`.
    pub async fn after(&mut self, last: &str) -> &'static str {
        let until = Instant::now() + REPEATED;
        loop {
            match timeout_at(until, self.next()).await {
                Ok(signal) if signal == last => {}
                Ok(signal) => return signal,
                Err(_) => return self.next().await,
            }
        }
    }
}
