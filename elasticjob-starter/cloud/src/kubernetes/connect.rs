//! The connection to a cluster: which one, with which rights.

use std::path::PathBuf;
use std::time::Duration;

use elasticjob::log::info;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use k8s_openapi::api::batch::v1::Job;
use kube::api::{ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::Value;

use super::errors::{Trouble, answer, causes};
use super::operator_template::Template;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a connection may be silent while an answer is awaited. An API server is never silent for so long in a watch.
const SILENCE: Duration = Duration::from_secs(45);

/// The oldest minor version of Kubernetes 1 that has what the carrier uses: back-off by index and replacement of pods.
const OLDEST: u32 = 29;

/// The place where a [`KubernetesCarrier`](super::KubernetesCarrier) works, and its options.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct KubernetesOptions {
    /// The namespace of the registry center: launches of other namespaces have other names.
    pub registry_namespace: String,
    /// The file that names the cluster. Default: that of `KUBECONFIG`, `~/.kube/config`, or the cluster in which this process
    /// runs.
    pub kubeconfig: Option<PathBuf>,
    /// The context of that file. Default: its current one.
    pub context: Option<String>,
    /// The namespace of the cluster. Default: that of the context, or of the pod in which this process runs.
    pub namespace: Option<String>,
    /// The time after which a pod is deleted whose node the cluster has found silent. When the grace of its
    /// job and five seconds are over as well, it is given up: it fails, or runs again with `failover`. It may still live on that node then. Default: never, it is
    /// waited for.
    pub lost_after: Option<Duration>,
    /// The pod template to which the carrier adds what a job needs: an object with `metadata` and `spec`, as JSON.
    pub pod_template: Option<Value>,
}

impl KubernetesOptions {
    /// The defaults, for this namespace of the registry center.
    pub fn new(registry_namespace: impl Into<String>) -> Self {
        Self { registry_namespace: registry_namespace.into(), ..Self::default() }
    }

    /// The value of [`pod_template`](Self::pod_template) from a text in YAML or JSON.
    ///
    /// # Errors
    /// [`KubernetesError::Template`] when it is neither.
    pub fn template_of(text: &str) -> Result<Value, KubernetesError> {
        serde_saphyr::from_str(text).map_err(|error| KubernetesError::Template(error.to_string()))
    }

    pub(super) fn template(&self) -> Result<Template, KubernetesError> {
        let template = self.pod_template.as_ref().map(Template::parse).transpose();
        template.map(Option::unwrap_or_default).map_err(KubernetesError::Template)
    }
}

/// The carrier cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KubernetesError {
    /// No cluster is named, or the file that names it cannot be read.
    #[error(
        "no cluster of Kubernetes is known: {0}; give --kubeconfig FILE, set KUBECONFIG, or run the scheduler in the cluster with \
         a service account"
    )]
    NoCluster(String),
    /// The text is no pod template.
    #[error("the pod template is wrong: {0}")]
    Template(String),
    /// The cluster is too old.
    #[error("the cluster has Kubernetes {found}, and 1.{OLDEST} is the oldest that has what is needed")]
    TooOld {
        /// Its version.
        found: String,
    },
    /// The API server does not let this scheduler in, or not do what it has to.
    #[error("the API server of Kubernetes refuses to list Jobs in the namespace '{namespace}': {why}")]
    Refused {
        /// The namespace.
        namespace: String,
        /// What it said, and what to do.
        why: String,
    },
    /// The scheduler lacks the right that [`lost_after`](KubernetesOptions::lost_after) needs.
    #[error(
        "--lost-after needs the right to patch pods/status in the namespace '{namespace}', which this scheduler does not have: apply \
         docs/kubernetes/rbac-lost-after.yaml, or leave the option out"
    )]
    NoRightToGiveUp {
        /// The namespace.
        namespace: String,
    },
    /// The API server does not answer.
    #[error("the API server of Kubernetes at {server} does not answer: {why}")]
    NoAnswer {
        /// Its address.
        server: String,
        /// The cause.
        why: String,
    },
}

/// Connections to a cluster.
pub(super) struct Clients {
    pub(super) requests: Client,
    /// For watches, and for the duties that follow from them. It tries nothing again by itself, as both have their own pauses and tell why.
    pub(super) watches: Client,
}

/// The connections, and the namespace that they are for.
pub(super) async fn connect(options: &KubernetesOptions) -> Result<(Clients, String), KubernetesError> {
    // An error means that the process has chosen a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = patient(config(options).await?, SILENCE);
    let namespace = options.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
    let server = config.cluster_url.to_string();
    let mut of_watches = config.clone();
    of_watches.default_retry = false;
    let client_of =
        |config: Config| Client::try_from(config).map_err(|error| KubernetesError::NoCluster(causes(&error)));
    let clients = Clients { requests: client_of(config)?, watches: client_of(of_watches)? };
    check(&clients.requests, &namespace, &server, options.lost_after.is_some()).await?;
    info!(
        "pods get the CPUs of their items as a request, and no limit: a process may use what its node has left; for a limit give one to the \
         container `item` of --pod-template, or a LimitRange to the namespace '{namespace}'"
    );
    Ok((clients, namespace))
}

/// The same, with limits for connections and answers.
fn patient(mut config: Config, silence: Duration) -> Config {
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(silence);
    // The time counts from the request, not from the last one that the connection was used for.
    config.reset_reader_on_write = true;
    config
}

