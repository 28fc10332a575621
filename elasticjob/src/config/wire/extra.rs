//! Blocks that this library does not interpret but keeps byte for byte when a configuration is rewritten:
//! `jobExtraConfigurations`, where Java keeps tracing settings, tagged with class names, and keys of no known release.

use super::WireError;
use super::document::map_of;
use crate::yaml::Node;

pub(super) const KEY: &str = "jobExtraConfigurations";

/// The lines of a key in a document in which the key has this value.
///
/// # Errors
/// [`WireError::Block`] when the lines alone do not mean the same: the document is JSON, or the block refers to other
/// parts of the document.
pub(super) fn block(document: &str, key: &str, value: &Node) -> Result<Box<str>, WireError> {
    let mut lines = document
        .split_inclusive('\n')
        .skip_while(|line| line.strip_prefix(key).is_none_or(|rest| !rest.starts_with(':')));
    let first = lines.next().unwrap_or_default();
    let mut block: String = std::iter::once(first).chain(lines.take_while(|line| belongs(line))).collect();
    if !block.ends_with('\n') {
        block.push('\n');
    }
    match map_of(&block).as_deref() {
        Ok([(alone, same)]) if alone == key && same == value => Ok(block.into()),
        _ => Err(WireError::Block(key.to_owned())),
    }
}

/// Whether a line belongs to the value of the key above it, and is not the next key.
fn belongs(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t', '#']) || line.starts_with("- ") || line.trim_end() == "-"
}
