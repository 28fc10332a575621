//! An API server of Kubernetes in memory, with Jobs and their pods. Its connections lose requests and answers.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body as Content;
use axum::extract::Query;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, Request, Response, Uri};
use elasticjob::ident::ShardingItem;
use futures_util::stream;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::super::connect::Clients;
use super::super::names::{INDEX, ITEMS, OF_JOB};
use super::{KubernetesCarrier, common};

/// A request that changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    CreateJob,
    PatchJob,
    DeleteJob,
    PatchPod,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not arrive.
    RequestLost,
    /// It is on its way, and arrives when the test says so.
    Late,
    /// It is done, and its answer does not arrive.
    AnswerLost,
    /// It is done and answered. It is a fault where the scheduler is killed then.
    Answered,
}

/// The objects of a cluster. Its pods run as soon as they are made.
#[derive(Default)]
struct Objects {
    version: u64,
    jobs: BTreeMap<String, Value>,
    pods: BTreeMap<String, Value>,
    /// What has changed: the version, whether it is a Job, the kind of change, and the object.
    changes: Vec<(u64, bool, &'static str, Value)>,
    /// How often the program of each item has begun.
    begun: BTreeMap<ShardingItem, u32>,
}

#[derive(Default)]
pub(crate) struct ApiServer {
    objects: Mutex<Objects>,
    changed: watch::Sender<()>,
}

/// The connection of one scheduler.
pub(crate) struct Connection {
    server: Arc<ApiServer>,
    fault: Mutex<Option<(Change, Fault)>>,
    /// The scheduler is killed by the fault: it asks for nothing any more, and hears nothing.
    kills: bool,
    /// A request that is on its way.
    late: Mutex<Option<(Method, Uri, Value)>>,
    /// Whether the fault has happened.
    met: watch::Sender<bool>,
}

impl ApiServer {
    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap()
    }

    /// How often the program of each item has begun.
    pub(crate) fn begun(&self) -> BTreeMap<ShardingItem, u32> {
        self.lock().begun.clone()
    }

    pub(crate) fn jobs(&self) -> usize {
        self.lock().jobs.len()
    }

    /// How many pods run.
    pub(crate) fn running(&self) -> usize {
        self.lock().pods.values().filter(|pod| pod["status"]["phase"] == "Running").count()
    }

    /// Ends all programs that run with success.
    pub(crate) fn end_programs(&self) {
        self.lock().end_all("Succeeded", Value::Null, |_| true);
        self.changed.send_replace(());
    }

    /// Answers a request.
    fn answer(&self, method: &Method, uri: &Uri, body: &Value) -> (u16, Value) {
        let answer = self.lock().answer(method, uri, body);
        self.changed.send_replace(());
        answer
    }

    /// What has changed after a version, as soon as something has.
    async fn watched(&self, is_job: bool, after: u64) -> String {
        let mut changed = self.changed.subscribe();
        loop {
            let changes: Vec<String> = (self.lock().changes.iter())
                .filter(|(version, of_jobs, ..)| *version > after && *of_jobs == is_job)
                .map(|(_, _, kind, object)| format!("{}\n", json!({ "type": kind, "object": object })))
                .collect();
            if !changes.is_empty() {
                return changes.concat();
            }
            // The test ends with the server.
            let _ = changed.changed().await;
        }
    }
}

/// The change that a request makes.
fn change(method: &Method, path: &str) -> Option<Change> {
    match (method.as_str(), path.contains("/jobs")) {
        ("POST", true) => Some(Change::CreateJob),
        ("PATCH", true) => Some(Change::PatchJob),
        ("DELETE", true) => Some(Change::DeleteJob),
        ("PATCH", false) => Some(Change::PatchPod),
        _ => None,
    }
}

fn query(uri: &Uri) -> HashMap<String, String> {
    Query::try_from_uri(uri).map(|Query(query)| query).unwrap_or_default()
}

/// Whether an object has the labels of a selector: `name=value`, `name` or `!name`.
fn is_selected(object: &Value, selector: &str) -> bool {
    selector.split(',').filter(|part| !part.is_empty()).all(|part| {
        let label = |name: &str| object["metadata"]["labels"][name].as_str();
        match (part.strip_prefix('!'), part.split_once('=')) {
            (Some(name), _) => label(name).is_none(),
            (None, Some((name, value))) => label(name) == Some(value),
            (None, None) => label(part).is_some(),
        }
    })
}

fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            patch.iter().for_each(|(key, value)| merge(into.entry(key.clone()).or_insert(Value::Null), value));
        }
        (into, patch) => *into = patch.clone(),
    }
}

fn refused(code: u16, reason: &str) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason }),
    )
}

impl Objects {
    fn answer(&mut self, method: &Method, uri: &Uri, body: &Value) -> (u16, Value) {
        let name = uri.path().rsplit('/').next().unwrap_or_default().to_owned();
        match change(method, uri.path()) {
            Some(Change::CreateJob) => self.create(body),
            Some(Change::PatchJob) => self.patch(true, &name, body),
            Some(Change::PatchPod) => self.patch(false, &name, body),
            Some(Change::DeleteJob) => self.delete(&name),
            None => (200, self.list(uri)),
        }
    }

    fn list(&self, uri: &Uri) -> Value {
        let selector = query(uri).remove("labelSelector").unwrap_or_default();
        let objects = match (uri.path().ends_with("/jobs"), uri.path().ends_with("/pods")) {
            (true, _) => self.jobs.values(),
            (_, true) => self.pods.values(),
            // No controller has been refused a pod.
            _ => return json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": [] }),
        };
        let items: Vec<&Value> = objects.filter(|object| is_selected(object, &selector)).collect();
        let version = self.version.to_string();
        json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": version }, "items": items })
    }

    /// Tells what has become of an object.
    fn tell(&mut self, is_job: bool, kind: &'static str, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.changes.push((self.version, is_job, kind, object.clone()));
        object
    }

    fn put(&mut self, is_job: bool, kind: &'static str, object: Value) -> Value {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let object = self.tell(is_job, kind, object);
        if is_job { &mut self.jobs } else { &mut self.pods }.insert(name, object.clone());
        object
    }

    fn create(&mut self, job: &Value) -> (u16, Value) {
        let name = job["metadata"]["name"].as_str().unwrap().to_owned();
        if self.jobs.contains_key(&name) {
            return refused(409, "AlreadyExists");
        }
        let items: Vec<Vec<ShardingItem>> =
            serde_json::from_str(job["metadata"]["annotations"][ITEMS].as_str().unwrap()).unwrap();
        let mut job = job.clone();
        job["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        job["status"] = json!({ "active": items.len() });
        let job = self.put(true, "ADDED", job);
        for (index, items) in items.iter().enumerate() {
            items.iter().for_each(|item| *self.begun.entry(*item).or_default() += 1);
            let mut labels = job["metadata"]["labels"].clone();
            merge(&mut labels, &json!({ (INDEX): index.to_string(), (OF_JOB): name }));
            let running = json!({ "name": "item", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                                  "state": { "running": { "startedAt": "2026-01-01T00:00:01Z" } } });
            let pod = json!({
                "metadata": { "name": format!("{name}-{index}"), "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z" },
                "spec": { "nodeName": "n1", "containers": [{ "name": "item" }] },
                "status": { "phase": "Running", "containerStatuses": [running] }
            });
            self.put(false, "ADDED", pod);
        }
        (201, job)
    }

    fn patch(&mut self, is_job: bool, name: &str, patch: &Value) -> (u16, Value) {
        let known = if is_job { &self.jobs } else { &self.pods }.get(name);
        let Some(mut object) = known.cloned() else { return refused(404, "NotFound") };
        merge(&mut object, patch);
        let object = self.put(is_job, "MODIFIED", object);
        if !is_job && object["spec"]["activeDeadlineSeconds"].is_i64() {
            self.end_all("Failed", json!("DeadlineExceeded"), |pod| pod["metadata"]["name"] == name);
        }
        (200, object)
    }

    fn delete(&mut self, name: &str) -> (u16, Value) {
        let Some(job) = self.jobs.remove(name) else { return refused(404, "NotFound") };
        self.tell(true, "DELETED", job);
        let of_job = self.pods.extract_if(.., |_, pod| pod["metadata"]["labels"][OF_JOB] == name);
        for (_, pod) in of_job.collect::<Vec<_>>() {
            self.tell(false, "DELETED", pod);
        }
        (200, json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }))
    }

    fn end_all(&mut self, phase: &str, reason: Value, is_meant: impl Fn(&Value) -> bool) {
        let running = self.pods.values().filter(|pod| pod["status"]["phase"] == "Running" && is_meant(pod));
        for mut pod in running.cloned().collect::<Vec<_>>() {
            pod["status"]["phase"] = json!(phase);
            pod["status"]["reason"] = reason.clone();
            self.put(false, "MODIFIED", pod);
        }
    }
}

