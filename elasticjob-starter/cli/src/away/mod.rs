//! Registry centers and databases that are away when the console starts: each is dialled again until it answers, and shows
//! since when and why it is away.

mod center;
#[cfg(feature = "tracing-rdb")]
mod traces;

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use chrono::{DateTime, Utc};
use elasticjob::__private::log::{apart, info, warn};
use tokio::sync::watch;

pub(crate) use center::LateCenter;
#[cfg(feature = "tracing-rdb")]
pub(crate) use traces::{LateReader, LateStorage};

/// The pause before it is dialled again; it doubles up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// What comes late, or never.
#[derive(Debug)]
struct Late<T, W> {
    /// What it is called in the log.
    name: String,
    found: OnceLock<T>,
    since: DateTime<Utc>,
    /// Why it is away; `None` once it came.
    why: watch::Sender<Option<W>>,
    /// What waits for it.
    wakers: Mutex<Vec<Waker>>,
}

impl<T, W: Clone + Default + Display> Late<T, W> {
    /// It was dialled for the first time, and is away.
    fn new(name: String, why: W) -> Self {
        let (text, of) = (why.to_string(), name.clone());
        apart(move || warn!("cannot connect to {of}, trying again until it answers: {text}"));
        Self {
            name,
            found: OnceLock::new(),
            since: Utc::now(),
            why: watch::Sender::new(Some(why)),
            wakers: Mutex::default(),
        }
    }

    fn get(&self) -> Option<&T> {
        self.found.get()
    }

    /// It; where it is away, the context is woken when it comes.
    fn poll(&self, cx: &Context<'_>) -> Option<&T> {
        self.get().or_else(|| {
            let mut wakers = self.wakers();
            if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                wakers.push(cx.waker().clone());
            }
            drop(wakers);
            // It may have come before the waker was there.
            self.get()
        })
    }

    /// Since when and why it is away.
    fn away(&self) -> (DateTime<Utc>, W) {
        (self.since, self.why.borrow().clone().unwrap_or_default())
    }

    /// Dials until it comes.
    async fn dial<F>(&self, dial: impl Fn() -> F) -> &T
    where
        F: Future<Output = Result<T, W>>,
    {
        let mut pause = FIRST_PAUSE;
        let found = loop {
            tokio::time::sleep(pause).await;
            match dial().await {
                Ok(found) => break found,
                Err(why) => drop(self.why.send_replace(Some(why))),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        let found = self.found.get_or_init(|| found);
        self.why.send_replace(None);
        let name = self.name.clone();
        apart(move || info!("connected to {name}"));
        std::mem::take(&mut *self.wakers()).into_iter().for_each(Waker::wake);
        found
    }

    fn wakers(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
