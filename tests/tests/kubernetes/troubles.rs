//! The reports of a cluster about items that it does not run, and about those that it ends.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::fire::CancelRequest;
use elasticjob::ident::JobName;
use elasticjob::operations::Target;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::runtime::JobEnvironment;
use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_cloud::carrier::{Carrier, ItemState, LaunchId, Outcome, Stop, StopCause};
use elasticjob_cloud::model::App;
use elasticjob_cloud::scheduler::{Scheduler, SchedulerOptions};
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use serde_json::json;

use crate::support::{LIMIT, ended, launch, launch_of, running, until, waiting};

/// What keeps an item from its start is told in the words of the cluster.
pub(crate) async fn told(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster);
    let carrier = namespace.carrier().await.unwrap();
    let large = launch(&namespace, "large", "true", &[0], json!({ "memoryMB": 10_000_000 }));
    carrier.launch(large.clone()).await.unwrap();
    waiting(&*carrier, &large.id, 0, "Insufficient memory").await;
    let app = json!({ "appName": "absent", "appURL": "oci://localhost/no-such-image:7", "bootstrapScript": "true" });
    let absent = launch_of(App::from_json(app).unwrap(), "absent", &[0], json!({}));
    carrier.launch(absent.clone()).await.unwrap();
    waiting(&*carrier, &absent.id, 0, "no-such-image:7").await;
    waiting(&*carrier, &absent.id, 0, "ImagePull").await;
    for launch in [&large, &absent] {
        carrier.stop(&launch.id, &[0], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
        assert_eq!(ended(&*carrier, &launch.id, 0).await, Outcome::Stopped);
    }
    noted(carrier).await;
}

/// What keeps an item from its start is told by the registry center, too: by `elasticjob why` and every console.
async fn noted(carrier: Arc<dyn Carrier>) {
    let registry: Arc<dyn RegistryCenter> = Arc::new(MemoryRegistry::new().connect());
    let environment = JobEnvironment::builder().build().unwrap();
    let scheduler = Scheduler::start(SchedulerOptions::new(environment, registry, carrier)).await.unwrap();
    let app = json!({ "appName": "noted", "appURL": "oci://localhost/box:1", "bootstrapScript": "true", "cpuCount": 0,
                      "memoryMB": 16 });
    let job = json!({ "jobName": "noted", "appName": "noted", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 10_000_000, "shardingTotalCount": 1, "gracePeriodSeconds": 1 });
    scheduler.store().add_app(app).await.unwrap();
    scheduler.store().add_job(job).await.unwrap();
    let (operations, name) = (scheduler.operations(), JobName::new("noted").unwrap());
    let told = async {
        while operations.trigger(&Target::Job(name.clone())).await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        loop {
            let findings = operations.snapshot(&name).await.unwrap().findings_of(0, 0);
            if let Some(found) = findings.into_iter().find(|finding| finding.code() == "carried-waits") {
                return found.to_string();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let told = tokio::time::timeout(LIMIT, told).await.expect("it is told");
    assert!(told.contains("to run on KUBERNETES") && told.contains("Insufficient memory"), "{told}");
    operations.cancel(&name, None, &CancelRequest::new("operator", "it has no room")).await.unwrap();
    let over = async {
        while !operations.snapshot(&name).await.unwrap().waits.is_empty() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LIMIT, over).await.expect("it is told no more");
    scheduler.shutdown().await;
}

/// Has the pod of a launch evicted, as a drain of its node does.
async fn evict(cluster: &Cluster, namespace: &Namespace, id: &LaunchId) {
    let name = id.token(&namespace.options().registry_namespace);
    let pods = "/api/v1/namespaces/default/pods";
    let (status, list) = cluster.api().send("GET", &format!("{pods}?labelSelector=job-name%3D{name}"), None).await;
    assert_eq!(status, 200, "{list}");
    let pod = list["items"][0]["metadata"]["name"].as_str().unwrap_or_else(|| panic!("no pod: {list}"));
    let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": pod } });
    let (status, answer) = cluster.api().send("POST", &format!("{pods}/{pod}/eviction"), Some(&eviction)).await;
    assert_eq!(status, 201, "{answer}");
}

/// An item that is evicted is lost, or runs again with `failover`.
pub(crate) async fn evicted(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster.clone());
    let carrier = namespace.carrier().await.unwrap();
    let long = |name: &str, failover: bool| {
        // Longer than an evicted pod may go on, and than a busy machine needs until it looks at the next one.
        launch(&namespace, name, "echo begun; sleep 60", &[0], json!({ "failover": failover }))
    };
    let (fails, again) = (long("fails-evicted", false), long("again-evicted", true));
    let mut begun = Vec::new();
    for launch in [&fails, &again] {
        carrier.launch(launch.clone()).await.unwrap();
        begun.push(running(&*carrier, &launch.id, 0).await);
        evict(&cluster, &namespace, &launch.id).await;
    }
    // Looked for first, as that run ends by itself. It has a pod of its own; whether that of the first run is still listed beside
    // it is a matter of moments.
    let pod = |state: &ItemState| match state {
        ItemState::Running { place, .. } => Some(place.clone()),
        _ => None,
    };
    let first = begun.last().and_then(pod);
    until(&*carrier, &again.id, 0, "running again", |state| pod(state).is_some_and(|pod| Some(pod) != first)).await;
    // A scheduler that comes later finds on the Job which attempt it is, and why the place before was lost.
    let later = namespace.connect(|_| ()).await;
    let is_told = |state: &ItemState| {
        matches!(state, ItemState::Running { attempt: 2, lost: Some(lost), .. }
            if lost.attempt == 1 && lost.why.to_lowercase().contains("evict"))
    };
    until(&later, &again.id, 0, "its second attempt", is_told).await;
    let name = again.id.token(&namespace.options().registry_namespace);
    let job = format!("/apis/batch/v1/namespaces/default/jobs/{name}");
    let noted = async {
        loop {
            let (status, job) = cluster.api().send("GET", &job, None).await;
            assert_eq!(status, 200, "{job}");
            if let Some(note) = job["metadata"]["annotations"]["elasticjob/lost-0"].as_str() {
                return note.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let noted = tokio::time::timeout(LIMIT, noted).await.expect("it is noted on the Job");
    assert!(noted.contains(r#""lost":1"#), "{noted}");
    match ended(&*carrier, &fails.id, 0).await {
        // The pod may be gone before the carrier reads why.
        Outcome::Lost { why } => {
            assert!(["evict", "its pod was deleted"].iter().any(|said| why.to_lowercase().contains(said)), "{why}");
        }
        outcome => panic!("{outcome:?}"),
    }
    assert_eq!(ended(&*carrier, &again.id, 0).await, Outcome::Succeeded);
}
