//! The carrier of `elasticjob cloud --carrier kubernetes`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_cloud::carrier::Carrier;
use elasticjob_cloud::kubernetes::{KubernetesCarrier, KubernetesError, KubernetesOptions};
use serde_json::Value;

use crate::args::{CloudArguments, KubernetesArguments};
use crate::failure::Failure;

/// Connects to the cluster.
pub(crate) async fn carrier(wanted: &CloudArguments, namespace: &str) -> Result<Arc<dyn Carrier>, Failure> {
    let of_all = "nodes of Kubernetes have what they have, and a ResourceQuota limits it";
    let of_process = [
        ("--cpus", wanted.cpus.is_some(), of_all),
        ("--memory", wanted.memory.is_some(), of_all),
        ("--memory-limit", wanted.memory_limit.is_some(), "Kubernetes limits the memory of a pod to its memoryMB"),
    ];
    if let Some((option, _, why)) = of_process.iter().find(|(_, is_given, _)| *is_given) {
        return Err(Failure::Usage(format!("{option} is for --carrier process: {why}")));
    }
    if wanted.package_limit.is_some() {
        let why = "is for --carrier process and slurm: each pod fetches for itself, and ephemeral-storage of a --pod-template limits it";
        return Err(Failure::Usage(format!("--package-limit {why}")));
    }
    let given = &wanted.kubernetes;
    let mut options = KubernetesOptions::new(namespace);
    (options.kubeconfig, options.context) = (given.kubeconfig.clone(), given.kube_context.clone());
    options.namespace = given.kube_namespace.clone();
    options.lost_after = given.lost_after.map(Duration::from_secs);
    options.pod_template = given.pod_template.as_deref().map(template).transpose()?;
    let fails = |error: KubernetesError| match (&error, &given.pod_template) {
        (KubernetesError::Template(why), Some(file)) => {
            Failure::Usage(format!("--pod-template {}: {why}", file.display()))
        }
        _ => Failure::Usage(error.to_string()),
    };
    Ok(Arc::new(KubernetesCarrier::connect(&options).await.map_err(fails)?))
}

fn template(file: &Path) -> Result<Value, Failure> {
    let fails = |why: String| Failure::Usage(format!("--pod-template {}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| fails(error.to_string()))?;
    KubernetesOptions::template_of(&text).map_err(|error| fails(error.to_string()))
}

/// Options of another carrier would have no effect.
pub(crate) fn are_not_given(given: &KubernetesArguments) -> Result<(), Failure> {
    if *given == KubernetesArguments::default() {
        return Ok(());
    }
    let options = "--kubeconfig, --kube-context, --kube-namespace, --lost-after and --pod-template";
    Err(Failure::Usage(format!("{options} are for --carrier kubernetes: add it, or leave them out")))
}
