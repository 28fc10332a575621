//! The fields of a form that was sent.

use crate::access::{LONGEST_REASON, REASON, given};

/// The fields, in the order of the form. A name may come several times.
pub(crate) type Fields = axum::Form<Vec<(String, String)>>;

/// All values of a field.
pub(crate) fn all<'a>(fields: &'a [(String, String)], name: &'a str) -> impl Iterator<Item = &'a str> {
    fields.iter().filter(move |(one, _)| one == name).map(|(_, value)| value.as_str())
}

/// The value of a field; empty where it was not sent.
pub(crate) fn one<'a>(fields: &'a [(String, String)], name: &'a str) -> &'a str {
    all(fields, name).next().unwrap_or_default()
}

/// The reason that an operator gave.
pub(crate) fn reason(fields: &[(String, String)]) -> String {
    given(one(fields, REASON)).chars().take(LONGEST_REASON).collect()
}
