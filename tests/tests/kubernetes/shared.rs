//! Items that share a pod.

use std::sync::Arc;

use elasticjob_cloud::carrier::Outcome;
use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use serde_json::json;

use crate::support::{ended, launch};

pub(crate) async fn ended_each(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster);
    let carrier = namespace.carrier().await.unwrap();
    let script = "echo \"item $ELASTICJOB_SHARDING_ITEM\"; case $ELASTICJOB_SHARDING_ITEM in \
                  1) echo 'no table' >\"$ELASTICJOB_FAILURE\"; exit 3;; 3) exit 4;; esac";
    let launch = launch(&namespace, "shared", script, &[0, 1, 2, 3], json!({ "itemsPerProcess": 3 }));
    carrier.launch(launch.clone()).await.unwrap();
    let failed = |exit, text: &str| Outcome::Failed { exit: Some(exit), text: text.to_owned() };
    assert_eq!(ended(&*carrier, &launch.id, 0).await, Outcome::Succeeded);
    assert_eq!(ended(&*carrier, &launch.id, 1).await, failed(3, "no table"));
    assert_eq!(ended(&*carrier, &launch.id, 2).await, Outcome::Succeeded);
    // The last one is in a pod by itself.
    assert!(matches!(ended(&*carrier, &launch.id, 3).await, Outcome::Failed { exit: Some(4), .. }));
    let log = carrier.log(&launch.id, 0, 1_000).await.unwrap().unwrap();
    assert!(log.contains("item 0\n") && log.contains("item 2\n") && !log.contains("item 3"), "{log}");
}
