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

/// Passes requests on to the API server, and picks one of them for a fault. It ends when it is dropped, with a late request that has
/// not arrived.
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
    /// What becomes of the request: the connection of its client may end meanwhile.
    meeting: Mutex<JoinSet<()>>,
}

/// The points that the fault goes through.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Point {
    /// The request has not been made.
    Before,
    /// It meets the fault, and neither side hears anything until the test goes on.
    Met,
    /// The connection of the client ends.
    Ended,
    /// A late request arrives.
    Arriving,
    /// It has been answered so.
    Arrived(Result<u16, String>),
}

impl Gateway {
    /// Starts one: the first request with this method to this kind of object meets the fault, such as `POST` and `jobs`.
    ///
    /// # Errors
    /// When no port can be bound, or the file that names the gateway cannot be written.
    pub async fn start(cluster: &Cluster, picked: (Method, &'static str), fault: Fault) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let kubeconfig = cluster.kubeconfig_by(&format!("http://127.0.0.1:{port}"))?;
        let server = parts::address(cluster.api().port());
        let client = Client::builder().danger_accept_invalid_certs(true).build().map_err(io::Error::other)?;
        let point = watch::Sender::new(Point::Before);
        let course = Arc::new(Course {
            server,
            client,
            fault,
            picked,
            is_met: Mutex::new(false),
            point,
            meeting: Mutex::default(),
        });
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
        self.course.wait_for(Point::Met).await;
    }

    /// Ends the connection of the client.
    pub fn go_on(&self) {
        self.course.point.send_replace(Point::Ended);
    }

    /// Lets a late request arrive, and waits until it is answered. Returns the status of the answer.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn arrive(&self) -> Result<u16, String> {
        let mut points = self.course.point.subscribe();
        self.course.point.send_replace(Point::Arriving);
        let reached = points.wait_for(|point| matches!(point, Point::Arrived(_))).await;
        match reached.as_deref() {
            Ok(Point::Arrived(answer)) => answer.clone(),
            _ => Err("the gateway has ended".to_owned()),
        }
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
            self.clone().meet(forwarded).await;
            return Err(io::Error::other("the connection ends with the fault"));
        }
        let answer = forwarded.send().await.map_err(io::Error::other)?;
        let mut passed = Response::new(());
        *passed.status_mut() = answer.status();
        *passed.headers_mut() = answer.headers().clone();
        // The server here says by itself how long the body is.
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

    /// The request meets its fault. Returns when the connection of its client is to end.
    async fn meet(self: Arc<Self>, request: reqwest::RequestBuilder) {
        let course = Arc::downgrade(&self);
        let mut points = self.point.subscribe();
        let fault = self.fault;
        let meeting = async move {
            let reach = |point| drop(course.upgrade().map(|course| course.point.send_replace(point)));
            if fault == Fault::AnswerLost {
                // The test sees by what it does whether it was done.
                let _ = request.send().await;
                return reach(Point::Met);
            }
            reach(Point::Met);
            if fault == Fault::Late && points.wait_for(|point| *point >= Point::Arriving).await.is_ok() {
                let answer = request.send().await;
                reach(Point::Arrived(answer.map(|answer| answer.status().as_u16()).map_err(|error| error.to_string())));
            }
        };
        self.meeting.lock().expect("no holder of it panics").spawn(meeting);
        self.wait_for(Point::Ended).await;
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
