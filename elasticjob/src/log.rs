//! The only way in which the library logs: whatever the subscriber of the program does, it never stops the library.
//!
//! A subscriber is code of the program. It may panic: by a bug of its own, or because the file or the pipe that it
//! writes to is broken. A panic that unwound from here would end the task that logs, and with it the coordination of a
//! job, the session with the registry center, or the timers of all jobs. So the library never calls the macros of
//! `tracing`. The macros here have the same names and arguments, and drop a line when the subscriber panics.
//!
//! It may also wait: for a pipe whose reader reads no more, for a file on a server that is gone. The thread of the
//! coordination must not wait with it, as it ends runs before their session ends. So what that thread logs is handed to a
//! thread of its own, see `background`.

mod background;
mod run_span;

#[cfg(test)]
pub(crate) use self::background::drain;
pub use self::background::{apart, is_off, written};
pub(crate) use self::run_span::RunSpan;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many lines were lost to panics of subscribers.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Logs a line. A panic of the subscriber ends here; the line is lost then, and counted.
pub fn guarded(log: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(log)).is_err() {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of lines of this process that were lost to panics of the subscriber.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

#[doc(hidden)]
#[macro_export]
macro_rules! __error {
    ($($line:tt)*) => { $crate::__private::log::guarded(|| $crate::__private::tracing::error!($($line)*)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __warn {
    ($($line:tt)*) => { $crate::__private::log::guarded(|| $crate::__private::tracing::warn!($($line)*)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __info {
    ($($line:tt)*) => { $crate::__private::log::guarded(|| $crate::__private::tracing::info!($($line)*)) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __debug {
    ($($line:tt)*) => { $crate::__private::log::guarded(|| $crate::__private::tracing::debug!($($line)*)) };
}

pub use crate::{__debug as debug, __error as error, __info as info, __warn as warn};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_log::Panicking;

    #[test]
    fn a_subscriber_that_panics_costs_its_line_and_nothing_else() {
        let subscriber = Panicking::always();
        let before = dropped();
        tracing::subscriber::with_default(subscriber.clone(), || {
            info!(job = "settle", "registered");
            error!("{}", "it failed");
        });
        assert_eq!(subscriber.lines(), 2, "it was asked for both");
        assert!(dropped() >= before + 2);
    }
}
