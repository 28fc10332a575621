//! The fields of registrations, as a form has them and as JSON has them.

use i18n_embed_fl::fl;
use serde_json::{Map, Value};

use super::super::form;
use super::lines;
use crate::cloud::WrongField;
use crate::text::Text;
use crate::translated;

/// What a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A number; the text is its step: `any`, or `1`.
    Number(&'static str),
    /// With what counts where nothing is given.
    Flag(bool),
    Choice(&'static [&'static str]),
    /// Texts by name, a line for each.
    Pairs,
    /// Texts, with commas between them.
    List,
}

/// A field of a registration.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name in JSON, which is that of the manual.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    pub(super) about: fn(&Text) -> String,
}

macro_rules! field {
    ($name:literal, $kind:expr, $about:literal) => {
        Field { name: $name, kind: $kind, is_required: false, about: |text| fl!(text.loader(), $about) }
    };
    ($name:literal, $kind:expr, $about:literal, required) => {
        Field { is_required: true, ..field!($name, $kind, $about) }
    };
}

pub(super) const APP: &[Field] = &[
    field!("appName", Kind::Text, "cloud-field-app-name", required),
    field!("appURL", Kind::Text, "cloud-field-app-url", required),
    field!("bootstrapScript", Kind::Text, "cloud-field-bootstrap", required),
    field!("cpuCount", Kind::Number("any"), "cloud-field-app-cpu"),
    field!("memoryMB", Kind::Number("any"), "cloud-field-app-memory"),
    field!("appCacheEnable", Kind::Flag(true), "cloud-field-app-cache"),
    field!("eventTraceSamplingCount", Kind::Number("1"), "cloud-field-sampling"),
    field!("image", Kind::Text, "cloud-field-image"),
    field!("env", Kind::Pairs, "cloud-field-env"),
    field!("slurm", Kind::Pairs, "cloud-field-slurm"),
];

pub(super) const JOB: &[Field] = &[
    field!("jobName", Kind::Text, "cloud-field-job-name", required),
    field!("appName", Kind::Text, "cloud-field-job-app", required),
    field!("jobExecutionType", Kind::Choice(&["TRANSIENT", "DAEMON"]), "cloud-field-type", required),
    field!("cron", Kind::Text, "cloud-field-cron"),
    field!("timeZone", Kind::Text, "cloud-field-zone"),
    field!("dependsOn", Kind::List, "cloud-field-depends-on"),
    field!("shardingTotalCount", Kind::Number("1"), "cloud-field-items", required),
    field!("shardingItemParameters", Kind::Text, "cloud-field-item-parameters"),
    field!("jobParameter", Kind::Text, "cloud-field-parameter"),
    field!("cpuCount", Kind::Number("any"), "cloud-field-job-cpu", required),
    field!("memoryMB", Kind::Number("any"), "cloud-field-job-memory", required),
    field!("failover", Kind::Flag(false), "cloud-field-failover"),
    field!("misfire", Kind::Flag(false), "cloud-field-misfire"),
    field!("disabled", Kind::Flag(false), "cloud-field-disabled"),
    field!("jobErrorHandlerType", Kind::Text, "cloud-field-error-handler"),
    field!("description", Kind::Text, "cloud-field-description"),
    field!("gracePeriodSeconds", Kind::Number("1"), "cloud-field-grace"),
    field!("instances", Kind::Number("1"), "cloud-field-instances"),
    field!("itemsPerProcess", Kind::Number("1"), "cloud-field-per-process"),
    field!("queueName", Kind::Text, "cloud-field-queue"),
    field!("props", Kind::Pairs, "cloud-field-props"),
    field!("env", Kind::Pairs, "cloud-field-env"),
];

/// A field of a form that is shown.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) field: &'static Field,
    pub(super) value: String,
    /// What is wrong with it.
    pub(super) wrong: Vec<String>,
}

impl Input {
    /// Whether this is the value of a choice.
    pub(super) fn is(&self, choice: &str) -> bool {
        self.value == choice
    }
}

/// The inputs with the values of a registration.
pub(super) fn filled(fields: &'static [Field], registration: &Map<String, Value>) -> Vec<Input> {
    let input = |field: &'static Field| {
        let value = registration.get(field.name).map(written).unwrap_or_default();
        let value = match field.kind {
            Kind::Flag(unset) if value.is_empty() => unset.to_string(),
            _ => value,
        };
        Input { field, value, wrong: Vec::new() }
    };
    fields.iter().map(input).collect()
}

/// The inputs as they were sent, each with what is wrong; and the problems of no field of the form.
pub(super) fn again(
    fields: &'static [Field],
    sent: &[(String, String)],
    problems: Vec<WrongField>,
    text: &Text,
) -> (Vec<Input>, Vec<String>) {
    let mut inputs: Vec<Input> = fields
        .iter()
        .map(|field| Input { field, value: form::one(sent, field.name).to_owned(), wrong: Vec::new() })
        .collect();
    let mut others = Vec::new();
    for WrongField { field, reason } in problems {
        let reason = translated::shown(text, &reason);
        // `env.NAME` is about a name within `env`.
        let (name, part) = field.split_once('.').unwrap_or((&field, ""));
        let of_part = if part.is_empty() { reason.clone() } else { format!("{part}: {reason}") };
        match inputs.iter_mut().find(|input| input.field.name == name) {
            Some(input) => input.wrong.push(of_part),
            None => others.push(format!("{field}: {reason}")),
        }
    }
    (inputs, others)
}

