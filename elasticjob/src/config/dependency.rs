//! The jobs that a job runs after, instead of by a schedule.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Message;
use crate::ident::JobName;
use crate::texts;

/// A job that another one runs after: `JOB`, `JOB when failed`, `JOB when ended items same`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dependency {
    /// The job.
    pub job: JobName,
    /// The end that its fire must have.
    pub when: When,
    /// The items of it that must have that end.
    pub items: DependencyItems,
}

/// The items of the job before it for which an item of a job waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DependencyItems {
    /// All of them.
    #[default]
    All,
    /// The item with the same number. Both jobs have to have as many items.
    Same,
}

impl DependencyItems {
    const EACH: [Self; 2] = [Self::All, Self::Same];

    /// Its word in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Same => "same",
        }
    }
}

impl fmt::Display for DependencyItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end that the fire of a job must have so that the next job runs for it.
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

const ITEMS: &str = " items ";

/// The most items of a job with `items same`: the leader writes into one node which of them may begin.
pub(super) const MOST_ITEMS: u32 = 10_000;

/// Between the dependencies in one text.
const SEPARATOR: char = ',';

impl Dependency {
    /// After a job, when all items of its fire ended so.
    pub fn new(job: JobName, when: When) -> Self {
        Self { job, when, items: DependencyItems::All }
    }

    /// The short form of a dependency that a file or a request gives by its parts. Nothing is checked: parse it.
    pub fn short_form(job: &str, when: Option<&str>, items: Option<&str>) -> String {
        let mut short = job.to_owned();
        for (sign, word) in [(WHEN, when), (ITEMS, items)] {
            if let Some(word) = word {
                short = short + sign + word;
            }
        }
        short
    }

    /// The short forms of a text with several of them: `extract, load when ended`.
    pub fn texts(text: &str) -> Vec<String> {
        split(text)
    }

    /// The same, of these items.
    #[must_use]
    pub fn of_items(self, items: DependencyItems) -> Self {
        Self { items, ..self }
    }
}

impl FromStr for Dependency {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let (rest, items) = word_after(text, ITEMS, &DependencyItems::EACH.map(|items| (items.as_str(), items)))?;
        let (name, when) = word_after(rest, WHEN, &When::ALL.map(|when| (when.as_str(), when)))?;
        if name.contains(SEPARATOR) {
            return Err(texts::depends_comma(text));
        }
        let job = JobName::new(name.trim()).map_err(|wrong| wrong.message().clone())?;
        Ok(Self { job, when, items })
    }
}

/// A text without its last part, and what that part says: one of these words after a sign, or nothing.
fn word_after<'a, T: Copy + Default>(text: &'a str, sign: &str, words: &[(&str, T)]) -> Result<(&'a str, T), Message> {
    let Some((rest, word)) = text.rsplit_once(sign) else { return Ok((text, T::default())) };
    let found = words.iter().find(|(known, _)| *known == word.trim());
    found.map(|(_, value)| (rest, *value)).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(known, _)| format!("'{known}'")).collect();
        texts::depends_unknown_word(text, word.trim(), known.join(", "))
    })
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, when, items } = self;
        write!(f, "{job}")?;
        // A name may have these signs in it.
        if *when != When::default() || job.as_str().contains(WHEN) {
            write!(f, "{WHEN}{when}")?;
        }
        if *items != DependencyItems::default() || job.as_str().contains(ITEMS) {
            write!(f, "{ITEMS}{items}")?;
        }
        Ok(())
    }
}

/// The dependencies of settings, and what is wrong with them.
pub(super) fn parse(of: &JobName, texts: &[String]) -> (Vec<Dependency>, Vec<Message>) {
    let (mut found, mut wrong): (Vec<Dependency>, Vec<Message>) = (Vec::new(), Vec::new());
    for text in texts {
        match text.parse::<Dependency>() {
            Err(why) => wrong.push(why),
            Ok(one) if one.job == *of => wrong.push(texts::depends_on_itself(of.as_str())),
            Ok(one) if found.iter().any(|known| known.job == one.job) => {
                wrong.push(texts::depends_twice(one.job.as_str()));
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

/// The texts in one.
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
        for text in [
            "extract",
            "extract when failed",
            "extract items same",
            "extract when ended items same",
            "the big one when ended",
            "what when why when ended",
            "what when why when succeeded",
            "the items of it items all",
        ] {
            assert_eq!(text.parse::<Dependency>().unwrap().to_string(), text);
        }
        let plain: Dependency = " extract when succeeded ".parse().unwrap();
        assert_eq!((plain.to_string(), plain.when), ("extract".to_owned(), When::Succeeded));
        let plain: Dependency = "extract items all".parse().unwrap();
        assert_eq!((plain.to_string(), plain.items), ("extract".to_owned(), DependencyItems::All));
    }

    #[test]
    fn what_is_wrong_names_the_text_and_what_would_be_right() {
        let texts = ["load", "a when done", "a", "a when ended", "a/b", "a items some", "a when ended items"]
            .map(str::to_owned);
        let (found, wrong) = parse(&job("load"), &texts);
        assert_eq!(found, [Dependency::new(job("a"), When::Succeeded)]);
        let parts = [
            "load -> load",
            "known: 'succeeded', 'failed', 'ended'",
            "given twice",
            "'/' separates",
            "no 'some'; known: 'all', 'same'",
            "no 'ended items'",
        ];
        assert_eq!(wrong.len(), parts.len(), "{wrong:?}");
        for (text, part) in wrong.iter().zip(parts) {
            assert!(text.as_str().contains(part), "{text}");
        }
    }

    #[test]
    fn several_are_one_text_in_the_registry() {
        let (found, _) = parse(&job("load"), &["a items same".to_owned(), "b when ended".to_owned()]);
        assert_eq!(joined(&found), "a items same,b when ended");
        assert_eq!(parse(&job("load"), &split(&joined(&found))).0, found);
    }
}
