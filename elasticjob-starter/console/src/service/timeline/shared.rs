//! Timelines that pages showed a moment ago. A change of a node makes all pages read theirs again at the same time: of those that show the
//! same one reads, and the others show what it found.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use elasticjob::ident::JobName;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::{Rows, Span};
use crate::api::Problem;

/// How old a timeline is at the most when it is shown, from the begin of its reading on. What ran is in the database a few seconds
/// before a page reads it again, so that a page misses nothing of what made it read.
const KEPT: Duration = Duration::from_secs(1);

/// How many timelines are kept at the most. One of 8,000 runs takes about 1 MB.
const MOST: usize = 16;

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) jobs: Vec<JobName>,
    pub(super) times: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    /// The time around now.
    Now(Span),
    /// From a moment until another one.
    Between(i64, i64),
}

/// The timelines that pages showed a moment ago.
#[derive(Debug, Default)]
pub(crate) struct KeptTimelines(Mutex<Vec<Reading>>);

/// A timeline that is read, or was.
#[derive(Debug)]
struct Reading {
    of: Shown,
    begun: Instant,
    rows: Found,
}

/// What was found; empty while it is read.
type Found = Arc<OnceCell<Result<Arc<Rows>, Problem>>>;

impl Reading {
    /// Whether a page may show it: one that begins now, as others read it, or one that is not old. What failed is told to those alone who
    /// waited for it.
    fn is_kept(&self, now: Instant) -> bool {
        self.rows.get().is_none_or(|rows| rows.is_ok()) && now.duration_since(self.begun) < KEPT
    }
}

impl KeptTimelines {
    /// What a page shows: as another one found it, or as `read` does.
    pub(super) async fn get(
        &self,
        shown: Shown,
        read: impl Future<Output = Result<Rows, Problem>>,
    ) -> Result<Arc<Rows>, Problem> {
        let found = self.reading(shown);
        found.get_or_init(async || read.await.map(Arc::new)).await.clone()
    }

    /// The reading of this timeline that others began, or a new one.
    fn reading(&self, of: Shown) -> Found {
        let (mut readings, now) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
        readings.retain(|reading| reading.is_kept(now));
        if let Some(reading) = readings.iter().find(|reading| reading.of == of) {
            return reading.rows.clone();
        }
        if readings.len() >= MOST {
            readings.remove(0);
        }
        let rows = Found::default();
        readings.push(Reading { of, begun: now, rows: rows.clone() });
        rows
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;

    use tokio::time::{advance, sleep, timeout};

    use super::*;
    use crate::texts;

    const NOW: Times = Times::Now(Span::Hour);

    /// A database that needs half the time for which a timeline is kept, and numbers its answers.
    #[derive(Default)]
    struct Database {
        kept: KeptTimelines,
        answers: Cell<i64>,
        is_away: Cell<bool>,
    }

    impl Database {
        /// The number of the answer that a page shows; `None` where it shows a problem.
        async fn page(&self, job: &str, times: Times) -> Option<i64> {
            let read = async {
                sleep(KEPT / 2).await;
                self.answers.set(self.answers.get() + 1);
                match self.is_away.get() {
                    true => Err(Problem::bad_request(texts::no_other_registry())),
                    false => Ok(Rows { from: 0, until: 0, now: self.answers.get(), jobs: Vec::new() }),
                }
            };
            let shown = Shown { jobs: vec![JobName::new(job).expect("a name")], times };
            Some(self.kept.get(shown, read).await.ok()?.now)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pages_that_show_the_same_read_it_once() {
        let database = Database::default();
        let page = |job, times| database.page(job, times);
        let (first, second, other, past) =
            tokio::join!(page("a", NOW), page("a", NOW), page("b", NOW), page("a", Times::Between(0, 1)));
        assert_eq!(first, second);
        let all = BTreeSet::from([first, other, past]);
        assert_eq!(all, BTreeSet::from([Some(1), Some(2), Some(3)]), "other jobs and other times are others");
        advance(KEPT / 4).await;
        assert_eq!(page("a", NOW).await, first, "it was read a moment ago");
        advance(KEPT / 4).await;
        assert_eq!(page("a", NOW).await, Some(4), "it is old");
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_comes_late_does_not_wait_for_a_reading_that_began_long_ago() {
        let database = Database::default();
        let slow = async {
            let of = Shown { jobs: vec![JobName::new("a").expect("a name")], times: NOW };
            let read = async {
                sleep(KEPT * 2).await;
                Ok(Rows { from: 0, until: 0, now: 0, jobs: Vec::new() })
            };
            database.kept.get(of, read).await.expect("it answers").now
        };
        let late = async {
            sleep(KEPT).await;
            database.page("a", NOW).await
        };
        assert_eq!(tokio::join!(slow, late), (0, Some(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_leaves_takes_nothing_from_the_others() {
        let database = Database::default();
        let leaves = timeout(KEPT / 4, database.page("a", NOW));
        let (left, shown) = tokio::join!(leaves, database.page("a", NOW));
        assert_eq!((left.ok(), shown), (None, Some(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_problem_is_told_to_those_who_waited_and_is_not_kept() {
        let database = Database { is_away: Cell::new(true), ..Database::default() };
        let page = || database.page("a", NOW);
        assert_eq!(tokio::join!(page(), page()), (None, None));
        assert_eq!(database.answers.get(), 1, "they were told together");
        database.is_away.set(false);
        assert_eq!(page().await, Some(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_bounded_number_is_kept() {
        let database = Database::default();
        let times = |number| Times::Between(number, number + 1);
        let pages = (0..MOST as i64 + 1).map(|number| database.page("a", times(number)));
        let shown = futures_util::future::join_all(pages).await;
        assert_eq!(shown, (1..MOST as i64 + 2).map(Some).collect::<Vec<_>>());
        assert_eq!(database.page("a", times(MOST as i64)).await, Some(MOST as i64 + 1));
        assert_eq!(database.page("a", times(0)).await, Some(MOST as i64 + 2), "the first one made room");
    }
}
