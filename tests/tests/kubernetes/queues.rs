//! Queues, as Kueue keeps them: a Job is made suspended, and the keeper of the queue lets it go.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_cloud::carrier::{LaunchId, Outcome, Stop, StopCause};
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use serde_json::json;

use crate::support::{ended, launch, waiting};

/// Lets the Jobs of a launch go.
async fn admit(cluster: &Cluster, namespace: &Namespace, id: &LaunchId) {
    let name = id.token(&namespace.options().registry_namespace);
    let path = format!("/apis/batch/v1/namespaces/default/jobs/{name}?fieldManager=kueue&force=true");
    let go =
        json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name }, "spec": { "suspend": false } });
    let (status, answer) = cluster.api().send("PATCH", &path, Some(&go)).await;
    assert_eq!(status, 200, "{answer}");
}

pub(crate) async fn waited(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster.clone());
    let carrier = namespace.carrier().await.unwrap();
    let queued = |name: &str| launch(&namespace, name, "echo run", &[0, 1], json!({ "queueName": "night" }));
    let (goes, stays) = (queued("goes"), queued("stays"));
    for launch in [&goes, &stays] {
        carrier.launch(launch.clone()).await.unwrap();
        waiting(&*carrier, &launch.id, 1, "the queue 'night'").await;
    }
    // One of them is stopped in the queue, the other one of its launch is run.
    carrier.stop(&goes.id, &[0], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    carrier.stop(&stays.id, &[0, 1], Stop::new(Duration::ZERO, StopCause::Operator)).await.unwrap();
    for item in [0, 1] {
        assert_eq!(ended(&*carrier, &stays.id, item).await, Outcome::Stopped);
    }
    admit(&cluster, &namespace, &goes.id).await;
    admit(&cluster, &namespace, &stays.id).await;
    assert_eq!(ended(&*carrier, &goes.id, 1).await, Outcome::Succeeded);
    assert_eq!(carrier.log(&goes.id, 1, 100).await, Ok(Some("run\n".to_owned())));
    assert_eq!(ended(&*carrier, &stays.id, 1).await, Outcome::Stopped);
    assert_eq!(carrier.log(&stays.id, 1, 100).await, Ok(None), "it never ran");
}
