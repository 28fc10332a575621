//! Keys of settings, in the names of the schema.

use std::fmt;

/// A setting by its canonical names below `elasticjob`. Names of jobs and keys of properties stay as they are written.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Vec<String>);

impl Key {
    pub fn of<const N: usize>(segments: [&str; N]) -> Self {
        Self(segments.map(str::to_owned).to_vec())
    }

    pub fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }

    pub fn segments(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elasticjob")?;
        for (depth, segment) in self.0.iter().enumerate() {
            let is_name = depth == 1 && super::has_names(&self.0[0]);
            if is_name && segment.contains(['.', '[', ']']) {
                write!(f, "[{segment}]")?;
            } else {
                write!(f, ".{segment}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_job_names_with_dots_in_brackets() {
        assert_eq!(Key::of(["reg-center", "namespace"]).to_string(), "elasticjob.reg-center.namespace");
        assert_eq!(Key::of(["jobs", "a.b", "cron"]).to_string(), "elasticjob.jobs[a.b].cron");
        assert_eq!(Key::of(["jobs", "a", "props", "x.y"]).to_string(), "elasticjob.jobs.a.props.x.y");
    }
}
