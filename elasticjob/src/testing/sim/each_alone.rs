//! Each transaction of a request gets the answer that it would get if it were sent by itself: it is applied when its own
//! guards hold, and refused when one of them does not.

use crate::registry::tree::{Tree, TreeError};
use crate::registry::{CommitError, Committed, OpResult, SessionId, Transaction};

/// The answers to transactions, each by itself: of what was applied one after the other, of what was not each on the tree as
/// it is.
pub(super) fn each_alone<'a>(
    tree: &Tree,
    session: SessionId,
    transactions: impl Iterator<Item = &'a Transaction>,
    is_applied: bool,
    wall: i64,
) -> Vec<Result<Committed, CommitError>> {
    let mut changed = tree.clone();
    let alone = |transaction| {
        let answer = changed.commit(session, transaction, wall);
        if !is_applied {
            changed = tree.clone();
        }
        answer.map(|(committed, _)| committed).map_err(TreeError::into)
    };
    transactions.map(alone).collect()
}

/// Compares what a transaction is answered with its answer when it is alone.
///
/// # Errors
/// They differ.
pub(super) fn agree(
    told: &Result<Committed, CommitError>,
    alone: &Result<Committed, CommitError>,
    is_applied: bool,
) -> Result<(), String> {
    let same = match (told, alone) {
        (Ok(told), Ok(alone)) => {
            told.results.len() == alone.results.len()
                && told.results.iter().zip(&alone.results).all(|(a, b)| is_same(a, b))
        }
        (Err(told @ CommitError::Refused { .. }), Err(alone)) => told == alone,
        (Err(CommitError::NotReached { .. }), _) => !is_applied,
        // Nothing is said of it.
        (Err(CommitError::Unknown { .. }), _) => true,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    };
    if same { Ok(()) } else { Err(format!("a transaction is answered {told:?}, and alone it would be {alone:?}")) }
}

/// The ids of transactions differ: those of one request share theirs.
fn is_same(told: &OpResult, alone: &OpResult) -> bool {
    match (told, alone) {
        (OpResult::Set { stat: told }, OpResult::Set { stat: alone }) => {
            (told.version, told.mtime, told.ephemeral_owner) == (alone.version, alone.mtime, alone.ephemeral_owner)
        }
        (told, alone) => told == alone,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::registry::{CreateMode, Refusal};

    const SESSION: SessionId = SessionId(7);

    fn tree() -> Tree {
        let mut tree = Tree::new(1);
        tree.open_session(SESSION, Duration::from_secs(1));
        tree
    }

    fn create(path: &str) -> Transaction {
        let mut transaction = Transaction::new();
        transaction.create(path, "", CreateMode::Persistent);
        transaction
    }

    #[test]
    fn a_transaction_that_needs_the_one_before_it_is_applied_after_it_and_refused_without_it() {
        let transactions = [create("/a"), create("/a/b")];
        let after = each_alone(&tree(), SESSION, transactions.iter(), true, 0);
        assert!(after.iter().all(Result::is_ok), "{after:?}");
        let without = each_alone(&tree(), SESSION, transactions.iter(), false, 0);
        assert!(without[0].is_ok() && without[1].is_err(), "{without:?}");
    }

    #[test]
    fn an_answer_that_is_of_another_transaction_differs() {
        let [a, b] = ["/a", "/b"].map(|path| {
            let answers = each_alone(&tree(), SESSION, [create(path)].iter(), true, 0);
            answers.into_iter().next().expect("one for each")
        });
        let refused = Err(CommitError::Refused { index: 0, path: "/a".into(), reason: Refusal::NodeExists });
        let unknown = Err(CommitError::Unknown { why: "lost".into() });
        let not_reached = Err(CommitError::NotReached { why: "".into() });
        assert_eq!(agree(&a, &a, true), Ok(()));
        assert_eq!(agree(&unknown, &a, true), Ok(()));
        assert_eq!(agree(&not_reached, &a, false), Ok(()));
        assert!(agree(&not_reached, &a, true).is_err());
        assert!(agree(&a, &b, true).is_err());
        assert!(agree(&refused, &a, true).is_err());
        assert!(agree(&a, &refused, false).is_err());
    }
}
