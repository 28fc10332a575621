//! An API server that is not reached for a while.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_cloud::carrier::{Carrier, LaunchError, LaunchEvent, LaunchId, LaunchStream, Outcome};
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::{Cluster, Namespace};
use elasticjob_tests::proxy::Proxy;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::json;

use crate::killed::{ITEMS, program, register, stop_and_check, until_ended};
use crate::support::{ended, launch, running, until_so};

/// Longer than anything that the carrier or its client waits for.
const AWAY: Duration = Duration::from_secs(120);

/// A way to the API server that can be cut, and the file that names it.
async fn way(cluster: &Cluster) -> (Proxy, PathBuf) {
    let proxy = Proxy::start(format!("127.0.0.1:{}", cluster.api().port())).await.unwrap();
    let file = cluster.kubeconfig_by(&format!("https://{}", proxy.connect_string())).unwrap();
    (proxy, file)
}

/// The connections end, and for the second half of the time nothing comes through.
pub(crate) async fn of_minutes(cluster: Arc<Cluster>, server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("away-for-minutes").unwrap();
    let (proxy, file) = way(&cluster).await;
    let program = program(&file, &server, &folder, "away-for-minutes");
    let schedulers = [program.start(), program.start()];
    register(&schedulers[0]);
    let ended = until_ended(&program, 2 * ITEMS).await;
    until_so(&program, "it runs", || program.noted("begun") > ended).await;
    proxy.cut();
    tokio::time::sleep(AWAY / 2).await;
    proxy.mend();
    proxy.swallow();
    tokio::time::sleep(AWAY / 2).await;
    let begun = program.noted("begun");
    assert_eq!(program.noted("ended"), begun, "what ran has ended by itself\n{}", program.logs());
    for scheduler in &schedulers {
        let answer = scheduler.call("GET", "/api/job/jobs", "");
        assert!(answer.is_ok_and(|(status, _)| status == 200), "the schedulers answer\n{}", program.logs());
    }
    proxy.mend();
    until_ended(&program, begun + 2 * ITEMS).await;
    stop_and_check(&program, &schedulers[0]).await;
}

/// Waits until the end of an item is told.
async fn is_told(events: &mut dyn LaunchStream, of: &LaunchId) {
    let told = async {
        loop {
            match events.next().await.expect("the events go on") {
                LaunchEvent::Changed { id, state, .. } if id == *of && state.outcome().is_some() => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(90), told).await.expect("the end is told after all");
}

/// A router between scheduler and API server is started again: neither side hears that the connections of the watches are gone.
pub(crate) async fn unheard(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster.clone());
    let (proxy, file) = way(&cluster).await;
    let carrier = namespace.connect(|options| options.kubeconfig = Some(file)).await;
    let mut events = carrier.watch();
    let launched = launch(&namespace, "unheard", "sleep 3", &[0], json!({}));
    carrier.launch(launched.clone()).await.unwrap();
    running(&carrier, &launched.id, 0).await;
    proxy.strand_connections();
    // The client by itself would wait for 295 s.
    is_told(&mut *events, &launched.id).await;
    assert_eq!(ended(&carrier, &launched.id, 0).await, Outcome::Succeeded);
}

pub(crate) async fn survived(cluster: Arc<Cluster>) {
    let namespace = Namespace::new(cluster.clone());
    let (proxy, file) = way(&cluster).await;
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
    is_told(&mut *events, &before.id).await;
    // What the scheduler does after such an answer.
    carrier.launch(during.clone()).await.unwrap();
    assert_eq!(carrier.launch(during.clone()).await.unwrap().adopted, [0, 1]);
    for item in [0, 1] {
        assert_eq!(ended(&carrier, &during.id, item).await, Outcome::Succeeded);
        assert_eq!(carrier.log(&during.id, item, 1_000).await, Ok(Some("once\n".to_owned())));
    }
}
