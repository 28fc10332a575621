//! The forms that register and change applications and jobs.

use askama::Template;
use axum::Form;
use axum::extract::Path;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value};

use super::super::form::{self, Fields};
use super::super::{Layout, error, segment, with_status};
use super::ended;
use super::fields::{self, APP, Field, Input, JOB, Kind};
use crate::cloud::{Cloud, Refusal};
use crate::text::t;

/// What is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    App,
    Job,
}

impl What {
    fn fields(self) -> &'static [Field] {
        match self {
            Self::App => APP,
            Self::Job => JOB,
        }
    }

    /// The field that names it.
    fn name(self) -> &'static str {
        match self {
            Self::App => "appName",
            Self::Job => "jobName",
        }
    }

    /// Its pages, below the registry center.
    fn pages(self) -> &'static str {
        match self {
            Self::App => "/cloud/apps",
            Self::Job => "/cloud/jobs",
        }
    }

    /// The page of one of them.
    fn page(self, name: &str) -> String {
        format!("{}/{}", self.pages(), segment(name))
    }

    /// The page with the form that registers, or that changes one of them.
    fn form(self, name: Option<&str>) -> String {
        match (self, name) {
            (_, Some(name)) => format!("{}/change", self.page(name)),
            (Self::App, None) => "/cloud/new-app".to_owned(),
            (Self::Job, None) => "/cloud/new-job".to_owned(),
        }
    }

    /// The path of the API with its registration.
    fn api(self, name: &str) -> String {
        match self {
            Self::App => format!("/api/app/{}", segment(name)),
            Self::Job => format!("/api/job/jobs/{}", segment(name)),
        }
    }
}

#[derive(Template)]
#[template(path = "cloud_registration.html")]
struct RegistrationPage {
    layout: Layout,
    what: What,
    /// What is changed; `None` for a registration.
    name: Option<String>,
    /// The registration when the form was shown, as JSON.
    base: String,
    inputs: Vec<Input>,
    /// What is wrong with no field in particular.
    problems: Vec<String>,
}

impl RegistrationPage {
    fn title(&self) -> String {
        match (self.what, &self.name) {
            (What::App, None) => t!(self, "cloud-new-app"),
            (What::Job, None) => t!(self, "cloud-new-job"),
            (_, Some(name)) => t!(self, "cloud-change-of", name = name.as_str()),
        }
    }

    /// The page before the form, for a reader who leaves it.
    fn back(&self) -> String {
        match &self.name {
            Some(name) => self.layout.here(&self.what.page(name)),
            None => self.layout.here(self.what.pages()),
        }
    }

    /// Where the form is sent.
    fn form(&self) -> String {
        self.layout.here(&self.what.form(self.name.as_deref()))
    }

    /// A name is given once.
    fn is_fixed(&self, input: &Input) -> bool {
        self.name.is_some() && input.field.name == self.what.name()
    }

    /// A note below the fields.
    fn is_job(&self) -> bool {
        self.what == What::Job
    }
}

/// An empty form.
fn new(cloud: &Cloud, what: What, values: &Map<String, Value>) -> Response {
    let page = RegistrationPage {
        layout: Layout::of(&cloud.here),
        what,
        name: None,
        base: String::new(),
        inputs: fields::filled(what.fields(), values),
        problems: Vec::new(),
    };
    with_status(StatusCode::OK, &page)
}

/// The form with a registration as it is now.
async fn change(cloud: &Cloud, what: What, name: String) -> Response {
    let now: Map<String, Value> = match cloud.get(&what.api(&name)).await {
        Ok(now) => now,
        Err(refusal) => return error::refused(&cloud.here, &refusal),
    };
    let page = RegistrationPage {
        layout: Layout::of(&cloud.here),
        what,
        name: Some(name),
        inputs: fields::filled(what.fields(), &now),
        base: Value::Object(now).to_string(),
        problems: Vec::new(),
    };
    with_status(StatusCode::OK, &page)
}

