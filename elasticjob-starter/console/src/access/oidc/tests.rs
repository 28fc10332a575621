//! Logins at a small issuer: real HTTP, real keys, and each of its answers wrong once.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::header::{AUTHORIZATION, COOKIE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::access::{Grant, Role};
use crate::testing::{Answer, call, console, request, with_users};
use crate::{Console, ConsoleOptions, OidcOptions};

const CLIENT: &str = "console";
const SECRET: &str = "a secret & more";
const CODE: &str = "code-1";

/// A key of the issuer.
#[derive(Clone)]
struct Key {
    name: &'static str,
    private: EncodingKey,
}

impl Key {
    fn new(name: &'static str) -> Self {
        let pair = rcgen::KeyPair::generate().expect("a key");
        Self { name, private: EncodingKey::from_ec_der(&pair.serialize_der()) }
    }

    fn published(&self) -> Value {
        let mut key = Jwk::from_encoding_key(&self.private, Algorithm::ES256).expect("its public half");
        key.common.key_id = Some(self.name.to_owned());
        serde_json::to_value(key).expect("JSON")
    }
}

/// What the issuer does next.
struct Plan {
    /// The keys that it publishes.
    keys: Vec<Key>,
    /// The key that signs.
    signs: Key,
    /// The name of the key in the token.
    kid: Option<&'static str>,
    /// What replaces claims of the ID token; null takes one away.
    claims: Value,
    /// What replaces parts of the discovery document.
    document: Value,
    /// The whole ID token, where it is not one of this issuer.
    token: Option<String>,
    /// What the console sent with the code.
    sent: Option<(String, String)>,
    nonce: String,
    challenge: String,
}

/// An issuer on a port of its own.
#[derive(Clone)]
struct Issuer {
    address: String,
    plan: Arc<Mutex<Plan>>,
}

impl Issuer {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let key = Key::new("first");
        let plan = Plan {
            keys: vec![key.clone()],
            signs: key,
            kid: Some("first"),
            claims: json!({}),
            document: json!({}),
            token: None,
            sent: None,
            nonce: String::new(),
            challenge: String::new(),
        };
        let issuer = Self { address, plan: Arc::new(Mutex::new(plan)) };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        issuer
    }

    fn plan(&self, change: impl FnOnce(&mut Plan)) {
        change(&mut self.plan.lock().expect("no test panicked within"));
    }
}

/// `base` with the members of `more`; null removes one.
fn replaced(mut base: Value, more: &Value) -> Value {
    let members = base.as_object_mut().expect("an object");
    for (name, value) in more.as_object().expect("an object") {
        match value {
            Value::Null => drop(members.remove(name)),
            value => drop(members.insert(name.clone(), value.clone())),
        }
    }
    base
}

async fn discovery(State(issuer): State<Issuer>) -> Json<Value> {
    let at = &issuer.address;
    let document = json!({ "issuer": at, "authorization_endpoint": format!("{at}/authorize"),
        "token_endpoint": format!("{at}/token"), "jwks_uri": format!("{at}/keys") });
    Json(replaced(document, &issuer.plan.lock().expect("no panic").document))
}

async fn keys(State(issuer): State<Issuer>) -> Json<Value> {
    let published: Vec<Value> = issuer.plan.lock().expect("no panic").keys.iter().map(Key::published).collect();
    Json(json!({ "keys": published }))
}

