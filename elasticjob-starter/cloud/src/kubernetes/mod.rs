//! `KUBERNETES`: the items run as pods of a cluster, version 1.29 or newer.
//!
//! A launch is an Indexed Job, named after the fire: a second one of that name is refused, so nothing is started twice. A
//! `DAEMON` job is a StatefulSet. The cluster decides where pods run, keeps to the limits, and says what becomes of them. It
//! knows everything that this carrier knows: a scheduler that starts again, or another one, reads it there.

mod connect;
mod errors;
mod follow;
mod indexed_job;
mod launch;
mod log;
mod losses;
mod mirror;
mod names;
mod operator_template;
mod outcome;
mod pod_template;
mod refusals;
mod shell;
mod stateful_set;
mod states;
pub(crate) mod texts;
mod watch;

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use elasticjob::ident::{JobName, ShardingItem};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use tokio::task::AbortHandle;

pub use self::connect::{KubernetesError, KubernetesOptions};
use crate::carrier::{
    Answer, Carrier, Daemon, DaemonProcess, EventSender, ItemStates, Launch, LaunchError, LaunchId, LaunchStream,
    Launched, Stop, digest,
};
use crate::model::{App, CarriedJob, Problem};
use crate::texts as of_carriers;
use connect::Clients;
use follow::Following;
use indexed_job::Common;
use names::LAUNCH;
use stateful_set::Applied;

/// The name of the carrier.
pub const KUBERNETES: &str = "KUBERNETES";

/// Carries items as pods of a cluster. Dropping it ends nothing: what runs goes on, and the next carrier adopts it.
#[derive(Debug)]
pub struct KubernetesCarrier {
    jobs: Api<Job>,
    pods: Api<Pod>,
    stateful_sets: Api<StatefulSet>,
    /// What controllers say of pods that they cannot make.
    refusals: Api<Event>,
    namespace: String,
    common: Common,
    /// Set when the log has said that another registry center uses the same names.
    foreign_told: OnceLock<()>,
    /// The StatefulSets of jobs that this carrier keeps, by their names.
    applied: Mutex<HashMap<String, Applied>>,
    events: EventSender,
    following: AbortHandle,
}

impl Drop for KubernetesCarrier {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl KubernetesCarrier {
    /// Connects to a cluster and begins to follow its Jobs. It needs a tokio runtime.
    ///
    /// # Errors
    /// [`KubernetesError`] says what is missing.
    pub async fn connect(options: &KubernetesOptions) -> Result<Self, KubernetesError> {
        let template = options.template()?;
        let (clients, namespace) = connect::connect(options).await?;
        let common = Common {
            namespace: options.registry_namespace.clone(),
            scope: digest(&[&options.registry_namespace]),
            center: OnceLock::new(),
            lost_after: options.lost_after.map(|after| i64::try_from(after.as_secs()).unwrap_or(i64::MAX)),
            template,
        };
        Ok(Self::new(clients, namespace, common))
    }

    /// The carrier of these clients, which follows the Jobs of the cluster from now on.
    fn new(clients: Clients, namespace: String, common: Common) -> Self {
        let client = clients.requests;
        let jobs = Api::namespaced(client.clone(), &namespace);
        let pods = Api::namespaced(client.clone(), &namespace);
        let events = EventSender::default();
        let following = Following {
            client: clients.watches,
            namespace: namespace.clone(),
            selector: format!("{},{LAUNCH}", common.selector()),
            events: events.clone(),
        };
        let following = tokio::spawn(following.follow()).abort_handle();
        Self {
            jobs,
            pods,
            stateful_sets: Api::namespaced(client.clone(), &namespace),
            refusals: Api::namespaced(client, &namespace),
            namespace,
            common,
            applied: Mutex::default(),
            foreign_told: OnceLock::new(),
            events,
            following,
        }
    }
}

impl Carrier for KubernetesCarrier {
    fn type_name(&self) -> &str {
        KUBERNETES
    }

    fn place(&self) -> String {
        format!("{KUBERNETES}:{}", self.namespace)
    }

    fn serve(&self, center: &str) {
        // A second scheduler of this process has the same one.
        let _ = self.common.center.set(center.to_owned());
    }

    fn check(&self, app: &App, job: &CarriedJob) -> Vec<Problem> {
        pod_template::problems(app, job)
    }

    fn launch(&self, launch: Launch) -> Answer<'_, Launched, LaunchError> {
        Box::pin(self.launched(launch))
    }

    fn stop<'a>(&'a self, id: &'a LaunchId, items: &'a [ShardingItem], stop: Stop) -> Answer<'a, ()> {
        // The grace is part of the pod since it was made.
        Box::pin(async move {
            self.note_stop(id, items, &stop.cause).await.map_err(|trouble| trouble.of_carrier(texts::stop_items()))
        })
    }

    fn forget<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, ()> {
        Box::pin(async move { self.forgotten(id).await.map_err(|trouble| trouble.of_carrier(texts::delete_jobs())) })
    }

    fn states<'a>(&'a self, id: &'a LaunchId) -> Answer<'a, Option<ItemStates>> {
        Box::pin(
            async move { self.states_of(id).await.map_err(|trouble| trouble.of_carrier(of_carriers::read_states())) },
        )
    }

    fn launches(&self) -> Answer<'_, Vec<LaunchId>> {
        Box::pin(async {
            self.all_launches().await.map_err(|trouble| trouble.of_carrier(of_carriers::list_launches()))
        })
    }

    fn launches_of<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<LaunchId>> {
        Box::pin(async {
            self.launches_with(job).await.map_err(|trouble| trouble.of_carrier(of_carriers::list_launches()))
        })
    }

    fn watch(&self) -> Box<dyn LaunchStream> {
        self.events.stream()
    }

    fn keep(&self, daemon: Daemon) -> Answer<'_, (), LaunchError> {
        Box::pin(self.keeps(daemon))
    }

    fn is_kept<'a>(&'a self, daemon: &'a Daemon) -> Answer<'a, bool> {
        Box::pin(async move {
            self.has_set_of(daemon).await.map_err(|trouble| trouble.of_carrier(of_carriers::read_states()))
        })
    }

    fn kept<'a>(&'a self, job: &'a JobName) -> Answer<'a, Vec<DaemonProcess>> {
        Box::pin(async move { self.processes(job).await.map_err(|trouble| trouble.of_carrier(texts::list_pods())) })
    }

    fn log<'a>(&'a self, id: &'a LaunchId, item: ShardingItem, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            self.log_of(id, item, most).await.map_err(|trouble| trouble.of_carrier(of_carriers::read_log()))
        })
    }

    fn daemon_log<'a>(&'a self, job: &'a JobName, index: u32, most: usize) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            self.log_of_process(job, index, most).await.map_err(|trouble| trouble.of_carrier(of_carriers::read_log()))
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
