//! `HTTP`: an item is a request.

mod options;

use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Client, Response, Url};
use tracing::debug;

use self::options::{HttpOptions, shown};
use super::context_json::context_json_in_ascii;
use crate::api::{JobError, JobResult, ShardingContext, TypedJobItemExecutor};
use crate::config::{BoundOptions, Invalid, JobConfiguration, OptionNames};
use crate::http_client::{HttpClients, Limits};

/// Its name.
pub const HTTP: &str = "HTTP";

/// Says to the other side which item it is.
const SHARDING_CONTEXT: HeaderName = HeaderName::from_static("shardingcontext");
/// What Java sends where a body has no content type.
const FORM: &str = "application/x-www-form-urlencoded";
/// How much of an answer is told.
const START_OF_BODY: usize = 1_024;

/// Sends requests.
#[derive(Default)]
pub(super) struct Http {
    clients: HttpClients,
}

impl TypedJobItemExecutor for Http {
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
            done = send(&client, &options, &context) => {
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
    request = request.header(SHARDING_CONTEXT, context_json_in_ascii(context));
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
    let body = start_of_body(&mut answer).await.map_err(reqwest::Error::without_url)?;
    if let Some(target) = redirected(&answer, &options.uri) {
        // What comes with it names the target once more, in full.
        return Err(JobError::message(format!(
            "answered {status}, to {target}: redirects are not followed, set http.uri to where it leads"
        )));
    }
    if !status.is_success() {
        return Err(JobError::message(format!("answered {status}: {body}")));
    }
    debug!(job = %context.job_name(), item = context.sharding_item(), %status, "{body}");
    Ok(())
}

/// Where an answer leads instead, without what may be a secret.
fn redirected(answer: &Response, asked: &Url) -> Option<String> {
    let location = answer.headers().get(LOCATION).filter(|_| answer.status().is_redirection())?;
    let target = location.to_str().ok().and_then(|location| asked.join(location).ok());
    Some(target.map_or_else(|| "an address that cannot be read".to_owned(), |target| shown(&target)))
}

/// Takes an answer to its end, as the other side may work on until then, and keeps the start of it.
async fn start_of_body(answer: &mut Response) -> reqwest::Result<String> {
    let mut start = Vec::new();
    while let Some(part) = answer.chunk().await? {
        start.extend(part.iter().take(START_OF_BODY - start.len()));
    }
    Ok(String::from_utf8_lossy(&start).into_owned())
}

#[cfg(test)]
mod tests;
