//! The turns of reads: as many statements read at a time as there are connections for them, and the others wait in their
//! order. So a full queue is told from a database that is away.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use elasticjob_syntax::message::Message;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// How long a statement waits for its turn. The statements before it end sooner, unless they read very much. A read of two
/// statements is over before a console gives it up, after 15 s.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The turns of one pool.
pub(super) struct Turns {
    free: Semaphore,
    /// Why the last statement that had a turn got no connection; `None` when it got one.
    away: Mutex<Option<Message>>,
}

/// Why a statement got no turn in time.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// Those before it read.
    Busy,
    /// Those before it wait for a database that is away: the reason.
    Away(Message),
}

impl Turns {
    /// One turn for each connection, and at least one.
    pub(super) fn new(connections: u32) -> Self {
        let connections = usize::try_from(connections).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Semaphore::new(connections), away: Mutex::default() }
    }

    /// Waits for a turn, which ends when it is dropped. A statement that is given up while it waits leaves the queue.
    ///
    /// # Errors
    /// [`NoTurn`] after [`LONGEST_WAIT`].
    pub(super) async fn take(&self) -> Result<SemaphorePermit<'_>, NoTurn> {
        match timeout(LONGEST_WAIT, self.free.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            // It is never closed, so the time is over.
            Ok(Err(_)) | Err(_) => Err(self.away().clone().map_or(NoTurn::Busy, NoTurn::Away)),
        }
    }

    /// Notes whether a statement that had its turn got a connection, and if not, why.
    pub(super) fn note(&self, away: Option<Message>) {
        *self.away() = away;
    }

    fn away(&self) -> MutexGuard<'_, Option<Message>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_turn_comes_in_the_order_of_the_asking() {
        let turns = Turns::new(1);
        let first = turns.take().await.expect("it is free");
        let (mut second, mut third) = (pin!(turns.take()), pin!(turns.take()));
        for waiting in [second.as_mut(), third.as_mut()] {
            assert!(timeout(Duration::from_secs(1), waiting).await.is_err(), "the only turn is taken");
        }
        drop(first);
        assert!(timeout(Duration::from_secs(1), third.as_mut()).await.is_err(), "the second comes first");
        drop(second.await.expect("it is the next one"));
        assert!(third.await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_statement_that_is_given_up_leaves_the_queue_and_gives_its_turn_back() {
        let turns = Turns::new(1);
        let first = turns.take().await.expect("it is free");
        assert!(timeout(Duration::from_secs(1), turns.take()).await.is_err(), "it is given up while it waits");
        let reads = async {
            let _turn = first;
            std::future::pending::<()>().await;
        };
        assert!(timeout(Duration::from_secs(1), reads).await.is_err(), "it is given up while it reads");
        let begun = Instant::now();
        assert!(turns.take().await.is_ok());
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_and_tells_a_full_queue_from_a_database_that_is_away() {
        let turns = Turns::new(0);
        let taken = turns.take().await.expect("there is at least one");
        let begun = Instant::now();
        assert_eq!(turns.take().await.err(), Some(NoTurn::Busy));
        assert_eq!(begun.elapsed(), LONGEST_WAIT);
        turns.note(Some("refused".into()));
        assert_eq!(turns.take().await.err(), Some(NoTurn::Away("refused".into())));
        turns.note(None);
        assert_eq!(turns.take().await.err(), Some(NoTurn::Busy), "it came back");
        drop(taken);
        assert!(turns.take().await.is_ok());
    }
}
