//! A way to the API server on which one request meets a fault, at the very moment that a test wants.

use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use reqwest::{Body, Client};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Cluster, parts};

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It does not arrive.
    RequestLost,
    /// It is on its way, and arrives when the test says so.
    Late,
    /// It is done, and its answer does not arrive.
    AnswerLost,
}

/// Passes requests on to the API server, and picks one of them for a fault. What it passes on ends when it is dropped.
#[derive(Debug)]
pub struct Gateway {
    kubeconfig: PathBuf,
    course: Arc<Course>,
    _serving: JoinSet<()>,
}

/// Where the fault stands.
#[derive(Debug)]
struct Course {
    server: String,
    client: Client,
    fault: Fault,
    /// The method, and the last part of the path but for the name of an object.
    picked: (Method, &'static str),
    is_met: Mutex<bool>,
    point: watch::Sender<Point>,
}

/// The points that the fault goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Point {
    /// The request has not been made.
    Before,
    /// It meets the fault, and neither side hears anything until the test goes on.
    Met,
    /// The connection of the client ends.
    Ended,
    /// A late request arrives.
    Arriving,
    /// It has been answered.
    Arrived,
}

impl Gateway {
    /// Starts one: the first request with this method to this kind of object meets the fault, such as `POST` and `jobs`.
    ///
    /// # Errors
    /// When no port can be bound, or the file that names the gateway cannot be written.
    pub async fn start(cluster: &Cluster, picked: (Method, &'static str), fault: Fault) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let kubeconfig = cluster.kubeconfig().with_file_name(format!("gateway-{port}.conf"));
        let direct = std::fs::read_to_string(cluster.kubeconfig())?;
        let server = parts::address(cluster.api().port());
        std::fs::write(&kubeconfig, direct.replace(&server, &format!("http://127.0.0.1:{port}")))?;
        let client = Client::builder().danger_accept_invalid_certs(true).build().map_err(io::Error::other)?;
        let point = watch::Sender::new(Point::Before);
        let course = Arc::new(Course { server, client, fault, picked, is_met: Mutex::new(false), point });
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, course.clone()));
        Ok(Self { kubeconfig, course, _serving: serving })
    }

    /// The file that names it in place of the cluster.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Completes when the request has met its fault. What was to be done is done, and its client hears nothing of it until
    /// [`go_on`](Self::go_on).
    pub async fn met(&self) {
        self.wait_for(Point::Met).await;
    }

    /// Ends the connection of the client.
    pub fn go_on(&self) {
        self.course.point.send_replace(Point::Ended);
    }

    /// Lets a late request arrive, and waits until it is answered.
    pub async fn arrive(&self) {
        self.course.point.send_replace(Point::Arriving);
        self.wait_for(Point::Arrived).await;
    }

    async fn wait_for(&self, point: Point) {
        self.course.wait_for(point).await;
    }
}

async fn serve(listener: TcpListener, course: Arc<Course>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let course = course.clone();
        connections.spawn(async move {
            let answer = |request| course.clone().pass(request);
            // The end of a connection is what the fault is about.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}

impl Course {
    async fn wait_for(&self, point: Point) {
        // The sender lives in `self`.
        let _ = self.point.subscribe().wait_for(|reached| *reached >= point).await;
    }

    /// Passes a request on. An error ends the connection.
    async fn pass(self: Arc<Self>, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let is_picked = self.picks(&request);
        let (head, body) = request.into_parts();
        let body = whole(body).await.map_err(io::Error::other)?;
        let mut headers = head.headers;
        headers.remove(hyper::header::HOST);
        let forwarded = self.client.request(head.method, format!("{}{}", self.server, head.uri)).headers(headers);
        let forwarded = forwarded.body(body);
        if is_picked {
            self.clone().meet(forwarded).await?;
            return Err(io::Error::other("the connection ends with the fault"));
        }
        let answer = forwarded.send().await.map_err(io::Error::other)?;
        let mut passed = Response::new(());
        *passed.status_mut() = answer.status();
        *passed.headers_mut() = answer.headers().clone();
        // The length of a body is told anew, by its pieces where it is not known.
        passed.headers_mut().remove(hyper::header::TRANSFER_ENCODING);
        Ok(passed.map(|()| Body::from(answer)))
    }

    fn picks(&self, request: &Request<Incoming>) -> bool {
        let (method, kind) = &self.picked;
        let mut parts = request.uri().path().rsplit('/');
        let (last, before) = (parts.next(), parts.next());
        let is_of_kind = last == Some(kind) || before == Some(kind);
        let mut is_met = self.is_met.lock().expect("no holder of it panics");
        let is_picked = !*is_met && request.method() == method && is_of_kind;
        *is_met |= is_picked;
        is_picked
    }

    /// The request meets its fault. The future may be dropped with the connection of a client that was killed.
    async fn meet(self: Arc<Self>, request: reqwest::RequestBuilder) -> io::Result<()> {
        let meeting = {
            let course = self.clone();
            async move {
                if course.fault == Fault::AnswerLost {
                    request.send().await.map_err(io::Error::other)?;
                    course.point.send_replace(Point::Met);
                    return Ok(());
                }
                course.point.send_replace(Point::Met);
                if course.fault == Fault::Late {
                    course.wait_for(Point::Arriving).await;
                    request.send().await.map_err(io::Error::other)?;
                    course.point.send_replace(Point::Arrived);
                }
                Ok::<_, io::Error>(())
            }
        };
        // By itself: the connection of the client may end meanwhile.
        let meeting = tokio::spawn(meeting);
        self.wait_for(Point::Ended).await;
        if self.fault == Fault::Late { Ok(()) } else { meeting.await.map_err(io::Error::other)? }
    }
}

/// All of a body.
async fn whole(mut body: Incoming) -> hyper::Result<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        if let Ok(data) = frame?.into_data() {
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole)
}
