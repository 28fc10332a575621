//! Ends acknowledgements of alarms that are over: an alarm that begins again is another one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::operations::alarms::{AlarmKind, Concern};
use elasticjob::operations::{JobOverview, Listed};
use tokio_util::sync::CancellationToken;

use super::{Acknowledgements, id};
use crate::registries::Registry;

/// The least time between two looks.
const BETWEEN: Duration = Duration::from_secs(1);

/// Whether an alarm of a job may still be on. Another concern of the job, which is shown in its place, does not end it.
fn may_be_on(kind: AlarmKind, job: &JobOverview) -> bool {
    match kind {
        AlarmKind::RegistryLost => false,
        AlarmKind::RunsLong => job.running_since.is_some(),
        // An item that failed counts as failing again when the run that goes on has failed, too.
        AlarmKind::Concern(Concern::Failing) => {
            Concern::Failing.holds(job) || job.running_since.is_some() || job.items.lost > 0
        }
        AlarmKind::Concern(concern) => concern.holds(job),
        // When one of a later release of the library is over is not known here: its acknowledgement ends with the job.
        _ => true,
    }
}

/// Ends the acknowledgements of alarms that are over by this list of all jobs.
pub(super) async fn note(registry: &str, listed: &Listed, acknowledgements: &Acknowledgements) {
    // The jobs are as they were then.
    if listed.lost_since.is_some() || !acknowledgements.has_any(registry) {
        return;
    }
    let on = listed.jobs.iter().flat_map(|job| {
        let kinds = AlarmKind::all().filter(|kind| may_be_on(*kind, job));
        kinds.map(|kind| id(registry, kind, Some(&job.job)))
    });
    acknowledgements.keep(registry, &on.collect::<BTreeSet<String>>()).await;
}

/// Does so until the end, as the registry center changes: an alarm may be over and begin again while no page shows it.
pub(crate) async fn follow(registry: Arc<Registry>, acknowledgements: Arc<Acknowledgements>, end: CancellationToken) {
    let looks = async {
        let mut put = acknowledgements.changes();
        loop {
            // Without acknowledgements nothing is looked at.
            if put.wait_for(|_| acknowledgements.has_any(registry.name())).await.is_err() {
                return;
            }
            let mut changes = registry.catalogue().changes();
            changes.borrow_and_update();
            if let Ok(listed) = registry.catalogue().jobs().await {
                note(registry.name(), &listed, &acknowledgements).await;
            }
            // What is overdue changes with time alone, and so does whether the registry center is lost.
            let change = tokio::time::timeout(Duration::from_secs(10), changes.changed()).await;
            if matches!(change, Ok(Err(_))) {
                return;
            }
            tokio::time::sleep(BETWEEN).await;
        }
    };
    tokio::select! {
        () = looks => {}
        () = end.cancelled() => {}
    }
}
