//! The manifests of `docs/kubernetes` on a real API server.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_cloud::carrier::{Carrier, Daemon, Outcome, Stop, StopCause};
use elasticjob_cloud::kubernetes::{KubernetesCarrier, KubernetesOptions};
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use serde_json::json;

use crate::support::{ended, launch, running};

const NAMESPACE: &str = "elasticjob";
const ACCOUNT: &str = "elasticjob-scheduler";

/// Applies all objects of a manifest as `kubectl` does, or only has them checked.
async fn apply(cluster: &Cluster, manifest: &str, dry_run: bool) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kubernetes").join(manifest);
    for object in fs::read_to_string(file).unwrap().split("\n---\n") {
        let of = |key: &str| object.lines().find_map(|line| line.trim_start().strip_prefix(key)).unwrap().trim();
        let (version, kind, name) = (of("apiVersion:"), of("kind:"), of("name:"));
        let group = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        let place = if kind == "Namespace" { String::new() } else { format!("/namespaces/{NAMESPACE}") };
        let check = if dry_run { "&dryRun=All" } else { "" };
        let path = format!(
            "{group}{place}/{}s/{name}?fieldManager=tests&fieldValidation=Strict{check}",
            kind.to_ascii_lowercase()
        );
        let (status, answer) = cluster.api().apply(&path, object).await;
        assert!(matches!(status, 200 | 201), "{manifest}, {kind} {name}: {status} {answer}");
    }
}

pub(crate) async fn are_least(cluster: Arc<Cluster>) {
    apply(&cluster, "rbac.yaml", false).await;
    apply(&cluster, "scheduler.yaml", true).await;
    let (token, file) = cluster.account(NAMESPACE, ACCOUNT).await.unwrap();
    let namespace = Namespace::new(cluster.clone());
    let mut options: KubernetesOptions = namespace.options().clone();
    options.kubeconfig = Some(file);
    let carrier = KubernetesCarrier::connect(&options).await.unwrap();

    // Everything that a scheduler does.
    let stays = launch(&namespace, "stays", "echo begun; sleep 600", &[0, 1], json!({}));
    carrier.launch(stays.clone()).await.unwrap();
    assert_eq!(carrier.launch(stays.clone()).await.unwrap().adopted, [0, 1]);
    for item in [0, 1] {
        running(&carrier, &stays.id, item).await;
    }
    carrier.stop(&stays.id, &[0], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    assert_eq!(ended(&carrier, &stays.id, 0).await, Outcome::Stopped);
    let log = carrier.log(&stays.id, 0, 100).await.unwrap().unwrap();
    assert!(log.starts_with("begun\n"), "{log}");
    let of = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 1 });
    let daemon = launch(&namespace, "resident", "echo resident; sleep 600", &[0], of);
    let daemon = Daemon { app: daemon.app, job: daemon.job, instances: 1, registry_center: None };
    carrier.keep(daemon.clone()).await.unwrap();
    carrier.keep(daemon.clone()).await.unwrap();
    carrier.kept(&daemon.job.job_name).await.unwrap();
    let written = async {
        while carrier.daemon_log(&daemon.job.job_name, 0, 100).await.unwrap().as_deref() != Some("resident\n") {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), written).await.expect("the log of the process");
    assert_eq!(carrier.daemon_log(&daemon.job.job_name, 1, 100).await, Ok(None), "it has one process");
    carrier.keep(Daemon { instances: 0, ..daemon }).await.unwrap();
    // What only tells a reason is left out without a right: so these rights are looked at by themselves.
    for path in [
        format!("/api/v1/namespaces/{NAMESPACE}/events"),
        format!("/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/any"),
    ] {
        let (status, answer) = cluster.api().send_as(&token, "GET", &path, None).await;
        assert!(matches!(status, 200 | 404), "GET {path}: {status} {answer}");
    }
    assert_eq!(carrier.launches().await, Ok(vec![stays.id.clone()]));
    let too_big = launch(&namespace, "big", "true", &[0], json!({ "memoryMB": 1_000_000_000 }));
    carrier.launch(too_big.clone()).await.unwrap();
    carrier.stop(&too_big.id, &[0], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    assert_eq!(ended(&carrier, &too_big.id, 0).await, Outcome::Stopped);
    for id in [&stays.id, &too_big.id] {
        carrier.forget(id).await.unwrap();
    }

    // And nothing else.
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "own" }, "spec": { "containers": [] } });
    let of = |rest: &str| format!("/api/v1/namespaces/{NAMESPACE}/{rest}");
    for (method, path, body) in [
        ("GET", of("secrets"), None),
        ("GET", of("configmaps"), None),
        ("POST", of("events"), Some(&pod)),
        ("POST", of("pods"), Some(&pod)),
        ("POST", of("pods/any/exec?command=sh"), None),
        ("PATCH", of("pods/any/status?fieldManager=tests"), Some(&pod)),
        ("GET", "/api/v1/nodes".to_owned(), None),
        ("GET", "/api/v1/namespaces/default/pods".to_owned(), None),
        ("GET", "/apis/batch/v1/namespaces/default/jobs".to_owned(), None),
        ("GET", format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments"), None),
    ] {
        let (status, answer) = cluster.api().send_as(&token, method, &path, body).await;
        assert_eq!(status, 403, "{method} {path}: {answer}");
    }
    apply(&cluster, "rbac-lost-after.yaml", false).await;
    let path = of("pods/any/status?fieldManager=tests&dryRun=All");
    let allowed = async {
        // The API server learns of a right a moment after it is given.
        while cluster.api().send_as(&token, "PATCH", &path, Some(&pod)).await.0 == 403 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), allowed).await.expect("the right that --lost-after needs");

    // What is missing is told with the remedy.
    options.namespace = Some("default".to_owned());
    let error = KubernetesCarrier::connect(&options).await.unwrap_err().to_string();
    assert!(error.contains("'default'") && error.contains("docs/kubernetes/rbac.yaml"), "{error}");
}
