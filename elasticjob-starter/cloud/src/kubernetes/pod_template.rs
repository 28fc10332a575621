//! The template that the pods of a job are made by: what they run, and what they may use.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Container, EmptyDirVolumeSource, EnvVar, EnvVarSource, ObjectFieldSelector, PodTemplateSpec, ResourceRequirements,
    Toleration, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::KUBERNETES;
use super::indexed_job::{PODS, room};
use super::names::{CONTAINER, FETCH, LOST_AFTER};
use super::operator_template::Template;
use super::shell::{PLACES_LOST, Run};
use super::texts;
use crate::model::{App, CarriedJob, ExecutionType, Problem, SourceScheme};

/// Fetches the package of an application.
const FETCH_SCRIPT: &str = include_str!("fetch.sh");

/// The volume of a pod whose package is fetched, or whose items share it, and where it is.
const VOLUME: &str = "elasticjob";
const FOLDER: &str = "/elasticjob";
const PACKAGE: &str = "/elasticjob/package";
const FAILURES: &str = "failures";

/// The taints of a node that does not answer.
const SILENT: [&str; 2] = ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"];

/// The annotation in which the cluster counts for an index the pods that were lost and replaced. A pod of which none is counted has none;
/// failures of programs are not replaced, and so not counted.
const REPLACED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// The most items of a pod: each of them needs room in the text that says how they ended.
const ITEMS_OF_A_POD: u32 = 100;

/// A pod, as far as the jobs differ.
pub(super) struct Wanted<'a> {
    pub(super) app: &'a App,
    pub(super) run: Run,
    pub(super) cpus: f64,
    pub(super) memory_mb: f64,
    /// How many items share it.
    pub(super) items: usize,
    pub(super) grace_seconds: u32,
    /// After how many seconds without an answer of its node it is given up; `None`: as the cluster has it.
    pub(super) lost_after: Option<i64>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    /// `Never` for items, `Always` for daemons.
    pub(super) restart_policy: &'static str,
}

/// What a job and its application need to run in pods.
pub(super) fn problems(app: &App, job: &CarriedJob) -> Vec<Problem> {
    let mut problems = needs(app);
    if job.items_per_process > ITEMS_OF_A_POD {
        let why = texts::too_many_of_pod(job.items_per_process, ITEMS_OF_A_POD);
        problems.push(Problem::new("itemsPerProcess", why));
    }
    if let Some(queue) = job.queue_name.as_deref().filter(|name| !is_label_value(name)) {
        problems.push(Problem::new("queueName", texts::no_label(queue)));
    }
    // Kueue lets Jobs go one by one: those of a launch that has several would not start together.
    let is_split = job.sharding_total_count as usize > room(job);
    if job.queue_name.is_some() && job.job_execution_type == ExecutionType::Transient && is_split {
        let total = job.sharding_total_count;
        problems.push(Problem::new("queueName", texts::several_jobs(total, room(job), PODS)));
    }
    problems
}

/// Whether a label may have this value.
fn is_label_value(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = [text.bytes().next(), text.bytes().last()];
    text.len() <= 63
        && text.bytes().all(is_inner)
        && ends.iter().all(|end| end.is_some_and(|end| end.is_ascii_alphanumeric()))
}

/// What an application needs to run in pods.
pub(super) fn needs(app: &App) -> Vec<Problem> {
    let Ok(source) = app.source() else { return Vec::new() };
    let mut problems = Vec::new();
    match source.scheme {
        SourceScheme::Oci => {}
        SourceScheme::File => problems.push(Problem::new("appURL", texts::file_of_host(KUBERNETES))),
        SourceScheme::Web => {
            if app.image.is_none() {
                problems.push(Problem::new("image", texts::image_missing()));
            }
            if source.sha256.is_none() {
                problems.push(Problem::new("appURL", texts::checksum_missing()));
            }
        }
    }
    problems
}

/// The folder of the package in a pod; `None` where the program is in the image.
pub(super) fn package(app: &App) -> Option<&'static str> {
    let is_web = app.source().is_ok_and(|source| source.scheme == SourceScheme::Web);
    is_web.then_some(PACKAGE)
}

/// The image that the program runs in.
pub(super) fn image(app: &App) -> Option<String> {
    let source = app.source().ok()?;
    if source.scheme == SourceScheme::Oci { Some(source.address) } else { app.image.clone() }
}

