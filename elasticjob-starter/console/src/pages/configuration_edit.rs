//! Changes the configuration of a job: first what the change would do, then the change.

mod merge;
mod quoted;
#[cfg(test)]
mod tests;

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use elasticjob::config::{Invalid, JobSettings, Message};
use elasticjob::ident::JobName;
use elasticjob::operations::{OperationError, Operations, StoredConfiguration};
use elasticjob_syntax::job_option::{JobOption, OptionKind};
use elasticjob_syntax::job_settings::JOB_SETTINGS;
use i18n_embed_fl::fl;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use self::merge::{Changed, Values, merge};
use super::configuration::rows;
use super::form::{self, Fields};
use super::job::{Head, failed, named, path_of};
use super::outcome::{List, Said, Tone};
use super::query::Query;
use super::setting_about::about;
use super::{Layout, error, page, with_status};
use crate::api::Problem;
use crate::here::Here;
use crate::service::configuration::{ChangeView, changed, put_back, record_refusal};
use crate::service::versions::{self, Version, flat};
use crate::text::t;
use crate::texts;
use crate::translated;

/// Settings that the form does not have: the node of the configuration has no place for them, or, for `disabled`, it
/// only says how servers start.
pub(super) const NOT_SHOWN: [&str; 6] = [
    "disabled",
    "elastic-job-class",
    "elastic-job-type",
    "job-bootstrap-bean-name",
    "registry-center-ref",
    "tracing-ref",
];

/// The settings of the form, in the order of the table of settings. Properties have a field of their own.
pub(super) fn settings() -> impl Iterator<Item = &'static JobOption> {
    let is_shown = |setting: &&JobOption| setting.key != PROPS && !NOT_SHOWN.contains(&setting.key);
    JOB_SETTINGS.iter().filter(is_shown)
}

/// The properties, as one field with a line for each.
pub(super) const PROPS: &str = "props";

/// The field that says what the reader began with.
const BASE: &str = "base";

/// The field with the digest of what the reader saw the preview of.
const PREVIEWED: &str = "previewed";

/// Before the name of a property.
const PROPERTY: &str = "props.";

#[derive(Template)]
#[template(path = "configuration_edit.html")]
struct EditPage {
    layout: Layout,
    head: Head,
    version: i32,
    fields: Vec<Field>,
    props_about: String,
    props: String,
    reason: String,
    /// What the registry center has: what the reader began with, as JSON.
    base: String,
    /// What another one changed since the form was opened.
    meanwhile: Vec<Changed>,
    /// What the change would do.
    preview: Option<ChangeView>,
    problems: Vec<String>,
    /// Whether the next start of a program undoes what is saved.
    is_overwritten: bool,
    /// The version whose settings the form has, and those that stay as they are stored.
    from_version: Option<(i32, String)>,
}

/// A setting in the form.
struct Field {
    name: &'static str,
    /// Its meaning, unit and default.
    about: String,
    kind: OptionKind,
    value: String,
    /// What the registry center has, where it differs from the form.
    stored: Option<String>,
}

impl EditPage {
    /// The form with the stored settings.
    fn of(here: &Here, job: &JobName, stored: &StoredConfiguration) -> Self {
        let values = stored_values(stored);
        let fields = settings().map(|setting| {
            let value = values.get(setting.key).map(|value| quoted::written(value)).unwrap_or_default();
            Field { name: setting.key, about: about(&here.text, setting), kind: setting.kind, value, stored: None }
        });
        Self {
            layout: Layout::of(here),
            head: Head::of(here, job, "configuration"),
            version: stored.version(),
            fields: fields.collect(),
            props_about: JOB_SETTINGS
                .iter()
                .find(|one| one.key == PROPS)
                .map(|one| about(&here.text, one))
                .unwrap_or_default(),
            props: lines(&values),
            reason: String::new(),
            base: serde_json::to_string(&values).unwrap_or_default(),
            meanwhile: Vec::new(),
            preview: None,
            problems: Vec::new(),
            is_overwritten: stored.configuration.overwrite(),
            from_version: None,
        }
    }

