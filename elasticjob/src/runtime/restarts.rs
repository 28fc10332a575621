//! Counts how often the coordination of a job is started again after it ended by a bug.

use std::time::Duration;

use tokio::time::Instant;

/// The most restarts in a row.
const MOST: u32 = 5;

/// After the coordination has gone well for this long, the next end starts a new row.
const QUIET: Duration = Duration::from_mins(10);

/// The restarts of one job.
#[derive(Debug)]
pub(super) struct Restarts {
    /// The pause before the first start; doubled with each that follows.
    first: Duration,
    in_a_row: u32,
    last: Option<Instant>,
}

impl Restarts {
    pub(super) fn new(first: Duration) -> Self {
        Self { first, in_a_row: 0, last: None }
    }

    /// The pause until the next start. `None` when there were enough restarts in a row.
    pub(super) fn next(&mut self, now: Instant) -> Option<Duration> {
        if self.last.is_some_and(|last| now.duration_since(last) >= QUIET) {
            self.in_a_row = 0;
        }
        self.last = Some(now);
        self.in_a_row += 1;
        (self.in_a_row <= MOST).then(|| self.first * (1 << (self.in_a_row - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_it_was_often_enough_and_begin_again_after_a_quiet_time() {
        let mut restarts = Restarts::new(Duration::from_secs(1));
        let mut now = Instant::now();
        let mut pauses = || {
            let pause = restarts.next(now);
            now += Duration::from_secs(60);
            pause.map(|pause| pause.as_secs())
        };
        assert_eq!([pauses(), pauses(), pauses(), pauses(), pauses()], [Some(1), Some(2), Some(4), Some(8), Some(16)]);
        assert_eq!([pauses(), pauses()], [None, None]);
        now += QUIET;
        assert_eq!(restarts.next(now), Some(Duration::from_secs(1)));
    }
}
