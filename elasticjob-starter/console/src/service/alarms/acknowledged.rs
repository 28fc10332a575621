//! Which alarms an operator looks after.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// So many are kept: of more, the oldest one goes.
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

/// The acknowledged alarms by registry center and id, in memory: they are lost when the console ends.
#[derive(Debug, Default)]
pub(crate) struct Acknowledgements(Mutex<BTreeMap<(String, String), Acknowledged>>);

impl Acknowledgements {
    pub(crate) fn of(&self, registry: &str, alarm: &str) -> Option<Acknowledged> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(registry.to_owned(), alarm.to_owned())).cloned()
    }

    pub(crate) fn put(&self, registry: &str, alarm: &str, by: Acknowledged) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert((registry.to_owned(), alarm.to_owned()), by);
        if known.len() > MOST
            && let Some(oldest) = known.iter().min_by_key(|(_, by)| by.at).map(|(key, _)| key.clone())
        {
            known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_acknowledgement_goes_when_there_are_too_many() {
        let all = Acknowledgements::default();
        let by = |at| Acknowledged { by: "zhang".to_owned(), at, reason: String::new() };
        for at in 0..=10_000 {
            all.put("default", &format!("alarm-{at}"), by(at));
        }
        assert_eq!(all.of("default", "alarm-0"), None);
        assert_eq!(all.of("default", "alarm-1"), Some(by(1)));
        assert_eq!(all.of("other", "alarm-1"), None);
    }
}
