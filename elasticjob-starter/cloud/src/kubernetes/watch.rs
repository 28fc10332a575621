//! Watches of the objects of the cluster, and whether they get answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Request};
use elasticjob::log::{info, warn};
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::client::Body;
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Api, Client, Resource};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tower::{BoxError, service_fn};

use super::errors::{ANSWER_LIMIT, causes, no_answer};

/// After how many seconds the API server ends a request of a watch, which goes on with the next one. One that is not ended by then,
/// and five seconds more, is given up: its connection was lost in silence.
const LENGTH_SECONDS: u32 = 30;

/// The pauses after errors: each is twice as long as the one before, up to the longest one. Requests of a watch begin at least the
/// first one apart: what stands between may end them all at once.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// When there was no error for so long, the pauses begin again with the first one. It is longer than a pause and the time that an
/// answer may take.
const QUIET: Duration = Duration::from_secs(30);

/// At most so many causes are told in one outage: a text with a number in it would be a new cause each time.
const MOST_TOLD: usize = 8;

/// Whether the watches of a carrier get answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    sights: Arc<Mutex<Sights>>,
}

#[derive(Debug, Default)]
struct Sights {
    /// The kinds of objects whose watches had an error, and since when there are answers again.
    interrupted: BTreeMap<String, Option<Instant>>,
    /// Why, as far as it was told.
    told: BTreeSet<String>,
}

impl Reach {
    /// The objects of a namespace with these labels, and what changes. Where it was interrupted it goes on with what has changed since.
    pub(super) fn watch<K>(
        &self,
        client: &Client,
        namespace: &str,
        labels: &str,
    ) -> impl Stream<Item = Event<K>> + Send + use<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
            + Clone
            + Debug
            + DeserializeOwned
            + Send
            + 'static,
    {
        let kind = K::plural(&()).into_owned();
        let api = Api::<K>::namespaced(self.noting(client, &kind), namespace);
        let events = watcher(api, Config::default().labels(labels).timeout(LENGTH_SECONDS));
        let watch = Watch {
            events: Box::pin(events),
            kind,
            reach: self.clone(),
            failed: None,
            expired: None,
            pause: FIRST_PAUSE,
        };
        unfold(watch, async |mut watch| Some((watch.next().await?, watch)))
    }

    /// A client that waits for answers and not for ever, and notes them. An event alone would not do: there is none as long as nothing
    /// changes.
    fn noting(&self, client: &Client, kind: &str) -> Client {
        let (client, reach, kind) = (client.clone(), self.clone(), kind.to_owned());
        let namespace = client.default_namespace().to_owned();
        let mut begins = interval(FIRST_PAUSE);
        begins.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begins = Arc::new(tokio::sync::Mutex::new(begins));
        let noting = service_fn(move |request: Request<Body>| {
            let (client, reach, kind, begins) = (client.clone(), reach.clone(), kind.clone(), begins.clone());
            async move {
                let of_changes = request.uri().query().is_some_and(|query| query.contains("watch=true"));
                if of_changes {
                    begins.lock().await.tick().await;
                }
                let answer = timeout(ANSWER_LIMIT, client.send(request)).await.map_err(|_| no_answer())??;
                if of_changes && answer.status().is_success() {
                    // Another one would be an error with each of its lines, and none without lines.
                    let content = answer.headers().get(CONTENT_TYPE).map_or(&b"no type"[..], HeaderValue::as_bytes);
                    if !content.starts_with(b"application/json") {
                        let content = String::from_utf8_lossy(content);
                        return Err(format!("something else than the API server answers, with {content}").into());
                    }
                    reach.answers(&kind);
                }
                Ok::<_, BoxError>(answer)
            }
        });
        Client::new(noting, namespace)
    }

    fn lock(&self) -> MutexGuard<'_, Sights> {
        self.sights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answers(&self, kind: &str) {
        if let Some(since) = self.lock().interrupted.get_mut(kind) {
            since.get_or_insert_with(Instant::now);
        }
    }

    /// The answer was only that all has to be listed.
    fn begins_anew(&self, kind: &str) {
        if let Some(since) = self.lock().interrupted.get_mut(kind) {
            *since = None;
        }
    }

    /// Tells each cause once, until all is well again.
    fn fails(&self, kind: &str, error: &Error) {
        let mut sights = self.lock();
        sights.interrupted.insert(kind.to_owned(), None);
        // What was asked for in vain is no cause.
        let why = std::error::Error::source(error).map_or_else(|| causes(error), causes);
        if sights.told.len() < MOST_TOLD && !sights.told.contains(&why) {
            warn!("the API server of Kubernetes cannot be followed, and is tried again: {why}");
            sights.told.insert(why);
        }
    }

    /// Tells that all is well again, when it was so for a while: an answer may begin well and end at once. Called now and then.
    pub(super) fn look(&self) {
        let mut sights = self.lock();
        let is_well = |since: &Option<Instant>| since.is_some_and(|since| since.elapsed() >= LONGEST_PAUSE);
        let is_over = !sights.interrupted.is_empty() && sights.interrupted.values().all(is_well);
        if is_over {
            *sights = Sights::default();
            info!("the API server of Kubernetes is followed again");
        }
    }
}

