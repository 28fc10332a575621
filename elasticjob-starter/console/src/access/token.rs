//! Tokens of programs: they call the console without a session, each with what it may do.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::grant::Grant;
use super::identity::{Identity, Kind};
use super::password::PasswordProblem;
use super::session::random_bytes;
use super::user::{NotChanged, Users, checked_grants, checked_name};
use crate::store::DataFile;

/// What every token begins with, so that scanners of source code find one that was committed.
const PREFIX: &str = "ejt_";

/// What every hash begins with.
const ALGORITHM: &str = "sha256:";

/// A token cannot be made, or what stands for one cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenProblem {
    /// The text is not the hash of a token.
    #[error("it is not the hash of a token (sha256:...); `elasticjob console new-token` makes a token with its hash")]
    NoHash,
    /// The text is not an end.
    #[error("it is neither a date like 2027-06-30, whose end counts in UTC, nor a time like 2027-06-30T18:00:00+02:00")]
    NoEnd,
    /// The token could not be made.
    #[error("the operating system gives no random bytes: {0}")]
    NotMade(String),
}

/// The hash of a token: `sha256:` and 64 hexadecimal digits. A token is 256 random bits, which no attacker guesses, so
/// its hash needs no salt and no effort.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// A new token, and its hash. The token is shown once, and not kept.
    ///
    /// # Errors
    /// [`TokenProblem::NotMade`].
    pub fn new_token() -> Result<(String, Self), TokenProblem> {
        let bytes = random_bytes::<32>().map_err(|error| TokenProblem::NotMade(error.to_string()))?;
        let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes));
        let hash = Self::of(&token);
        Ok((token, hash))
    }

    fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALGORITHM)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(***)")
    }
}

impl FromStr for TokenHash {
    type Err = TokenProblem;

    fn from_str(text: &str) -> Result<Self, TokenProblem> {
        let digits = text.strip_prefix(ALGORITHM).ok_or(TokenProblem::NoHash)?;
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() || !digits.is_ascii() {
            return Err(TokenProblem::NoHash);
        }
        for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| TokenProblem::NoHash)?;
        }
        Ok(Self(hash))
    }
}

/// A program that may call the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    name: String,
    hash: TokenHash,
    grants: Vec<Grant>,
    expires: Option<DateTime<Utc>>,
}

impl Token {
    /// The token with this hash, with these roles. Its name stands in the decision log.
    pub fn new(name: impl Into<String>, hash: TokenHash, grants: impl IntoIterator<Item = Grant>) -> Self {
        Self { name: name.into(), hash, grants: grants.into_iter().collect(), expires: None }
    }

    /// The same token, which counts no more from this time on: a time as RFC 3339, or a date, whose end counts in UTC.
    ///
    /// # Errors
    /// [`TokenProblem::NoEnd`].
    pub fn expires(self, end: &str) -> Result<Self, TokenProblem> {
        let of_time = || DateTime::parse_from_rfc3339(end).ok().map(|time| time.to_utc());
        let of_date = || Some(end.parse::<NaiveDate>().ok()?.succ_opt()?.and_time(NaiveTime::MIN).and_utc());
        let expires = of_time().or_else(of_date).ok_or(TokenProblem::NoEnd)?;
        Ok(Self { expires: Some(expires), ..self })
    }
}

/// A token of the data file, which an administrator made on a page or by the API.
#[derive(Debug, Clone)]
pub(crate) struct KeptToken {
    pub(crate) name: String,
    pub(crate) hash: TokenHash,
    /// The user who made it. It counts as long as this user may do what it may do.
    pub(crate) owner: String,
    pub(crate) grants: Vec<Grant>,
    pub(crate) made_at: i64,
    pub(crate) expires_at: i64,
    /// When a program showed it last.
    pub(crate) used_at: Option<i64>,
}

impl KeptToken {
    /// Whether it expired so long ago that it is not kept any more.
    fn is_forgotten_at(&self, now: i64) -> bool {
        self.expires_at.saturating_add(KEPT_AFTER_END) <= now
    }
}

/// A token as administrators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenView {
    pub(crate) name: String,
    pub(crate) grants: Vec<Grant>,
    /// `None` for a token of the settings, which no page changes.
    pub(crate) owner: Option<String>,
    pub(crate) made_at: Option<i64>,
    /// In milliseconds since 1970; `None` where it never expires.
    pub(crate) expires_at: Option<i64>,
    pub(crate) used_at: Option<i64>,
}

impl TokenView {
    /// Whether it does not count any more at a time in milliseconds since 1970.
    pub(crate) fn is_over_at(&self, at: i64) -> bool {
        self.expires_at.is_some_and(|end| end <= at)
    }
}

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// There is no such token.
    Unknown,
    /// It counted until then.
    Expired(DateTime<Utc>),
    /// Its owner may not do any more what it may do.
    OwnerMayNot,
}

