//! Several problems in one line.

use std::fmt::Display;

pub(crate) fn in_one_line<P: Display>(problems: &[P]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
