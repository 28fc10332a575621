//! A wait for a start, as it is seen again and again, and when it is told.

/// What waits so long for its first start, in milliseconds, is told: most start sooner.
pub(super) const LONG: i64 = 10_000;

/// Another reason is told when it has stood for so long, in milliseconds: some say at each moment how much is free.
pub(super) const STEADY: i64 = 5_000;

/// A wait for a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    /// What it waits for.
    why: String,
    /// Since when it waits, in milliseconds since 1970.
    since: i64,
    /// Since when it waits for that.
    stands: i64,
    /// The reason that is told.
    told: Option<String>,
}

impl Wait {
    /// It is seen for the first time.
    pub(super) fn new(why: String, now: i64) -> Self {
        Self { why, since: now, stands: now, told: None }
    }

    /// It is seen again. From `long` milliseconds on it is told.
    pub(super) fn see(&mut self, why: String, now: i64, long: i64) {
        if self.why != why {
            (self.why, self.stands) = (why, now);
        }
        if now - self.since >= long && (self.told.is_none() || now - self.stands >= STEADY) {
            self.told = Some(self.why.clone());
        }
    }

    /// Since when it waits, in milliseconds since 1970.
    pub(super) fn since(&self) -> i64 {
        self.since
    }

    /// The reason that is told, once it has waited for long.
    pub(super) fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }
}
