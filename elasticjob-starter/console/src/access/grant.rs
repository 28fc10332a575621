//! Roles, the permissions that they include, and where a role counts.

use std::fmt;
use std::str::FromStr;

/// The role of a user: what the user may do. Each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Sees jobs, servers, history and configuration, with secrets masked.
    Viewer,
    /// Triggers; enables and disables jobs, items and servers.
    Operator,
    /// Changes configurations.
    Editor,
    /// Shuts instances down, removes jobs and servers, sees dumps and nodes of the registry center.
    Admin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Editor, Self::Admin];

    /// The name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let role = Self::ALL.into_iter().find(|role| role.as_str().eq_ignore_ascii_case(text));
        role.ok_or_else(|| format!("'{text}' is no role; the roles are viewer, operator, editor and admin"))
    }
}

/// What a route asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Permission {
    /// Every caller may call it.
    Public,
    /// Every known caller may call it; what it shows is filtered by their grants.
    Known,
    /// The same, and programs of this host need not be known: see [`is_near`](super::own_host::is_near). They are viewers.
    KnownOrNear,
    /// The role, in the registry center and for the job that the path names.
    Has(Role),
    /// The role for some job of the registry center: the request names jobs in its body, and its handler checks each.
    HasForSome(Role),
}

/// A role, in some registry centers and for some jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    role: Role,
    registries: Glob,
    jobs: Glob,
}

impl Grant {
    /// The role in all registry centers and for all jobs.
    pub fn everywhere(role: Role) -> Self {
        Self { role, registries: Glob::new("*"), jobs: Glob::new("*") }
    }

    /// The same grant in registry centers alone whose name matches. `*` stands for any number of characters.
    #[must_use]
    pub fn registries(self, pattern: impl Into<String>) -> Self {
        Self { registries: Glob::new(pattern), ..self }
    }

    /// The same grant for jobs alone whose name matches. `*` stands for any number of characters.
    #[must_use]
    pub fn jobs(self, pattern: impl Into<String>) -> Self {
        Self { jobs: Glob::new(pattern), ..self }
    }

    /// The role that it gives.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The same grant with at most this role.
    pub(crate) fn capped(self, role: Role) -> Self {
        Self { role: self.role.min(role), ..self }
    }

    pub(crate) fn is_for_registry(&self, registry: &str) -> bool {
        self.registries.matches(registry)
    }

    pub(crate) fn is_for_job(&self, job: &str) -> bool {
        self.jobs.matches(job)
    }

    /// The pattern of its registry centers.
    pub(crate) fn registries_pattern(&self) -> &str {
        &self.registries.0
    }

    /// Whether this grant gives all that another one does. Of two patterns that are not the same, only `*` is known to match
    /// all that the other one does.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let covers = |one: &Glob, other: &Glob| one.0 == "*" || one == other;
        self.role >= other.role && covers(&self.registries, &other.registries) && covers(&self.jobs, &other.jobs)
    }

    /// The pattern of its jobs.
    pub(crate) fn jobs_pattern(&self) -> &str {
        &self.jobs.0
    }

    pub(crate) fn is_for_all_jobs(&self) -> bool {
        self.jobs.0 == "*"
    }
}

/// A pattern for names, in which `*` stands for any number of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob(String);

impl Glob {
    pub(crate) fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_number_of_characters() {
        let matches = |pattern: &str, name: &str| Glob::new(pattern).matches(name);
        for (pattern, name) in [("*", ""), ("*", "x"), ("a*", "a"), ("a*c", "abc"), ("*b*", "abc"), ("a*b*c", "a1b2c")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("a*", "ba"), ("a*a", "a"), ("*b", "abc"), ("", "x"), ("a*b*c", "ac")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_grant_covers_what_gives_no_more() {
        let everywhere = Grant::everywhere(Role::Editor);
        let billing = Grant::everywhere(Role::Editor).registries("prod").jobs("billing-*");
        assert!(everywhere.covers(&billing) && billing.covers(&billing.clone().capped(Role::Viewer)));
        for more in [everywhere, billing.clone().jobs("orders"), billing.clone().registries("test")] {
            assert!(!billing.covers(&more), "{more:?}");
        }
        assert!(!billing.covers(&Grant::everywhere(Role::Admin).registries("prod").jobs("billing-*")));
    }

    #[test]
    fn each_role_includes_the_ones_before_it() {
        assert!(Role::ALL.is_sorted());
        assert!(Role::ALL.iter().all(|role| role.as_str().parse() == Ok(*role)));
    }
}
