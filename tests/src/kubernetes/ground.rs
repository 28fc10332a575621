//! A namespace of a cluster, as the ground of carriers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use elasticjob_cloud::carrier::suite::Ground;
use elasticjob_cloud::carrier::{Answer, Carrier, CarrierError};
use elasticjob_cloud::kubernetes::{KubernetesCarrier, KubernetesOptions};
use elasticjob_cloud::model::App;
use serde_json::json;

use super::Cluster;

/// The image on an existing cluster.
const IMAGE: &str = "busybox:1.36";

/// Launches of a namespace of the registry center that no other test has.
#[derive(Debug)]
pub struct Namespace {
    cluster: Arc<Cluster>,
    options: KubernetesOptions,
}

impl Namespace {
    /// A fresh one.
    pub fn new(cluster: Arc<Cluster>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut options = KubernetesOptions::new(format!("tests-{}-{number}", std::process::id()));
        options.kubeconfig = Some(cluster.kubeconfig().to_owned());
        Self { cluster, options }
    }

    /// What its carriers are made with.
    pub fn options(&self) -> &KubernetesOptions {
        &self.options
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Makes a carrier with its options, or with changed ones.
    ///
    /// # Panics
    /// When the cluster is not reached.
    pub async fn connect(&self, change: impl FnOnce(&mut KubernetesOptions)) -> KubernetesCarrier {
        let mut options = self.options.clone();
        change(&mut options);
        KubernetesCarrier::connect(&options).await.unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Ground for Namespace {
    fn carrier(&self) -> Answer<'_, Arc<dyn Carrier>> {
        Box::pin(async {
            let carrier = KubernetesCarrier::connect(&self.options).await;
            let carrier = carrier.map_err(|error| CarrierError::new("connect", error))?;
            Ok(Arc::new(carrier) as Arc<dyn Carrier>)
        })
    }

    fn app(&self, name: &str, script: &str) -> App {
        let image = if self.cluster.is_existing() {
            IMAGE.to_owned()
        } else {
            let image = format!("localhost/{name}:1");
            self.cluster.node().tag(&image).unwrap_or_else(|error| panic!("{error}"));
            image
        };
        let command = format!("sh -c '{}' {name}", script.replace('\'', r"'\''"));
        let app = json!({ "appName": name, "appURL": format!("oci://{image}"), "bootstrapScript": command, "cpuCount": 0, "memoryMB": 16 });
        App::from_json(app).unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn tells_out_of_memory(&self) -> bool {
        true
    }

    fn keeps_the_order_of_outputs(&self) -> bool {
        false
    }
}
