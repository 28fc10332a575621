//! Names of jobs: the rule of `JobName` of the library, which this crate cannot depend on.

/// What is wrong with the name of a job.
pub fn check(name: &str) -> Result<(), String> {
    let reason = if name.trim().is_empty() {
        "it is blank"
    } else if name == "." || name == ".." {
        "'.' and '..' are not allowed in a registry path"
    } else if name.contains('/') {
        "'/' separates the nodes of a registry path"
    } else if name.contains("@-@") {
        "'@-@' separates the parts of a task id"
    } else if name.chars().any(|c| c.is_control() || ('\u{fff0}'..='\u{ffff}').contains(&c)) {
        "control characters are not allowed in a registry path"
    } else {
        return Ok(());
    };
    Err(format!("job name '{}' is not valid: {reason}", name.escape_debug()))
}

#[cfg(test)]
mod tests {
    use elasticjob::ident::JobName;

    use super::*;

    #[test]
    fn a_name_that_cannot_be_a_node_of_the_registry_is_refused_as_the_library_refuses_it() {
        let reason = |error: String| error.rsplit_once(": ").map(|(_, reason)| reason.to_owned());
        for name in ["", " ", ".", "..", "a/b", "a@-@b", "a\u{7}", "a\u{fff0}", "\u{ffff}"] {
            let library = JobName::new(name).unwrap_err().to_string();
            assert_eq!(reason(check(name).unwrap_err()), reason(library), "{name:?}");
        }
        for name in ["订单.sync job", "...", "a@b", "\u{ffef}"] {
            assert_eq!(check(name), Ok(()));
            assert!(JobName::new(name).is_ok());
        }
    }
}
