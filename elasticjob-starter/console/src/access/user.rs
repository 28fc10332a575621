//! The users of the console: those of the settings, and those of the data file, which administrators change.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use elasticjob::config::Message;

use super::grant::{Grant, Permission, Role};
use super::identity::Identity;
use super::password::{PasswordHash, PasswordProblem};
use crate::store::{DataFile, StoreError};
use crate::texts;

/// The name of the user that the console makes when it has none.
const FIRST: &str = "admin";

/// The longest name of a user or a token, in characters.
pub(super) const LONGEST_NAME: usize = 64;

/// The most grants of a user or a token.
const MOST_GRANTS: usize = 20;

/// A user of the settings, who may log in.
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

/// The user that the console made, as it has no other. The password cannot be shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FirstPassword {
    /// The name of the user.
    pub user: String,
    /// The password.
    pub password: String,
    /// Whether the data file keeps the user. Else the password holds until the console ends.
    pub kept: bool,
}

/// A user of the data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptUser {
    pub(crate) name: String,
    pub(crate) password: PasswordHash,
    pub(crate) grants: Vec<Grant>,
    /// A disabled user cannot log in.
    pub(crate) enabled: bool,
    /// When an administrator changed it last, in milliseconds since 1970.
    pub(crate) changed_at: i64,
}

/// A user as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserView {
    pub(crate) name: String,
    pub(crate) grants: Vec<Grant>,
    pub(crate) enabled: bool,
    /// When it was changed last; `None` for a user of the settings, which no page changes.
    pub(crate) changed_at: Option<i64>,
}

/// Why a user or a token is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotChanged {
    NotKept,
    Unknown(String),
    Exists(String),
    OfSettings(String),
    LastAdministrator(String),
    Name(String),
    Grants,
    Password(#[from] PasswordProblem),
    NoUser(String),
    MoreThanOwner(String),
    Days(u32),
    NoPassword(String),
    ByToken(String),
    WrongPassword,
    Slowed(Duration),
    ReadOnly,
    Store(#[from] StoreError),
}

impl NotChanged {
    /// Why it is not changed, and what helps.
    pub(crate) fn message(&self) -> Message {
        match self {
            Self::NotKept => texts::not_kept(),
            Self::Unknown(name) => texts::unknown_name(name),
            Self::Exists(name) => texts::name_taken(name),
            Self::OfSettings(name) => texts::of_settings(name),
            Self::LastAdministrator(name) => texts::last_administrator(name),
            Self::Name(name) => texts::account_name(name, LONGEST_NAME),
            Self::Grants => texts::grants(MOST_GRANTS),
            Self::Password(problem) => problem.message(),
            Self::NoUser(name) => texts::token_without_user(name),
            Self::MoreThanOwner(name) => texts::more_than_owner(name),
            Self::Days(most) => texts::token_days(*most),
            Self::NoPassword(name) => texts::no_password(name),
            Self::ByToken(name) => texts::users_by_token(name),
            Self::WrongPassword => texts::wrong_password(),
            Self::Slowed(wait) => texts::too_many_attempts((wait.as_secs() + 1).to_string()),
            Self::ReadOnly => texts::read_only(),
            Self::Store(error) => error.message(),
        }
    }
}

impl fmt::Display for NotChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

/// A name that is shown in logs and addresses.
pub(super) fn checked_name(name: &str) -> Result<(), NotChanged> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    let is_name = name.chars().next().is_some_and(char::is_alphanumeric)
        && name.chars().count() <= LONGEST_NAME
        && name.chars().all(fits);
    is_name.then_some(()).ok_or_else(|| NotChanged::Name(name.chars().take(LONGEST_NAME).collect()))
}

pub(super) fn checked_grants(grants: &[Grant]) -> Result<(), NotChanged> {
    if (1..=MOST_GRANTS).contains(&grants.len()) { Ok(()) } else { Err(NotChanged::Grants) }
}

/// A user who may administer the console with these roles.
fn administers(grants: &[Grant]) -> bool {
    Identity::user("", grants.to_vec()).may(Permission::Has(Role::Admin), None, None)
}

/// The users, by name.
#[derive(Debug)]
pub(crate) struct Users {
    given: BTreeMap<String, User>,
    kept: RwLock<BTreeMap<String, KeptUser>>,
    data: Option<DataFile>,
    /// Held from the check of a change to its end: two changes at a time could leave no administrator.
    changing: tokio::sync::Mutex<()>,
}

impl Users {
    /// The users of the settings and of the data file. Where there is none, one with all rights and a new password, unless other
    /// accounts can log in: nobody would look for that user, who may do everything.
    pub(crate) fn new(
        users: Vec<User>,
        data: Option<DataFile>,
        only_users_log_in: bool,
    ) -> Result<(Self, Option<FirstPassword>), PasswordProblem> {
        let mut given: BTreeMap<_, _> = users.into_iter().map(|user| (user.name.clone(), user)).collect();
        let kept = data.as_ref().map(|data| data.storage().users()).unwrap_or_default();
        let mut kept: BTreeMap<_, _> = kept.into_iter().map(|user| (user.name.clone(), user)).collect();
        let mut first = None;
        if only_users_log_in && given.is_empty() && kept.is_empty() {
            let password = PasswordHash::random_password()?;
            let user = User::new(FIRST, PasswordHash::of(&password)?, [Grant::everywhere(Role::Admin)]);
            first = Some(FirstPassword { user: FIRST.to_owned(), password, kept: data.is_some() });
            match &data {
                Some(data) => {
                    let User { name, password, grants } = user;
                    let changed_at = crate::service::now();
                    let user = KeptUser { name, password, grants, enabled: true, changed_at };
                    data.storage().add_first_user(user.clone());
                    kept.insert(user.name.clone(), user);
                }
                None => drop(given.insert(FIRST.to_owned(), user)),
            }
        }
        Ok((Self { given, kept: RwLock::new(kept), data, changing: tokio::sync::Mutex::default() }, first))
    }

