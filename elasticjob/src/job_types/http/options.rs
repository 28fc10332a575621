//! The request of a job of the type `HTTP`, made from its properties.

use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Method, Url};

use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames, Options};
use crate::texts;

/// The address of the request; the second name is that of older releases.
const URI: [&str; 2] = ["http.uri", "http.url"];
/// Allows the request that the registry center sets. Read from the configuration of the program only.
const FROM_REGISTRY: &str = "http.uri.from-registry";
const METHOD: &str = "http.method";
const DATA: &str = "http.data";
const CONTENT_TYPE: &str = "http.content.type";
const CONNECT_TIMEOUT: &str = "http.connect.timeout.milliseconds";
const READ_TIMEOUT: &str = "http.read.timeout.milliseconds";

/// The limit for the whole request with its answer.
pub(super) const TOTAL_TIMEOUT: &str = "http.total.timeout.milliseconds";

/// All names of options.
pub(super) const NAMES: OptionNames = &[
    &URI,
    &[FROM_REGISTRY],
    &[METHOD],
    &[DATA],
    &[CONTENT_TYPE],
    &[CONNECT_TIMEOUT],
    &[READ_TIMEOUT],
    &[TOTAL_TIMEOUT],
];

/// The request counts as a whole: another method or body does other things to the same address.
pub(super) const BOUND: &[BoundOptions] = &[BoundOptions::Command(&[&URI, &[METHOD], &[DATA], &[CONTENT_TYPE]])];

/// The methods that have a body. Java does not know the last one.
const WITH_BODY: [Method; 4] = [Method::POST, Method::PUT, Method::DELETE, Method::PATCH];

/// A request, and how long it may take.
pub(super) struct HttpOptions<'a> {
    pub(super) uri: Url,
    pub(super) method: Method,
    pub(super) data: Option<&'a str>,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) connect_timeout: Duration,
    pub(super) read_timeout: Duration,
    pub(super) total_timeout: Duration,
}

impl<'a> HttpOptions<'a> {
    pub(super) fn read(configuration: &'a JobConfiguration) -> Result<Self, Vec<Invalid>> {
        let mut options = Options::of(configuration, texts::owner_type("HTTP"));
        let uri = uri(&mut options);
        let method = method(&mut options);
        // Blanks may be part of what is sent.
        let data = configuration.prop(DATA).filter(|data| !data.is_empty());
        if let (Some(_), Some(method)) = (data, method.as_ref().filter(|method| !WITH_BODY.contains(method))) {
            options.wrong(DATA, texts::property_body(method.to_string()));
        }
        let content_type = options.text(&[CONTENT_TYPE]).and_then(|text| match text.parse() {
            Ok(value) => Some(value),
            Err(_) => {
                options.wrong(CONTENT_TYPE, texts::property_content_type(text));
                None
            }
        });
        let connect_timeout = options.milliseconds(&[CONNECT_TIMEOUT], 3_000);
        let read_timeout = options.milliseconds(&[READ_TIMEOUT], 5_000);
        let total_timeout = options.milliseconds(&[TOTAL_TIMEOUT], 600_000);
        options.flag(FROM_REGISTRY, false);
        let (uri, method) = options.end(uri.zip(method))?.expect("the lack of one is a problem");
        Ok(Self { uri, method, data, content_type, connect_timeout, read_timeout, total_timeout })
    }

    /// The request for messages: without parts that may be secret.
    pub(super) fn request(&self) -> String {
        format!("{} {}", self.method, shown(&self.uri))
    }
}

/// An address for messages: without user, password and query.
pub(super) fn shown(uri: &Url) -> String {
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", uri.scheme(), uri.host_str().unwrap_or_default(), uri.path())
}

fn uri(options: &mut Options<'_>) -> Option<Url> {
    let text = Some(options.required(&URI, "http://host:8080/settle")).filter(|text| !text.is_empty())?;
    let parsed = text.parse::<Url>().map_err(|error| error.to_string());
    let checked = parsed.and_then(|uri| match uri.scheme() {
        "http" | "https" => Ok(uri),
        // The text before the first colon may be a user.
        _ => Err("its scheme is neither http nor https".to_owned()),
    });
    // The address may carry a password or a token.
    checked.map_err(|why| options.wrong(URI[0], texts::property_uri(why.to_string()))).ok()
}

fn method(options: &mut Options<'_>) -> Option<Method> {
    let text = Some(options.required(&[METHOD], "POST")).filter(|text| !text.is_empty())?;
    // The names of methods are case-sensitive, and no server knows a method `post`.
    let known = Some(text).filter(|text| !text.contains(|character: char| character.is_ascii_lowercase()));
    let method = known.and_then(|text| text.parse().ok());
    if method.is_none() {
        options.wrong(METHOD, texts::property_method(text));
    }
    method
}
