//! Reads a JSON object field by field, and collects everything that is wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use elasticjob::config::{Dependency, Message, MessageArgument};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::texts;

/// A field with a value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The field as JSON names it.
    pub field: String,
    /// Why its value cannot be used, and what to write instead.
    pub reason: Message,
}

impl Problem {
    /// A field whose value cannot be used.
    pub fn new(field: impl Into<String>, reason: impl Into<Message>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// The field with its reason.
    pub(crate) fn message(&self) -> Message {
        texts::field_wrong(&self.field, self.reason.clone())
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut problem = serializer.serialize_struct("Problem", 3)?;
        problem.serialize_field("field", &self.field)?;
        problem.serialize_field("reason", self.reason.as_str())?;
        match self.reason.code() {
            Some(code) => problem.serialize_field("code", code)?,
            None => problem.skip_field("code")?,
        }
        problem.end()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// Everything that is wrong with an application or a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// All of them.
    pub fn message(&self) -> Message {
        texts::fields_wrong(self.0.iter().map(Problem::message).collect::<Vec<_>>())
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

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
            other => Err(Problems(vec![Problem::new(what, texts::wrong_value(kind(&other), texts::give_object()))])),
        }
    }

    pub(super) fn wrong(&mut self, field: &str, reason: impl Into<Message>) {
        self.problems.push(Problem::new(field, reason));
    }

    /// A value that is there and not null.
    fn take(&mut self, field: &'static str) -> Option<Value> {
        self.known.push(field);
        self.left.remove(field).filter(|value| !value.is_null())
    }

    fn typed<T>(
        &mut self,
        field: &'static str,
        expected: Message,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(field)?;
        let typed = read(&value);
        if typed.is_none() {
            self.wrong(field, texts::wrong_value(kind(&value), expected));
        }
        typed
    }

    /// A text that is not blank.
    pub(super) fn text(&mut self, field: &'static str) -> Option<String> {
        let text = self.typed(field, texts::give_text(), |value| value.as_str().map(str::to_owned));
        text.filter(|text| !text.trim().is_empty())
    }

    /// A text that has to be there. The empty text stands in for a missing one, which is a problem.
    pub(super) fn required(&mut self, field: &'static str, example: &str) -> String {
        let before = self.problems.len();
        self.text(field).unwrap_or_else(|| {
            if self.problems.len() == before {
                self.wrong(field, texts::missing_text(example));
            }
            String::new()
        })
    }

    /// Reports a field, unless it is known to be wrong: one mistake has one problem.
    pub(super) fn wrong_once(&mut self, field: &str, reason: impl Into<Message>) {
        if !self.problems.iter().any(|problem| problem.field == field) {
            self.wrong(field, reason);
        }
    }

    /// Reports a field that has to be there and is not.
    pub(super) fn missing(&mut self, field: &str, is_missing: bool) {
        if is_missing {
            self.wrong_once(field, texts::missing_number());
        }
    }

    pub(super) fn flag(&mut self, field: &'static str, unset: bool) -> bool {
        self.typed(field, texts::give_flag(), Value::as_bool).unwrap_or(unset)
    }

    /// A whole number within a range.
    pub(super) fn count(&mut self, field: &'static str, least: u32, most: u32) -> Option<u32> {
        let expected = || texts::give_count(least, most);
        let count = self.typed(field, expected(), |value| u32::try_from(value.as_i64()?).ok())?;
        if !(least..=most).contains(&count) {
            self.wrong(field, texts::wrong_value(count, expected()));
        }
        Some(count)
    }

    /// A whole number that may be negative.
    pub(super) fn number(&mut self, field: &'static str) -> Option<i32> {
        self.typed(field, texts::give_number(), |value| i32::try_from(value.as_i64()?).ok())
    }

    /// A number of at least `least`.
    pub(super) fn amount(&mut self, field: &'static str, least: f64) -> Option<f64> {
        let amount = self.typed(field, texts::give_amount(least.to_string()), Value::as_f64)?;
        if !amount.is_finite() || amount < least {
            self.wrong(field, texts::below_least(amount.to_string(), least.to_string()));
        }
        Some(amount)
    }

    /// Texts by name. Numbers and flags count as texts, as they do in properties of Java.
    pub(super) fn texts(&mut self, field: &'static str) -> BTreeMap<String, String> {
        let Some(value) = self.take(field) else { return BTreeMap::new() };
        let Value::Object(entries) = value else {
            self.wrong(field, texts::wrong_value(kind(&value), texts::give_texts()));
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        for (key, value) in entries {
            match value {
                Value::String(text) => drop(texts.insert(key, text)),
                Value::Number(_) | Value::Bool(_) => drop(texts.insert(key, value.to_string())),
                other => {
                    self.wrong(&format!("{field}.{key}"), texts::wrong_value(kind(&other), texts::give_text()));
                }
            }
        }
        texts
    }

    /// The jobs that a job runs after, in the short form: a text with them, or a list of texts and objects. What cannot be parsed
    /// stays as it is: the configuration of the job says what is wrong with it.
    pub(super) fn dependencies(&mut self, field: &'static str) -> Vec<String> {
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
                self.wrong(field, texts::wrong_value(kind(&other), texts::give_dependencies()));
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
                Some(known) => texts::field_like(*known),
                None => texts::no_such_field(self.known.join(", ")),
            };
            self.problems.push(Problem::new(field, remedy));
        }
        if self.problems.is_empty() { Ok(value) } else { Err(Problems(self.problems)) }
    }
}

/// One of the jobs that a job runs after, in the short form.
fn dependency(value: &Value) -> Result<String, Message> {
    let fields = match value {
        Value::String(text) => return Ok(text.trim().to_owned()),
        Value::Object(fields) => fields,
        other => return Err(texts::wrong_value(kind(other), texts::give_dependency())),
    };
    if let Some(other) = fields.keys().find(|name| !["job", "when", "items"].contains(&name.as_str())) {
        return Err(texts::dependency_part(other));
    }
    let part = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(texts::dependency_part_type(kind(other), name)),
    };
    let job = part("job")?.ok_or_else(texts::dependency_no_job)?;
    Ok(Dependency::short_form(job, part("when")?, part("items")?))
}

/// What a value is, in words.
fn kind(value: &Value) -> MessageArgument {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string().into(),
        Value::String(text) => texts::a_text_of(text).into(),
        Value::Array(_) => texts::a_list().into(),
        Value::Object(_) => texts::an_object().into(),
    }
}
