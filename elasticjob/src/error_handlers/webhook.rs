//! Handlers that post a text to a chat: `WECHAT` and `DINGTALK`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chrono::Utc;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde_json::json;
use sha2::Sha256;

use crate::api::{JobError, JobErrorHandler, JobFailure, JobResult};
use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames, Options};
use crate::http_client::{HttpClients, Limits, start_of_body};
use crate::texts;

/// The longest answer that is read, in bytes: an answer only says yes or no.
const LONGEST_ANSWER: usize = 64 * 1_024;

/// The address to post to, and the time limits of a request.
struct Webhook {
    url: reqwest::Url,
    limits: Limits,
}

/// The answer that both services give.
#[derive(Debug, Deserialize)]
struct Answer {
    errcode: i64,
    #[serde(default)]
    errmsg: String,
}

impl Webhook {
    /// Reads the options that both handlers have, under their prefix.
    fn read(options: &mut Options<'_>, prefix: &str) -> Self {
        let name = |option: &str| format!("{prefix}.{option}");
        let webhook = name("webhook");
        let given = options.required(&[&webhook], "https://host/robot/send?access_token=...");
        let url = given.parse().unwrap_or_else(|error| {
            if !given.is_empty() {
                // The address carries the access token.
                options.wrong(&webhook, texts::property_robot(format!("{error}")));
            }
            reqwest::Url::parse("http://nowhere").expect("an address")
        });
        let mut timeout = |option: &str, older: &str, default| {
            let (option, older) = (name(option), name(older));
            options.milliseconds(&[&option, &older], default)
        };
        let limits = Limits {
            connect: timeout("connectTimeoutMilliseconds", "connectTimeoutMillisecond", 3_000),
            read: timeout("readTimeoutMilliseconds", "readTimeoutMillisecond", 5_000),
        };
        options.flag(&format!("{webhook}.from-registry"), false);
        Self { url, limits }
    }

    async fn post(&self, clients: &HttpClients, content: String) -> JobResult {
        let client = clients.with(self.limits).await?;
        let body = json!({"msgtype": "text", "text": {"content": content}});
        let request = client.post(self.url.clone()).timeout(self.limits.connect + self.limits.read);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let mut answer = request.send().await.map_err(|error| self.not_reached(error))?;
        let status = answer.status();
        if status.is_redirection() {
            // The rest of the answer may name the address again.
            let advice = "redirects are not followed, give the address that it leads to";
            return Err(JobError::message(format!("the webhook answered {status}: {advice}")));
        }
        let text = start_of_body(&mut answer, LONGEST_ANSWER, LONGEST_ANSWER).await?;
        let text = String::from_utf8_lossy(&text);
        if !status.is_success() {
            return Err(JobError::message(format!("the webhook answered {status}: {text}")));
        }
        match serde_json::from_str::<Answer>(&text) {
            Ok(Answer { errcode: 0, .. }) => Ok(()),
            Ok(Answer { errcode, errmsg }) => {
                Err(JobError::message(format!("the webhook refused the message: {errcode} {errmsg}")))
            }
            Err(_) => Err(JobError::message(format!("the webhook gave an answer that is not understood: {text}"))),
        }
    }

    /// Names host and port alone: the rest of the address is a secret, and errors of the client name all of it.
    fn not_reached(&self, error: reqwest::Error) -> JobError {
        let host = self.url.host_str().unwrap_or("an unknown host");
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        JobError::message(format!("the webhook at {host}{port}: {}", JobError::from(error.without_url())))
    }
}

/// Cuts a text to at most so many bytes. A text that was cut ends with a mark.
fn cut(mut text: String, most: usize) -> String {
    const MARK: char = '…';
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - MARK.len_utf8()));
        text.push(MARK);
    }
    text
}

/// Posts to a group of WeChat Work.
#[derive(Default)]
pub(super) struct WeChat {
    clients: HttpClients,
}

