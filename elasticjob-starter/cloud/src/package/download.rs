//! Packages of web servers: fetched within limits, and from where nobody changes them on their way.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use elasticjob::log::warn;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Url};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::model::{Source, is_loopback};

/// How long a connection may take, and each part of an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The most megabytes that a package of a web server may have, unless the options say otherwise, so that one that is too large
/// does not fill the disk: 4 GiB.
const MOST_MB: u64 = 4_096;

/// The most redirects that are followed.
const REDIRECTS: usize = 10;

/// How often a package is asked for whose server is not reached, breaks off, or answers with an error of its own.
const ATTEMPTS: u32 = 3;

/// The pause before the second attempt; before the third it is twice as long.
const PAUSE: Duration = Duration::from_secs(1);

/// Fetches packages.
#[derive(Debug)]
pub(super) struct Downloads {
    client: OnceCell<Client>,
    /// The most bytes of a package.
    most: u64,
    pause: Duration,
}

/// Why a package is not fetched.
enum Failure {
    /// It may be there a moment later.
    Passing(String),
    /// It would fail again.
    Lasting(String),
}

impl Downloads {
    pub(super) fn new(most_mb: Option<u64>) -> Self {
        let most = most_mb.unwrap_or(MOST_MB).saturating_mul(1 << 20);
        Self { client: OnceCell::new(), most, pause: PAUSE }
    }

    /// Writes a package into this file.
    pub(super) async fn fetch(&self, source: &Source, to: &Path) -> Result<(), String> {
        let mut pause = self.pause;
        for _ in 1..ATTEMPTS {
            match self.attempt(source, to).await {
                Err(Failure::Passing(why)) => warn!("{why}; it is tried again in {} ms", pause.as_millis()),
                Err(Failure::Lasting(why)) => return Err(why),
                Ok(()) => return Ok(()),
            }
            sleep(pause).await;
            pause *= 2;
        }
        self.attempt(source, to).await.map_err(|failure| match failure {
            Failure::Passing(why) => format!("{why} ({ATTEMPTS} attempts)"),
            Failure::Lasting(why) => why,
        })
    }

    async fn attempt(&self, source: &Source, to: &Path) -> Result<(), Failure> {
        let fails = |error: reqwest::Error| {
            // A server that is silent for so long, or sends elsewhere, does so again.
            let is_passing = error.is_connect() || !(error.is_timeout() || error.is_redirect() || error.is_builder());
            let why = format!("'{source}' cannot be fetched: {}", causes(&error.without_url()));
            if is_passing { Failure::Passing(why) } else { Failure::Lasting(why) }
        };
        let client = self.client.get_or_try_init(make_client).await.map_err(Failure::Lasting)?;
        let mut answer = client.get(&source.address).send().await.map_err(fails)?;
        let status = answer.status();
        if !status.is_success() {
            let why = format!("'{source}' cannot be fetched: the server answered {status}");
            return Err(if status.is_server_error() { Failure::Passing(why) } else { Failure::Lasting(why) });
        }
        let too_large = || {
            let most = self.most;
            Failure::Lasting(format!(
                "'{source}' is larger than {most} bytes, the most that is fetched: give appURL a smaller package, or the scheduler \
                 a higher --package-limit"
            ))
        };
        if answer.content_length().is_some_and(|length| length > self.most) {
            return Err(too_large());
        }
        let not_kept = |error: std::io::Error| Failure::Lasting(format!("'{source}' cannot be kept: {error}"));
        let mut file = File::create(to).map_err(not_kept)?;
        let mut fetched = 0;
        while let Some(part) = answer.chunk().await.map_err(fails)? {
            fetched += part.len() as u64;
            if fetched > self.most {
                return Err(too_large());
            }
            file.write_all(&part).map_err(not_kept)?;
        }
        Ok(())
    }
}

/// Made on a thread that may block, as it reads the certificates of the host.
async fn make_client() -> Result<Client, String> {
    let make = || {
        // An error means that the process has chosen a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::builder().connect_timeout(TIMEOUT).read_timeout(TIMEOUT).redirect(Policy::custom(redirect)).build()
    };
    let made = spawn_blocking(make).await.map_err(|error| error.to_string())?;
    made.map_err(|error| format!("no client for https can be made: {}", causes(&error)))
}

fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    match may_follow(attempt.previous(), attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(why) => attempt.error(why),
    }
}

/// Whether a redirect is followed. What is run may not be changed on its way: a redirect without `https` leads to this host,
/// or it began at an address that needs a checksum.
fn may_follow(previous: &[Url], next: &Url) -> Result<(), String> {
    if previous.len() > REDIRECTS {
        return Err(format!("it is redirected more than {REDIRECTS} times"));
    }
    if next.scheme() == "https" {
        return Ok(());
    }
    if previous.iter().any(|url| url.scheme() == "https") {
        return Err("it is redirected from https to http, where it may be changed on its way".to_owned());
    }
    // A first address with http that is not one of this host was taken for its checksum.
    match is_loopback(next) || previous.first().is_some_and(|first| !is_loopback(first)) {
        true => Ok(()),
        false => Err("it is redirected to another host with http, where it may be changed on its way".to_owned()),
    }
}

