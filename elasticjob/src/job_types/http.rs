//! `HTTP`: each item sends a request.

mod options;

use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Client, Response, Url};

use self::options::{HttpOptions, shown};
use crate::api::{ContextJson, JobError, JobResult, JobType, ShardingContext};
use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames};
use crate::escaped::Escaped;
use crate::http_client::{HttpClients, Limits, start_of_body};
use crate::log::debug;

/// The name of the type.
pub const HTTP: &str = "HTTP";

/// The header with the item that the request is for.
const SHARDING_CONTEXT: HeaderName = HeaderName::from_static("shardingcontext");
/// The content type that Java sends where a body has none.
const FORM: &str = "application/x-www-form-urlencoded";
/// How much of an answer a message shows, in bytes.
const START_OF_BODY: usize = 1_024;
/// The longest answer that is read, in bytes. No job needs a longer one, and an answer that does not end would hold the
/// item.
const LONGEST_ANSWER: usize = 64 * 1_024 * 1_024;

/// Sends the requests of items.
#[derive(Default)]
pub(super) struct Http {
    clients: HttpClients,
}

impl JobType for Http {
    fn type_name(&self) -> &str {
        HTTP
    }

    fn check(&self, configuration: &JobConfiguration) -> Vec<Invalid> {
        HttpOptions::read(configuration).err().unwrap_or_default()
    }

    fn options(&self) -> OptionNames {
        options::NAMES
    }

    fn bound_options(&self) -> &'static [BoundOptions] {
        options::BOUND
    }

    async fn process(&self, context: ShardingContext) -> JobResult {
        let options = HttpOptions::read(context.configuration()).map_err(JobError::settings)?;
        let limits = Limits { connect: options.connect_timeout, read: options.read_timeout };
        let client = self.clients.with(limits).await?;
        tokio::select! {
            done = tokio::time::timeout(options.total_timeout, send(&client, &options, &context)) => {
                let done = done.unwrap_or_else(|_| Err(JobError::message(format!(
                    "the answer did not end within {} ms ({})", options.total_timeout.as_millis(), options::TOTAL_TIMEOUT
                ))));
                done.map_err(|error| JobError::message(format!("{}: {error}", options.request())))
            }
            () = context.cancelled() => {
                Err(JobError::message(format!("{}: given up, as the run was cut off", options.request())))
            }
        }
    }
}

async fn send(client: &Client, options: &HttpOptions<'_>, context: &ShardingContext) -> JobResult {
    let mut request = client.request(options.method.clone(), options.uri.clone());
    request = request.header(SHARDING_CONTEXT, ContextJson::from(context).in_ascii());
    let content_type = options.content_type.clone();
    if let Some(content_type) = content_type.or(options.data.map(|_| FORM.parse().expect("a content type"))) {
        request = request.header(CONTENT_TYPE, content_type);
    }
    if let Some(data) = options.data {
        request = request.body(data.to_owned());
    }
    // The address may carry a password.
    let mut answer = request.send().await.map_err(reqwest::Error::without_url)?;
    let status = answer.status();
    let body = start_of_body(&mut answer, START_OF_BODY, LONGEST_ANSWER).await?;
    let body = String::from_utf8_lossy(&body);
    if let Some(target) = redirected(&answer, &options.uri) {
        // The rest of the answer names the target again, in full.
        return Err(JobError::message(format!(
            "answered {status}, to {target}: redirects are not followed, set http.uri to where it leads"
        )));
    }
    if !status.is_success() {
        return Err(JobError::message(format!("answered {status}: {body}")));
    }
    debug!(job = %context.job_name(), item = context.sharding_item(), %status, "{}", Escaped(&body));
    Ok(())
}

/// The address that an answer redirects to, without parts that may be secret.
fn redirected(answer: &Response, asked: &Url) -> Option<String> {
    let location = answer.headers().get(LOCATION).filter(|_| answer.status().is_redirection())?;
    let target = location.to_str().ok().and_then(|location| asked.join(location).ok());
    Some(target.map_or_else(|| "an address that cannot be read".to_owned(), |target| shown(&target)))
}

#[cfg(test)]
mod tests;
