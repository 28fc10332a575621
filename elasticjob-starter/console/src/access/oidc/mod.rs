//! The login with accounts of a company: the code flow of OpenID Connect with PKCE, state and nonce.
//!
//! | file | what it does |
//! |---|---|
//! | `begun` | logins that wait for the browser to come back, each for one browser and once |
//! | `provider` | reads what the issuer publishes, and changes a code into an ID token |
//! | `token` | says whether an ID token is one of this login |

mod begun;
mod provider;
#[cfg(test)]
mod tests;
mod token;

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use elasticjob::__private::log::{apart, warn};
use sha2::{Digest, Sha256};

use super::account::{Account, CompanyAccount};
use super::grant::Grant;
use super::session::random_bytes;
use crate::oidc_options::OidcOptions;
use begun::{Begun, BegunLogins};
use provider::Provider;
use token::{Claims, TokenProblem};

pub(crate) use begun::LASTS;

/// The login of a console.
#[derive(Debug)]
pub(crate) struct Oidc {
    options: OidcOptions,
    provider: Provider,
    begun: BegunLogins,
}

/// Why a login failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OidcProblem {
    /// The issuer did not answer, or not as it should. The log has the cause.
    #[error("the issuer cannot be used: {0}")]
    Issuer(String),
    /// No login of this browser waits for that answer: it took too long, came before, or began in another browser.
    #[error("no login of this browser waits for that answer")]
    Stale,
    /// The issuer refused the login.
    #[error("the issuer refused: {0}")]
    Refused(String),
    #[error("the ID token does not count: {0}")]
    Token(#[from] TokenProblem),
    /// The account has no role.
    #[error("no group of '{0}' has a role")]
    NoRole(String),
    #[error("there are no random bytes: {0}")]
    Random(String),
}

/// What a browser brings back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    state: String,
    code: String,
    error: String,
    /// The issuer, where it says so (RFC 9207).
    iss: String,
}

/// A login that has begun.
#[derive(Debug)]
pub(crate) struct Begin {
    /// Where the browser goes.
    pub(crate) to: String,
    /// What ties it to the browser, for a cookie.
    pub(crate) browser: String,
}

/// A login that ended well.
#[derive(Debug)]
pub(crate) struct Entered {
    pub(crate) account: Account,
    /// Where the reader wanted to go.
    pub(crate) next: String,
}

fn random() -> Result<String, OidcProblem> {
    let bytes = random_bytes::<32>().map_err(|error| OidcProblem::Random(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

impl Oidc {
    pub(crate) fn new(options: OidcOptions) -> Self {
        Self { options, provider: Provider::default(), begun: BegunLogins::default() }
    }

    /// Where the issuer sends browsers back to.
    fn callback(&self) -> String {
        format!("{}/login/oidc/callback", self.options.public_url)
    }

    /// Begins a login of a browser that wants to go to a page.
    pub(crate) async fn begin(&self, next: &str) -> Result<Begin, OidcProblem> {
        let known = self.provider.known(&self.options).await?;
        let (state, browser, nonce, verifier) = (random()?, random()?, random()?, random()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("response_type", "code"),
                ("client_id", &self.options.client_id),
                ("redirect_uri", &self.callback()),
                ("scope", &self.options.scopes.join(" ")),
                ("state", &state),
                ("nonce", &nonce),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
            ])
            .finish();
        let address = &known.document.authorization_endpoint;
        let sign = if address.contains('?') { '&' } else { '?' };
        let begun = Begun { browser: browser.clone(), nonce, verifier, next: next.to_owned(), at: Instant::now() };
        self.begun.put(state, begun);
        Ok(Begin { to: format!("{address}{sign}{query}"), browser })
    }

    /// Ends the login of a browser that comes back.
    pub(crate) async fn finish(&self, answer: &Answer, browser: &str) -> Result<Entered, OidcProblem> {
        // It is used up, whatever comes of it.
        let begun = self.begun.take(&answer.state, browser, Instant::now()).ok_or(OidcProblem::Stale)?;
        if !answer.iss.is_empty() && answer.iss != self.options.issuer {
            return Err(OidcProblem::Refused("the answer is of another issuer".to_owned()));
        }
        if !answer.error.is_empty() || answer.code.is_empty() {
            return Err(OidcProblem::Refused(answer.error.chars().filter(|c| !c.is_control()).take(100).collect()));
        }
        let token = self.provider.id_token(&self.options, &self.callback(), &answer.code, &begun.verifier).await?;
        let claims = self.claims(&token, &begun.nonce).await?;
        let groups = claims.texts(&self.options.groups_claim);
        let has = |group: &str| groups.contains(&group);
        let roles = self.options.groups.iter().filter(|(group, _)| has(group)).map(|(_, grant)| grant.clone());
        let grants: Vec<Grant> = roles.collect();
        if grants.is_empty() {
            return Err(OidcProblem::NoRole(claims.name().to_owned()));
        }
        let account = CompanyAccount::new(&self.options.issuer, &claims.sub, claims.name(), grants);
        Ok(Entered { account: Account::Company(account.into()), next: begun.next })
    }

    /// The claims of an ID token of this login. A key that is not known is asked for: issuers change their keys.
    async fn claims(&self, token: &str, nonce: &str) -> Result<Claims, OidcProblem> {
        let known = self.provider.known(&self.options).await?;
        match token::check(token, &known.keys, &self.options, nonce) {
            Err(TokenProblem::UnknownKey) => {
                let known = self.provider.read(&self.options).await?;
                Ok(token::check(token, &known.keys, &self.options, nonce)?)
            }
            checked => Ok(checked?),
        }
    }
}

impl OidcProblem {
    /// Writes the cause to the log: visitors see that it did not work, and administrators why.
    pub(crate) fn log(&self) {
        let text = self.to_string();
        apart(move || warn!(target: "elasticjob::audit", "a login by OpenID Connect did not work: {text}"));
    }
}
