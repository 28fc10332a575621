//! Watches of the objects of the cluster, and whether they get answers.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::Request;
use elasticjob::log::{info, warn};
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::client::Body;
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Api, Client, Resource};
use tokio::time::{Instant, sleep};
use tower::service_fn;

use super::errors::causes;

/// After how many seconds the API server ends a request of a watch, which goes on with the next one. Without that, a request whose
/// connection was lost in silence could not be told from one of objects that do not change.
const LENGTH_SECONDS: u32 = 30;

/// How long an API server may be silent that has something to say, be it only the end of a request of a watch.
pub(super) const SILENCE: Duration = Duration::from_secs(LENGTH_SECONDS as u64 + 15);

/// The pauses after errors: each is twice as long as the one before, up to the longest one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// When there was no error for so long, the pauses begin again with the first one. It is longer than a pause and the time that a
/// connection may take to be made.
const QUIET: Duration = Duration::from_secs(15);

/// Whether the watches of a carrier get answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    /// The kinds of objects whose watches get none.
    away: Arc<Mutex<BTreeSet<String>>>,
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
        let watch = Watch { events: Box::pin(events), kind, reach: self.clone(), failed: None, pause: FIRST_PAUSE };
        unfold(watch, async |mut watch| Some((watch.next().await?, watch)))
    }

    /// A client whose answers are noted. An event alone would not do: there is none as long as nothing changes.
    fn noting(&self, client: &Client, kind: &str) -> Client {
        let (client, reach, kind) = (client.clone(), self.clone(), kind.to_owned());
        let namespace = client.default_namespace().to_owned();
        let noting = service_fn(move |request: Request<Body>| {
            let (client, reach, kind) = (client.clone(), reach.clone(), kind.clone());
            async move {
                let answer = client.send(request).await;
                if answer.as_ref().is_ok_and(|answer| answer.status().is_success()) {
                    reach.answers(&kind);
                }
                answer
            }
        });
        Client::new(noting, namespace)
    }

    fn answers(&self, kind: &str) {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        if away.remove(kind) && away.is_empty() {
            info!("the API server of Kubernetes is followed again");
        }
    }

    /// A series of errors is told once.
    fn fails(&self, kind: &str, error: &Error) {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        if away.is_empty() {
            warn!("the API server of Kubernetes cannot be followed, and is tried again: {}", causes(error));
        }
        away.insert(kind.to_owned());
    }
}

struct Watch<K> {
    events: Pin<Box<dyn Stream<Item = Result<Event<K>, Error>> + Send>>,
    kind: String,
    reach: Reach,
    /// When there was an error last.
    failed: Option<Instant>,
    /// The one after the next error.
    pause: Duration,
}

impl<K> Watch<K> {
    async fn next(&mut self) -> Option<Event<K>> {
        loop {
            match self.events.next().await? {
                Ok(event) => return Some(event),
                Err(error) => {
                    self.reach.fails(&self.kind, &error);
                    if self.failed.is_none_or(|at| at.elapsed() > QUIET) {
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use axum::body::{Body as Content, Bytes};
    use axum::http::Response;
    use futures_util::stream;
    use k8s_openapi::api::batch::v1::Job;
    use serde_json::json;
    use tokio::time::timeout;

    use super::*;

    /// A server without objects.
    #[derive(Default)]
    struct Server {
        is_away: AtomicBool,
        refuses_watches: AtomicBool,
        asked: AtomicU32,
    }

    impl Server {
        fn watch(self: &Arc<Self>, reach: &Reach) -> impl Stream<Item = Event<Job>> + Unpin + use<> {
            let server = self.clone();
            let service = service_fn(move |request: Request<Body>| {
                let server = server.clone();
                async move { server.answer(&request) }
            });
            Box::pin(reach.watch(&Client::new(service, "shop"), "shop", "a=b"))
        }

        fn answer(&self, request: &Request<Body>) -> io::Result<Response<Content>> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let of_changes = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            if self.is_away.load(Ordering::Relaxed) || of_changes && self.refuses_watches.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let list =
                json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": [] });
            let nothing = stream::pending::<Result<Bytes, Infallible>>();
            let body = if of_changes { Content::from_stream(nothing) } else { Content::from(list.to_string()) };
            Ok(Response::new(body))
        }

        fn asked(&self) -> u32 {
            self.asked.load(Ordering::Relaxed)
        }
    }

    fn away(reach: &Reach) -> Vec<String> {
        reach.away.lock().unwrap().iter().cloned().collect()
    }

    async fn is_read(watch: &mut (impl Stream<Item = Event<Job>> + Unpin)) {
        while !matches!(watch.next().await, Some(Event::InitDone)) {}
    }

    #[tokio::test(start_paused = true)]
    async fn an_api_server_that_was_away_is_followed_again_within_the_longest_pause() {
        let (server, reach) = (Arc::new(Server { is_away: true.into(), ..Server::default() }), Reach::default());
        let mut watch = server.watch(&reach);
        assert!(timeout(Duration::from_secs(120), is_read(&mut watch)).await.is_err());
        assert!((24..=28).contains(&server.asked()), "{}", server.asked());
        assert_eq!(away(&reach), ["jobs"]);
        server.is_away.store(false, Ordering::Relaxed);
        timeout(LONGEST_PAUSE, is_read(&mut watch)).await.unwrap();
        assert_eq!(away(&reach), [""; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_is_answered_again_is_seen_to_be_so_where_nothing_changes() {
        let (server, reach) =
            (Arc::new(Server { refuses_watches: true.into(), ..Server::default() }), Reach::default());
        let mut watch = server.watch(&reach);
        is_read(&mut watch).await;
        assert!(timeout(Duration::from_secs(60), watch.next()).await.is_err());
        assert!((12..=18).contains(&server.asked()), "{}", server.asked());
        assert_eq!(away(&reach), ["jobs"]);
        server.refuses_watches.store(false, Ordering::Relaxed);
        assert!(timeout(LONGEST_PAUSE, watch.next()).await.is_err(), "nothing changes");
        assert_eq!(away(&reach), [""; 0]);
    }
}
