//! Users, tokens and sessions, as administrators change them. Each change is in the log of logins, and counts at once: it ends
//! the sessions that it is about, with what they stream.

use std::time::Instant;

use crate::access::{Change, Event, Grant, Kind, NotChanged, PasswordHash};
use crate::here::Who;

impl Who {
    fn note(&self, change: Change, name: &str) {
        self.app.access.add(self.identity.name(), self.from.clone(), Event::Changed(change, name.to_owned()));
    }

    /// Ends what a user and the tokens of this user have open.
    fn end_all_of(&self, user: &str) {
        self.app.sessions.end_of(user);
        self.app.tokens.end_streams_of(user);
    }

    /// The hash of a password, and the password itself where it was made here.
    async fn hash(&self, password: Option<String>) -> Result<(PasswordHash, Option<String>), NotChanged> {
        let made = match &password {
            Some(_) => None,
            None => Some(PasswordHash::random_password()?),
        };
        let password = password.or_else(|| made.clone()).unwrap_or_default();
        Ok((self.app.passwords.hash(password).await?, made))
    }

    /// A token ends. A user that it made, or whose password it set, would not end with it.
    fn check_is_no_token(&self) -> Result<(), NotChanged> {
        match self.identity.kind() {
            Kind::Program => Err(NotChanged::ByToken(self.identity.name().to_owned())),
            Kind::User | Kind::Company | Kind::Anonymous => Ok(()),
        }
    }

    /// Adds a user. Without a password one is made, and returned.
    pub(crate) async fn add_user(
        &self,
        name: &str,
        password: Option<String>,
        grants: Vec<Grant>,
    ) -> Result<Option<String>, NotChanged> {
        self.check_is_no_token()?;
        let (hash, made) = self.hash(password).await?;
        self.app.users.add(name, hash, grants).await?;
        self.note(Change::UserAdded, name);
        Ok(made)
    }

    /// Changes what a user may do, and whether the user may log in.
    pub(crate) async fn change_user(&self, name: &str, grants: Vec<Grant>, enabled: bool) -> Result<(), NotChanged> {
        self.check_is_no_token()?;
        self.app.users.change(name, grants, enabled).await?;
        self.end_all_of(name);
        self.note(Change::UserChanged, name);
        Ok(())
    }

    /// Gives a user another password. Without one it is made, and returned.
    pub(crate) async fn set_password(
        &self,
        name: &str,
        password: Option<String>,
    ) -> Result<Option<String>, NotChanged> {
        self.check_is_no_token()?;
        let (hash, made) = self.hash(password).await?;
        self.app.users.set_password(name, hash).await?;
        self.end_all_of(name);
        self.note(Change::PasswordSet, name);
        Ok(made)
    }

    /// Gives the caller another password, once the one that counts now was shown. All sessions of the caller end.
    pub(crate) async fn change_own_password(&self, now: String, new: String) -> Result<(), NotChanged> {
        let (app, name) = (&self.app, self.identity.name());
        if app.options.read_only {
            return Err(NotChanged::ReadOnly);
        }
        if self.identity.kind() != Kind::User {
            return Err(NotChanged::NoPassword(name.to_owned()));
        }
        let attempt = app.throttle.begin(name, self.from.as_deref(), Instant::now()).map_err(NotChanged::Slowed)?;
        if !app.passwords.check(app.users.password_of(name).as_ref(), now).await {
            app.access.add(name, self.from.clone(), Event::LoginRefused);
            return Err(NotChanged::WrongPassword);
        }
        app.throttle.succeeded(&attempt);
        self.set_password(name, Some(new)).await.map(drop)
    }

    pub(crate) async fn remove_user(&self, name: &str) -> Result<(), NotChanged> {
        self.check_is_no_token()?;
        self.app.users.remove(name).await?;
        self.end_all_of(name);
        self.note(Change::UserRemoved, name);
        Ok(())
    }

    /// Makes a token of the caller. It is shown this once.
    pub(crate) async fn add_token(&self, name: &str, grants: Vec<Grant>, days: u32) -> Result<String, NotChanged> {
        let shown = self.app.tokens.add(name, &self.identity, grants, days, &self.app.users).await?;
        self.note(Change::TokenMade, name);
        Ok(shown)
    }

    pub(crate) async fn remove_token(&self, name: &str) -> Result<(), NotChanged> {
        self.app.tokens.remove(name).await?;
        self.note(Change::TokenRemoved, name);
        Ok(())
    }

    /// Ends a session by its id.
    pub(crate) fn end_session(&self, id: &str) -> Result<(), NotChanged> {
        let user = self.app.sessions.end_by_id(id).ok_or_else(|| NotChanged::Unknown(id.to_owned()))?;
        self.note(Change::SessionEnded, &user);
        Ok(())
    }
}
