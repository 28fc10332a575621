//! Tokens of programs: they call the console without a session, each with what it may do.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use sha2::{Digest, Sha256};

use super::grant::Grant;
use super::identity::Identity;
use super::session::random_bytes;

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

/// The hash of a token: `sha256:` and 64 hexadecimal digits. A token is 256 random bits, which nobody guesses, so its hash
/// needs no salt and no effort.
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

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// There is no such token.
    Unknown,
    /// It counted until then.
    Expired(DateTime<Utc>),
}

/// The tokens, by hash.
#[derive(Debug)]
pub(crate) struct Tokens(BTreeMap<TokenHash, Token>);

impl Tokens {
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        Self(tokens.into_iter().map(|token| (token.hash.clone(), token)).collect())
    }

    /// The caller that shows this token.
    pub(crate) fn identity(&self, shown: &str, now: DateTime<Utc>) -> Result<Identity, Invalid> {
        let token = self.0.get(&TokenHash::of(shown)).ok_or(Invalid::Unknown)?;
        match token.expires {
            Some(end) if end <= now => Err(Invalid::Expired(end)),
            _ => Ok(Identity::program(&token.name, token.grants.clone())),
        }
    }
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
        let tokens = Tokens::new(vec![token]);
        let who = tokens.identity(&shown, at("2027-06-30T23:59:59Z")).expect("it counts");
        assert_eq!((who.name(), who.is_anonymous()), ("token:scraper", false));
        let end = at("2027-07-01T00:00:00Z");
        assert_eq!(tokens.identity(&shown, end).unwrap_err(), Invalid::Expired(end));
        assert_eq!(tokens.identity("ejt_other", at("2027-06-30T00:00:00Z")).unwrap_err(), Invalid::Unknown);
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
