//! The account of a session.

use std::fmt;
use std::sync::Arc;

use super::grant::Grant;
use super::identity::Identity;
use super::user::Users;

/// The longest name of an account of a company that is shown, in characters.
#[cfg(any(feature = "oidc", test))]
const LONGEST: usize = 64;

/// The account of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Account {
    /// A user of the console, by name. What the user may do is looked up for each request.
    Local(String),
    /// An account of a company, with what it might do when it logged in.
    #[cfg_attr(not(any(feature = "oidc", test)), expect(dead_code, reason = "no company logs in without the feature"))]
    Company(Arc<CompanyAccount>),
}

/// An account that another server knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CompanyAccount {
    /// The server that knows it.
    pub(crate) issuer: String,
    /// What names it there, whatever it is called.
    pub(crate) subject: String,
    /// The name to show. Others may have the same one.
    name: String,
    grants: Vec<Grant>,
}

impl CompanyAccount {
    #[cfg(any(feature = "oidc", test))]
    pub(crate) fn new(issuer: &str, subject: &str, name: &str, grants: Vec<Grant>) -> Self {
        let name: String = name.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        let name = if name.trim().is_empty() { subject.chars().take(LONGEST).collect() } else { name };
        Self { issuer: issuer.to_owned(), subject: subject.to_owned(), name, grants }
    }
}

impl Account {
    /// The caller of a request of this session; `None` for a user who may not log in any more.
    pub(crate) fn identity(&self, users: &Users) -> Option<Identity> {
        match self {
            Self::Local(name) => users.identity(name),
            Self::Company(account) => Some(Identity::company(self.to_string(), account.grants.clone())),
        }
    }

    /// What names it where it comes from: names of accounts of a company can change, and can be those of several.
    #[cfg(feature = "oidc")]
    pub(crate) fn origin(&self) -> String {
        match self {
            Self::Local(name) => name.clone(),
            Self::Company(account) => format!("{} at {}", account.subject, account.issuer),
        }
    }

    /// Whether it is this user of the console.
    pub(crate) fn is_user(&self, user: &str) -> bool {
        matches!(self, Self::Local(name) if name == user)
    }
}

/// The name in logs. That of a company has a colon, which no user of the console has.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(name) => f.write_str(name),
            Self::Company(account) => write!(f, "oidc:{}", account.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grant::Role;
    use super::*;

    #[test]
    fn an_account_of_a_company_is_no_user_of_the_same_name() {
        let (users, _) = Users::new(Vec::new(), None, true).expect("it is made");
        let grants = vec![Grant::everywhere(Role::Viewer)];
        let company = Account::Company(Arc::new(CompanyAccount::new("https://id.example", "7", "ad\nmin", grants)));
        assert!(!company.is_user("admin") && company.to_string() == "oidc:admin");
        let identity = company.identity(&users).expect("it may come in");
        assert!(!identity.is_administrator() && identity.has(Role::Viewer, "default", "settle"));
        assert!(Account::Local("admin".to_owned()).identity(&users).expect("the first user").is_administrator());
        let nameless = CompanyAccount::new("https://id.example", "7", " ", Vec::new());
        assert_eq!(Account::Company(Arc::new(nameless)).to_string(), "oidc:7");
    }
}