/// An error with its causes in one line.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_redirect_never_leads_from_https_to_http() {
        let url = |text: &str| Url::parse(text).unwrap();
        let follows = |previous: &[&str], next: &str| {
            may_follow(&previous.iter().map(|text| url(text)).collect::<Vec<_>>(), &url(next)).is_ok()
        };
        assert!(follows(&["https://a/x"], "https://b/x"));
        assert!(follows(&["http://a/x"], "https://b/x"));
        assert!(follows(&["http://a/x"], "http://b/x"), "it has a checksum");
        assert!(follows(&["http://localhost/x"], "http://127.0.0.1/y"));
        assert!(!follows(&["https://a/x"], "http://a/x"));
        assert!(!follows(&["https://a/x"], "http://localhost/x"));
        assert!(!follows(&["http://a/x", "https://b/x"], "http://c/x"));
        assert!(!follows(&["http://localhost/x"], "http://a/x"));
        assert!(!follows(&["https://a/x"; 11], "https://a/x"));
    }

    /// A web server of this host.
    struct Server {
        source: Source,
        asked: Arc<AtomicUsize>,
    }

    impl Server {
        /// One that gives each request the next of these answers, and the last one to all further ones.
        async fn of<const N: usize>(answers: [&str; N]) -> Self {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let source = Source::parse(&format!("http://user:pass@{}/a.sh?sig=s3cret", listener.local_addr().unwrap()));
            let (asked, answers) = (Arc::new(AtomicUsize::new(0)), answers.map(str::to_owned));
            let count = asked.clone();
            tokio::spawn(async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let _ = stream.read(&mut [0; 4_096]).await;
                    let at = count.fetch_add(1, Ordering::SeqCst);
                    let _ = stream.write_all(answers[at.min(N - 1)].as_bytes()).await;
                }
            });
            Self { source: source.unwrap(), asked }
        }

        /// What is fetched of it into a file of this folder.
        async fn fetched(&self, downloads: &Downloads, folder: &Path) -> Result<String, String> {
            let file = folder.join("package");
            let fetched = downloads.fetch(&self.source, &file).await;
            let told = fetched.clone().err().unwrap_or_default();
            assert!(!told.contains("pass") && !told.contains("s3cret"), "{told}");
            fetched.map(|()| fs::read_to_string(file).unwrap())
        }
    }

    #[test]
    fn the_limit_is_that_of_the_options_or_four_gibibytes() {
        let most = |most_mb| Downloads::new(most_mb).most;
        assert_eq!((most(None), most(Some(3))), (4 << 30, 3 << 20));
    }

    #[tokio::test]
    async fn what_is_too_large_or_redirected_out_of_this_host_is_not_fetched() {
        let scratch = Scratch::new();
        let downloads = Downloads { most: 10, ..Downloads::new(None) };
        let of = async |answer: &str| Server::of([answer]).await.fetched(&downloads, scratch.path()).await;
        let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
        assert_eq!(of(&format!("{ok}\r\n1234567890")).await.as_deref(), Ok("1234567890"));
        let unsaid = of(&format!("{ok}\r\n12345678901")).await.unwrap_err();
        assert!(unsaid.contains("larger than 10 bytes") && unsaid.contains("--package-limit"), "{unsaid}");
        let said = of(&format!("{ok}Content-Length: 11\r\n\r\n12345678901")).await.unwrap_err();
        assert!(said.contains("larger than 10 bytes"), "{said}");
        let moved = "HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/a.sh\r\nContent-Length: 0\r\n\r\n";
        let moved = of(moved).await.unwrap_err();
        assert!(moved.contains("redirected to another host"), "{moved}");
    }

    #[tokio::test]
    async fn a_server_that_fails_is_asked_three_times_and_one_that_refuses_once() {
        let scratch = Scratch::new();
        let downloads = Downloads { pause: Duration::from_millis(1), ..Downloads::new(None) };
        let ok = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\n1234";
        let away = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        let broken = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 400\r\n\r\n12";
        let absent = "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        for (answers, fetched, asked) in [
            ([away, away, ok], Ok("1234"), 3),
            ([broken, "", ok], Ok("1234"), 3),
            ([away, away, away], Err("503 Service Unavailable (3 attempts)"), 3),
            ([absent, ok, ok], Err("404 Not Found"), 1),
            ([away, absent, ok], Err("404 Not Found"), 2),
        ] {
            let server = Server::of(answers).await;
            match (server.fetched(&downloads, scratch.path()).await, fetched) {
                (Ok(text), wanted) => assert_eq!(Ok(text.as_str()), wanted),
                (Err(why), wanted) => assert!(why.ends_with(wanted.unwrap_err()), "{why}"),
            }
            assert_eq!(server.asked.load(Ordering::SeqCst), asked);
        }
    }
}
