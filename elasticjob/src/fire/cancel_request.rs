//! The request of an operator to cancel a run: it ends, and the item is not run again for this fire.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FireState, ItemEnd};

/// Why an operator cancelled a run. It stands in the record of the item, so it holds also where the instance of the run
/// is lost before it hears of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CancelRequest {
    /// The operator who asked for it, for example `alice@build7`.
    pub by: String,
    /// The reason that was given; empty when none was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Actor and reason are shortened to this many characters in the registry.
const LIMIT: usize = 200;

impl CancelRequest {
    /// The request of this operator; texts are shortened to 200 characters, and characters that control a terminal are
    /// left out.
    pub fn new(by: &str, reason: &str) -> Self {
        let kept = |text: &str| text.chars().filter(|character| !character.is_control()).take(LIMIT).collect();
        Self { by: kept(by), reason: kept(reason) }
    }

    /// The end of a run that was cut off by this request. One that came to its end by itself keeps its own.
    pub(crate) fn end(&self, end: ItemEnd) -> ItemEnd {
        if end.state != FireState::Cancelled {
            return end;
        }
        let error = match end.error {
            Some(error) => format!("{self} (it returned: {error})"),
            None => self.to_string(),
        };
        ItemEnd { state: FireState::Failed, took: end.took, error: Some(error) }
    }
}

impl fmt::Display for CancelRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason.as_str() {
            "" => write!(f, "cancelled by {}", self.by),
            reason => write!(f, "cancelled by {}: {reason}", self.by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_cut_off_has_failed_with_actor_and_reason() {
        let request = CancelRequest::new("alice", "wrong\u{1b} input");
        let cut = ItemEnd { state: FireState::Cancelled, took: 7, error: None };
        let ended = request.end(cut.clone());
        assert_eq!((ended.state, ended.took), (FireState::Failed, 7));
        assert_eq!(ended.error.as_deref(), Some("cancelled by alice: wrong input"));
        let returned = request.end(ItemEnd { error: Some("gave up".to_owned()), ..cut });
        assert_eq!(returned.error.as_deref(), Some("cancelled by alice: wrong input (it returned: gave up)"));
    }

    #[test]
    fn a_run_that_ended_by_itself_keeps_its_end() {
        for state in [FireState::Succeeded, FireState::Failed] {
            let end = ItemEnd { state, took: 7, error: None };
            assert_eq!(CancelRequest::new("alice", "").end(end.clone()), end);
        }
    }
}
