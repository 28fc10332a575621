//! The settings of the console: what it is connected to, users, tokens and sessions. For an admin of everything.

pub(crate) mod registries;
pub(crate) mod sessions;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;
pub(crate) mod users;

use axum::response::Response;

use super::form;
use super::outcome::Said;
use crate::access::{Grant, NotChanged, Role};
use crate::here::Who;
use crate::translated;

/// A role as a form has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GrantRow {
    pub(super) role: String,
    pub(super) registries: String,
    pub(super) jobs: String,
}

impl GrantRow {
    /// The rows of these grants, and one more to add a role.
    fn of(grants: &[Grant]) -> Vec<Self> {
        let row = |grant: &Grant| Self {
            role: grant.role().to_string(),
            registries: grant.registries_pattern().to_owned(),
            jobs: grant.jobs_pattern().to_owned(),
        };
        grants.iter().map(row).chain(Self::to_add()).collect()
    }

    /// The row of a form that gives a role.
    fn to_add() -> [Self; 1] {
        [Self { role: String::new(), registries: "*".to_owned(), jobs: "*".to_owned() }]
    }
}

/// The grants in a form that was sent. A row without a role is no grant; an empty pattern stands for all.
fn grants(fields: &[(String, String)]) -> Vec<Grant> {
    let pattern = |text: &str| if text.trim().is_empty() { "*".to_owned() } else { text.trim().to_owned() };
    let rows = form::all(fields, "role").zip(form::all(fields, "registries")).zip(form::all(fields, "jobs"));
    let grant = |((role, registries), jobs): ((&str, &str), &str)| {
        let role: Role = role.parse().ok()?;
        Some(Grant::everywhere(role).registries(pattern(registries)).jobs(pattern(jobs)))
    };
    rows.filter_map(grant).collect()
}

/// Goes back to a page, which tells how it ended.
fn ended(who: &Who, ended: Result<(), NotChanged>, done: String, path: &str) -> Response {
    match ended {
        Ok(()) => Said::done(done).at(&who.app, path),
        Err(problem) => Said::failed(translated::shown(&who.text, &problem.message())).at(&who.app, path),
    }
}
