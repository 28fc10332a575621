//! Requests to the API server, beside the client that is tested.

use std::io;
use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::Value;

/// The token of an administrator.
pub(super) const ADMIN: &str = "token-of-the-administrator";

/// A patch that creates what is not there.
const APPLY: &str = "application/apply-patch+yaml";

/// An API server.
#[derive(Debug, Clone)]
pub struct Api {
    port: u16,
    client: Client,
}

impl Api {
    pub(super) fn new(port: u16) -> Self {
        // An error means that the process has chosen a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A connection for each request: the server may close one that is kept, just as a request is sent.
        let client = Client::builder().danger_accept_invalid_certs(true).pool_max_idle_per_host(0);
        let client = client.timeout(Duration::from_secs(30)).build();
        Self { port, client: client.expect("a client") }
    }

    /// Its port on this host.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sends a request as an administrator. Returns the status and the body; 0 and the error where no answer came.
    pub async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.send_as(ADMIN, method, path, body).await
    }

    /// The same as the owner of a token.
    ///
    /// # Panics
    /// When it is no method.
    pub async fn send_as(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let kind = if method == Method::PATCH { APPLY } else { "application/json" };
        self.request(token, method, path, kind, body.map(Value::to_string)).await
    }

    /// Creates or changes an object that is given in YAML.
    pub async fn apply(&self, path: &str, yaml: &str) -> (u16, Value) {
        self.request(ADMIN, Method::PATCH, path, APPLY, Some(yaml.to_owned())).await
    }

    async fn request(&self, token: &str, method: Method, path: &str, kind: &str, body: Option<String>) -> (u16, Value) {
        let request = self.client.request(method, format!("https://127.0.0.1:{}{path}", self.port)).bearer_auth(token);
        let request = match body {
            Some(body) => request.header("content-type", kind).body(body),
            None => request,
        };
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return (0, Value::String(format!("{error:?}"))),
        };
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap_or_default();
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// A request that is waited for on a thread of its own.
    pub(super) fn send_now(&self, method: &'static str, path: &str, body: Option<Value>) -> io::Result<(u16, Value)> {
        let (api, path) = (self.clone(), path.to_owned());
        let asked = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            // Its connections end with the runtime: another client has other ones.
            Ok::<_, io::Error>(runtime.block_on(Self::new(api.port).send(method, &path, body.as_ref())))
        });
        asked.join().map_err(|_| io::Error::other("the request panicked"))?
    }

    /// Reads an object. The error says what the server answered instead.
    pub(super) fn read_now(&self, path: &str) -> io::Result<Result<Value, String>> {
        let (status, answer) = self.send_now("GET", path, None)?;
        Ok(if status == 200 { Ok(answer) } else { Err(format!("{path} answers {status}: {answer}")) })
    }
}
