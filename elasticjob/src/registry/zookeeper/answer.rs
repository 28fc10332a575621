//! The meaning of a client error for the caller.

use elasticjob_syntax::message::Message;
use zookeeper_client::{Error, MultiWriteError, MultiWriteResult};

use crate::registry::group_commit::Outcome;
use crate::registry::{NodeData, OpResult, Refusal, RegistryError, SessionId, Stat};
use crate::texts;

/// An error, sorted by what it says about the request.
pub(super) enum Failure {
    /// The server answered and refused.
    Refused(Refusal),
    /// The server answered and did not do it, for a reason outside of the request.
    Declined(Message),
    /// No answer: the request was applied or not.
    Lost(Message),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NoNode => Self::Refused(Refusal::NoNode),
            Error::NodeExists => Self::Refused(Refusal::NodeExists),
            Error::BadVersion => Self::Refused(Refusal::BadVersion),
            Error::NotEmpty => Self::Refused(Refusal::NotEmpty),
            Error::NoChildrenForEphemerals => Self::Refused(Refusal::NoChildrenForEphemerals),
            Error::NoAuth => Self::Refused(Refusal::NoAuth),
            Error::InvalidAcl => Self::Refused(Refusal::InvalidAcl),
            Error::BadArguments(_) => Self::Refused(Refusal::BadArguments),
            Error::NotReadOnly
            | Error::QuotaExceeded
            | Error::Throttled
            | Error::MarshallingError
            | Error::Unimplemented
            | Error::ReconfigDisabled
            | Error::UnexpectedErrorCode(_) => Self::Declined(error.to_string().into()),
            Error::ConnectionLoss => Self::Lost(texts::connection_lost()),
            // An ended session counts as lost too: the request may have been applied before it ended.
            Error::SessionExpired => Self::Lost(texts::session_ended()),
            _ => Self::Lost(error.to_string().into()),
        }
    }
}

/// Whether the error is an answer of a server.
pub(super) fn is_answer(error: &Error) -> bool {
    !matches!(Failure::from(error.clone()), Failure::Lost(_))
}

/// Whether a refusal of a transaction can only come from the leader, because it depends on the nodes. A server may also
/// answer by itself that it is read-only, that it throttles, or that it does not let this client in: such an answer
/// says nothing about the leader.
pub(super) fn is_of_leader(error: &MultiWriteError) -> bool {
    matches!(
        error,
        MultiWriteError::OperationFailed {
            source: Error::NoNode
                | Error::NodeExists
                | Error::BadVersion
                | Error::NotEmpty
                | Error::NoChildrenForEphemerals,
            ..
        }
    )
}

/// The answer to a read.
pub(super) fn read<T>(path: &str, result: Result<T, Error>) -> Result<Option<T>, RegistryError> {
    match result.map_err(Failure::from) {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Refused(Refusal::NoNode)) => Ok(None),
        Err(Failure::Refused(reason)) => Err(RegistryError::Refused { path: path.to_owned(), reason }),
        Err(Failure::Declined(why) | Failure::Lost(why)) => Err(RegistryError::NoAnswer { why }),
    }
}

/// What became of a request with transactions.
pub(super) fn outcome(result: Result<Vec<MultiWriteResult>, MultiWriteError>) -> Outcome {
    let (index, error) = match result {
        Ok(results) => return Outcome::Applied(results.into_iter().map(op_result).collect()),
        Err(MultiWriteError::OperationFailed { index, source }) => (Some(index), source),
        Err(MultiWriteError::RequestFailed { source }) => (None, source),
    };
    match Failure::from(error) {
        Failure::Refused(reason) => Outcome::Refused { index, reason },
        Failure::Declined(why) => Outcome::NotReached { index, why },
        Failure::Lost(why) => Outcome::Unknown { why },
    }
}

fn op_result(result: MultiWriteResult) -> OpResult {
    match result {
        MultiWriteResult::Delete => OpResult::Delete,
        MultiWriteResult::Create { path, .. } => OpResult::Create { path },
        MultiWriteResult::SetData { stat: set } => OpResult::Set { stat: stat(&set) },
        _ => OpResult::Check,
    }
}

/// Data and stat of a node.
pub(super) fn node_data((data, node): (Vec<u8>, zookeeper_client::Stat)) -> NodeData {
    NodeData { data: data.into(), stat: stat(&node) }
}

fn stat(stat: &zookeeper_client::Stat) -> Stat {
    let owner = stat.ephemeral_owner;
    // Nodes that the server deletes by itself (containers and nodes with a time to live) are marked in the same field.
    let is_session = owner != 0 && owner != i64::MIN && owner.cast_unsigned() >> 56 != 0xff;
    Stat {
        czxid: stat.czxid,
        mzxid: stat.mzxid,
        version: stat.version,
        ctime: stat.ctime,
        mtime: stat.mtime,
        ephemeral_owner: is_session.then_some(SessionId(owner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_answer_is_never_taken_for_a_refusal() {
        for error in [Error::ConnectionLoss, Error::Timeout, Error::SessionMoved, Error::SessionExpired] {
            let result = outcome(Err(MultiWriteError::RequestFailed { source: error.clone() }));
            assert!(matches!(result, Outcome::Unknown { .. }), "{error}: {result:?}");
            assert!(matches!(read::<()>("/a", Err(error)), Err(RegistryError::NoAnswer { .. })));
        }
    }

    #[test]
    fn a_refusal_names_the_operation() {
        let result = outcome(Err(MultiWriteError::OperationFailed { index: 1, source: Error::NotEmpty }));
        assert_eq!(result, Outcome::Refused { index: Some(1), reason: Refusal::NotEmpty });
        let result = outcome(Ok(vec![MultiWriteResult::Check, MultiWriteResult::Delete]));
        assert_eq!(result, Outcome::Applied(vec![OpResult::Check, OpResult::Delete]));
    }

    #[test]
    fn only_what_depends_on_the_tree_is_an_answer_of_the_leader() {
        let failed = |source: Error| MultiWriteError::OperationFailed { index: 0, source };
        for error in [Error::NoNode, Error::NodeExists, Error::BadVersion, Error::NotEmpty] {
            assert!(is_of_leader(&failed(error)));
        }
        for error in [Error::NotReadOnly, Error::Throttled, Error::NoAuth, Error::ConnectionLoss, Error::Timeout] {
            assert!(
                !is_of_leader(&failed(error.clone()))
                    && !is_of_leader(&MultiWriteError::RequestFailed { source: error })
            );
        }
    }

    #[test]
    fn what_the_server_declines_was_not_applied() {
        let result = outcome(Err(MultiWriteError::RequestFailed { source: Error::Throttled }));
        assert!(matches!(result, Outcome::NotReached { index: None, .. }));
        let result = outcome(Err(MultiWriteError::OperationFailed { index: 2, source: Error::QuotaExceeded }));
        assert!(matches!(result, Outcome::NotReached { index: Some(2), .. }));
    }

    #[test]
    fn a_node_that_is_not_there_is_no_error_to_a_reader() {
        assert_eq!(read::<()>("/a", Err(Error::NoNode)), Ok(None));
        let refused = RegistryError::Refused { path: "/a".into(), reason: Refusal::NoAuth };
        assert_eq!(read::<()>("/a", Err(Error::NoAuth)), Err(refused));
    }
}
