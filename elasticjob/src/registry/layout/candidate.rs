//! The names below `leader/election/latch`, as Curator makes them and sorts them.

/// What ends the part of a name that the candidate chooses. The server adds the number.
const MARK: &str = "latch-";

/// The start of the name of a candidate: the server adds a number to it.
pub(crate) fn candidate_prefix(candidate: &str) -> String {
    format!("_c_{candidate}-{MARK}")
}

/// The key by which Curator sorts candidates: the text after the last `latch-`.
pub(crate) fn candidate_number(name: &str) -> &str {
    name.rsplit_once(MARK).map_or(name, |(_, number)| number)
}