/// The registration that a form was sent with. A field that is empty has no value.
pub(super) fn registration(fields: &[Field], sent: &[(String, String)]) -> Map<String, Value> {
    let pair = |field: &Field| Some((field.name.to_owned(), value(field.kind, form::one(sent, field.name))?));
    fields.iter().filter_map(pair).collect()
}

/// What a form changes: the fields that are not as they were when the form was shown. A field without a value is null.
pub(super) fn changes(fields: &[Field], before: &Map<String, Value>, now: &Map<String, Value>) -> Map<String, Value> {
    let changed = fields.iter().filter(|field| !is_same(field.kind, before.get(field.name), now.get(field.name)));
    changed.map(|field| (field.name.to_owned(), now.get(field.name).cloned().unwrap_or(Value::Null))).collect()
}

fn is_same(kind: Kind, before: Option<&Value>, now: Option<&Value>) -> bool {
    match kind {
        // 1 and 1.0 are one amount.
        Kind::Number(_) => match (before.and_then(Value::as_f64), now.and_then(Value::as_f64)) {
            (Some(before), Some(now)) => before == now,
            (None, None) => before.is_none() && now.is_none(),
            _ => false,
        },
        // Numbers among texts are texts.
        Kind::Pairs => before.map(written).unwrap_or_default() == now.map(written).unwrap_or_default(),
        Kind::Flag(unset) => before.unwrap_or(&Value::Bool(unset)) == now.unwrap_or(&Value::Bool(unset)),
        _ => before == now,
    }
}

/// The value of a text that was sent. A text that is no value of its kind stays a text: the API says what is wrong with
/// it.
fn value(kind: Kind, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    let as_text = || Value::String(trimmed.to_owned());
    Some(match kind {
        Kind::Text | Kind::Choice(_) => as_text(),
        Kind::Number(_) => {
            serde_json::from_str::<serde_json::Number>(trimmed).map_or_else(|_| as_text(), Value::Number)
        }
        Kind::Flag(_) => trimmed.parse().map_or_else(|_| as_text(), Value::Bool),
        Kind::Pairs => lines::read(trimmed),
        Kind::List => {
            let texts = trimmed.split(',').map(str::trim).filter(|text| !text.is_empty());
            texts.map(|text| Value::String(text.to_owned())).collect()
        }
    })
}

/// A value as a form has it.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(pairs) => lines::written(pairs),
        Value::Array(texts) => texts.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::{Language, Texts};

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("{value} is no object") };
        map
    }

    fn sent(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_form_that_was_only_looked_at_changes_nothing() {
        let job = object(json!({
            "jobName": "j", "appName": "a", "jobExecutionType": "TRANSIENT", "cpuCount": 1.0, "memoryMB": 64.5,
            "shardingTotalCount": 3, "failover": true, "misfire": false, "props": { "a": 1, "b": "x=y" }, "itemsPerProcess": 1,
            "dependsOn": ["extract", "load when ended items same"],
        }));
        let shown: Vec<_> =
            filled(JOB, &job).into_iter().map(|input| (input.field.name.to_owned(), input.value)).collect();
        let now = registration(JOB, &shown);
        assert_eq!(changes(JOB, &job, &now), Map::new(), "{now:?}");
    }

    #[test]
    fn jobs_before_a_job_are_sent_as_a_list_and_emptied_as_null() {
        let after = |text: &str| registration(JOB, &sent(&[("dependsOn", text)]));
        assert_eq!(Value::Object(after("a, b when failed,")), json!({ "dependsOn": ["a", "b when failed"] }));
        let before = after("a");
        assert_eq!(Value::Object(changes(JOB, &before, &after(" "))), json!({ "dependsOn": null }));
    }

    #[test]
    fn only_what_differs_is_changed_and_what_was_emptied_is_null() {
        let app = object(json!({ "appName": "a", "cpuCount": 1.0, "image": "x:1", "env": { "A": "1" } }));
        let shown =
            [("appName", "a"), ("cpuCount", "2"), ("image", " "), ("env", "A=1\nB=2"), ("appCacheEnable", "true")];
        let now = registration(APP, &sent(&shown));
        let changed = json!({ "cpuCount": 2, "image": null, "env": { "A": "1", "B": "2" } });
        assert_eq!(Value::Object(changes(APP, &app, &now)), changed);
    }

    #[test]
    fn what_is_no_number_is_sent_as_it_was_typed() {
        let typed =
            registration(APP, &sent(&[("cpuCount", "many"), ("memoryMB", "1e2"), ("appCacheEnable", "perhaps")]));
        assert_eq!(Value::Object(typed), json!({ "cpuCount": "many", "memoryMB": 1e2, "appCacheEnable": "perhaps" }));
    }

    #[test]
    fn a_problem_is_told_at_its_field_and_others_above() {
        let wrong = |field: &str| WrongField { field: field.to_owned(), reason: "is wrong".into() };
        let problems = vec![wrong("cpuCount"), wrong("env.1A"), wrong("job")];
        let texts = Texts::load().expect("they load");
        let (inputs, others) = again(APP, &sent(&[("cpuCount", "x")]), problems, texts.of(Language::English));
        let told = |name: &str| inputs.iter().find(|input| input.field.name == name).map(|input| input.wrong.join(""));
        assert_eq!(told("cpuCount").as_deref(), Some("is wrong"));
        assert_eq!(told("env").as_deref(), Some("1A: is wrong"));
        assert_eq!(others, ["job: is wrong"]);
    }
}