impl WeChat {
    /// The longest text that the service takes, in bytes.
    const LONGEST: usize = 2_048;

    fn read(configuration: &JobConfiguration) -> Result<Webhook, Vec<Invalid>> {
        let mut options = Options::of(configuration, texts::owner_handler());
        let webhook = Webhook::read(&mut options, "wechat");
        options.end(webhook)
    }
}

impl JobErrorHandler for WeChat {
    fn type_name(&self) -> &str {
        "WECHAT"
    }

    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        Self::read(configuration).err().unwrap_or_default()
    }

    fn options(&self) -> OptionNames {
        &[
            &["wechat.webhook"],
            &["wechat.webhook.from-registry"],
            &["wechat.connectTimeoutMilliseconds", "wechat.connectTimeoutMillisecond"],
            &["wechat.readTimeoutMilliseconds", "wechat.readTimeoutMillisecond"],
        ]
    }

    fn bound_options(&self) -> &'static [BoundOptions] {
        &[BoundOptions::Secret { secrets: &["wechat.webhook"], sent_with: &[] }]
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        let webhook = Self::read(&failure.configuration).map_err(JobError::settings)?;
        webhook.post(&self.clients, cut(failure.to_string(), Self::LONGEST)).await
    }
}

/// Posts to a group of DingTalk.
#[derive(Default)]
pub(super) struct DingTalk {
    clients: HttpClients,
}

struct DingTalkOptions<'a> {
    webhook: Webhook,
    keyword: &'a str,
    secret: Option<&'a str>,
}

impl DingTalk {
    /// The longest text that is sent, in bytes. The service takes no longer message; this leaves room for what JSON
    /// adds to the text.
    const LONGEST: usize = 18_000;

    fn read(configuration: &JobConfiguration) -> Result<DingTalkOptions<'_>, Vec<Invalid>> {
        let mut options = Options::of(configuration, texts::owner_handler());
        let webhook = Webhook::read(&mut options, "dingtalk");
        let keyword = options.text(&["dingtalk.keyword"]).unwrap_or_default();
        let secret = options.text(&["dingtalk.secret"]);
        options.end(DingTalkOptions { webhook, keyword, secret })
    }
}

impl JobErrorHandler for DingTalk {
    fn type_name(&self) -> &str {
        "DINGTALK"
    }

    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        Self::read(configuration).err().unwrap_or_default()
    }

    fn options(&self) -> OptionNames {
        &[
            &["dingtalk.webhook"],
            &["dingtalk.webhook.from-registry"],
            &["dingtalk.keyword"],
            &["dingtalk.secret"],
            &["dingtalk.connectTimeoutMilliseconds", "dingtalk.connectTimeoutMillisecond"],
            &["dingtalk.readTimeoutMilliseconds", "dingtalk.readTimeoutMillisecond"],
        ]
    }

    fn bound_options(&self) -> &'static [BoundOptions] {
        &[BoundOptions::Secret { secrets: &["dingtalk.webhook", "dingtalk.secret"], sent_with: &[] }]
    }

    async fn handle(&self, failure: &JobFailure) -> JobResult {
        let DingTalkOptions { mut webhook, keyword, secret } =
            Self::read(&failure.configuration).map_err(JobError::settings)?;
        if let Some(secret) = secret {
            let timestamp = Utc::now().timestamp_millis();
            let signed = [("timestamp", timestamp.to_string()), ("sign", sign(secret, timestamp))];
            webhook.url.query_pairs_mut().extend_pairs(signed);
        }
        webhook.post(&self.clients, cut(format!("{keyword}{failure}"), Self::LONGEST)).await
    }
}

/// The signature that DingTalk asks for: HMAC-SHA256 of the time and the secret, as Base64.
fn sign(secret: &str, timestamp: i64) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length is good");
    mac.update(format!("{timestamp}\n{secret}").as_bytes());
    BASE64_STANDARD.encode(mac.finalize().into_bytes())
}

#[cfg(test)]
mod tests;
