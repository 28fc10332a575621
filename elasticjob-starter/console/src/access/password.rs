//! Passwords: argon2id hashes, made and checked a few at a time.

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc};
use elasticjob::config::Message;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::session::random_bytes;
use crate::texts;

/// How many characters a password has at the least, and at the most.
const LENGTHS: std::ops::RangeInclusive<usize> = 12..=128;

/// How many hashes are computed at a time: each takes 19 MiB and some ten milliseconds of a core, so that logins cannot
/// be used to keep the machine busy.
const AT_A_TIME: usize = 2;

/// The hash of a password, as a PHC string: `$argon2id$v=19$...`.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

/// A password or the hash of one cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PasswordProblem {
    /// The length.
    Length(usize),
    /// The text is not the hash of a password.
    NoHash(String),
    /// The hash could not be made.
    NotMade(String),
}

impl PasswordProblem {
    /// What is wrong, which pages tell in the language of the reader.
    pub(crate) fn message(&self) -> Message {
        match self {
            Self::Length(length) => texts::password_length(*LENGTHS.start(), *LENGTHS.end(), *length),
            Self::NoHash(why) => texts::password_no_hash(why),
            Self::NotMade(why) => texts::password_not_made(why),
        }
    }
}

impl fmt::Display for PasswordProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for PasswordProblem {}

impl PasswordHash {
    /// Hashes a password with argon2id and a random salt.
    ///
    /// # Errors
    /// [`PasswordProblem::Length`], [`PasswordProblem::NotMade`].
    pub fn of(password: &str) -> Result<Self, PasswordProblem> {
        let length = password.chars().count();
        if !LENGTHS.contains(&length) {
            return Err(PasswordProblem::Length(length));
        }
        let hash = Argon2::default().hash_password(password.as_bytes());
        hash.map(|hash| Self(hash.to_string())).map_err(|error| PasswordProblem::NotMade(error.to_string()))
    }

    /// A new password of 20 characters from the random bytes of the system, without those that look alike.
    ///
    /// # Errors
    /// [`PasswordProblem::NotMade`].
    pub fn random_password() -> Result<String, PasswordProblem> {
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut password = String::new();
        for (index, byte) in random_bytes::<20>().map_err(PasswordProblem::not_made)?.into_iter().enumerate() {
            let dash = if index > 0 && index % 5 == 0 { "-" } else { "" };
            // 256 is a multiple of 32, so that each letter is as likely as the others.
            let _ = write!(password, "{dash}{}", char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
        }
        Ok(password)
    }

    /// The text for settings.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_of(&self, password: &str) -> bool {
        phc::PasswordHash::new(&self.0)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    }
}

impl FromStr for PasswordHash {
    type Err = PasswordProblem;

    fn from_str(text: &str) -> Result<Self, PasswordProblem> {
        let hash = phc::PasswordHash::new(text).map_err(|error| PasswordProblem::NoHash(error.to_string()))?;
        match hash.algorithm.as_str() {
            "argon2id" => Ok(Self(text.to_owned())),
            other => Err(PasswordProblem::NoHash(format!("its algorithm is {other}"))),
        }
    }
}

impl PasswordProblem {
    /// There is no chance to be had from the system.
    #[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
    pub(crate) fn not_made(error: getrandom::Error) -> Self {
        Self::NotMade(error.to_string())
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

/// The hash that is checked for a name that no user has: the answer takes as long as for a wrong password, and does not tell
/// which names exist. Salt and hash are random bytes: it is the hash of no password that anybody knows.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$7Bl5AO/4T9ARJsuzMRiN1Q$x6f1Yj9jvN0CcxLbsKM9MaT0mfJRruGEF3hq/1qaD6I";

/// Checks passwords.
#[derive(Debug)]
pub(crate) struct Passwords {
    places: Arc<Semaphore>,
}

impl Passwords {
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_A_TIME)) }
    }

    /// The hash of a new password.
    pub(crate) async fn hash(&self, password: String) -> Result<PasswordHash, PasswordProblem> {
        let made = self.in_turn(move || PasswordHash::of(&password)).await;
        made.unwrap_or_else(|panicked| Err(PasswordProblem::NotMade(panicked.to_string())))
    }

    /// Whether the password belongs to the hash. Without a hash it never does.
    pub(crate) async fn check(&self, hash: Option<&PasswordHash>, password: String) -> bool {
        let exists = hash.is_some();
        let hash = hash.cloned().unwrap_or_else(|| PasswordHash(NOBODY.to_owned()));
        // No hash of ours is of a longer password.
        let fits = password.chars().count() <= *LENGTHS.end();
        let checked = self.in_turn(move || fits && hash.is_of(&password)).await;
        exists && checked.unwrap_or(false)
    }

    /// Computes when it has a place, which it keeps until it is done, also where nobody waits for it any more.
    async fn in_turn<T: Send + 'static>(&self, compute: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
        // The semaphore is never closed.
        let place = self.places.clone().acquire_owned().await.ok();
        let computed = tokio::task::spawn_blocking(move || {
            let _place = place;
            compute()
        });
        computed.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_are_made_differ_and_are_long_enough() {
        let (one, other) =
            (PasswordHash::random_password().expect("random"), PasswordHash::random_password().expect("random"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 23);
    }

    #[tokio::test]
    async fn a_password_is_known_by_its_hash() {
        let hash = PasswordHash::of("correct horse battery").expect("it is long enough");
        let read: PasswordHash = hash.as_str().parse().expect("it is a hash");
        let passwords = Passwords::new();
        assert!(passwords.check(Some(&read), "correct horse battery".to_owned()).await);
        assert!(!passwords.check(Some(&read), "correct horse batterz".to_owned()).await);
        assert!(!passwords.check(None, "correct horse battery".to_owned()).await);
        assert_ne!(hash, PasswordHash::of("correct horse battery").expect("it is long enough"), "salts differ");
    }

    #[test]
    fn a_name_that_no_user_has_takes_as_long_as_a_wrong_password() {
        let costs = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        let made = PasswordHash::of("correct horse battery").expect("it is long enough");
        assert_eq!(costs(NOBODY), costs(made.as_str()));
        assert_eq!(NOBODY.len(), made.as_str().len());
        assert!(NOBODY.parse::<PasswordHash>().is_ok());
    }

    #[test]
    fn short_passwords_and_texts_that_are_no_hash_are_refused() {
        assert_eq!(PasswordHash::of("elevenchars"), Err(PasswordProblem::Length(11)));
        assert!(matches!("admin".parse::<PasswordHash>(), Err(PasswordProblem::NoHash(_))));
        assert!(format!("{:?}", PasswordHash::of("correct horse battery")).contains("PasswordHash(..)"));
    }
}
