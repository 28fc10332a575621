//! `/api/app`.

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use elasticjob_console::Role;
use serde_json::Value;

use super::answer::Refusal;
use super::audit;
use super::guard::{Parameters, Visitor};
use super::jobs::{is_stopped, json_of, running, said};
use crate::model::{App, mask, mask_address};
use crate::texts;

/// The answer of ElasticJob-Cloud to every command.
type Done = Result<Json<bool>, Refusal>;

pub(super) async fn register(visitor: Visitor, body: String) -> Done {
    visitor.needs_for_all(Role::Admin)?;
    let app = json_of(&body)?;
    let (name, parts) = about(&app);
    let ended = visitor.api.scheduler.store().add_app(app).await;
    visitor.record("register-app", &name, parts, ended)?;
    Ok(Json(true))
}

pub(super) async fn update(visitor: Visitor, Query(parameters): Query<Parameters>, body: String) -> Done {
    visitor.needs_for_all(Role::Admin)?;
    let running = running(&parameters)?;
    let app = json_of(&body)?;
    let (name, mut parts) = about(&app);
    parts.extend(said(&parameters));
    let ended = visitor.api.scheduler.store().change_app_and(app, running).await;
    visitor.record("change-app", &name, parts, ended)?;
    Ok(Json(true))
}

/// The name of the application that a registration is for, and what is recorded of it.
fn about(app: &Value) -> (String, Vec<String>) {
    let name = app.get("appName").and_then(Value::as_str).unwrap_or_default();
    (name.to_owned(), audit::app(name).into_iter().chain(audit::fields(app)).collect())
}

pub(super) async fn list(visitor: Visitor) -> Result<Json<Vec<App>>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    let seen = all.apps.values().filter(|app| visitor.may_with_app(Role::Viewer, &app.app_name, &all));
    Ok(Json(seen.map(|app| masked(app)).collect()))
}

pub(super) async fn one(visitor: Visitor, Path(name): Path<String>) -> Result<Json<App>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    visitor.needs_with_app(Role::Viewer, &name, &all)?;
    let app = all.apps.get(&name).ok_or_else(|| Refusal::not_found(texts::no_such_app(&name)))?;
    Ok(Json(masked(app)))
}

/// A job of an application can read its secrets: one of a caller who may not see all of them is refused, unless the application is
/// named for the caller or a job of the caller runs it already.
pub(super) async fn needs_use(visitor: &Visitor, job: &Value) -> Result<(), Refusal> {
    let Some(name) = job.get("appName").and_then(Value::as_str) else { return Ok(()) };
    let all = visitor.api.scheduler.registrations_now().await?;
    let Some(app) = all.apps.get(name) else { return Ok(()) };
    if masked(app) == **app || visitor.may_with_app(Role::Admin, name, &all) {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::FORBIDDEN, texts::app_secrets(name)))
}

/// An application without the values of variables whose names mean a secret, and without the credentials of its address.
fn masked(app: &App) -> App {
    let mut app = app.clone();
    mask(&mut app.env);
    mask_address(&mut app.app_url);
    app
}

pub(super) async fn remove(visitor: Visitor, Path(name): Path<String>, Query(parameters): Query<Parameters>) -> Done {
    visitor.needs_for_all(Role::Admin)?;
    is_stopped(&parameters)?;
    let ended = visitor.api.scheduler.store().remove_app(&name).await;
    visitor.record("remove-app", &name, audit::app(&name), ended)?;
    Ok(Json(true))
}

pub(super) async fn is_disabled(visitor: Visitor, Path(name): Path<String>) -> Result<Json<Value>, Refusal> {
    let all = visitor.api.scheduler.registrations_now().await?;
    visitor.needs_with_app(Role::Viewer, &name, &all)?;
    match all.apps.contains_key(&name) {
        true => Ok(Json(all.disabled_apps.contains(&name).into())),
        false => Err(Refusal::not_found(texts::no_such_app(&name))),
    }
}

pub(super) async fn disable(visitor: Visitor, Path(name): Path<String>, Query(parameters): Query<Parameters>) -> Done {
    is_stopped(&parameters)?;
    switch(&visitor, &name, false).await
}

pub(super) async fn enable(visitor: Visitor, Path(name): Path<String>) -> Done {
    switch(&visitor, &name, true).await
}

async fn switch(visitor: &Visitor, name: &str, enabled: bool) -> Done {
    visitor.needs_for_all(Role::Operator)?;
    let ended = visitor.api.scheduler.store().switch_app(name, enabled).await;
    let action = if enabled { "enable-app" } else { "disable-app" };
    visitor.record(action, name, audit::app(name), ended)?;
    Ok(Json(true))
}