async fn token(State(issuer): State<Issuer>, headers: HeaderMap, body: String) -> (StatusCode, Json<Value>) {
    let mut plan = issuer.plan.lock().expect("no panic");
    let of_header = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    let field = |name: &str| {
        form_urlencoded::parse(body.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    let verifier = field("code_verifier").unwrap_or_default();
    plan.sent = Some((of_header, body.clone()));
    use base64::Engine;
    use sha2::Digest;
    let challenge = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(verifier));
    if field("code").as_deref() != Some(CODE) || challenge != plan.challenge {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" })));
    }
    let now = crate::service::now() / 1_000;
    let claims = json!({ "iss": issuer.address, "sub": "7f3a", "aud": CLIENT, "exp": now + 300, "iat": now,
        "nonce": plan.nonce, "preferred_username": "zhang", "groups": ["staff", "ops"] });
    let header = Header { kid: plan.kid.map(str::to_owned), ..Header::new(Algorithm::ES256) };
    let token = encode(&header, &replaced(claims, &plan.claims), &plan.signs.private).expect("it is signed");
    let token = plan.token.clone().unwrap_or(token);
    (StatusCode::OK, Json(json!({ "access_token": "x", "token_type": "Bearer", "id_token": token })))
}

fn console_at(issuer: &Issuer) -> Console {
    let mut oidc = OidcOptions::new(&issuer.address, CLIENT, "https://jobs.example.com/ops");
    oidc.client_secret = Some(SECRET.to_owned().into());
    oidc.groups = vec![("ops".to_owned(), Grant::everywhere(Role::Operator).jobs("billing-*"))];
    console(ConsoleOptions { oidc: Some(oidc), ..with_users() })
}

/// The cookie of a name that an answer sets.
fn set_cookie(answer: &Answer, name: &str) -> Option<String> {
    let cookies = answer.headers.get_all(SET_COOKIE).iter().filter_map(|it| it.to_str().ok());
    let mut of_name = cookies.filter(|it| it.starts_with(&format!("{name}=")) && !it.starts_with(&format!("{name}=;")));
    of_name.next().and_then(|it| it.split(';').next()).map(str::to_owned)
}

/// A browser at the issuer: its cookie, and the state of its login.
struct Away {
    cookie: String,
    state: String,
}

/// Begins a login, as the link of the login page does.
async fn begin(console: &Console, issuer: &Issuer) -> Away {
    let answer = call(console, request("GET", "/login/oidc?next=%2Fr%2Fdefault%2Fjobs", None)).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let to = answer.headers[LOCATION].to_str().expect("a text");
    let query = to.strip_prefix(&format!("{}/authorize?", issuer.address)).expect("it leads to the issuer");
    let of = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).expect("it is there")
    };
    assert_eq!((of("response_type").as_str(), of("code_challenge_method").as_str()), ("code", "S256"));
    assert_eq!(of("redirect_uri"), "https://jobs.example.com/ops/login/oidc/callback");
    issuer.plan(|plan| (plan.nonce, plan.challenge) = (of("nonce"), of("code_challenge")));
    Away { cookie: set_cookie(&answer, "elasticjob_login").expect("a cookie"), state: of("state") }
}

/// Comes back from the issuer.
async fn back(console: &Console, away: &Away, query: &str) -> Answer {
    let path = format!("/login/oidc/callback?state={}&{query}", away.state);
    let mut request = request("GET", &path, None);
    request.headers_mut().insert(COOKIE, away.cookie.parse().expect("a value"));
    call(console, request).await
}

/// A login whose answer is not accepted.
async fn is_refused(console: &Console, issuer: &Issuer, why: &str) {
    let away = begin(console, issuer).await;
    let answer = back(console, &away, &format!("code={CODE}")).await;
    assert_ne!(answer.status, StatusCode::SEE_OTHER, "{why}");
    assert_eq!(set_cookie(&answer, "elasticjob_session"), None, "{why}");
}

