//! Reads a JSON object field by field, and collects everything that is wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use elasticjob::config::Dependency;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A field with a value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// The field as JSON names it.
    pub field: String,
    /// Why its value cannot be used, and what to write instead.
    pub reason: String,
}

impl Problem {
    /// A field whose value cannot be used.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

/// Everything that is wrong with an application or a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct Problems(pub Vec<Problem>);

/// The fields of an object that were not read yet, and the problems of those that were.
pub(super) struct Fields {
    left: Map<String, Value>,
    known: Vec<&'static str>,
    problems: Vec<Problem>,
}

impl Fields {
    /// `what` names the object in the problem of a value that is no object.
    pub(super) fn of(value: Value, what: &str) -> Result<Self, Problems> {
        match value {
            Value::Object(left) => Ok(Self { left, known: Vec::new(), problems: Vec::new() }),
            other => Err(Problems(vec![Problem::new(what, format!("is {}: give a JSON object", kind(&other)))])),
        }
    }

    pub(super) fn wrong(&mut self, field: &str, reason: impl Into<String>) {
        self.problems.push(Problem::new(field, reason));
    }

    /// A value that is there and not null.
    fn take(&mut self, field: &'static str) -> Option<Value> {
        self.known.push(field);
        self.left.remove(field).filter(|value| !value.is_null())
    }

    fn typed<T>(&mut self, field: &'static str, expected: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let value = self.take(field)?;
        let typed = read(&value);
        if typed.is_none() {
            self.wrong(field, format!("is {}: give {expected}", kind(&value)));
        }
        typed
    }

    /// A text that is not blank.
    pub(super) fn text(&mut self, field: &'static str) -> Option<String> {
        self.typed(field, "a text", |value| value.as_str().map(str::to_owned)).filter(|text| !text.trim().is_empty())
    }

    /// A text that has to be there. The empty text stands in for a missing one, which is a problem.
    pub(super) fn required(&mut self, field: &'static str, example: &str) -> String {
        let before = self.problems.len();
        self.text(field).unwrap_or_else(|| {
            if self.problems.len() == before {
                self.wrong(field, format!("is missing: give for example \"{example}\""));
            }
            String::new()
        })
    }

    /// Reports a field, unless it is known to be wrong: one mistake has one problem.
    pub(super) fn wrong_once(&mut self, field: &str, reason: impl Into<String>) {
        if !self.problems.iter().any(|problem| problem.field == field) {
            self.wrong(field, reason);
        }
    }

    /// Reports a field that has to be there and is not.
    pub(super) fn missing(&mut self, field: &str, is_missing: bool) {
        if is_missing {
            self.wrong_once(field, "is missing: give a number");
        }
    }

    pub(super) fn flag(&mut self, field: &'static str, unset: bool) -> bool {
        self.typed(field, "true or false", Value::as_bool).unwrap_or(unset)
    }

    /// A whole number within a range.
    pub(super) fn count(&mut self, field: &'static str, least: u32, most: u32) -> Option<u32> {
        let count = self.typed(field, &format!("a whole number from {least} to {most}"), |value| {
            u32::try_from(value.as_i64()?).ok()
        })?;
        if !(least..=most).contains(&count) {
            self.wrong(field, format!("is {count}: give a whole number from {least} to {most}"));
        }
        Some(count)
    }

    /// A whole number that may be negative.
    pub(super) fn number(&mut self, field: &'static str) -> Option<i32> {
        self.typed(field, "a whole number", |value| i32::try_from(value.as_i64()?).ok())
    }

    /// A number of at least `least`.
    pub(super) fn amount(&mut self, field: &'static str, least: f64) -> Option<f64> {
        let amount = self.typed(field, &format!("a number from {least}"), Value::as_f64)?;
        if !amount.is_finite() || amount < least {
            self.wrong(field, format!("is {amount}: the least is {least}"));
        }
        Some(amount)
    }

    /// Texts by name. Numbers and flags count as texts, as they do in properties of Java.
    pub(super) fn texts(&mut self, field: &'static str) -> BTreeMap<String, String> {
        let Some(value) = self.take(field) else { return BTreeMap::new() };
        let Value::Object(entries) = value else {
            self.wrong(field, format!("is {}: give an object of texts", kind(&value)));
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        for (key, value) in entries {
            match value {
                Value::String(text) => drop(texts.insert(key, text)),
                Value::Number(_) | Value::Bool(_) => drop(texts.insert(key, value.to_string())),
                other => self.wrong(&format!("{field}.{key}"), format!("is {}: give a text", kind(&other))),
            }
        }
        texts
    }

    /// The jobs that a job runs after, in the short form: a text with them, or a list of texts and objects. What cannot be parsed
    /// stays as it is: the configuration of the job says what is wrong with it.
    pub(super) fn dependencies(&mut self, field: &'static str) -> Vec<String> {
        let expected = "a text as \"extract when failed\", or a list of texts and of {\"job\", \"when\", \"items\"}";
        let texts = match self.take(field) {
            None => Vec::new(),
            Some(Value::String(text)) => Dependency::texts(&text),
            Some(Value::Array(all)) => {
                let short = |(at, one): (usize, &Value)| {
                    dependency(one).map_err(|why| self.wrong(&format!("{field}[{at}]"), why)).ok()
                };
                all.iter().enumerate().filter_map(short).collect()
            }
            Some(other) => {
                self.wrong(field, format!("is {}: give {expected}", kind(&other)));
                Vec::new()
            }
        };
        texts.into_iter().map(|text| text.parse().map_or(text, |one: Dependency| one.to_string())).collect()
    }

    /// The problems, if there are any; a field that was not asked for is one.
    pub(super) fn end<T>(mut self, value: T) -> Result<T, Problems> {
        for field in std::mem::take(&mut self.left).into_iter().map(|(field, _)| field) {
            let like = self.known.iter().find(|known| known.eq_ignore_ascii_case(&field));
            let remedy = match like {
                Some(known) => format!("write `{known}`"),
                None => format!("the fields are {}", self.known.join(", ")),
            };
            self.problems.push(Problem::new(field, format!("there is no such field: {remedy}")));
        }
        if self.problems.is_empty() { Ok(value) } else { Err(Problems(self.problems)) }
    }
}

/// One of the jobs that a job runs after, in the short form.
fn dependency(value: &Value) -> Result<String, String> {
    let fields = match value {
        Value::String(text) => return Ok(text.trim().to_owned()),
        Value::Object(fields) => fields,
        other => return Err(format!("is {}: give a text, or {{\"job\", \"when\", \"items\"}}", kind(other))),
    };
    if let Some(other) = fields.keys().find(|name| !["job", "when", "items"].contains(&name.as_str())) {
        return Err(format!("has `{other}`: the parts are job, when, items"));
    }
    let part = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("has {} as `{name}`: give a text", kind(other))),
    };
    let job = part("job")?.ok_or("has no `job`: it names the job before this one")?;
    Ok(Dependency::short_form(job, part("when")?, part("items")?))
}

/// What a value is, in words.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("the text \"{text}\""),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
