//! Names of jobs: the rule of `JobName` of the library, which this crate cannot depend on.

/// What is wrong with the name of a job.
pub fn check(name: &str) -> Result<(), String> {
    let refused = |c: &char| c.is_control() || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..);
    let reason = if name.trim().is_empty() {
        "it is blank".to_owned()
    } else if name == "." || name == ".." {
        "'.' and '..' are not allowed in a registry path".to_owned()
    } else if name.contains('/') {
        "'/' separates the nodes of a registry path".to_owned()
    } else if let Some(c) = name.chars().find(refused) {
        format!(
            "U+{:04X} is not allowed in a registry path, as are all control characters, private characters and those \
             above U+FFEF",
            u32::from(c)
        )
    } else if name.contains("@-@") {
        "'@-@' separates the parts of a task id".to_owned()
    } else {
        return Ok(());
    };
    Err(format!("job name '{}' is not valid: {reason}", name.escape_debug()))
}

#[cfg(test)]
mod tests {
    use elasticjob::ident::JobName;

    use super::*;

    fn library(name: &str) -> Result<(), String> {
        JobName::new(name).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_that_cannot_be_a_node_of_the_registry_is_refused_as_the_library_refuses_it() {
        for name in ["", " ", ".", "..", "a/b", "a@-@b", "a\u{7}@-@b"] {
            assert!(check(name).is_err(), "{name:?}");
            assert_eq!(check(name), library(name), "{name:?}");
        }
        for name in ["订单.sync job", "...", "a@b"] {
            assert_eq!((check(name), library(name)), (Ok(()), Ok(())));
        }
    }

    #[test]
    fn every_character_is_taken_or_refused_as_the_library_does() {
        let beyond = ['\u{1f600}', char::MAX];
        for c in ('\0'..='\u{10010}').chain(beyond) {
            let name = format!("a{c}");
            assert_eq!(check(&name), library(&name), "{c:?}");
        }
    }
}