/// The form again, with what is wrong.
fn refused(cloud: &Cloud, what: What, name: Option<String>, sent: &[(String, String)], refusal: Refusal) -> Response {
    let status = refusal.status;
    let message = refusal.refused.problems.is_empty().then(|| refusal.shown(&cloud.here.text));
    let (inputs, others) = fields::again(what.fields(), sent, refusal.refused.problems, &cloud.here.text);
    let problems = message.into_iter().chain(others).collect();
    let base = form::one(sent, "base").to_owned();
    let place = format!("/r/{}{}", cloud.here.registry.name(), what.form(name.as_deref()));
    let layout = Layout::of(&cloud.here).at(&place);
    with_status(status, &RegistrationPage { layout, what, name, base, inputs, problems })
}

/// Registers what a form was sent with.
async fn add(cloud: &Cloud, what: What, sent: &[(String, String)]) -> Response {
    let registration = fields::registration(what.fields(), sent);
    let name = form::one(sent, what.name()).trim().to_owned();
    let path = match what {
        What::App => "/api/app",
        What::Job => "/api/job/register",
    };
    match cloud.send(Method::POST, path, Value::Object(registration).to_string()).await {
        Err(refusal) => refused(cloud, what, None, sent, refusal),
        Ok(()) => {
            let done = i18n_embed_fl::fl!(cloud.here.text.loader(), "cloud-done-registered", name = name.as_str());
            ended(cloud, Ok(()), done, &what.page(&name))
        }
    }
}

/// Sends what a form changes: what others changed meanwhile in other fields stays.
async fn save(cloud: &Cloud, what: What, name: String, sent: &[(String, String)]) -> Response {
    let base: Map<String, Value> = serde_json::from_str(form::one(sent, "base")).unwrap_or_default();
    let mut changes = fields::changes(what.fields(), &base, &fields::registration(what.fields(), sent));
    changes.insert(what.name().to_owned(), Value::from(name.as_str()));
    let path = match what {
        What::App => "/api/app",
        What::Job => "/api/job/update",
    };
    match cloud.send(Method::PUT, path, Value::Object(changes).to_string()).await {
        Err(refusal) => refused(cloud, what, Some(name), sent, refusal),
        Ok(()) => {
            let done = i18n_embed_fl::fl!(cloud.here.text.loader(), "cloud-done-changed", name = name.as_str());
            ended(cloud, Ok(()), done, &what.page(&name))
        }
    }
}

pub(crate) async fn new_app(cloud: Cloud) -> Response {
    new(&cloud, What::App, &Map::new())
}

pub(crate) async fn new_job(cloud: Cloud, axum::extract::Query(given): axum::extract::Query<OfApp>) -> Response {
    let app = given.app.map(|app| ("appName".to_owned(), Value::from(app)));
    new(&cloud, What::Job, &app.into_iter().collect())
}

/// The application that a form for a job begins with.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct OfApp {
    app: Option<String>,
}

pub(crate) async fn add_app(cloud: Cloud, Form(sent): Fields) -> Response {
    add(&cloud, What::App, &sent).await
}

pub(crate) async fn add_job(cloud: Cloud, Form(sent): Fields) -> Response {
    add(&cloud, What::Job, &sent).await
}

pub(crate) async fn change_app(cloud: Cloud, Path((_, name)): Path<(String, String)>) -> Response {
    change(&cloud, What::App, name).await
}

pub(crate) async fn change_job(cloud: Cloud, Path((_, name)): Path<(String, String)>) -> Response {
    change(&cloud, What::Job, name).await
}

pub(crate) async fn save_app(cloud: Cloud, Path((_, name)): Path<(String, String)>, Form(sent): Fields) -> Response {
    save(&cloud, What::App, name, &sent).await
}

pub(crate) async fn save_job(cloud: Cloud, Path((_, name)): Path<(String, String)>, Form(sent): Fields) -> Response {
    save(&cloud, What::Job, name, &sent).await
}
