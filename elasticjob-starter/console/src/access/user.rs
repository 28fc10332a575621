//! The users of the console.

use std::collections::BTreeMap;

use super::grant::{Grant, Role};
use super::identity::Identity;
use super::password::{PasswordHash, PasswordProblem};
use super::session::random_password;

/// The name of the user that the console makes when it has none.
const FIRST: &str = "admin";

/// Somebody who may log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    name: String,
    password: PasswordHash,
    grants: Vec<Grant>,
}

impl User {
    /// A user with this password, and these roles.
    pub fn new(name: impl Into<String>, password: PasswordHash, grants: impl IntoIterator<Item = Grant>) -> Self {
        Self { name: name.into(), password, grants: grants.into_iter().collect() }
    }
}

/// The user that the console made, as it has no other. The password is not kept and cannot be shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FirstPassword {
    /// The name of the user.
    pub user: String,
    /// The password.
    pub password: String,
}

/// The users, by name.
#[derive(Debug)]
pub(crate) struct Users {
    users: BTreeMap<String, User>,
}

impl Users {
    pub(crate) fn new(users: Vec<User>) -> Self {
        Self { users: users.into_iter().map(|user| (user.name.clone(), user)).collect() }
    }

    /// One user with all rights and a new password.
    pub(crate) fn first() -> Result<(Self, FirstPassword), PasswordProblem> {
        let password = random_password().map_err(|error| PasswordProblem::NotMade(error.to_string()))?;
        let user = User::new(FIRST, PasswordHash::of(&password)?, [Grant::everywhere(Role::Admin)]);
        Ok((Self::new(vec![user]), FirstPassword { user: FIRST.to_owned(), password }))
    }

    pub(crate) fn password_of(&self, name: &str) -> Option<&PasswordHash> {
        self.users.get(name).map(|user| &user.password)
    }

    pub(crate) fn identity(&self, name: &str) -> Option<Identity> {
        self.users.get(name).map(|user| Identity::user(name, user.grants.clone()))
    }
}
