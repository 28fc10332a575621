//! An API server that is not reached for a while.

use std::sync::Arc;

use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_cloud::carrier::{Carrier, LaunchError, LaunchEvent, Outcome};
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use elasticjob_tests::proxy::Proxy;
use serde_json::json;

use crate::support::{ended, launch, running};

pub(crate) async fn survived(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster.clone());
    let proxy = Proxy::start(format!("127.0.0.1:{}", cluster.api().port())).await.unwrap();
    let file = cluster.kubeconfig().with_file_name("through-proxy.conf");
    let direct = std::fs::read_to_string(cluster.kubeconfig()).unwrap();
    let through = direct.replace(&format!("127.0.0.1:{}", cluster.api().port()), &proxy.connect_string());
    std::fs::write(&file, through).unwrap();
    let carrier = namespace.connect(|options| options.kubeconfig = Some(file)).await;
    let mut events = carrier.watch();
    let before = launch(&namespace, "before", "sleep 2", &[0], json!({}));
    carrier.launch(before.clone()).await.unwrap();
    running(&carrier, &before.id, 0).await;

    proxy.cut();
    let during = launch(&namespace, "during", "echo once", &[0, 1], json!({}));
    let error = carrier.launch(during.clone()).await.unwrap_err();
    assert!(matches!(error, LaunchError::Unknown { .. } | LaunchError::NotReached { .. }), "{error}");
    carrier.states(&before.id).await.unwrap_err();
    // It ends while nothing is heard of it.
    let beside = namespace.carrier().await.unwrap();
    assert_eq!(ended(&*beside, &before.id, 0).await, Outcome::Succeeded);

    proxy.mend();
    let told = async {
        loop {
            match events.next().await.expect("the events go on") {
                LaunchEvent::Changed { id, state, .. } if id == before.id && state.outcome().is_some() => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(90), told).await.expect("the end is told after all");
    // What the scheduler does after such an answer.
    carrier.launch(during.clone()).await.unwrap();
    assert_eq!(carrier.launch(during.clone()).await.unwrap().adopted, [0, 1]);
    for item in [0, 1] {
        assert_eq!(ended(&carrier, &during.id, item).await, Outcome::Succeeded);
        assert_eq!(carrier.log(&during.id, item, 1_000).await, Ok(Some("once\n".to_owned())));
    }
}