    /// The same form with the settings of an old version. Those that stay keep what is stored.
    fn put_back(mut self, version: &Version, stays: &[String], stored: &StoredConfiguration) -> Self {
        let stays_so = |name: &String| stays.contains(name);
        let put = flat(&version.settings).into_iter().filter(|(name, _)| !stays_so(name));
        let kept = stored_values(stored).into_iter().filter(|(name, _)| stays_so(name));
        self.fill(&put.chain(kept).collect());
        self.from_version = Some((version.number, stays.join(", ")));
        self
    }

    /// The same form with what the reader wrote.
    fn with(mut self, given: &[(String, String)]) -> Self {
        self.put(|name| form::one(given, name).trim().to_owned());
        self.props = form::one(given, PROPS).to_owned();
        self.reason = form::reason(given);
        self
    }

    /// The same form with what the reader wrote, joined with what is stored now.
    fn merged(mut self, given: &[(String, String)], stored: &StoredConfiguration) -> Self {
        let base = serde_json::from_str::<Values>(form::one(given, BASE)).ok();
        let (values, mut changes) = merge(base.as_ref(), &stored_values(stored), &given_values(given));
        for text in changes.iter_mut().flat_map(Changed::texts) {
            *text = quoted::written(text);
        }
        self.fill(&values);
        self.reason = form::reason(given);
        self.meanwhile = changes;
        self
    }

    fn fill(&mut self, values: &Values) {
        self.put(|name| values.get(name).map(|value| quoted::written(value)).unwrap_or_default());
        self.props = lines(values);
    }

    fn put(&mut self, value: impl Fn(&str) -> String) {
        for field in &mut self.fields {
            let stored = std::mem::replace(&mut field.value, value(field.name));
            field.stored = (stored != field.value).then_some(stored);
        }
    }

