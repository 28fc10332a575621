//! The mailbox in which other tasks put letters for the driver of a job. It takes almost no memory while it is empty.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A queue with a bell, closed by its reader.
#[derive(Debug)]
pub(crate) struct Mailbox<T> {
    letters: Mutex<Letters<T>>,
    bell: Arc<Notify>,
}

#[derive(Debug)]
enum Letters<T> {
    Open(Vec<T>),
    /// Letters go to another mailbox.
    Forwarded(Arc<Mailbox<T>>),
    Closed,
}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Self {
        Self { letters: Mutex::new(Letters::Open(Vec::new())), bell: Arc::new(Notify::new()) }
    }

    /// Puts a letter in; gives it back when the mailbox is closed.
    pub(crate) fn post(&self, letter: T) -> Result<(), T> {
        let to = match &mut *self.lock() {
            Letters::Open(letters) => {
                if letters.is_empty() {
                    // Usually it stays the only letter, also when all jobs of a process get one at the same moment.
                    letters.reserve_exact(1);
                }
                letters.push(letter);
                self.bell.notify_one();
                return Ok(());
            }
            Letters::Forwarded(to) => to.clone(),
            Letters::Closed => return Err(letter),
        };
        to.post(letter)
    }

    /// Takes the letters that are there, in the order in which they were put in.
    pub(crate) fn take(&self) -> Vec<T> {
        match &mut *self.lock() {
            Letters::Open(letters) => std::mem::take(letters),
            Letters::Forwarded(_) | Letters::Closed => Vec::new(),
        }
    }

    /// Accepts no more letters, and drops those that are there. A forwarded mailbox stays forwarded.
    pub(crate) fn close(&self) {
        let mut letters = self.lock();
        if matches!(*letters, Letters::Open(_)) {
            *letters = Letters::Closed;
        }
    }

    /// Whether the mailbox is closed: its reader is gone, and no other mailbox took its place.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(*self.lock(), Letters::Closed)
    }

    /// Gives the letters that are there, and those that come from now on, to another mailbox.
    pub(crate) fn forward(&self, to: Arc<Self>) {
        let before = std::mem::replace(&mut *self.lock(), Letters::Forwarded(to.clone()));
        if let Letters::Open(letters) = before {
            for letter in letters {
                // The reader of the other mailbox may be gone, as it may be for later letters.
                let _ = to.post(letter);
            }
        }
    }

    /// Rings when there may be a letter. Other parts of the job may ring it too.
    pub(crate) fn bell(&self) -> &Arc<Notify> {
        &self.bell
    }

    fn lock(&self) -> MutexGuard<'_, Letters<T>> {
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
        mailbox.close();
        assert_eq!(mailbox.post(2), Err(2));
        assert!(mailbox.is_closed() && mailbox.take().is_empty());
    }

    #[test]
    fn letters_of_a_forwarded_mailbox_come_to_the_other_one_in_order() {
        let (old, new) = (Mailbox::new(), Arc::new(Mailbox::new()));
        old.post(1).unwrap();
        old.forward(new.clone());
        old.post(2).unwrap();
        old.close();
        old.post(3).unwrap();
        assert_eq!(new.take(), [1, 2, 3]);
        new.close();
        assert_eq!(old.post(4), Err(4));
    }
}