impl Connection {
    /// A connection that meets one fault: the first change of this kind. With `kills` its scheduler is killed at that moment.
    pub(crate) fn new(server: &Arc<ApiServer>, fault: Option<(Change, Fault)>, kills: bool) -> Arc<Self> {
        Arc::new(Self {
            server: server.clone(),
            fault: Mutex::new(fault),
            kills,
            late: Mutex::default(),
            met: watch::Sender::new(false),
        })
    }

    /// The carrier of the scheduler.
    pub(crate) fn carrier(self: &Arc<Self>) -> KubernetesCarrier {
        let connection = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let connection = connection.clone();
            async move { connection.served(request).await }
        });
        let requests = Client::new(service, "elasticjob");
        let clients = Clients { watches: requests.clone(), requests };
        KubernetesCarrier::new(clients, "elasticjob".to_owned(), common(json!({})))
    }

    /// Completes when the fault has happened.
    pub(crate) async fn met(&self) {
        self.met.subscribe().wait_for(|met| *met).await.unwrap();
    }

    /// The request that was on its way arrives.
    pub(crate) fn arrive(&self) {
        let (method, uri, body) = self.late.lock().unwrap().take().expect("a request is on its way");
        self.server.answer(&method, &uri, &body);
    }

    fn is_dead(&self) -> bool {
        self.kills && *self.met.borrow()
    }

    async fn served(self: Arc<Self>, request: Request<Body>) -> io::Result<Response<Content>> {
        let (head, body) = request.into_parts();
        let body = body.collect_bytes().await.map_err(io::Error::other)?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        if self.is_dead() {
            pending::<()>().await;
        }
        let answer = match self.fault_of(&head.method, &head.uri) {
            Some(fault) => {
                let answer = match fault {
                    Fault::RequestLost => None,
                    Fault::Late => {
                        *self.late.lock().unwrap() = Some((head.method, head.uri, body));
                        None
                    }
                    Fault::AnswerLost => {
                        self.server.answer(&head.method, &head.uri, &body);
                        None
                    }
                    Fault::Answered => Some(self.server.answer(&head.method, &head.uri, &body)),
                };
                self.met.send_replace(true);
                answer
            }
            None => {
                let asked = query(&head.uri);
                if asked.get("watch").is_some_and(|watch| watch == "true" || watch == "1") {
                    let after = asked.get("resourceVersion").and_then(|version| version.parse().ok()).unwrap_or(0);
                    let events = async move {
                        let events = self.server.watched(head.uri.path().ends_with("/jobs"), after).await;
                        if self.is_dead() {
                            pending::<()>().await;
                        }
                        Ok::<_, Infallible>(events)
                    };
                    let body = Content::from_stream(stream::once(events));
                    return Ok(Response::builder().header(CONTENT_TYPE, "application/json").body(body).unwrap());
                }
                Some(self.server.answer(&head.method, &head.uri, &body))
            }
        };
        match answer {
            Some((status, body)) => {
                Ok(Response::builder().status(status).body(Content::from(body.to_string())).unwrap())
            }
            None if self.kills => pending().await,
            None => Err(io::Error::new(io::ErrorKind::ConnectionReset, "the connection was reset")),
        }
    }

    fn fault_of(&self, method: &Method, uri: &Uri) -> Option<Fault> {
        let change = change(method, uri.path())?;
        let mut fault = self.fault.lock().unwrap();
        fault.take_if(|(of, _)| *of == change).map(|(_, fault)| fault)
    }
}
