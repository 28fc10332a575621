//! `/users`, `/tokens` and `/sessions`, for an admin of everything.

use std::time::Instant;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Problem;
use super::body::Body;
use super::named::Names;
use crate::access::{Grant, SessionView, TokenView, USUAL_DAYS, UserView};
use crate::here::Who;
use crate::service::time::Time;

/// A role, and where it counts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantView {
    /// viewer, operator, editor or admin.
    role: String,
    /// For which registry centers it counts; `*` stands for any characters. All of them unless it is said.
    #[serde(default = "all")]
    registries: String,
    /// For which jobs it counts; `*` stands for any characters. All of them unless it is said.
    #[serde(default = "all")]
    jobs: String,
}

fn all() -> String {
    "*".to_owned()
}

impl From<&Grant> for GrantView {
    fn from(grant: &Grant) -> Self {
        let (registries, jobs) = (grant.registries_pattern().to_owned(), grant.jobs_pattern().to_owned());
        Self { role: grant.role().to_string(), registries, jobs }
    }
}

/// The grants, as answers have them.
pub(super) fn views(grants: &[Grant]) -> Vec<GrantView> {
    grants.iter().map(GrantView::from).collect()
}

/// The grants that a body has.
fn grants(views: Vec<GrantView>) -> Result<Vec<Grant>, Problem> {
    let grant = |view: GrantView| {
        let role = view.role.parse().map_err(|wrong: String| Problem::bad_request(format!("`role`: {wrong}")))?;
        Ok(Grant::everywhere(role).registries(view.registries).jobs(view.jobs))
    };
    views.into_iter().map(grant).collect()
}

/// A user.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct User {
    name: String,
    grants: Vec<GrantView>,
    enabled: bool,
    /// Whether it can be changed here: a user of the settings cannot.
    changeable: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    changed_at: Option<Time>,
}

impl From<UserView> for User {
    fn from(it: UserView) -> Self {
        let changeable = it.changed_at.is_some();
        let (grants, changed_at) = (views(&it.grants), it.changed_at.map(Time));
        Self { name: it.name, grants, enabled: it.enabled, changeable, changed_at }
    }
}

/// A new user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    name: String,
    /// 12 to 128 characters. Without it the console makes one, and answers with it.
    #[serde(default)]
    password: Option<String>,
    grants: Vec<GrantView>,
}

/// What a user may do.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserChange {
    grants: Vec<GrantView>,
    /// A user who is not enabled cannot log in.
    enabled: bool,
}

/// A password.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewPassword {
    /// 12 to 128 characters. Without it the console makes one, and answers with it.
    password: Option<String>,
}

/// Another password of the caller.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnPassword {
    /// The password that counts now.
    now: String,
    /// 12 to 128 characters.
    new: String,
}

/// The password that the console made.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadePassword {
    /// Shown this once; `null` where the request had one.
    password: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Name {
    name: String,
}

/// The users
#[utoipa::path(get, path = "/api/v1/users", tag = "access",
    responses((status = 200, body = Vec<User>), (status = "default", body = Problem)))]
pub(crate) async fn users(who: Who) -> Json<Vec<User>> {
    Json(who.app.users.list().into_iter().map(User::from).collect())
}

/// Add a user to the data file
#[utoipa::path(post, path = "/api/v1/users", tag = "access", request_body = NewUser,
    responses((status = 201, body = MadePassword), (status = "default", body = Problem)))]
pub(crate) async fn add_user(who: Who, Body(new): Body<NewUser>) -> Result<Response, Problem> {
    let password = who.add_user(&new.name, new.password, grants(new.grants)?).await?;
    Ok((StatusCode::CREATED, Json(MadePassword { password })).into_response())
}

/// Change what a user may do
///
/// Ends the sessions and streams of the user, and of the tokens that the user made.
#[utoipa::path(put, path = "/api/v1/users/{name}", tag = "access", request_body = UserChange,
    responses((status = 204), (status = "default", body = Problem)))]
pub(crate) async fn change_user(
    who: Who,
    Names(Name { name }): Names<Name>,
    Body(change): Body<UserChange>,
) -> Result<StatusCode, Problem> {
    who.change_user(&name, grants(change.grants)?, change.enabled).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Give a user another password
///
/// Ends the sessions and streams of the user, and of the tokens that the user made.
#[utoipa::path(post, path = "/api/v1/users/{name}/password", tag = "access", request_body = NewPassword,
    responses((status = 200, body = MadePassword), (status = "default", body = Problem)))]
