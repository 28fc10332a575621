//! Checks that an ID token is one of a login: signature, issuer, audience, times and nonce.

use jsonwebtoken::jwk::{JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::oidc_options::OidcOptions;

/// Signatures with the private key of the issuer. Those with a shared secret are not among them, nor is a token without
/// a signature.
const SIGNED: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// How far the clocks of console and issuer may differ, in seconds.
const LEEWAY: u64 = 60;

/// Why an ID token does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenProblem {
    /// No key of the issuer has the name that the token names.
    #[error("the issuer publishes no key that it names")]
    UnknownKey,
    #[error("it is signed in a way that does not count: {0:?}")]
    Algorithm(Algorithm),
    #[error("it is for another client as well, and not made for this one (azp)")]
    Party,
    #[error("it is of another login (nonce)")]
    Nonce,
    #[error("{0}")]
    Invalid(String),
}

/// What an ID token says.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Claims {
    pub(super) sub: String,
    aud: Value,
    azp: Option<String>,
    nonce: Option<String>,
    preferred_username: Option<String>,
    email: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Claims {
    /// What the account is called.
    pub(super) fn name(&self) -> &str {
        let names = [&self.preferred_username, &self.email];
        names.into_iter().flatten().map(String::as_str).find(|name| !name.trim().is_empty()).unwrap_or(&self.sub)
    }

    /// The texts of a claim: a list of them, or one.
    pub(super) fn texts(&self, claim: &str) -> Vec<&str> {
        match self.others.get(claim) {
            Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text],
            _ => Vec::new(),
        }
    }
}

/// The claims of a token that these keys signed for this client, in the login with this nonce.
pub(super) fn check(token: &str, keys: &JwkSet, options: &OidcOptions, nonce: &str) -> Result<Claims, TokenProblem> {
    let invalid = |error: jsonwebtoken::errors::Error| TokenProblem::Invalid(error.to_string());
    let header = decode_header(token).map_err(invalid)?;
    if !SIGNED.contains(&header.alg) {
        return Err(TokenProblem::Algorithm(header.alg));
    }
    let is_meant = |key: &&jsonwebtoken::jwk::Jwk| {
        let is_for_signatures = key.common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
        is_for_signatures && (header.kid.is_none() || key.common.key_id == header.kid)
    };
    // An issuer with one key need not name it.
    let mut meant = keys.keys.iter().filter(is_meant);
    let key = meant.next().ok_or(TokenProblem::UnknownKey)?;
    if meant.next().is_some() {
        return Err(TokenProblem::Invalid("it does not say which key of the issuer signed it (kid)".to_owned()));
    }
    let mut validation = Validation::new(header.alg);
    validation.leeway = LEEWAY;
    validation.validate_nbf = true;
    validation.set_audience(&[&options.client_id]);
    validation.set_issuer(&[&options.issuer]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let key = DecodingKey::from_jwk(key).map_err(invalid)?;
    let claims = decode::<Claims>(token, &key, &validation).map_err(invalid)?.claims;
    let is_for_several = claims.aud.as_array().is_some_and(|all| all.len() > 1);
    match &claims.azp {
        Some(party) if *party != options.client_id => return Err(TokenProblem::Party),
        None if is_for_several => return Err(TokenProblem::Party),
        _ => {}
    }
    if claims.nonce.as_deref() != Some(nonce) {
        return Err(TokenProblem::Nonce);
    }
    match claims.sub.is_empty() {
        true => Err(TokenProblem::Invalid("its account has no name (sub)".to_owned())),
        false => Ok(claims),
    }
}
