//! A node that dies with items on it.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_cloud::carrier::{Carrier, ItemState, Outcome};
use elasticjob_tests::kubernetes::{Cluster, NODE, Namespace};
use serde_json::json;

use crate::support::{ended, launch, running, waiting};

pub(crate) async fn with_its_node(cluster: Cluster) {
    let cluster = Arc::new(cluster);
    let namespace = Namespace::new(cluster.clone());
    let script = "echo begun; [ -n \"$AGAIN\" ] || sleep 600";
    let patient = namespace
        .connect(|options| {
            // Kubernetes waits for five minutes before it gives a silent node's pods up, unless it is told otherwise.
            let silent = |taint: &str| json!({ "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1 });
            let tolerations = ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"].map(silent);
            options.pod_template = Some(json!({ "spec": { "tolerations": tolerations } }));
        })
        .await;
    let strict = namespace.connect(|options| options.lost_after = Some(Duration::from_secs(1))).await;
    let waits = launch(&namespace, "waits", script, &[0], json!({ "failover": true }));
    let fails = launch(&namespace, "fails", script, &[0], json!({}));
    let again =
        launch(&namespace, "again", "echo begun $ELASTICJOB_ATTEMPT; sleep 20", &[0], json!({ "failover": true }));
    patient.launch(waits.clone()).await.unwrap();
    for launch in [&fails, &again] {
        strict.launch(launch.clone()).await.unwrap();
    }
    for launch in [&waits, &fails, &again] {
        running(&strict, &launch.id, 0).await;
    }
    let other = cluster.add_node(NODE).unwrap();
    for name in ["waits", "fails", "again"] {
        other.tag(&format!("localhost/{name}:1")).unwrap();
    }
    cluster.node().kill();

    match ended(&strict, &fails.id, 0).await {
        Outcome::Lost { why } => assert!(!why.is_empty()),
        outcome => panic!("{outcome:?}"),
    }
    match running(&strict, &again.id, 0).await {
        // It is the one of before as long as the node is not known to be silent.
        ItemState::Running { place, .. } if place.starts_with(NODE) => {}
        _ => {
            let is_there =
                |state: &ItemState| matches!(state, ItemState::Running { place, .. } if place.starts_with(NODE));
            crate::support::until(&strict, &again.id, 0, "running on the other node", is_there).await;
        }
    }
    assert_eq!(ended(&strict, &again.id, 0).await, Outcome::Succeeded);
    assert_eq!(strict.log(&again.id, 0, 100).await, Ok(Some("begun 2\n".to_owned())));
    // Without `lost_after` it is never run twice at a time, and says what it waits for.
    waiting(&patient, &waits.id, 0, "does not answer").await;
}