pub(crate) async fn set_password(
    who: Who,
    Names(Name { name }): Names<Name>,
    Body(new): Body<NewPassword>,
) -> Result<Json<MadePassword>, Problem> {
    Ok(Json(MadePassword { password: who.set_password(&name, new.password).await? }))
}

/// Give yourself another password
///
/// For a user of the data file. Ends all sessions of the user, also the one that asks.
#[utoipa::path(post, path = "/api/v1/me/password", tag = "access", request_body = OwnPassword,
    responses((status = 204), (status = "default", body = Problem)))]
pub(crate) async fn set_own_password(who: Who, Body(password): Body<OwnPassword>) -> Result<StatusCode, Problem> {
    who.change_own_password(password.now, password.new).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove a user
#[utoipa::path(delete, path = "/api/v1/users/{name}", tag = "access",
    responses((status = 204), (status = "default", body = Problem)))]
pub(crate) async fn remove_user(who: Who, Names(Name { name }): Names<Name>) -> Result<StatusCode, Problem> {
    who.remove_user(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A token of a program.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Token {
    name: String,
    grants: Vec<GrantView>,
    /// The user who made it; `null` for a token of the settings, which cannot be changed here.
    owner: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    made_at: Option<Time>,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Time>,
    /// When a program showed it last, to the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    used_at: Option<Time>,
}

impl From<TokenView> for Token {
    fn from(it: TokenView) -> Self {
        let (grants, expires_at, used_at) = (views(&it.grants), it.expires_at.map(Time), it.used_at.map(Time));
        Self { name: it.name, grants, owner: it.owner, made_at: it.made_at.map(Time), expires_at, used_at }
    }
}

/// A new token.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    name: String,
    grants: Vec<GrantView>,
    /// For so many days it counts; 90 unless it is said, 366 at the most.
    #[serde(default = "usual_days")]
    days: u32,
}

fn usual_days() -> u32 {
    USUAL_DAYS
}

/// The token that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeToken {
    /// Shown this once.
    token: String,
}

/// The tokens of programs
#[utoipa::path(get, path = "/api/v1/tokens", tag = "access",
    responses((status = 200, body = Vec<Token>), (status = "default", body = Problem)))]
pub(crate) async fn tokens(who: Who) -> Json<Vec<Token>> {
    Json(who.app.tokens.list().into_iter().map(Token::from).collect())
}

/// Make a token in the data file
///
/// It belongs to the caller, a user, and counts as long as this user may do what it allows.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "access", request_body = NewToken,
    responses((status = 201, body = MadeToken), (status = "default", body = Problem)))]
pub(crate) async fn add_token(who: Who, Body(new): Body<NewToken>) -> Result<Response, Problem> {
    let token = who.add_token(&new.name, grants(new.grants)?, new.days).await?;
    Ok((StatusCode::CREATED, Json(MadeToken { token })).into_response())
}

/// Remove a token
#[utoipa::path(delete, path = "/api/v1/tokens/{name}", tag = "access",
    responses((status = 204), (status = "default", body = Problem)))]
pub(crate) async fn remove_token(who: Who, Names(Name { name }): Names<Name>) -> Result<StatusCode, Problem> {
    who.remove_token(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A session of a browser.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    id: String,
    user: String,
    /// The address that the login came from: behind a trusted proxy that of the client, behind another one that of the proxy.
    from: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    began_at: Time,
    #[schema(value_type = String, format = DateTime)]
    used_at: Time,
}

impl From<SessionView> for Session {
    fn from(it: SessionView) -> Self {
        let (began_at, used_at) = (Time(it.began_at), Time(it.used_at));
        Self { id: it.id, user: it.user, from: it.from, began_at, used_at }
    }
}

/// The sessions of browsers
#[utoipa::path(get, path = "/api/v1/sessions", tag = "access",
    responses((status = 200, body = Vec<Session>), (status = "default", body = Problem)))]
pub(crate) async fn sessions(who: Who) -> Json<Vec<Session>> {
    Json(who.app.sessions.list(Instant::now()).into_iter().map(Session::from).collect())
}

/// End a session, with what it streams
#[utoipa::path(delete, path = "/api/v1/sessions/{name}", tag = "access",
    responses((status = 204), (status = "default", body = Problem)))]
pub(crate) async fn end_session(who: Who, Names(Name { name }): Names<Name>) -> Result<StatusCode, Problem> {
    who.end_session(&name)?;
    Ok(StatusCode::NO_CONTENT)
}
