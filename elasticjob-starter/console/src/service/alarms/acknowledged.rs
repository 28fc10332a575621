//! The alarms that operators look after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::store::{DataFile, StoreError};

/// How many acknowledgements are kept: of more, the oldest one goes.
const MOST: usize = 10_000;

/// An operator looks after an alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    /// The name of the operator.
    pub(crate) by: String,
    /// When, in milliseconds since 1970.
    pub(crate) at: i64,
    /// What he or she says about it; may be empty.
    pub(crate) reason: String,
}

/// The acknowledged alarms by registry center and id: in the data file, or in memory until the console ends.
#[derive(Debug, Default)]
pub(crate) struct Acknowledgements {
    known: Mutex<Known>,
    data: Option<DataFile>,
    /// Tells what waits for the first acknowledgement.
    put: watch::Sender<()>,
}

type Known = BTreeMap<(String, String), Acknowledged>;

impl Acknowledgements {
    /// Those of the data file, where there is one.
    pub(crate) fn new(data: Option<DataFile>) -> Self {
        let kept = data.as_ref().map(|data| data.storage().acknowledgements()).unwrap_or_default();
        let known = kept.into_iter().map(|(registry, alarm, by)| ((registry, alarm), by)).collect();
        Self { known: Mutex::new(known), data, put: watch::Sender::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether they outlive the console.
    pub(crate) fn are_kept(&self) -> bool {
        self.data.is_some()
    }

    pub(crate) fn of(&self, registry: &str, alarm: &str) -> Option<Acknowledged> {
        self.known().get(&(registry.to_owned(), alarm.to_owned())).cloned()
    }

    /// Keeps one. What the data file did not take does not count.
    pub(crate) async fn put(&self, registry: &str, alarm: &str, by: Acknowledged) -> Result<(), StoreError> {
        if let Some(data) = &self.data {
            data.storage().save_acknowledgement(registry, alarm, by.clone()).await?;
        }
        {
            let mut known = self.known();
            known.insert((registry.to_owned(), alarm.to_owned()), by);
            if known.len() > MOST
                && let Some(oldest) = known.iter().min_by_key(|(_, by)| by.at).map(|(key, _)| key.clone())
            {
                known.remove(&oldest);
            }
        }
        self.put.send_replace(());
        Ok(())
    }

    /// Changes with each acknowledgement.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.put.subscribe()
    }

    /// Whether an alarm of this registry center is acknowledged.
    pub(super) fn has_any(&self, registry: &str) -> bool {
        self.known().keys().any(|(of, _)| of == registry)
    }

    /// Ends those of a registry center whose alarms are not among these. One that the data file does not let go of now is
    /// tried again at the next look.
    pub(super) async fn keep(&self, registry: &str, alarms: &BTreeSet<String>) {
        let is_over = |(of, alarm): &&(String, String)| of == registry && !alarms.contains(alarm);
        let over: Vec<(String, String)> = self.known().keys().filter(is_over).cloned().collect();
        for key in over {
            if let Some(data) = &self.data
                && data.storage().remove_acknowledgement(registry, &key.1).await.is_err()
            {
                continue;
            }
            self.known().remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_oldest_acknowledgement_goes_when_there_are_too_many() {
        let all = Acknowledgements::default();
        let by = |at| Acknowledged { by: "zhang".to_owned(), at, reason: String::new() };
        for at in 0..=10_000 {
            all.put("default", &format!("alarm-{at}"), by(at)).await.expect("memory takes it");
        }
        assert_eq!(all.of("default", "alarm-0"), None);
        assert_eq!(all.of("default", "alarm-1"), Some(by(1)));
        assert_eq!(all.of("other", "alarm-1"), None);
    }
}
