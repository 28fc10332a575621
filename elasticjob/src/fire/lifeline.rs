//! The node that a run lives with: found from the mark of its item and from the record of the item.

use super::FireRecord;
use crate::ident::InstanceId;
use crate::registry::SessionId;
use crate::registry::layout::JobPath;

/// The node that a run with a persistent mark lives with. An ephemeral mark needs none: it is deleted with its session,
/// also where an operator deleted the instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lifeline {
    /// A run of this implementation: `sessions/{session}` of its attempt. `None` where the attempt names no session.
    Session(Option<SessionId>),
    /// A run of Java, which writes no record: the instance that the mark names. `None` where it names none.
    Instance(Option<InstanceId>),
}

impl Lifeline {
    /// The lifeline of the run whose mark `running` has this text.
    pub(crate) fn of(mark: Option<&str>, record: &FireRecord) -> Self {
        match record.running().filter(|begun| mark == Some(begun.instance.as_str())) {
            Some(begun) => Self::Session(begun.attempt.session()),
            None => Self::Instance(mark.and_then(|text| text.parse().ok())),
        }
    }

    /// The node; `None` where the run lives with none, so that it is dead.
    pub(crate) fn node(self) -> Option<JobPath> {
        match self {
            Self::Session(session) => session.map(JobPath::Session),
            Self::Instance(instance) => instance.map(JobPath::Instance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fire::{Attempt, ExecutionSource, Fire};

    #[test]
    fn a_run_of_this_implementation_lives_with_its_session_and_one_of_java_with_its_instance() {
        let (ours, java) = (InstanceId::of_process("10.0.0.1", 7), InstanceId::of_process("10.0.0.2", 8));
        let record = FireRecord::empty().begin(
            1_003,
            Fire::Scheduled(1_000),
            ExecutionSource::NormalTrigger,
            ours.clone(),
            Attempt::new(SessionId(0x2a), 7, 3),
        );
        let node = |mark: &str, record: &FireRecord| Lifeline::of(Some(mark), record).node();
        assert_eq!(node(ours.as_str(), &record), Some(JobPath::Session(SessionId(0x2a))));
        assert_eq!(node(java.as_str(), &record), Some(JobPath::Instance(java.clone())));
        assert_eq!(node(ours.as_str(), &FireRecord::empty()), Some(JobPath::Instance(ours.clone())));
        assert_eq!((node("", &record), Lifeline::of(None, &record).node()), (None, None));
    }
}