struct Watch<K> {
    events: Pin<Box<dyn Stream<Item = Result<Event<K>, Error>> + Send>>,
    kind: String,
    reach: Reach,
    /// When there was an error last.
    failed: Option<Instant>,
    /// When the changes that were asked for were not kept any more.
    expired: Option<Instant>,
    /// The one after the next error.
    pause: Duration,
}

impl<K> Watch<K> {
    async fn next(&mut self) -> Option<Event<K>> {
        loop {
            match self.events.next().await? {
                Ok(event) => return Some(event),
                // All is listed next. It is trouble where that does not help.
                Err(Error::WatchError(status)) if status.code == 410 && is_long_ago(self.expired) => {
                    self.expired = Some(Instant::now());
                    self.reach.begins_anew(&self.kind);
                }
                Err(error) => {
                    self.reach.fails(&self.kind, &error);
                    if is_long_ago(self.failed) {
                        self.pause = FIRST_PAUSE;
                    }
                    self.failed = Some(Instant::now());
                    sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}

fn is_long_ago(at: Option<Instant>) -> bool {
    at.is_none_or(|at| at.elapsed() > QUIET)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::body::{Body as Content, Bytes};
    use axum::http::Response;
    use futures_util::stream::pending;
    use k8s_openapi::api::batch::v1::Job;
    use kube::core::Status;
    use serde_json::json;

    use super::*;

    /// What becomes of a request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Way {
        Open,
        /// The connection is refused.
        Refused,
        /// A proxy answers with a page of its own.
        Misled,
        /// What was sent is not answered.
        Silent,
        /// An answer ends as soon as it has begun.
        Cut,
        /// The API server does not keep so old changes.
        Expired,
    }

    /// A server without objects.
    struct Server {
        lists: Mutex<Way>,
        watches: Mutex<Way>,
        asked: AtomicU32,
    }

    impl Server {
        fn new(lists: Way, watches: Way) -> Arc<Self> {
            Arc::new(Self { lists: lists.into(), watches: watches.into(), asked: AtomicU32::new(0) })
        }

        fn watch(self: &Arc<Self>, reach: &Reach) -> impl Stream<Item = Event<Job>> + Unpin + use<> {
            let server = self.clone();
            let service = service_fn(move |request: Request<Body>| {
                let server = server.clone();
                let of_changes = request.uri().query().is_some_and(|query| query.contains("watch=true"));
                async move { server.answer(of_changes).await }
            });
            Box::pin(reach.watch(&Client::new(service, "shop"), "shop", "a=b"))
        }

        async fn answer(&self, of_changes: bool) -> io::Result<Response<Content>> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let way = *if of_changes { &self.watches } else { &self.lists }.lock().unwrap();
            let body = match way {
                Way::Open if of_changes => Content::from_stream(pending::<Result<Bytes, Infallible>>()),
                Way::Open => Content::from(
                    json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": [] }).to_string(),
                ),
                Way::Refused => return Err(io::ErrorKind::ConnectionRefused.into()),
                Way::Misled => {
                    let page = Content::from("<p>We will be back soon</p>\n".repeat(40));
                    return Ok(Response::builder().header(CONTENT_TYPE, "text/html").body(page).unwrap());
                }
                Way::Silent => std::future::pending().await,
                Way::Cut => Content::empty(),
                Way::Expired => Content::from(
                    json!({ "type": "ERROR", "object": { "kind": "Status", "code": 410, "message": "too old resource version" } })
                        .to_string(),
                ),
            };
            Ok(Response::builder().header(CONTENT_TYPE, "application/json").body(body).unwrap())
        }

        fn go_on_with(&self, way: Way) {
            (*self.lists.lock().unwrap(), *self.watches.lock().unwrap()) = (way, way);
        }

        fn asked(&self) -> u32 {
            self.asked.swap(0, Ordering::Relaxed)
        }
    }

    impl Reach {
        /// The kinds that are not followed, after a look, and how many causes were told.
        fn away(&self) -> (Vec<String>, usize) {
            self.look();
            let sights = self.lock();
            (sights.interrupted.keys().cloned().collect(), sights.told.len())
        }
    }

    const WELL: (Vec<String>, usize) = (Vec::new(), 0);

    fn jobs_away(causes: usize) -> (Vec<String>, usize) {
        (vec!["jobs".to_owned()], causes)
    }

    async fn is_read(watch: &mut (impl Stream<Item = Event<Job>> + Unpin)) {
        while !matches!(watch.next().await, Some(Event::InitDone)) {}
    }

    /// Goes on for so long without an event.
    async fn quiet(watch: &mut (impl Stream<Item = Event<Job>> + Unpin), time: Duration) {
        let event = timeout(time, watch.next()).await;
        assert!(event.is_err(), "{event:?}");
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn an_api_server_that_was_away_is_followed_again_within_the_longest_pause() {
        for (way, asked) in [(Way::Refused, 24..=28), (Way::Silent, 5..=8), (Way::Misled, 24..=28)] {
            let (server, reach) = (Server::new(way, way), Reach::default());
            let mut watch = server.watch(&reach);
            assert!(timeout(2 * MINUTE, is_read(&mut watch)).await.is_err());
            let count = server.asked();
            assert!(asked.contains(&count), "{way:?}: {count}");
            assert_eq!(reach.away(), jobs_away(1));
            server.go_on_with(Way::Open);
            let most = if way == Way::Silent { ANSWER_LIMIT } else { Duration::ZERO } + LONGEST_PAUSE;
            timeout(most, is_read(&mut watch)).await.unwrap();
            assert_eq!(reach.away(), jobs_away(1), "it may begin well and end at once");
            quiet(&mut watch, LONGEST_PAUSE + FIRST_PAUSE).await;
            assert_eq!(reach.away(), WELL);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupted_watch_goes_on_and_that_is_told_where_nothing_changes() {
        for (way, asked) in
            [(Way::Refused, 12..=18), (Way::Silent, 3..=5), (Way::Misled, 12..=18), (Way::Cut, 110..=121)]
        {
            let (server, reach) = (Server::new(Way::Open, way), Reach::default());
            let mut watch = server.watch(&reach);
            is_read(&mut watch).await;
            server.asked();
            for minute in 0..2 {
                quiet(&mut watch, MINUTE).await;
                let count = server.asked();
                assert!(asked.contains(&count), "{way:?}: {count} in minute {minute}");
                // What begins well and ends at once is no error: it goes on where it was.
                let expected = if way == Way::Cut { WELL } else { jobs_away(1) };
                assert_eq!(reach.away(), expected, "{way:?}");
            }
            server.go_on_with(Way::Open);
            quiet(&mut watch, ANSWER_LIMIT + 2 * LONGEST_PAUSE).await;
            assert_eq!(reach.away(), WELL, "{way:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_cause_is_told_once() {
        let (server, reach) = (Server::new(Way::Refused, Way::Refused), Reach::default());
        let mut watch = server.watch(&reach);
        for (way, causes) in [(Way::Refused, 1), (Way::Misled, 2), (Way::Refused, 2), (Way::Silent, 3)] {
            server.go_on_with(way);
            assert!(timeout(MINUTE, is_read(&mut watch)).await.is_err());
            assert_eq!(reach.away(), jobs_away(causes), "{way:?}");
        }
        for number in 0..20 {
            let status = Status { message: format!("request {number}"), ..Status::default() };
            reach.fails("jobs", &Error::WatchError(Box::new(status)));
        }
        assert_eq!(reach.away(), jobs_away(MOST_TOLD));
    }

    #[tokio::test(start_paused = true)]
    async fn changes_that_are_not_kept_any_more_are_no_trouble_and_all_is_listed() {
        let (server, reach) = (Server::new(Way::Open, Way::Expired), Reach::default());
        let mut watch = server.watch(&reach);
        is_read(&mut watch).await;
        is_read(&mut watch).await;
        assert_eq!(reach.away(), WELL);
        // A server that never keeps what it has just listed is one that cannot be followed.
        drop(timeout(MINUTE, async { while watch.next().await.is_some() {} }).await);
        assert_eq!(reach.away(), jobs_away(1));
        assert!(server.asked() < 40);
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupted_watch_that_is_told_to_begin_anew_is_not_followed_before_it_has() {
        let (server, reach) = (Server::new(Way::Open, Way::Refused), Reach::default());
        let mut watch = server.watch(&reach);
        is_read(&mut watch).await;
        quiet(&mut watch, MINUTE).await;
        *server.watches.lock().unwrap() = Way::Expired;
        *server.lists.lock().unwrap() = Way::Silent;
        drop(timeout(2 * LONGEST_PAUSE, is_read(&mut watch)).await);
        assert_eq!(reach.away(), jobs_away(1));
        server.go_on_with(Way::Open);
        timeout(ANSWER_LIMIT + LONGEST_PAUSE, is_read(&mut watch)).await.unwrap();
        quiet(&mut watch, LONGEST_PAUSE + FIRST_PAUSE).await;
        assert_eq!(reach.away(), WELL);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_connection_was_lost_in_silence_is_given_up() {
        let (server, reach) = (Server::new(Way::Open, Way::Open), Reach::default());
        let mut watch = server.watch(&reach);
        is_read(&mut watch).await;
        quiet(&mut watch, FIRST_PAUSE).await;
        assert_eq!(server.asked(), 2);
        quiet(&mut watch, Duration::from_secs(u64::from(LENGTH_SECONDS) + 5)).await;
        assert_eq!(server.asked(), 1, "the API server had to end it");
        assert_eq!(reach.away(), WELL);
    }
}