#[tokio::test]
async fn an_account_of_a_company_comes_in_with_the_roles_of_its_groups() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    let page = call(&console, request("GET", "/login?next=%2Fr%2Fdefault%2Fjobs", None)).await;
    assert!(page.body.contains("href=\"/login/oidc?next=%2Fr%2Fdefault%2Fjobs\""), "{}", page.body);
    let away = begin(&console, &issuer).await;
    let answer = back(&console, &away, &format!("code={CODE}&iss={}", issuer.address)).await;
    assert_eq!(
        (answer.status, &answer.headers[LOCATION]),
        (StatusCode::SEE_OTHER, &"/r/default/jobs".parse().expect("a value")),
        "{}",
        answer.body
    );
    let session = set_cookie(&answer, "elasticjob_session").expect("a session");
    let me = call(&console, request("GET", "/api/v1/me", Some(&session))).await;
    let me: Value = serde_json::from_str(&me.body).expect("JSON");
    assert_eq!((&me["name"], &me["kind"]), (&json!("oidc:zhang"), &json!("company")));
    assert_eq!(me["grants"], json!([{ "role": "operator", "registries": "*", "jobs": "billing-*" }]));
    // The secret went as RFC 6749 says: encoded, and then as the password of Basic.
    let (header, body) = issuer.plan.lock().expect("no panic").sent.clone().expect("the code was changed");
    use base64::Engine;
    let basic = base64::engine::general_purpose::STANDARD.encode("console:a+secret+%26+more");
    assert!(header == format!("Basic {basic}") && !body.contains("secret"), "{header} {body}");
    // It owns no token, and has no password here.
    let token = json!({ "name": "mine", "grants": [{ "role": "operator", "jobs": "billing-*" }] });
    assert_eq!(
        call(&console, crate::testing::json("POST", "/api/v1/tokens", &session, &token)).await.status,
        StatusCode::FORBIDDEN
    );
    let password = json!({ "now": "x", "new": "another horse battery" });
    let refused = call(&console, crate::testing::json("POST", "/api/v1/me/password", &session, &password)).await;
    assert!(refused.body.contains("no-password"), "{}", refused.body);
    // The log has what names the account, whatever it is called.
    let admin = crate::testing::cookie_of(&console, "admin").await;
    let log = call(&console, request("GET", "/api/v1/access", Some(&admin))).await;
    assert!(log.body.contains(&format!("7f3a at {}", issuer.address)), "{}", log.body);
}

#[tokio::test]
async fn an_account_without_a_group_that_has_a_role_stays_out() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    for groups in [json!([]), json!(["staff", "OPS"]), json!("staff"), json!({ "ops": true }), Value::Null] {
        issuer.plan(|plan| plan.claims = json!({ "groups": groups, "preferred_username": "<b>li" }));
        let away = begin(&console, &issuer).await;
        let answer = back(&console, &away, &format!("code={CODE}")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{groups}");
        assert!(answer.body.contains("&#60;b&#62;li"), "{}", answer.body);
        assert_eq!(set_cookie(&answer, "elasticjob_session"), None);
    }
    issuer.plan(|plan| plan.claims = json!({ "groups": "ops" }));
    let away = begin(&console, &issuer).await;
    assert_eq!(
        back(&console, &away, &format!("code={CODE}")).await.status,
        StatusCode::SEE_OTHER,
        "one group as a text"
    );
}

#[tokio::test]
async fn an_answer_counts_once_in_its_browser_alone() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    let away = begin(&console, &issuer).await;
    let code = format!("code={CODE}");
    let other = Away { cookie: "elasticjob_login=other".to_owned(), state: away.state.clone() };
    assert_eq!(back(&console, &other, &code).await.status, StatusCode::BAD_REQUEST, "another browser");
    let unknown = Away { cookie: away.cookie.clone(), state: "unknown".to_owned() };
    assert_eq!(back(&console, &unknown, &code).await.status, StatusCode::BAD_REQUEST, "another state");
    assert_eq!(back(&console, &away, &code).await.status, StatusCode::SEE_OTHER);
    assert_eq!(back(&console, &away, &code).await.status, StatusCode::BAD_REQUEST, "it comes twice");
}

