//! The names, labels and annotations of objects of the cluster.

use crate::carrier::LaunchId;

/// The label of everything that this carrier makes, with its value.
pub(super) const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "elasticjob");
/// The label that tells the objects of one namespace of a registry center from those of another.
pub(super) const SCOPE: &str = "elasticjob/scope";
/// The label of the Jobs of a launch and of their pods.
pub(super) const LAUNCH: &str = "elasticjob/launch";
/// The label of the Jobs of all launches of a job.
pub(super) const OF: &str = "elasticjob/of";
/// The label of the StatefulSet of a `DAEMON` job and of its pods.
pub(super) const DAEMON: &str = "elasticjob/daemon";
/// The annotation with the id of the launch.
pub(super) const ID: &str = "elasticjob/id";
/// The label of the Jobs that schedulers of one registry center launched.
pub(super) const CENTER: &str = "elasticjob/center";
/// The annotation with the name of the job.
pub(super) const JOB: &str = "elasticjob/job";
/// The annotation of a Job with its items: a list, in JSON, of the items of each index.
pub(super) const ITEMS: &str = "elasticjob/items";
/// The annotation of a pod that is given up when its node was silent for so many seconds. It is on the pod, so that the setting
/// of the scheduler that launched it counts, whichever scheduler finds it lost.
pub(super) const LOST_AFTER: &str = "elasticjob/lost-after";
/// The beginning of the annotation of an item that is stopped, with the cause as JSON. Each item has its own, so that two schedulers which stop items
/// of one Job do not undo each other's.
const STOPPED: &str = "elasticjob/stopped-";
/// The beginning of the annotation of an index of a Job whose places were lost. Each index has its own, as items that are stopped have.
const LOST: &str = "elasticjob/lost-";
/// The label of a pod with the number of its Job's index; Kubernetes sets it.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The label of a pod with the name of its Job; Kubernetes sets it.
pub(super) const OF_JOB: &str = "batch.kubernetes.io/job-name";
/// The label of a pod with its number in a StatefulSet; Kubernetes sets it.
pub(super) const POD_INDEX: &str = "apps.kubernetes.io/pod-index";
/// The label of Kueue that names the queue of a Job.
pub(super) const QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// The container of the program.
pub(super) const CONTAINER: &str = "item";
/// The container that fetches the package.
pub(super) const FETCH: &str = "fetch";
/// The condition of a pod that the cluster ended, and not its program.
pub(super) const DISRUPTED: &str = "DisruptionTarget";

/// The annotation of an item that is stopped.
pub(super) fn stopped(item: u32) -> String {
    format!("{STOPPED}{item}")
}

/// The item of such an annotation.
pub(super) fn stopped_item(annotation: &str) -> Option<u32> {
    annotation.strip_prefix(STOPPED)?.parse().ok()
}

/// The annotation of an index whose places were lost.
pub(super) fn lost(index: usize) -> String {
    format!("{LOST}{index}")
}

/// The name of a Job of a launch. The first one has the number 0. A launch gets further ones for items that come later, and
/// two schedulers that add some at the same time take the same number, which only one of them gets.
pub(super) fn job(id: &LaunchId, namespace: &str, number: usize) -> String {
    let token = id.token(namespace);
    if number == 0 { token } else { format!("{token}-{number}") }
}

/// The number of the Job of such a name.
pub(super) fn number(name: &str, token: &str) -> Option<usize> {
    let rest = name.strip_prefix(token)?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('-')?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use elasticjob::fire::Fire;
    use elasticjob::ident::JobName;

    use super::*;

    #[test]
    fn the_jobs_of_a_launch_are_numbered() {
        let id = LaunchId { job: JobName::new("Settle Orders").unwrap(), fire: Fire::Scheduled(1) };
        for at in [0, 1, 12] {
            assert_eq!(number(&job(&id, "shop", at), &id.token("shop")), Some(at));
        }
        let others = LaunchId { fire: Fire::Scheduled(2), ..id.clone() };
        assert_eq!(number(&job(&others, "shop", 0), &id.token("shop")), None);
    }

    #[test]
    fn an_item_that_is_stopped_is_found_by_its_annotation() {
        assert_eq!(stopped_item(&stopped(7)), Some(7));
        assert_eq!(stopped_item(ITEMS), None);
    }
}
