//! Compares the code of a job with the kind in its options.

/// Checks the type that a job names. Types that are not built in are not known here.
pub fn check(named: &str, job: &str) -> Result<(), String> {
    let what = match named {
        _ if named == job => return Ok(()),
        "SIMPLE" => "a function",
        "DATAFLOW" => "an `impl` with the functions `fetch` and `process`",
        "SCRIPT" | "HTTP" => {
            return Err(format!("a job of the type {named} has no code: configure it below `elasticjob.jobs` alone"));
        }
        _ => return Ok(()),
    };
    Err(format!("a job of the type {named} is {what}; this one is {job}"))
}

/// Checks the properties that belong to the kind of the job.
pub fn check_prop(key: &str, value: &str, job: &str) -> Result<(), String> {
    match (job, key) {
        ("DATAFLOW", "streaming.process") if !["true", "false"].contains(&value.to_lowercase().as_str()) => {
            Err("`streaming.process` is \"true\" or \"false\"".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_is_built_in_fits_what_the_job_is() {
        for (named, job, wrong) in [
            ("SIMPLE", "SIMPLE", None),
            ("DATAFLOW", "DATAFLOW", None),
            ("OWN", "SIMPLE", None),
            ("DATAFLOW", "SIMPLE", Some("is an `impl` with the functions `fetch` and `process`; this one is SIMPLE")),
            ("SIMPLE", "DATAFLOW", Some("is a function; this one is DATAFLOW")),
            ("SCRIPT", "SIMPLE", Some("SCRIPT has no code")),
        ] {
            match (check(named, job), wrong) {
                (Ok(()), None) => {}
                (Err(told), Some(wrong)) => assert!(told.contains(wrong), "{told}"),
                (told, _) => panic!("{named} on {job}: {told:?}"),
            }
        }
    }

    #[test]
    fn a_stream_is_on_or_off() {
        assert_eq!(check_prop("streaming.process", "True", "DATAFLOW"), Ok(()));
        assert!(check_prop("streaming.process", "yes", "DATAFLOW").is_err());
        assert_eq!(check_prop("streaming.process", "yes", "SIMPLE"), Ok(()));
    }
}