/// The pod. What the operator's template says stays, as far as the job does not say it.
pub(super) fn template(template: &Template, wanted: Wanted<'_>) -> PodTemplateSpec {
    let PodTemplateSpec { metadata, spec } = template.spec().clone();
    let (mut metadata, mut spec) = (metadata.unwrap_or_default(), spec.unwrap_or_default());
    mark(&mut metadata, &wanted.labels, &wanted.annotations);
    let fetched = package(wanted.app).is_some();
    let shares = wanted.items > 1;
    if fetched || shares {
        spec.volumes.get_or_insert_default().push(Volume {
            name: VOLUME.to_owned(),
            empty_dir: Some(EmptyDirVolumeSource::default()),
            ..Volume::default()
        });
    }
    let container = container(&mut spec.containers);
    let given = container.clone();
    fill(container, &wanted, fetched, shares);
    if fetched {
        let fetch = fetch(given, container, wanted.app);
        spec.init_containers.get_or_insert_default().push(fetch);
    }
    spec.restart_policy = Some(wanted.restart_policy.to_owned());
    spec.termination_grace_period_seconds = Some(wanted.grace_seconds.into());
    // A program that was never asked to trust the cluster gets neither its address nor a token.
    spec.enable_service_links.get_or_insert(false);
    spec.automount_service_account_token.get_or_insert(false);
    if let Some(seconds) = wanted.lost_after {
        metadata.annotations.get_or_insert_default().insert(LOST_AFTER.to_owned(), seconds.to_string());
        let tolerations = spec.tolerations.get_or_insert_default();
        tolerations.extend(SILENT.map(|taint| Toleration {
            key: Some(taint.to_owned()),
            operator: Some("Exists".to_owned()),
            effect: Some("NoExecute".to_owned()),
            toleration_seconds: Some(seconds),
            ..Toleration::default()
        }));
    }
    PodTemplateSpec { metadata: Some(metadata), spec: Some(spec) }
}

/// Adds labels and annotations.
pub(super) fn mark(
    metadata: &mut ObjectMeta,
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
) {
    metadata.labels.get_or_insert_default().extend(labels.clone());
    metadata.annotations.get_or_insert_default().extend(annotations.clone());
}

/// The container of the program, which the template may have begun.
fn container(containers: &mut Vec<Container>) -> &mut Container {
    let at = containers.iter().position(|container| container.name == CONTAINER).unwrap_or_else(|| {
        containers.push(Container { name: CONTAINER.to_owned(), ..Container::default() });
        containers.len() - 1
    });
    &mut containers[at]
}

fn fill(container: &mut Container, wanted: &Wanted<'_>, fetched: bool, shares: bool) {
    container.image = image(wanted.app);
    container.command = Some(wanted.run.command.clone());
    container.args = None;
    let own = wanted.run.environment.iter();
    let own = own.map(|(name, value)| EnvVar { name: name.clone(), value: Some(value.clone()), value_from: None });
    let env = container.env.get_or_insert_default();
    env.retain(|variable| !wanted.run.environment.contains_key(&variable.name) && variable.name != PLACES_LOST);
    env.extend(own);
    if wanted.run.counts_lost_places {
        let selector =
            ObjectFieldSelector { field_path: format!("metadata.annotations['{REPLACED}']"), ..Default::default() };
        let value_from = Some(EnvVarSource { field_ref: Some(selector), ..EnvVarSource::default() });
        env.push(EnvVar { name: PLACES_LOST.to_owned(), value: None, value_from });
    }
    let memory = Quantity(format!("{}Mi", wanted.memory_mb.ceil().max(1.0)));
    let cpu = Quantity(format!("{}m", (wanted.cpus * 1_000.0).ceil()));
    let resources = container.resources.get_or_insert_with(ResourceRequirements::default);
    resources.requests.get_or_insert_default().extend([("cpu".to_owned(), cpu), ("memory".to_owned(), memory.clone())]);
    resources.limits.get_or_insert_default().insert("memory".to_owned(), memory);
    // The text of the program, or the end of its log where it left none.
    container.termination_message_path = Some("/dev/termination-log".to_owned());
    container.termination_message_policy = Some("FallbackToLogsOnError".to_owned());
    let mounts = container.volume_mounts.get_or_insert_default();
    if fetched {
        mounts.push(mount(PACKAGE, Some("package")));
    }
    if shares {
        mounts.push(mount(&format!("{FOLDER}/{FAILURES}"), Some(FAILURES)));
    }
}

fn mount(path: &str, sub_path: Option<&str>) -> VolumeMount {
    VolumeMount {
        name: VOLUME.to_owned(),
        mount_path: path.to_owned(),
        sub_path: sub_path.map(str::to_owned),
        ..VolumeMount::default()
    }
}

/// The container that fetches the package. It runs in the image of the application, under the limits and the user of it, as
/// `given` by the template.
fn fetch(given: Container, program: &Container, app: &App) -> Container {
    let source = app.source().expect("it was parsed when the application was registered");
    let (name, sha256) = (source.file_name().to_owned(), source.sha256.clone().unwrap_or_default());
    // The last one is what failures name: without credentials.
    let shown = source.to_string();
    let command = ["/bin/sh", "-c", FETCH_SCRIPT, "elasticjob", &source.address, &sha256, &name, &shown];
    Container {
        name: FETCH.to_owned(),
        image: program.image.clone(),
        command: Some(command.iter().map(|text| text.replace('$', "$$")).collect()),
        resources: program.resources.clone(),
        termination_message_path: program.termination_message_path.clone(),
        termination_message_policy: program.termination_message_policy.clone(),
        volume_mounts: Some(vec![mount(FOLDER, None)]),
        security_context: given.security_context,
        image_pull_policy: given.image_pull_policy,
        ..Container::default()
    }
}
