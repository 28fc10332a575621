//! Reads what the issuer publishes, and exchanges codes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::JwkSet;
use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use super::OidcProblem;
use crate::oidc_options::{OidcOptions, is_safe};

/// What the issuer published is read again after so long.
const FRESH: Duration = Duration::from_secs(3_600);

/// An issuer that did not answer as it should is asked again after so long: visitors without a login make the console ask.
const FAILED: Duration = Duration::from_secs(5);

/// How long an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The longest answer, in bytes.
const LONGEST: usize = 1024 * 1024;

/// The discovery document, as far as it is used.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    issuer: String,
    pub(super) authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

/// What the issuer published.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) document: Document,
    pub(super) keys: JwkSet,
    read: Instant,
}

/// The server of the issuer.
#[derive(Debug, Default)]
pub(super) struct Provider {
    client: OnceCell<Client>,
    known: Mutex<Option<Arc<Known>>>,
    /// Why the last reading failed, and when; the lock is held while one reads, as many may ask at a time.
    failed: tokio::sync::Mutex<Option<(Instant, OidcProblem)>>,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

/// An error with its causes: the first one alone does not say what is wrong.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl Provider {
    async fn client(&self) -> Result<&Client, OidcProblem> {
        let make = || {
            // An error means that the process has chosen a provider already.
            let _ = rustls::crypto::ring::default_provider().install_default();
            // The issuer is at the address of the settings: no answer leads to another one.
            Client::builder().timeout(ANSWER_LIMIT).redirect(reqwest::redirect::Policy::none()).build()
        };
        let made = self.client.get_or_try_init(|| async move {
            let made = spawn_blocking(make).await.map_err(|error| error.to_string())?;
            made.map_err(|error| causes(&error))
        });
        made.await.map_err(OidcProblem::Issuer)
    }

    fn fresh(&self) -> Option<Arc<Known>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.filter(|known| known.read.elapsed() < FRESH)
    }

    /// What the issuer published, as it was read within the last hour.
    pub(super) async fn known(&self, options: &OidcOptions) -> Result<Arc<Known>, OidcProblem> {
        if let Some(known) = self.fresh() {
            return Ok(known);
        }
        let mut failed = self.failed.lock().await;
        match (self.fresh(), failed.as_ref()) {
            (Some(known), _) => return Ok(known),
            (None, Some((at, problem))) if at.elapsed() < FAILED => return Err(problem.clone()),
            _ => {}
        }
        let read = self.read(options).await;
        *failed = read.as_ref().err().map(|problem| (Instant::now(), problem.clone()));
        read
    }

    /// Reads it.
    pub(super) async fn read(&self, options: &OidcOptions) -> Result<Arc<Known>, OidcProblem> {
        let client = self.client().await?;
        let address = format!("{}/.well-known/openid-configuration", options.issuer.trim_end_matches('/'));
        let document: Document = answer(client.get(&address)).await?;
        if document.issuer != options.issuer {
            let why = format!("{address} is the document of '{}', and not of '{}'", document.issuer, options.issuer);
            return Err(OidcProblem::Issuer(why));
        }
        for endpoint in [&document.authorization_endpoint, &document.token_endpoint, &document.jwks_uri] {
            if !is_safe(endpoint) {
                return Err(OidcProblem::Issuer(format!("{address} names '{endpoint}', which is no https: address")));
            }
        }
        let keys: JwkSet = answer(client.get(&document.jwks_uri)).await?;
        let known = Arc::new(Known { document, keys, read: Instant::now() });
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }

    /// Changes a code into an ID token.
    pub(super) async fn id_token(
        &self,
        options: &OidcOptions,
        callback: &str,
        code: &str,
        verifier: &str,
    ) -> Result<String, OidcProblem> {
        let (known, client) = (self.known(options).await?, self.client().await?);
        let request = Self::exchange(client, &known.document, options, (callback, code, verifier));
        Ok(answer::<Tokens>(request).await?.id_token)
    }

    /// The request that changes a code, with its callback and verifier.
    fn exchange(
        client: &Client,
        document: &Document,
        options: &OidcOptions,
        (callback, code, verifier): (&str, &str, &str),
    ) -> RequestBuilder {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", callback),
            ("code_verifier", verifier),
        ]);
        let methods = &document.token_endpoint_auth_methods_supported;
        let has = |method: &str| methods.iter().any(|one| one == method);
        let mut request = client.post(&document.token_endpoint);
        match &options.client_secret {
            // The way that every issuer has, unless it says otherwise.
            Some(secret) if methods.is_empty() || has("client_secret_basic") => {
                let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                request = request.basic_auth(encoded(&options.client_id), Some(encoded(secret.reveal())));
            }
            Some(secret) => {
                form.extend_pairs([("client_id", options.client_id.as_str()), ("client_secret", secret.reveal())]);
            }
            None => {
                form.append_pair("client_id", &options.client_id);
            }
        }
        request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())
    }
}

/// The JSON of an answer that is a success.
async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, OidcProblem> {
    let failed = |error: reqwest::Error| OidcProblem::Issuer(causes(&error));
    let mut answer = request.header("accept", "application/json").send().await.map_err(failed)?;
    let (status, address) = (answer.status(), answer.url().to_string());
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(failed)? {
        body.extend_from_slice(&part);
        if body.len() > LONGEST {
            return Err(OidcProblem::Issuer(format!("the answer of {address} is longer than {LONGEST} bytes")));
        }
    }
    if !status.is_success() {
        // An error of OAuth has a code; its body could have more than belongs into a log.
        let told: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
        let code = told.as_ref().and_then(|told| told["error"].as_str()).unwrap_or("no error code");
        return Err(OidcProblem::Issuer(format!("{address} answered {status}: {code:.100}")));
    }
    serde_json::from_slice(&body).map_err(|error| OidcProblem::Issuer(format!("the answer of {address}: {error}")))
}
