//! The caller of a request.

use tokio_util::sync::CancellationToken;

use super::grant::{Grant, Permission, Role};

/// How a caller is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By a session that began with a name and a password.
    User,
    /// By a session that began with the account of a company.
    Company,
    /// By the token of a program.
    Program,
    /// Not at all.
    Anonymous,
}

/// The caller of a request, with what he or she may do.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    name: String,
    kind: Kind,
    grants: Vec<Grant>,
    /// Cancelled when the session or the token ends, with all that it streams.
    ended: CancellationToken,
}

impl Identity {
    pub(crate) fn user(name: impl Into<String>, grants: Vec<Grant>) -> Self {
        Self { name: name.into(), kind: Kind::User, grants, ended: CancellationToken::new() }
    }

    pub(crate) fn company(name: String, grants: Vec<Grant>) -> Self {
        Self { name, kind: Kind::Company, grants, ended: CancellationToken::new() }
    }

    pub(crate) fn program(token: &str, grants: Vec<Grant>) -> Self {
        Self { name: format!("token:{token}"), kind: Kind::Program, grants, ended: CancellationToken::new() }
    }

    pub(crate) fn anonymous(grants: Vec<Grant>) -> Self {
        let ended = CancellationToken::new();
        Self { name: "anonymous".to_owned(), kind: Kind::Anonymous, grants, ended }
    }

    /// The same caller, until this is cancelled.
    pub(crate) fn until(self, ended: CancellationToken) -> Self {
        Self { ended, ..self }
    }

    /// Completes when the session or the token of the caller ends.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// Whether the caller administers the console itself: all registry centers, and all jobs.
    pub(crate) fn is_administrator(&self) -> bool {
        self.may(Permission::Has(Role::Admin), None, None)
    }

    /// The same caller with at most this role.
    pub(crate) fn capped(self, role: Role) -> Self {
        Self { grants: self.grants.into_iter().map(|grant| grant.capped(role)).collect(), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.kind == Kind::Anonymous
    }

    /// Whether the caller may see anything at all.
    pub(crate) fn has_grants(&self) -> bool {
        !self.grants.is_empty()
    }

    pub(crate) fn sees_registry(&self, registry: &str) -> bool {
        self.grants.iter().any(|grant| grant.is_for_registry(registry))
    }

    /// Whether the caller has the role for this job.
    pub(crate) fn has(&self, role: Role, registry: &str, job: &str) -> bool {
        self.grants.iter().any(|it| it.role() >= role && it.is_for_registry(registry) && it.is_for_job(job))
    }

    /// Whether the caller has the role for every job of the registry center: what is done to a server is done to all
    /// its jobs.
    pub(crate) fn has_everywhere(&self, role: Role, registry: &str) -> bool {
        self.grants.iter().any(|it| it.role() >= role && it.is_for_registry(registry) && it.is_for_all_jobs())
    }

    pub(crate) fn sees_job(&self, registry: &str, job: &str) -> bool {
        self.has(Role::Viewer, registry, job)
    }

    /// The patterns of the names of all jobs that the caller sees in the registry center.
    pub(crate) fn seen_jobs(&self, registry: &str) -> Vec<String> {
        let grants = self.grants.iter().filter(|grant| grant.is_for_registry(registry));
        grants.map(|grant| grant.jobs_pattern().to_owned()).collect()
    }

    /// Whether the caller may call a route whose path names this registry center and this job. Views of a registry
    /// center are filtered by job, so that they need no grant for all jobs.
    pub(crate) fn may(&self, permission: Permission, registry: Option<&str>, job: Option<&str>) -> bool {
        match (permission, registry, job) {
            (Permission::Public, ..) => true,
            (Permission::Known | Permission::KnownOrNear, ..) => self.has_grants(),
            (Permission::HasForSome(role), Some(registry), _) => {
                self.grants.iter().any(|it| it.role() >= role && it.is_for_registry(registry))
            }
            (Permission::Has(role), Some(registry), Some(job)) => self.has(role, registry, job),
            (Permission::Has(Role::Viewer), Some(registry), None) => self.sees_registry(registry),
            (Permission::Has(role), Some(registry), None) => self.has_everywhere(role, registry),
            (Permission::Has(role) | Permission::HasForSome(role), None, _) => self.grants.iter().any(|grant| {
                grant.role() >= role && grant.is_for_all_jobs() && *grant == Grant::everywhere(grant.role())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_counts_for_its_registry_centers_and_jobs_alone() {
        let grants = vec![Grant::everywhere(Role::Operator).registries("prod").jobs("billing-*")];
        let team = Identity::user("zhang", grants);
        let operate = Permission::Has(Role::Operator);
        assert!(team.may(operate, Some("prod"), Some("billing-1")));
        assert!(!team.may(operate, Some("prod"), Some("orders")));
        assert!(!team.may(operate, Some("test"), Some("billing-1")));
        assert!(!team.may(Permission::Has(Role::Editor), Some("prod"), Some("billing-1")));
        assert!(team.may(Permission::Has(Role::Viewer), Some("prod"), None), "its list is filtered");
        assert!(!team.may(operate, Some("prod"), None), "a server has other jobs, too");
        assert!(!team.may(operate, None, None));
    }

    #[test]
    fn nobody_is_more_than_a_viewer_where_all_are_capped() {
        let root = Identity::user("root", vec![Grant::everywhere(Role::Admin)]).capped(Role::Viewer);
        assert!(root.may(Permission::Has(Role::Viewer), Some("r"), Some("j")));
        assert!(!root.may(Permission::Has(Role::Operator), Some("r"), Some("j")));
    }
}