#[tokio::test]
async fn what_the_issuer_refuses_and_the_answer_of_another_issuer_let_nobody_in() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    for query in ["error=access_denied", "", "code=other", &format!("code={CODE}&iss=https://evil.example")] {
        let away = begin(&console, &issuer).await;
        let answer = back(&console, &away, query).await;
        assert_ne!(answer.status, StatusCode::SEE_OTHER, "{query}");
        assert_eq!(set_cookie(&answer, "elasticjob_session"), None, "{query}");
    }
    // A code of another login: its verifier does not fit.
    let away = begin(&console, &issuer).await;
    issuer.plan(|plan| plan.challenge = "of another login".to_owned());
    assert_eq!(back(&console, &away, &format!("code={CODE}")).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn an_id_token_that_is_wrong_in_one_way_lets_nobody_in() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    let now = crate::service::now() / 1_000;
    for (why, claims) in [
        ("wrong issuer", json!({ "iss": "https://evil.example" })),
        ("no issuer", json!({ "iss": null })),
        ("wrong audience", json!({ "aud": "other" })),
        ("no audience", json!({ "aud": null })),
        ("of another party", json!({ "azp": "other" })),
        ("for several, and nobody's", json!({ "aud": [CLIENT, "other"] })),
        ("wrong nonce", json!({ "nonce": "of another login" })),
        ("no nonce", json!({ "nonce": null })),
        ("expired", json!({ "exp": now - 120 })),
        ("without an end", json!({ "exp": null })),
        ("not valid so far", json!({ "nbf": now + 600 })),
        ("without an account", json!({ "sub": null })),
        ("with an empty account", json!({ "sub": "" })),
    ] {
        issuer.plan(|plan| plan.claims = claims);
        is_refused(&console, &issuer, why).await;
    }
    issuer.plan(|plan| plan.claims = json!({ "aud": [CLIENT, "other"], "azp": CLIENT }));
    let away = begin(&console, &issuer).await;
    assert_eq!(back(&console, &away, &format!("code={CODE}")).await.status, StatusCode::SEE_OTHER, "made for this one");
}

#[tokio::test]
async fn a_token_that_the_issuer_did_not_sign_lets_nobody_in() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    issuer.plan(|plan| plan.signs = Key::new("first"));
    is_refused(&console, &issuer, "a key of another server with the name of ours").await;
    issuer.plan(|plan| plan.signs = plan.keys[0].clone());
    let claims = json!({ "iss": issuer.address, "sub": "7f3a", "aud": CLIENT, "exp": crate::service::now() / 1_000 + 300,
        "groups": ["ops"] });
    let by_secret = encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(SECRET.as_bytes()));
    issuer.plan(|plan| plan.token = Some(by_secret.expect("it is signed")));
    is_refused(&console, &issuer, "signed with the secret of the client").await;
    // {"alg":"none"}, and no signature.
    issuer.plan(|plan| plan.token = Some("eyJhbGciOiJub25lIn0.eyJzdWIiOiI3ZjNhIn0.".to_owned()));
    is_refused(&console, &issuer, "not signed").await;
    issuer.plan(|plan| plan.token = Some("nonsense".to_owned()));
    is_refused(&console, &issuer, "no token at all").await;
}

#[tokio::test]
async fn a_new_key_of_the_issuer_is_asked_for() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    let away = begin(&console, &issuer).await;
    issuer.plan(|plan| {
        let new = Key::new("second");
        (plan.keys, plan.signs, plan.kid) = (vec![new.clone()], new, Some("second"));
    });
    assert_eq!(back(&console, &away, &format!("code={CODE}")).await.status, StatusCode::SEE_OTHER);
    issuer.plan(|plan| plan.kid = Some("third"));
    is_refused(&console, &issuer, "a key that is not published").await;
}

#[tokio::test]
async fn a_document_of_another_issuer_or_with_unsafe_addresses_is_not_used() {
    for document in [
        json!({ "issuer": "https://evil.example" }),
        json!({ "token_endpoint": "http://evil.example/token" }),
        json!({ "authorization_endpoint": "javascript:alert(1)" }),
        json!({ "jwks_uri": null }),
    ] {
        let issuer = Issuer::start().await;
        let console = console_at(&issuer);
        issuer.plan(|plan| plan.document = document.clone());
        let answer = call(&console, request("GET", "/login/oidc", None)).await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{document}");
        assert!(!answer.body.contains("evil.example"), "the log says it, not the page: {}", answer.body);
    }
}

#[tokio::test]
async fn an_issuer_that_failed_is_not_asked_again_at_once() {
    let issuer = Issuer::start().await;
    let console = console_at(&issuer);
    issuer.plan(|plan| plan.document = json!({ "jwks_uri": null }));
    assert_eq!(call(&console, request("GET", "/login/oidc", None)).await.status, StatusCode::BAD_GATEWAY);
    issuer.plan(|plan| plan.document = json!({}));
    assert_eq!(call(&console, request("GET", "/login/oidc", None)).await.status, StatusCode::BAD_GATEWAY);
}