    /// What tells whether the values are those of the preview.
    fn digest(&self) -> String {
        let mut hash = Sha256::new();
        // A browser sends the lines of a text with CR LF.
        let props = self.props.lines().collect::<Vec<_>>().join("\n");
        let values = self.fields.iter().flat_map(|field| [field.name, field.value.as_str()]);
        for part in values.chain([props.as_str()]) {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What to know of the change beyond its differences.
    fn notes(&self, preview: &ChangeView) -> Vec<String> {
        let loader = self.layout.text.loader();
        let mut notes = Vec::new();
        let mut add = |note: String| notes.push(note);
        for value in &preview.foreign_to_java {
            add(fl!(loader, "configuration-foreign", value = value.as_str()));
        }
        for value in &preview.own_types {
            add(fl!(loader, "configuration-own-type", value = value.as_str()));
        }
        for value in &preview.bound_to_programs {
            add(fl!(loader, "configuration-bound", value = value.as_str()));
        }
        if !preview.items_without_parameter.is_empty() {
            add(fl!(loader, "configuration-without-parameter", items = preview.without_parameter()));
        }
        match &preview.moved {
            None => add(fl!(loader, "configuration-moves-unknown")),
            Some(moves) => {
                for one in moves {
                    let (items, to) = (one.items.as_str(), one.to.as_str());
                    add(match &one.from {
                        Some(from) => fl!(loader, "configuration-moves", items = items, from = from.as_str(), to = to),
                        None => fl!(loader, "configuration-new-items", items = items, to = to),
                    });
                }
            }
        }
        notes
    }

    /// A difference in the language of the reader. Settings and values are as they are stored.
    fn difference(&self, change: &str) -> String {
        let loader = self.layout.text.loader();
        let of_property = |what: &str| change.strip_suffix(what).filter(|name| name.starts_with(PROPERTY));
        match (of_property(": changed"), of_property(": added"), of_property(": removed")) {
            (Some(name), ..) => fl!(loader, "configuration-property-changed", name = name),
            (_, Some(name), _) => fl!(loader, "configuration-property-added", name = name),
            (.., Some(name)) => fl!(loader, "configuration-property-removed", name = name),
            _ => change.to_owned(),
        }
    }

    /// The form as a change: the settings that differ from the stored ones, `null` for those that are empty, and all
    /// properties. What the reader did not touch is not read from its text.
    fn change(&self, had: &StoredConfiguration) -> Result<Map<String, Value>, Vec<Message>> {
        let (mut change, mut wrong) = (Map::new(), Vec::new());
        for field in self.fields.iter().filter(|field| field.stored.is_some()) {
            match field.json() {
                Ok(value) => drop(change.insert(field.name.to_owned(), value)),
                Err(problem) => wrong.push(problem),
            }
        }
        let mut props: Map<String, Value> = rows(had).1.into_iter().map(|(key, _)| (key, Value::Null)).collect();
        for property in quoted::properties(&self.props) {
            match property {
                Ok((key, value)) => drop(props.insert(key, value.into())),
                Err(line) => wrong.push(texts::not_a_property(line)),
            }
        }
        change.insert(PROPS.to_owned(), Value::Object(props));
        if wrong.is_empty() { Ok(change) } else { Err(wrong) }
    }
}

/// The settings and properties of the form as they are stored.
fn stored_values(stored: &StoredConfiguration) -> Values {
    let (stored, props) = rows(stored);
    let is_shown = |name: &str| settings().any(|setting| setting.key == name);
    let stored = stored.into_iter().filter(|(name, text)| is_shown(name) && !text.is_empty());
    stored.chain(props.into_iter().map(|(key, value)| (format!("{PROPERTY}{key}"), value))).collect()
}

/// The same as the reader wrote them.
fn given_values(given: &[(String, String)]) -> Values {
    let settings = settings().map(|setting| (setting.key.to_owned(), quoted::read(form::one(given, setting.key))));
    let props = quoted::properties(form::one(given, PROPS)).flatten();
    let props = props.map(|(key, value)| (format!("{PROPERTY}{key}"), value));
    settings.filter(|(_, text)| !text.is_empty()).chain(props).collect()
}

/// The properties among them, a line each.
fn lines(values: &Values) -> String {
    let props = values.iter().filter_map(|(name, value)| Some((name.strip_prefix(PROPERTY)?, value)));
    props.map(|(key, value)| quoted::line(key, value)).collect()
}

impl Field {
    fn json(&self) -> Result<Value, Message> {
        let (name, text) = (self.name, quoted::read(&self.value));
        let text = text.as_str();
        let not_a_number = |_| texts::not_a_number(name, text);
        Ok(match self.kind {
            _ if text.is_empty() => Value::Null,
            OptionKind::Number => text.parse::<i32>().map_err(not_a_number)?.into(),
            OptionKind::Count => text.parse::<u32>().map_err(not_a_number)?.into(),
            OptionKind::Flag => text.parse::<bool>().map_err(|_| texts::not_a_flag(name, text))?.into(),
            OptionKind::Names => text.split(',').map(|name| Value::from(name.trim())).collect(),
            OptionKind::Text | OptionKind::Name | OptionKind::Path | OptionKind::Props => text.into(),
        })
    }
}

/// The version that is to be put back.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct From {
    version: Option<i64>,
}

pub(crate) async fn show(
    here: Here,
    Path((_, name)): Path<(String, String)>,
    Query(From { version }): Query<From>,
) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    match filled(&here, &job, version).await {
        Ok(form) => page(&form),
        Err(wrong) => error::problem(&here, &wrong),
    }
}

/// The form with the stored settings, or with those of an old version.
async fn filled(here: &Here, job: &JobName, version: Option<i64>) -> Result<EditPage, Problem> {
    let stored = here.views().configuration(job).await?;
    if stored.is_carried() {
        return Err(OperationError::CarriedJob { job: job.clone() }.into());
    }
    let form = EditPage::of(here, job, &stored);
    let Some(id) = version else { return Ok(form) };
    let version = versions::version(here, job, id).await?;
    let (_, stays) = put_back(&stored, &version.settings)?;
    Ok(form.put_back(&version, &stays, &stored))
}

