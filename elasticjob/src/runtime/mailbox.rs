//! What reaches the driver of a job from other tasks. Takes next to no memory while it is empty.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A queue with a bell, closed by its reader.
#[derive(Debug)]
pub(crate) struct Mailbox<T> {
    /// `None` once it is closed.
    letters: Mutex<Option<Vec<T>>>,
    bell: Arc<Notify>,
}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Self {
        Self { letters: Mutex::new(Some(Vec::new())), bell: Arc::new(Notify::new()) }
    }

    /// Puts a letter in; gives it back when the mailbox is closed.
    pub(crate) fn post(&self, letter: T) -> Result<(), T> {
        match self.lock().as_mut() {
            Some(letters) => {
                if letters.is_empty() {
                    // Mostly it stays the only one, also when all jobs of a process get one at the same moment.
                    letters.reserve_exact(1);
                }
                letters.push(letter);
            }
            None => return Err(letter),
        }
        self.bell.notify_one();
        Ok(())
    }

    /// Takes what is there, in the order in which it was put in.
    pub(crate) fn take(&self) -> Vec<T> {
        self.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes what is there and accepts no more.
    pub(crate) fn close(&self) -> Vec<T> {
        self.lock().take().unwrap_or_default()
    }

    /// Rings when there may be a letter. Others may ring it too.
    pub(crate) fn bell(&self) -> &Arc<Notify> {
        &self.bell
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<T>>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn letters_come_in_order_and_ring_the_bell() {
        let mailbox = Mailbox::new();
        mailbox.post(1).unwrap();
        mailbox.post(2).unwrap();
        mailbox.bell().notified().await;
        assert_eq!(mailbox.take(), [1, 2]);
        assert!(mailbox.take().is_empty());
    }

    #[test]
    fn a_closed_mailbox_gives_letters_back() {
        let mailbox = Mailbox::new();
        mailbox.post(1).unwrap();
        assert_eq!(mailbox.close(), [1]);
        assert_eq!(mailbox.post(2), Err(2));
    }
}