/// How many days a token of a page counts unless it is said, and at the most.
pub(crate) const USUAL_DAYS: u32 = 90;
pub(crate) const MOST_DAYS: u32 = 366;

const DAY: i64 = 24 * 3600 * 1000;

/// How long a token of the data file is kept after its end, in milliseconds: so long a program that still shows it is told when it
/// expired, and the page marks it.
pub(crate) const KEPT_AFTER_END: i64 = 30 * DAY;

/// How often it is written that a token was shown, in milliseconds.
const USES: i64 = 60_000;

/// The tokens, by hash.
#[derive(Debug)]
pub(crate) struct Tokens {
    given: BTreeMap<TokenHash, Token>,
    kept: RwLock<BTreeMap<TokenHash, Kept>>,
    data: Option<DataFile>,
    changing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Kept {
    token: KeptToken,
    /// Ends what the program streams.
    ended: CancellationToken,
}

impl Tokens {
    pub(crate) fn new(tokens: Vec<Token>, data: Option<DataFile>) -> Self {
        let given = tokens.into_iter().map(|token| (token.hash.clone(), token)).collect();
        let kept = data.as_ref().map(|data| data.storage().tokens()).unwrap_or_default();
        let kept = kept.into_iter().map(|token| {
            let kept = Kept { token, ended: CancellationToken::new() };
            (kept.token.hash.clone(), kept)
        });
        Self { given, kept: RwLock::new(kept.collect()), data, changing: tokio::sync::Mutex::default() }
    }

    /// The caller that shows this token.
    pub(crate) fn identity(&self, shown: &str, users: &Users, now: DateTime<Utc>) -> Result<Identity, Invalid> {
        let hash = TokenHash::of(shown);
        if let Some(token) = self.given.get(&hash) {
            return match token.expires {
                Some(end) if end <= now => Err(Invalid::Expired(end)),
                _ => Ok(Identity::program(&token.name, token.grants.clone())),
            };
        }
        let now = now.timestamp_millis();
        let (identity, is_use_old) = {
            let kept = self.kept();
            let known = kept.get(&hash).filter(|kept| !kept.token.is_forgotten_at(now));
            let Kept { token, ended } = known.ok_or(Invalid::Unknown)?;
            if token.expires_at <= now {
                return Err(Invalid::Expired(DateTime::from_timestamp_millis(token.expires_at).unwrap_or_default()));
            }
            if !is_covered(&token.grants, users.identity(&token.owner).as_ref()) {
                return Err(Invalid::OwnerMayNot);
            }
            let identity = Identity::program(&token.name, token.grants.clone()).until(ended.clone());
            (identity, token.used_at.is_none_or(|used| used + USES <= now))
        };
        if is_use_old {
            self.used(&hash, now);
        }
        Ok(identity)
    }

    fn used(&self, hash: &TokenHash, now: i64) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if let (Some(kept), Some(data)) = (kept.get_mut(hash), &self.data) {
            kept.token.used_at = Some(now);
            data.storage().note_token_use(&kept.token.name, now);
        }
    }