/// Whether the cluster has what the carrier needs, and gives this scheduler the rights.
async fn check(client: &Client, namespace: &str, server: &str, gives_up: bool) -> Result<(), KubernetesError> {
    let refused = |trouble: Trouble| match trouble {
        Trouble::NoAnswer(why) => KubernetesError::NoAnswer { server: server.to_owned(), why },
        refused => KubernetesError::Refused { namespace: namespace.to_owned(), why: refused.text() },
    };
    let version = answer(client.apiserver_version()).await.map_err(refused)?;
    let minor: String = version.minor.chars().take_while(char::is_ascii_digit).collect();
    if version.major == "1" && minor.parse().is_ok_and(|minor: u32| minor < OLDEST) {
        return Err(KubernetesError::TooOld { found: version.git_version });
    }
    let jobs: Api<Job> = Api::namespaced(client.clone(), namespace);
    answer(jobs.list(&ListParams::default().limit(1))).await.map_err(refused)?;
    if gives_up {
        let review = answer(Api::all(client.clone()).create(&PostParams::default(), &may_give_up(namespace))).await;
        if !review.map_err(refused)?.status.unwrap_or_default().allowed {
            return Err(KubernetesError::NoRightToGiveUp { namespace: namespace.to_owned() });
        }
    }
    Ok(())
}

/// The question whether this scheduler may say that a pod has failed. The cluster lets everybody ask it who has a login.
fn may_give_up(namespace: &str) -> SelfSubjectAccessReview {
    let attributes = ResourceAttributes {
        namespace: Some(namespace.to_owned()),
        verb: Some("patch".to_owned()),
        resource: Some("pods".to_owned()),
        subresource: Some("status".to_owned()),
        ..ResourceAttributes::default()
    };
    let spec =
        SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..SelfSubjectAccessReviewSpec::default() };
    SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() }
}

async fn config(options: &KubernetesOptions) -> Result<Config, KubernetesError> {
    let no_cluster = |error: &dyn std::error::Error| KubernetesError::NoCluster(causes(error));
    let of_context = KubeConfigOptions { context: options.context.clone(), ..KubeConfigOptions::default() };
    match (&options.kubeconfig, &options.context) {
        (Some(file), _) => {
            let file = Kubeconfig::read_from(file).map_err(|error| no_cluster(&error))?;
            Config::from_custom_kubeconfig(file, &of_context).await.map_err(|error| no_cluster(&error))
        }
        (None, Some(_)) => Config::from_kubeconfig(&of_context).await.map_err(|error| no_cluster(&error)),
        (None, None) => Config::infer().await.map_err(|error| no_cluster(&error)),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_template_is_read_with_its_types() {
        let text = "spec:\n  hostNetwork: true\n  priority: 3\n  nodeSelector: {zone: 'true'}\n";
        let read = KubernetesOptions::template_of(text).unwrap();
        assert_eq!(read, json!({ "spec": { "hostNetwork": true, "priority": 3, "nodeSelector": { "zone": "true" } } }));
        assert!(matches!(KubernetesOptions::template_of("a: [1"), Err(KubernetesError::Template(_))));
    }

    #[tokio::test]
    async fn the_right_to_give_up_pods_is_asked_for_where_it_is_needed() {
        let asked = async |gives_up: bool, allowed: bool| {
            let server = tower::service_fn(move |request: Request<Body>| async move {
                let (path, body) =
                    (request.uri().path().to_owned(), request.into_body().collect_bytes().await.unwrap());
                let answer = match path.as_str() {
                    "/version" => {
                        json!({ "major": "1", "minor": "36", "gitVersion": "v1.36.3", "gitCommit": "", "gitTreeState": "", "buildDate": "",
                                         "goVersion": "", "compiler": "", "platform": "" })
                    }
                    _ if path.ends_with("/jobs") => {
                        json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": [] })
                    }
                    _ => {
                        let mut review: Value = serde_json::from_slice(&body).unwrap();
                        let attributes = review["spec"]["resourceAttributes"].clone();
                        let wanted = json!({ "namespace": "shop", "verb": "patch", "resource": "pods", "subresource": "status" });
                        assert_eq!((path.ends_with("/selfsubjectaccessreviews"), attributes), (true, wanted));
                        review["status"] = json!({ "allowed": allowed });
                        review
                    }
                };
                Ok::<_, Infallible>(Response::new(Body::from(answer.to_string().into_bytes())))
            });
            check(&Client::new(server, "shop"), "shop", "http://cluster", gives_up).await
        };
        assert!(asked(true, true).await.is_ok() && asked(false, false).await.is_ok());
        let missing = asked(true, false).await.unwrap_err().to_string();
        assert!(missing.contains("'shop'") && missing.contains("docs/kubernetes/rbac-lost-after.yaml"), "{missing}");
    }

    #[tokio::test]
    async fn an_answer_that_stops_in_its_middle_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let serve = async {
            let (mut client, _) = listener.accept().await.unwrap();
            assert_ne!(client.read(&mut [0; 4096]).await.unwrap(), 0, "it asks");
            client.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{").await.unwrap();
            std::future::pending::<()>().await;
        };
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = patient(Config::new(server.parse().unwrap()), Duration::from_millis(200));
        let jobs: Api<Job> = Api::default_namespaced(Client::try_from(config).unwrap());
        let all = ListParams::default();
        let listed = tokio::time::timeout(Duration::from_secs(20), jobs.list(&all));
        tokio::select! {
            listed = listed => {
                let error = causes(&listed.expect("it is given up").unwrap_err());
                assert!(error.contains("timed out"), "{error}");
            }
            () = serve => {}
        }
    }

    #[tokio::test]
    async fn a_file_that_names_no_cluster_is_told_with_what_to_do() {
        let options = KubernetesOptions { kubeconfig: Some("/no/such/file".into()), ..KubernetesOptions::new("shop") };
        let error = connect(&options).await.err().unwrap().to_string();
        assert!(error.contains("/no/such/file") && error.contains("--kubeconfig"), "{error}");
    }
}
