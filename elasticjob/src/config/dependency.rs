//! The jobs that a job runs after, instead of by a schedule.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ident::JobName;

/// A job that another one runs after: `JOB`, `JOB when failed`, `JOB when ended`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// The job.
    pub job: JobName,
    /// How its fire has to end.
    pub when: When,
}

/// How the fire of a job has to end so that the next job runs for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum When {
    /// All its items succeeded.
    #[default]
    Succeeded,
    /// An item failed, was cancelled or was not run.
    Failed,
    /// All its items ended, however they did.
    Ended,
}

impl When {
    const ALL: [Self; 3] = [Self::Succeeded, Self::Failed, Self::Ended];

    /// Its word in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Ended => "ended",
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const WHEN: &str = " when ";

/// Between the dependencies in one text.
const SEPARATOR: char = ',';

impl Dependency {
    /// After a job, when its fire ended so.
    pub fn new(job: JobName, when: When) -> Self {
        Self { job, when }
    }
}

impl FromStr for Dependency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, when) = match text.rsplit_once(WHEN) {
            None => (text, When::default()),
            Some((name, word)) => {
                let found = When::ALL.into_iter().find(|when| when.as_str() == word.trim());
                let known = "'succeeded', 'failed' and 'ended'";
                (name, found.ok_or_else(|| format!("'{text}': there is no '{}'; known: {known}", word.trim()))?)
            }
        };
        if name.contains(SEPARATOR) {
            return Err(format!("'{text}': a job whose name has a comma cannot be named here"));
        }
        let job = JobName::new(name.trim()).map_err(|wrong| wrong.to_string())?;
        Ok(Self { job, when })
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when {
            When::Succeeded => write!(f, "{}", self.job),
            when => write!(f, "{}{WHEN}{when}", self.job),
        }
    }
}

/// The dependencies of settings, and what is wrong with them.
pub(super) fn parse(of: &JobName, texts: &[String]) -> (Vec<Dependency>, Vec<String>) {
    let (mut found, mut wrong): (Vec<Dependency>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        match text.parse::<Dependency>() {
            Err(why) => wrong.push(why),
            Ok(one) if one.job == *of => wrong.push(format!("the job depends on itself: {of} -> {of}")),
            Ok(one) if found.iter().any(|known| known.job == one.job) => {
                wrong.push(format!("job '{}' is given twice: give it once, with one `when`", one.job));
            }
            Ok(one) => found.push(one),
        }
    }
    (found, wrong)
}

/// As one text, for the registry center.
pub(super) fn joined(dependencies: &[Dependency]) -> String {
    let texts: Vec<String> = dependencies.iter().map(ToString::to_string).collect();
    texts.join(&SEPARATOR.to_string())
}

/// The texts in one, of the registry center.
pub(super) fn split(text: &str) -> Vec<String> {
    text.split(SEPARATOR).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str) -> JobName {
        JobName::new(name).unwrap()
    }

    #[test]
    fn a_dependency_reads_back_what_it_writes() {
        for text in ["extract", "extract when failed", "the big one when ended", "what when why when ended"] {
            assert_eq!(text.parse::<Dependency>().unwrap().to_string(), text);
        }
        let plain: Dependency = " extract when succeeded ".parse().unwrap();
        assert_eq!((plain.to_string(), plain.when), ("extract".to_owned(), When::Succeeded));
    }

    #[test]
    fn what_is_wrong_names_the_text_and_what_would_be_right() {
        let texts = ["load", "a when done", "a", "a when ended", "a/b"].map(str::to_owned);
        let (found, wrong) = parse(&job("load"), &texts);
        assert_eq!(found, [Dependency::new(job("a"), When::Succeeded)]);
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        for (text, part) in wrong.iter().zip(["load -> load", "known: 'succeeded'", "given twice", "'/' separates"]) {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn several_are_one_text_in_the_registry() {
        let (found, _) = parse(&job("load"), &["a".to_owned(), "b when ended".to_owned()]);
        assert_eq!(joined(&found), "a,b when ended");
        assert_eq!(parse(&job("load"), &split(&joined(&found))).0, found);
    }
}