    /// Whether pages can change users.
    pub(crate) fn can_be_changed(&self) -> bool {
        self.data.is_some()
    }

    /// Whether this is a user of the data file alone, whose password can be changed here.
    pub(crate) fn has_changeable_password(&self, name: &str) -> bool {
        !self.given.contains_key(name) && self.kept().contains_key(name)
    }

    /// The hash of the password of a user who may log in. The settings count more than the data file.
    pub(crate) fn password_of(&self, name: &str) -> Option<PasswordHash> {
        let of_file = || self.kept().get(name).filter(|user| user.enabled).map(|user| user.password.clone());
        self.given.get(name).map(|user| user.password.clone()).or_else(of_file)
    }

    pub(crate) fn identity(&self, name: &str) -> Option<Identity> {
        let of_file = || self.kept().get(name).filter(|user| user.enabled).map(|user| user.grants.clone());
        let grants = self.given.get(name).map(|user| user.grants.clone()).or_else(of_file)?;
        Some(Identity::user(name, grants))
    }

    /// All users, by name.
    pub(crate) fn list(&self) -> Vec<UserView> {
        let of_file = self
            .kept()
            .values()
            .map(|user| UserView {
                name: user.name.clone(),
                grants: user.grants.clone(),
                enabled: user.enabled,
                changed_at: Some(user.changed_at),
            })
            .collect::<Vec<_>>();
        let of_settings = self.given.values().map(|user| UserView {
            name: user.name.clone(),
            grants: user.grants.clone(),
            enabled: true,
            changed_at: None,
        });
        let hidden = |user: &UserView| !self.given.contains_key(&user.name);
        let mut users: Vec<UserView> = of_file.into_iter().filter(hidden).chain(of_settings).collect();
        users.sort_by(|one, other| one.name.cmp(&other.name));
        users
    }

    /// Adds a user to the data file.
    pub(crate) async fn add(&self, name: &str, password: PasswordHash, grants: Vec<Grant>) -> Result<(), NotChanged> {
        checked_name(name)?;
        checked_grants(&grants)?;
        let _turn = self.changing.lock().await;
        if self.given.contains_key(name) || self.kept().contains_key(name) {
            return Err(NotChanged::Exists(name.to_owned()));
        }
        let changed_at = crate::service::now();
        self.save(KeptUser { name: name.to_owned(), password, grants, enabled: true, changed_at }).await
    }

    /// Changes what a user of the data file may do.
    pub(crate) async fn change(&self, name: &str, grants: Vec<Grant>, enabled: bool) -> Result<(), NotChanged> {
        checked_grants(&grants)?;
        let _turn = self.changing.lock().await;
        let user = self.changeable(name)?;
        if !(enabled && administers(&grants)) {
            self.check_others_administer(name)?;
        }
        self.save(KeptUser { grants, enabled, changed_at: crate::service::now(), ..user }).await
    }

    /// Gives a user of the data file another password.
    pub(crate) async fn set_password(&self, name: &str, password: PasswordHash) -> Result<(), NotChanged> {
        let _turn = self.changing.lock().await;
        let user = self.changeable(name)?;
        self.save(KeptUser { password, changed_at: crate::service::now(), ..user }).await
    }

    /// Removes a user from the data file.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), NotChanged> {
        let _turn = self.changing.lock().await;
        self.changeable(name)?;
        self.check_others_administer(name)?;
        self.data()?.storage().remove_user(name).await?;
        self.kept.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }

    fn data(&self) -> Result<&DataFile, NotChanged> {
        self.data.as_ref().ok_or(NotChanged::NotKept)
    }

    fn changeable(&self, name: &str) -> Result<KeptUser, NotChanged> {
        if self.given.contains_key(name) {
            return Err(NotChanged::OfSettings(name.to_owned()));
        }
        self.data()?;
        self.kept().get(name).cloned().ok_or_else(|| NotChanged::Unknown(name.to_owned()))
    }

    /// A console without an administrator could not get one again. This counts for all callers, not only for the one
    /// that asks.
    fn check_others_administer(&self, name: &str) -> Result<(), NotChanged> {
        let others = self.list().into_iter().filter(|user| user.name != name && user.enabled);
        let was_one = self.identity(name).is_some_and(|identity| identity.is_administrator());
        match was_one && !others.map(|user| user.grants).any(|grants| administers(&grants)) {
            true => Err(NotChanged::LastAdministrator(name.to_owned())),
            false => Ok(()),
        }
    }

    async fn save(&self, user: KeptUser) -> Result<(), NotChanged> {
        self.data()?.storage().save_user(user.clone()).await?;
        self.kept.write().unwrap_or_else(PoisonError::into_inner).insert(user.name.clone(), user);
        Ok(())
    }

    fn kept(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, KeptUser>> {
        // A thread that panicked left the map whole: each change is one call.
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }
}
