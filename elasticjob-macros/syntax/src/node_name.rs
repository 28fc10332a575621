//! Names that become a node of the registry: the characters that ZooKeeper refuses in a path, and the rule for names of
//! jobs.

use crate::message::Message;
use crate::texts;

/// The delimiter inside instance ids and task ids, fixed by the registry layout of ElasticJob.
pub const ID_DELIMITER: &str = "@-@";

/// The reason why a text cannot be the name of a node.
fn unfit_for_node(text: &str) -> Option<Message> {
    if text.trim().is_empty() {
        Some(texts::name_blank())
    } else if text == "." || text == ".." {
        Some(texts::name_dots())
    } else if text.contains('/') {
        Some(texts::name_slash())
    } else {
        refused_char(text).map(|c| texts::name_character(format!("U+{:04X}", u32::from(c))))
    }
}

/// A text that is not a valid identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidIdent(Message);

impl InvalidIdent {
    /// The message: which text it is, and why it is not valid.
    pub fn message(&self) -> &Message {
        &self.0
    }
}

/// Checks a text that becomes a node; `what` is its name in the message.
///
/// # Errors
/// [`InvalidIdent`] names the character or form that is not allowed.
pub fn check_node(what: &'static str, text: &str) -> Result<(), InvalidIdent> {
    valid_unless(unfit_for_node(text), what, text)
}

/// Checks the name of a job: a node that can also stand in a task id.
///
/// # Errors
/// [`InvalidIdent`] names the character or form that is not allowed.
pub fn check_job_name(name: &str) -> Result<(), InvalidIdent> {
    let delimiter = || name.contains(ID_DELIMITER).then(texts::name_delimiter);
    valid_unless(unfit_for_node(name).or_else(delimiter), "job name", name)
}

fn valid_unless(reason: Option<Message>, what: &'static str, text: &str) -> Result<(), InvalidIdent> {
    match reason {
        None => Ok(()),
        Some(reason) => Err(InvalidIdent(texts::name_invalid(what, text.escape_debug().to_string(), reason))),
    }
}

/// The first character of a name that no server takes in a path.
pub fn refused_char(name: &str) -> Option<char> {
    // Nearly all names are plain ASCII, and each path of each request is checked.
    if name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    name.chars().find(|c| matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_name_that_cannot_be_a_node_is_refused_with_the_reason() {
        for (name, reason) in [
            ("", "blank"),
            (" ", "blank"),
            ("..", "'..'"),
            ("a/b", "'/'"),
            ("a@-@b", "'@-@'"),
            ("a\u{7}@-@", "U+0007"),
            ("a\u{9f}", "U+009F"),
            ("\u{e000}", "U+E000"),
            ("a\u{fff0}", "U+FFF0"),
            ("nightly 😀", "U+1F600"),
        ] {
            let told = check_job_name(name).unwrap_err().to_string();
            assert!(told.starts_with("job name '") && told.contains(reason), "{name:?}: {told}");
        }
        for name in ["订单.sync job", "...", "a@b", "\u{ffef}"] {
            assert_eq!(check_job_name(name), Ok(()));
        }
        assert_eq!(check_node("instance id", "a@-@b"), Ok(()));
    }
}