pub(crate) async fn change(here: Here, Path((_, name)): Path<(String, String)>, Form(given): Fields) -> Response {
    let job = match named(&here, &name) {
        Ok(job) => job,
        Err(page) => return *page,
    };
    let operations = here.operations(&form::reason(&given));
    let stored = match operations.configuration(&job).await {
        Ok(stored) => stored,
        Err(wrong) => return error::problem(&here, &wrong.into()),
    };
    let form = EditPage::of(&here, &job, &stored);
    if form::one(&given, "version") != stored.version().to_string() {
        if form::one(&given, "action") == "save" {
            record_refusal(&operations, &stored, &OperationError::ChangedMeanwhile { job: job.clone() }.message());
        }
        // The form has the new version and what changed meanwhile, so that the reader decides again.
        let mut form = form.merged(&given, &stored);
        form.problems.push(fl!(here.text.loader(), "configuration-changed-meanwhile"));
        return with_status(StatusCode::PRECONDITION_FAILED, &form);
    }
    let mut form = form.with(&given);
    let asks = form::one(&given, "action") == "save";
    let saves = asks && form::one(&given, PREVIEWED) == form.digest();
    let prepared = prepared(&here, &operations, &stored, &form, saves).await;
    if asks && let Some(why) = refusal(&prepared, saves) {
        record_refusal(&operations, &stored, &why);
    }
    let ended = match prepared {
        // It records what it does, and what it refuses.
        Ok((settings, view)) if saves => {
            operations.update_configuration(&stored, &settings).await.map(|_| view).map_err(Wrong::of)
        }
        Ok((_, view)) => Ok(view),
        Err(wrong) => Err(wrong),
    };
    match ended {
        Ok(view) if saves => {
            if !view.changes.is_empty() {
                versions::note_change(&here, &job, &stored, &form.reason).await;
            }
            let parts: Vec<String> = view.changes.iter().map(|change| form.difference(change)).collect();
            let said = match parts.is_empty() {
                true => Said::done(fl!(here.text.loader(), "done-nothing")),
                false => {
                    let changes = List { head: String::new(), parts, between: "; ".to_owned() };
                    Said::lists(Tone::Done, &here.text, &[changes])
                }
            };
            said.at(&here.app, &format!("{}/configuration", path_of(&here, &job)))
        }
        Ok(view) => {
            form.preview = Some(view);
            if asks {
                form.problems.push(fl!(here.text.loader(), "configuration-not-previewed"));
                return with_status(StatusCode::CONFLICT, &form);
            }
            page(&form)
        }
        Err(Wrong::Values(problems)) => {
            form.problems.extend(problems.iter().map(|problem| translated::shown(&here.text, problem)));
            with_status(StatusCode::UNPROCESSABLE_ENTITY, &form)
        }
        Err(Wrong::Operation(wrong)) => {
            form.problems.push(failed(&here, &wrong).text);
            with_status(StatusCode::CONFLICT, &form)
        }
    }
}

/// Why a change is not made.
enum Wrong {
    Values(Vec<Message>),
    Operation(OperationError),
}

impl Wrong {
    fn of(error: OperationError) -> Self {
        match error {
            OperationError::Invalid { problems, .. } => Self::Values(problems.iter().map(Invalid::message).collect()),
            other => Self::Operation(other),
        }
    }
}

/// The settings that the form leads to, with what they change. Saving them checks them beside the jobs before this one.
async fn prepared(
    here: &Here,
    operations: &Operations,
    stored: &StoredConfiguration,
    form: &EditPage,
    saves: bool,
) -> Result<(JobSettings, ChangeView), Wrong> {
    let change = form.change(stored).map_err(Wrong::Values)?;
    let settings = changed(stored, change, true).map_err(|wrong| Wrong::Values(vec![wrong.message()]))?;
    let checked = match saves {
        true => operations.check_configuration(stored, &settings),
        false => operations.try_configuration(stored, &settings).await,
    };
    let (after, difference) = checked.map_err(Wrong::of)?;
    let snapshot = here.views().snapshot(stored.configuration.job_name()).await.map_err(Wrong::Operation)?;
    Ok((settings, ChangeView::of(&snapshot, &stored.configuration, &after, difference)))
}

/// Why a change that was to be saved does not come to the operations. What could not be read is no refusal.
fn refusal(prepared: &Result<(JobSettings, ChangeView), Wrong>, saves: bool) -> Option<Message> {
    match prepared {
        Ok(_) if saves => None,
        Ok(_) => Some(texts::not_previewed()),
        Err(Wrong::Values(problems)) => Some(texts::wrong_values(problems.clone())),
        Err(Wrong::Operation(OperationError::Read(_))) => None,
        Err(Wrong::Operation(wrong)) => Some(wrong.message()),
    }
}
