//! Takes connections, and serves each in a task of its own.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use elasticjob::__private::log::{apart, warn};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;
use tower_http::timeout::TimeoutBody;

use crate::Limits;
use crate::shares::Shares;

/// How long no connection is taken after the operating system refused one, as it does when file descriptors run out.
const PAUSE: Duration = Duration::from_millis(200);

/// How often the log says that clients are refused.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);

/// The answer to a client whose address has its share of the connections.
const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\n\
    content-type: text/plain; charset=utf-8\r\ncontent-length: 56\r\n\r\n\
    too many connections of this address; close some of them";

/// A port that listens.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    limits: Limits,
    name: &'static str,
}

impl Port {
    /// Listens on an address, with port 0 on any that is free. The log calls it by the name: `the metrics port`.
    ///
    /// # Errors
    /// The operating system refuses the address or the port.
    pub async fn listen(address: SocketAddr, name: &'static str) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, limits: Limits::default(), name })
    }

    /// Replaces the limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The address, with the port that was free.
    ///
    /// # Errors
    /// The operating system does not tell it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` completes. Then it takes no more connections, and goes on until the answers that are under way
    /// are written. When it is dropped before, these are cut off. Handlers get the address of a client as
    /// [`ConnectInfo<SocketAddr>`].
    pub async fn serve(self, pages: Router, end: impl Future<Output = ()>) {
        let Self { listener, limits, name } = self;
        let places = Arc::new(Semaphore::new(limits.connections));
        let (shares, mut refusals) = (Shares::default(), Refusals { name, told: None });
        let (ending, ended) = watch::channel(());
        let mut connections = JoinSet::new();
        let mut end = pin!(end);
        loop {
            let next = async {
                let place = places.clone().acquire_owned().await.expect("it is never closed");
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                () = &mut end => break,
                // What has ended makes room.
                Some(_) = connections.join_next() => continue,
                next = next => next,
            };
            let (stream, client) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    refusals.tell(format!("cannot take a connection: {error}"));
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Some(share) = shares.take(client.ip(), limits.per_address) else {
                // What does not fit into the buffer of a new connection is not worth waiting for.
                let _ = stream.try_write(REFUSAL);
                let most = limits.per_address;
                refusals.tell(format!("refuses connections of {}, which has {most}, its share", client.ip()));
                continue;
            };
            let (pages, patience, ended) = (pages.clone(), limits.patience, ended.clone());
            connections.spawn(async move {
                talk(stream, client, pages, patience, ended).await;
                drop((place, share));
            });
        }
        drop((listener, ending));
        while connections.join_next().await.is_some() {}
    }
}

/// Answers the requests of a client.
async fn talk(
    stream: TcpStream,
    client: SocketAddr,
    pages: Router,
    patience: Duration,
    mut ended: watch::Receiver<()>,
) {
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(client));
        pages.clone().oneshot(request.map(|body| Body::new(TimeoutBody::new(patience, body))))
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(patience);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), answer));
    // A client that breaks off, or is too slow, ends nothing but its connection.
    let _ = tokio::select! {
        served = connection.as_mut() => served,
        _ = ended.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

/// Says that clients are refused, now and then.
struct Refusals {
    name: &'static str,
    told: Option<Instant>,
}

impl Refusals {
    fn tell(&mut self, what: String) {
        if self.told.is_none_or(|told| told.elapsed() >= BETWEEN_WARNINGS) {
            self.told = Some(Instant::now());
            let name = self.name;
            apart(move || warn!("{name} {what}"));
        }
    }
}