    /// The names of those of the settings that never expire.
    pub(crate) fn without_end(&self) -> Vec<&str> {
        let endless = self.given.values().filter(|token| token.expires.is_none());
        let mut names: Vec<&str> = endless.map(|token| token.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// All tokens, by name.
    pub(crate) fn list(&self) -> Vec<TokenView> {
        let now = crate::service::now();
        let of_file = self
            .kept()
            .values()
            .filter(|kept| !kept.token.is_forgotten_at(now))
            .map(|Kept { token, .. }| TokenView {
                name: token.name.clone(),
                grants: token.grants.clone(),
                owner: Some(token.owner.clone()),
                made_at: Some(token.made_at),
                expires_at: Some(token.expires_at),
                used_at: token.used_at,
            })
            .collect::<Vec<_>>();
        let of_settings = self.given.values().map(|token| TokenView {
            name: token.name.clone(),
            grants: token.grants.clone(),
            owner: None,
            made_at: None,
            expires_at: token.expires.map(|end| end.timestamp_millis()),
            used_at: None,
        });
        let mut tokens: Vec<TokenView> = of_file.into_iter().chain(of_settings).collect();
        tokens.sort_by(|one, other| one.name.cmp(&other.name));
        tokens
    }

    /// Makes a token of the data file. It is returned, and not kept.
    pub(crate) async fn add(
        &self,
        name: &str,
        owner: &Identity,
        grants: Vec<Grant>,
        days: u32,
        users: &Users,
    ) -> Result<String, NotChanged> {
        checked_name(name)?;
        checked_grants(&grants)?;
        if !(1..=MOST_DAYS).contains(&days) {
            return Err(NotChanged::Days(MOST_DAYS));
        }
        let owner = users.identity(owner.name()).filter(|_| owner.kind() == Kind::User);
        let owner = owner.ok_or_else(|| NotChanged::NoUser(name.to_owned()))?;
        if !is_covered(&grants, Some(&owner)) {
            return Err(NotChanged::MoreThanOwner(owner.name().to_owned()));
        }
        let _turn = self.changing.lock().await;
        if self.list().iter().any(|token| token.name == name) {
            return Err(NotChanged::Exists(name.to_owned()));
        }
        let data = self.data.as_ref().ok_or(NotChanged::NotKept)?;
        let (shown, hash) = TokenHash::new_token().map_err(|error| PasswordProblem::NotMade(error.to_string()))?;
        let made_at = crate::service::now();
        let (name, owner) = (name.to_owned(), owner.name().to_owned());
        let expires_at = made_at + i64::from(days) * DAY;
        let token = KeptToken { name, hash, owner, grants, made_at, expires_at, used_at: None };
        data.storage().save_token(token.clone()).await?;
        let new = Kept { token, ended: CancellationToken::new() };
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, kept| !kept.token.is_forgotten_at(made_at));
        kept.insert(new.token.hash.clone(), new);
        Ok(shown)
    }

    /// Removes a token from the data file. What the program streams ends.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), NotChanged> {
        let _turn = self.changing.lock().await;
        if self.given.values().any(|token| token.name == name) {
            return Err(NotChanged::OfSettings(name.to_owned()));
        }
        let unknown = || NotChanged::Unknown(name.to_owned());
        let data = self.data.as_ref().ok_or(NotChanged::NotKept)?;
        let hash = self.kept().values().find(|kept| kept.token.name == name).map(|kept| kept.token.hash.clone());
        let hash = hash.ok_or_else(unknown)?;
        data.storage().remove_token(name).await?;
        if let Some(kept) = self.kept.write().unwrap_or_else(PoisonError::into_inner).remove(&hash) {
            kept.ended.cancel();
        }
        Ok(())
    }

    /// Ends what programs stream with the tokens of a user, who was changed.
    pub(crate) fn end_streams_of(&self, owner: &str) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        for kept in kept.values_mut().filter(|kept| kept.token.owner == owner) {
            std::mem::take(&mut kept.ended).cancel();
        }
    }

    fn kept(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<TokenHash, Kept>> {
        // A thread that panicked left the map whole: each change is one call.
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a user may do all that these roles allow.
fn is_covered(grants: &[Grant], owner: Option<&Identity>) -> bool {
    let of_owner = owner.map(Identity::grants).unwrap_or_default();
    grants.iter().all(|grant| of_owner.iter().any(|own| own.covers(grant)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Role;

    fn at(time: &str) -> DateTime<Utc> {
        time.parse().expect("a time")
    }

    #[test]
    fn a_token_is_known_by_its_hash_until_it_expires() {
        let (shown, hash) = TokenHash::new_token().expect("there are random bytes");
        assert!(shown.starts_with("ejt_") && shown.len() == 47, "{shown}");
        assert_eq!(hash.to_string().parse(), Ok(hash.clone()));
        let token =
            Token::new("scraper", hash, [Grant::everywhere(Role::Viewer)]).expires("2027-06-30").expect("a date");
        let tokens = Tokens::new(vec![token], None);
        let (users, _) = Users::new(Vec::new(), None, true).expect("it is made");
        let who = tokens.identity(&shown, &users, at("2027-06-30T23:59:59Z")).expect("it counts");
        assert_eq!((who.name(), who.is_anonymous()), ("token:scraper", false));
        let end = at("2027-07-01T00:00:00Z");
        assert_eq!(tokens.identity(&shown, &users, end).unwrap_err(), Invalid::Expired(end));
        assert_eq!(tokens.identity("ejt_other", &users, at("2027-06-30T00:00:00Z")).unwrap_err(), Invalid::Unknown);
    }

    #[test]
    fn tokens_of_the_settings_without_an_end_are_named() {
        let token = |name: &str| Token::new(name, TokenHash::of(name), []);
        let ends = token("ends").expires("2027-06-30").expect("a date");
        let tokens = Tokens::new(vec![token("z"), ends, token("a")], None);
        assert_eq!(tokens.without_end(), ["a", "z"]);
    }

    #[test]
    fn what_is_no_hash_and_no_end_is_refused() {
        for text in ["", "sha256:", "sha256:zz", "sha1:00", &format!("sha256:{}", "é".repeat(32)), &"0".repeat(64)] {
            assert_eq!(text.parse::<TokenHash>(), Err(TokenProblem::NoHash), "{text}");
        }
        let token = || Token::new("t", TokenHash::of("t"), []);
        assert!(token().expires("2027-06-30T18:00:00+02:00").is_ok());
        for end in ["", "soon", "2027-06-31", "2027-06-30 18:00"] {
            assert_eq!(token().expires(end).unwrap_err(), TokenProblem::NoEnd, "{end}");
        }
    }
}
