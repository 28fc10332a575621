//! A decision log in memory, for tests.

use std::sync::{Arc, Mutex};

use elasticjob::trace::{JobDecisionEvent, JobEvent, TracingStorage, WriteError};

/// The decisions that were written.
#[derive(Clone, Default)]
pub(crate) struct Told(pub(crate) Arc<Mutex<Vec<JobDecisionEvent>>>);

impl TracingStorage for Told {
    fn type_name(&self) -> &str {
        "TOLD"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let decisions = events.iter().filter_map(|event| match event {
            JobEvent::Decision(decision) => Some(decision.clone()),
            _ => None,
        });
        self.0.lock().unwrap().extend(decisions);
        Ok(())
    }
}
