//! Names that become a node of the registry: what ZooKeeper refuses in a path, and the rule for names of jobs.

/// The delimiter inside instance ids and task ids, fixed by the registry layout of ElasticJob.
pub const ID_DELIMITER: &str = "@-@";

/// Why a text cannot be the name of a node.
pub fn unfit_for_node(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        Some("it is blank".to_owned())
    } else if text == "." || text == ".." {
        Some("'.' and '..' are not allowed in a registry path".to_owned())
    } else if text.contains('/') {
        Some("'/' separates the nodes of a registry path".to_owned())
    } else {
        refused_char(text).map(|c| {
            format!(
                "U+{:04X} is not allowed in a registry path, as are all control characters, private characters and those \
                 above U+FFEF",
                u32::from(c)
            )
        })
    }
}

/// Why a text cannot be the name of a job: a node that can also stand in a task id.
pub fn unfit_for_job(name: &str) -> Option<String> {
    let delimiter = || name.contains(ID_DELIMITER).then(|| "'@-@' separates the parts of a task id".to_owned());
    unfit_for_node(name).or_else(delimiter)
}

/// The first character of a name that no server takes in a path.
pub fn refused_char(name: &str) -> Option<char> {
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
            let told = unfit_for_job(name).unwrap_or_default();
            assert!(told.contains(reason), "{name:?}: {told}");
        }
        for name in ["订单.sync job", "...", "a@b", "\u{ffef}"] {
            assert_eq!(unfit_for_job(name), None);
        }
        assert_eq!(unfit_for_node("a@-@b"), None);
    }
}
