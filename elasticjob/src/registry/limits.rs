//! Limits of every registry center. Operations beyond them are refused before they are sent: all back ends refuse the
//! same ones.

use elasticjob_syntax::node_name::refused_char;

use super::{CommitError, CreateMode, Op, Refusal, Transaction};

/// The most bytes of a transaction, counted by [`size_of`]. Above 1,048,575 bytes a ZooKeeper server drops the
/// connection, and with it every other request of the session.
pub const MAX_TRANSACTION_BYTES: usize = 1_000_000;

/// The bytes of an operation in a request beside path and data: headers, lengths, access list.
const OP_OVERHEAD: usize = 64;

/// Checks the paths and the size of a transaction. On their way to the server its paths get longer by `prefix` bytes.
///
/// # Errors
/// [`CommitError::Refused`] with [`Refusal::BadArguments`] and the first operation that is not accepted.
pub fn check_transaction(transaction: &Transaction, prefix: usize) -> Result<(), CommitError> {
    let mut size = 0;
    for (index, op) in transaction.ops().iter().enumerate() {
        size += size_of(op, prefix);
        if !is_valid_op(op) || size > MAX_TRANSACTION_BYTES {
            return Err(CommitError::Refused { index, path: op.path().to_owned(), reason: Refusal::BadArguments });
        }
    }
    Ok(())
}

/// The bytes that an operation adds to the size of its transaction.
pub fn size_of(op: &Op, prefix: usize) -> usize {
    let data = match op {
        Op::Create { data, .. } | Op::Set { data, .. } => data.len(),
        Op::Check { .. } | Op::Delete { .. } => 0,
    };
    op.path().len() + data + prefix + OP_OVERHEAD
}

/// Whether a path can name a node: absolute, no empty segment, no `.` or `..`, no control, private or supplementary
/// characters (the server counts in UTF-16 and refuses surrogates).
pub fn is_valid_path(path: &str) -> bool {
    let is_name = |segment: &[u8]| !matches!(segment, b"" | b"." | b"..");
    let is_valid =
        |rest: &str| rest.as_bytes().split(|byte| *byte == b'/').all(is_name) && refused_char(rest).is_none();
    path == "/" || path.strip_prefix('/').is_some_and(is_valid)
}

fn is_valid_op(op: &Op) -> bool {
    match op {
        Op::Create { path, mode: CreateMode::EphemeralSequential, .. } => is_valid_prefix(path),
        Op::Create { path, .. } | Op::Delete { path, .. } => path != "/" && is_valid_path(path),
        Op::Check { path, .. } | Op::Set { path, .. } => is_valid_path(path),
    }
}

/// As [`is_valid_path`]; the last segment may be empty or dots, since digits follow.
fn is_valid_prefix(path: &str) -> bool {
    path != "/" && path.starts_with('/') && is_valid_path(&format!("{path}0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_no_server_takes_is_told() {
        for path in ["/", "/a", "/a/b c", "/中文/@-@", "/a/...", "/.a", "/a/-"] {
            assert!(is_valid_path(path), "{path:?}");
        }
        for path in ["", "a", "//", "/a/", "/a//b", "/a/.", "/a/../b", "/a\u{7}", "/\u{9f}", "/\u{e000}", "/😀"] {
            assert!(!is_valid_path(path), "{path:?}");
        }
    }

    #[test]
    fn the_first_operation_that_cannot_be_taken_is_named() {
        let mut transaction = Transaction::new();
        transaction.check("/a", None);
        transaction.delete("/", None);
        let refused = CommitError::Refused { index: 1, path: "/".into(), reason: Refusal::BadArguments };
        assert_eq!(check_transaction(&transaction, 0), Err(refused));
    }

    #[test]
    fn a_sequential_name_may_consist_of_the_number_alone() {
        let mut transaction = Transaction::new();
        transaction.create("/a/", "", CreateMode::EphemeralSequential);
        assert_eq!(check_transaction(&transaction, 0), Ok(()));
        transaction.create("/a/", "", CreateMode::Ephemeral);
        assert!(check_transaction(&transaction, 0).is_err());
    }

    #[test]
    fn the_size_counts_over_all_operations() {
        let mut transaction = Transaction::new();
        transaction.set("/a", vec![0; MAX_TRANSACTION_BYTES / 2], None);
        assert_eq!(check_transaction(&transaction, 0), Ok(()));
        transaction.set("/b", vec![0; MAX_TRANSACTION_BYTES / 2], None);
        let refused = CommitError::Refused { index: 1, path: "/b".into(), reason: Refusal::BadArguments };
        assert_eq!(check_transaction(&transaction, 0), Err(refused));
    }
}
