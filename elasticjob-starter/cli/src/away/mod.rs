//! Registry centers and databases that are away when the console starts: each is dialled again until it answers, and shows
//! since when and why it is away.

mod center;
#[cfg(feature = "tracing-rdb")]
mod traces;

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
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
struct Late<T> {
    /// What it is called in the log.
    name: String,
    found: OnceLock<T>,
    since: String,
    /// Why it is away; `None` once it came.
    why: watch::Sender<Option<String>>,
    /// What waits for it.
    wakers: Mutex<Vec<Waker>>,
}

impl<T> Late<T> {
    /// It was dialled for the first time, and is away.
    fn new(name: String, why: &impl Display) -> Self {
        let why = why.to_string();
        let (text, of) = (why.clone(), name.clone());
        apart(move || warn!("cannot connect to {of}, trying again until it answers: {text}"));
        Self {
            name,
            found: OnceLock::new(),
            since: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
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

    /// Since when and why it is away, as the end of a sentence.
    fn why(&self) -> String {
        let why = self.why.borrow().clone().unwrap_or_default();
        format!("it is away since {} and is dialled again: {why}", self.since)
    }

    /// Dials until it comes.
    async fn dial<F, E>(&self, dial: impl Fn() -> F) -> &T
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        let mut pause = FIRST_PAUSE;
        let found = loop {
            tokio::time::sleep(pause).await;
            match dial().await {
                Ok(found) => break found,
                Err(why) => drop(self.why.send_replace(Some(why.to_string()))),
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
