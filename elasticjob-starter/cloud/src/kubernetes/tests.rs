use std::convert::Infallible;
use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use axum::http::header::ACCEPT;
use axum::http::{Request, Response};
use elasticjob::fire::Fire;
use k8s_openapi::api::core::v1::{Container, PodSpec};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::*;
use crate::carrier::LaunchItem;
use operator_template::Template;
use pod_template::{needs, problems};

pub(crate) mod api_server;
mod stops;

fn app(more: Value) -> App {
    let mut app = json!({ "appName": "a", "appURL": "oci://shop/orders:3", "bootstrapScript": "bin/run", "cpuCount": 0.5, "memoryMB": 64 });
    app.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    App::from_json(app).unwrap()
}

fn carried(more: Value) -> CarriedJob {
    let mut job = json!({ "jobName": "Settle Orders", "appName": "a", "jobExecutionType": "TRANSIENT", "cpuCount": 0.25,
                          "memoryMB": 100, "shardingTotalCount": 5 });
    job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    CarriedJob::from_json(job).unwrap()
}

fn common(template: Value) -> Common {
    let template = Template::parse(&template).unwrap();
    let (namespace, scope) = ("shop".to_owned(), digest(&["shop"]));
    Common { namespace, scope, center: OnceLock::new(), lost_after: None, template }
}

fn made(app: App, of: CarriedJob, common: &Common) -> Job {
    let items: Vec<LaunchItem> = of.items().map(|item| LaunchItem::new(item, None)).collect();
    let id = LaunchId { job: of.job_name.clone(), fire: Fire::Scheduled(1) };
    let launch = Launch::new(id, items.clone(), Arc::new(app), Arc::new(of));
    indexed_job::job(&launch, &items, 0, common)
}

fn pod_of(job: &Job) -> PodSpec {
    job.spec.clone().unwrap().template.spec.unwrap()
}

fn program(spec: &PodSpec) -> &Container {
    spec.containers.iter().find(|container| container.name == "item").unwrap()
}

#[test]
fn a_launch_is_a_job_with_a_pod_for_each_item_that_is_never_run_twice() {
    let made = made(app(json!({})), carried(json!({})), &common(json!({})));
    let spec = made.spec.clone().unwrap();
    assert_eq!((spec.completions, spec.parallelism, spec.backoff_limit_per_index), (Some(5), Some(5), Some(0)));
    assert_eq!(spec.pod_failure_policy.unwrap().rules[0].action, "FailIndex");
    assert_eq!((spec.pod_replacement_policy.as_deref(), spec.suspend), (Some("Failed"), None));
    assert_eq!(indexed_job::items(&made), [[0], [1], [2], [3], [4]]);
    assert_eq!(indexed_job::id(&made.metadata).unwrap().to_string(), "Settle Orders/scheduled@1");
    let pod = pod_of(&made);
    let (program, resources) = (program(&pod), program(&pod).resources.clone().unwrap());
    assert_eq!(program.image.as_deref(), Some("shop/orders:3"));
    let requests = resources.requests.unwrap();
    assert_eq!((requests["cpu"].0.as_str(), requests["memory"].0.as_str()), ("750m", "164Mi"));
    assert_eq!(resources.limits.unwrap()["memory"].0, "164Mi");
    assert_eq!((pod.restart_policy.as_deref(), pod.automount_service_account_token), (Some("Never"), Some(false)));
}

/// What a cluster is asked: the path, and what is accepted.
type Asked = Arc<Mutex<Vec<(String, String)>>>;

/// The carrier of a cluster that has these Jobs.
fn carrier(jobs: Value) -> (KubernetesCarrier, Asked) {
    let list = json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": jobs }).to_string();
    carrier_of(move |_| (200, list.clone()))
}

/// The carrier of a cluster that answers so to a path.
fn carrier_of(answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> (KubernetesCarrier, Asked) {
    let asked = Asked::default();
    let told = asked.clone();
    let server = tower::service_fn(move |request: Request<Body>| {
        let accepted = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        told.lock().unwrap().push((request.uri().to_string(), accepted.to_owned()));
        let (status, body) = answer(request.uri().path());
        ready(Ok::<_, Infallible>(Response::builder().status(status).body(Body::from(body.into_bytes())).unwrap()))
    });
    let client = Client::new(server, "elasticjob");
    let carrier = KubernetesCarrier {
        jobs: Api::default_namespaced(client.clone()),
        pods: Api::default_namespaced(client.clone()),
        stateful_sets: Api::default_namespaced(client.clone()),
        refusals: Api::default_namespaced(client),
        namespace: "elasticjob".to_owned(),
        common: common(json!({})),
        applied: Mutex::default(),
        foreign_told: OnceLock::new(),
        events: EventSender::default(),
        following: tokio::spawn(pending::<()>()).abort_handle(),
    };
    (carrier, asked)
}

#[tokio::test]
async fn the_launches_of_a_job_are_asked_for_by_its_label_and_without_their_pods() {
    let made = made(app(json!({})), carried(json!({})), &common(json!({})));
    let (carrier, asked) = carrier(json!([{ "metadata": made.metadata }]));
    let id = indexed_job::id(&made.metadata).unwrap();
    assert_eq!(carrier.launches_of(&id.job).await, Ok(vec![id.clone()]));
    assert_eq!(carrier.launches().await, Ok(vec![id]));
    let asked = asked.lock().unwrap();
    let label = format!("elasticjob%2Fof%3D{}", made.metadata.labels.unwrap()["elasticjob/of"]);
    // Those of earlier builds have no such label.
    assert!(asked[0].0.contains(&label) && asked[1].0.contains("%21elasticjob%2Fof"), "{asked:?}");
    assert!(!asked[2].0.contains("elasticjob%2Fof"), "{asked:?}");
    assert!(asked.iter().all(|(_, accepted)| accepted.contains("as=PartialObjectMetadataList")), "{asked:?}");
}

#[tokio::test]
async fn a_launch_without_the_label_of_its_job_is_of_the_job_that_its_id_names() {
    let mut made = made(app(json!({})), carried(json!({})), &common(json!({})));
    made.metadata.labels.as_mut().unwrap().remove("elasticjob/of");
    let (carrier, _) = carrier(json!([{ "metadata": made.metadata }]));
    let id = indexed_job::id(&made.metadata).unwrap();
    assert_eq!(carrier.launches_of(&id.job).await, Ok(vec![id]));
    assert_eq!(carrier.launches_of(&"other".parse().unwrap()).await, Ok(vec![]));
}

#[tokio::test]
async fn launches_of_another_registry_center_with_the_same_namespace_are_found() {
    let common = common(json!({}));
    let without = made(app(json!({})), carried(json!({})), &common);
    common.center.set("first".to_owned()).unwrap();
    let made = made(app(json!({})), carried(json!({})), &common);
    let metadata = [without.metadata, made.metadata];
    let id = indexed_job::id(&metadata[1]).unwrap();
    for (center, found) in [("second", Some((id, "first"))), ("first", None)] {
        let (carrier, asked) = carrier(json!(metadata.clone().map(|metadata| json!({ "metadata": metadata }))));
        carrier.serve(center);
        assert_eq!(asked.lock().unwrap().len(), 0, "the start of a scheduler waits for nothing");
        assert_eq!(carrier.launches().await.unwrap().len(), 1);
        assert_eq!(asked.lock().unwrap().len(), 1, "one list is enough");
        assert_eq!(carrier.foreign(&metadata), found);
        assert_eq!(carrier.foreign_told.get().is_some(), found.is_some());
    }
}

#[test]
fn failover_items_that_share_pods_and_queues_are_said_to_the_cluster() {
    let of = carried(json!({ "failover": true, "itemsPerProcess": 2, "queueName": "night", "gracePeriodSeconds": 3 }));
    let made = made(app(json!({})), of, &common(json!({})));
    let spec = made.spec.clone().unwrap();
    assert_eq!(spec.pod_failure_policy.unwrap().rules[0].action, "Ignore");
    assert_eq!((spec.completions, spec.suspend), (Some(3), Some(true)));
    assert_eq!(made.metadata.labels.as_ref().unwrap()["kueue.x-k8s.io/queue-name"], "night");
    assert_eq!(indexed_job::items(&made), [vec![0, 1], vec![2, 3], vec![4]]);
    let pod = pod_of(&made);
    assert_eq!(pod.termination_grace_period_seconds, Some(3));
    assert_eq!(program(&pod).resources.clone().unwrap().requests.unwrap()["memory"].0, "264Mi");
    assert_eq!(program(&pod).volume_mounts.as_ref().unwrap()[0].mount_path, "/elasticjob/failures");
}

#[test]
fn a_package_is_fetched_by_a_container_of_its_own_into_the_pod() {
    let url = format!("https://user:pass@apps.example.com/orders.tar.gz#sha256={}", "a".repeat(64));
    let of = made(app(json!({ "appURL": url, "image": "debian:12" })), carried(json!({})), &common(json!({})));
    let pod = pod_of(&of);
    let fetch = &pod.init_containers.as_ref().unwrap()[0];
    assert_eq!((fetch.name.as_str(), fetch.image.as_deref()), ("fetch", Some("debian:12")));
    assert_eq!(
        fetch.command.as_ref().unwrap()[4..],
        [
            "https://user:pass@apps.example.com/orders.tar.gz".to_owned(),
            "a".repeat(64),
            "orders.tar.gz".to_owned(),
            // What failures name.
            "https://***@apps.example.com/orders.tar.gz".to_owned(),
        ]
    );
    assert_eq!(program(&pod).command.as_ref().unwrap()[5], "/elasticjob/package");
}

#[test]
fn the_template_of_the_operator_stays_where_the_job_says_nothing() {
    let template = json!({
        "metadata": { "labels": { "team": "orders" } },
        "spec": {
            "serviceAccountName": "worker", "automountServiceAccountToken": true, "nodeSelector": { "disk": "fast" },
            "containers": [{ "name": "item", "image": "replaced", "env": [{ "name": "HTTP_PROXY", "value": "http://proxy" }],
                             "securityContext": { "runAsNonRoot": true } }]
        }
    });
    let made = made(
        app(json!({ "env": { "REGION": "north" } })),
        carried(json!({})),
        &Common { lost_after: Some(60), ..common(template) },
    );
    let labels = made.spec.clone().unwrap().template.metadata.unwrap().labels.unwrap();
    assert_eq!((labels["team"].as_str(), labels.contains_key(LAUNCH)), ("orders", true));
    let pod = pod_of(&made);
    assert_eq!(
        (pod.service_account_name.as_deref(), pod.automount_service_account_token),
        (Some("worker"), Some(true))
    );
    let program = program(&pod);
    let env: Vec<&str> = program.env.iter().flatten().map(|variable| variable.name.as_str()).collect();
    assert!(env.contains(&"HTTP_PROXY") && env.contains(&"REGION"), "{env:?}");
    assert_eq!(program.image.as_deref(), Some("shop/orders:3"));
    assert_eq!(program.security_context.as_ref().unwrap().run_as_non_root, Some(true));
    let seconds: Vec<Option<i64>> = pod.tolerations.iter().flatten().map(|it| it.toleration_seconds).collect();
    assert_eq!(seconds, [Some(60), Some(60)]);
}

#[test]
fn a_daemon_is_a_stateful_set_whose_pods_schedule_by_themselves() {
    let of = carried(json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": 2 }));
    let daemon = Daemon { app: Arc::new(app(json!({}))), job: Arc::new(of), instances: 2, registry_center: None };
    let set = stateful_set::stateful_set(&daemon, &common(json!({}))).spec.unwrap();
    assert_eq!((set.replicas, set.pod_management_policy.as_deref()), (Some(2), Some("Parallel")));
    let pod = set.template.spec.unwrap();
    assert_eq!(pod.restart_policy.as_deref(), Some("Always"));
    // Each process may get three of the five items.
    assert_eq!(program(&pod).resources.clone().unwrap().requests.unwrap()["cpu"].0, "1250m");
    assert!(program(&pod).env.iter().flatten().any(|variable| variable.name == "ELASTICJOB_CARRIED"));
}

#[tokio::test]
async fn a_daemon_is_kept_as_long_as_nobody_changes_or_removes_its_stateful_set() {
    let of = carried(json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" }));
    let daemon = Daemon { app: Arc::new(app(json!({}))), job: Arc::new(of), instances: 2, registry_center: None };
    let ended = Daemon { instances: 0, ..daemon.clone() };
    let set = |id: &str, generation: i64, more: Value| {
        let mut metadata = json!({ "uid": id, "generation": generation });
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (200, json!({ "metadata": metadata, "spec": { "selector": {}, "serviceName": "a", "template": {} } }))
    };
    let none = (404, json!({ "status": "Failure", "code": 404 }));
    let there = Arc::new(Mutex::new(set("a", 3, json!({}))));
    let answers = there.clone();
    let (carrier, _) = carrier_of(move |_| {
        let (status, body) = answers.lock().unwrap().clone();
        (status, body.to_string())
    });
    assert_eq!(carrier.is_kept(&daemon).await, Ok(false), "it is of another carrier");
    carrier.keep(daemon.clone()).await.unwrap();
    let going = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" });
    for (now, wanted, is_kept) in [
        (set("a", 3, json!({})), &daemon, true),
        (set("a", 4, json!({})), &daemon, false),
        (set("b", 3, json!({})), &daemon, false),
        (set("a", 3, going.clone()), &daemon, true),
        (none.clone(), &daemon, false),
        (none, &ended, true),
        (set("a", 3, going), &ended, true),
        (set("a", 3, json!({})), &ended, false),
    ] {
        *there.lock().unwrap() = now.clone();
        assert_eq!(carrier.is_kept(wanted).await, Ok(is_kept), "{now:?}, {} processes", wanted.instances);
    }
    *there.lock().unwrap() = (500, json!({ "status": "Failure", "code": 500 }));
    carrier.is_kept(&daemon).await.unwrap_err();
}

#[tokio::test]
async fn the_log_of_a_process_is_that_of_its_pod_and_none_where_it_has_not_begun() {
    let job: JobName = "Settle Orders".parse().unwrap();
    let set = stateful_set::pod_name(&job, 1, &common(json!({})));
    let (first, waiting) = (set.clone(), stateful_set::pod_name(&job, 2, &common(json!({}))));
    let (carrier, asked) = carrier_of(move |path| match path {
        _ if path.ends_with(&format!("/pods/{first}/log")) => (200, "one\ntwo\n".to_owned()),
        _ if path.ends_with(&format!("/pods/{waiting}/log")) => {
            (400, json!({ "status": "Failure", "code": 400, "message": "ContainerCreating" }).to_string())
        }
        _ if path.ends_with("-4/log") => {
            (403, json!({ "status": "Failure", "code": 403, "message": "pods/log is forbidden" }).to_string())
        }
        _ => (404, json!({ "status": "Failure", "code": 404, "message": "not found" }).to_string()),
    });
    assert_eq!(carrier.daemon_log(&job, 1, 4).await, Ok(Some("two\n".to_owned())));
    assert_eq!(carrier.daemon_log(&job, 2, 4).await, Ok(None), "it has not begun");
    assert_eq!(carrier.daemon_log(&job, 3, 4).await, Ok(None), "there is no such process");
    let refused = carrier.daemon_log(&job, 4, 4).await.unwrap_err().to_string();
    assert!(refused.contains("forbidden"), "{refused}");
    let asked = asked.lock().unwrap();
    assert!(asked[0].0.contains("container=item") && asked[0].0.contains("tailLines=4"), "{asked:?}");
}

#[test]
fn an_application_that_no_pod_can_run_is_told_by_field() {
    let of = |url: &str| needs(&app(json!({ "appURL": url })));
    assert_eq!(of("oci://shop/orders:3"), []);
    assert_eq!(of("file:///opt/orders.sh")[0].field, "appURL");
    let fields: Vec<String> =
        of("https://apps.example.com/orders.sh").into_iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["image", "appURL"]);
}

#[test]
fn a_queue_is_named_as_labels_are() {
    let of = |queue: &str| problems(&app(json!({})), &carried(json!({ "queueName": queue })));
    assert_eq!(of("team-a.night_1"), []);
    for wrong in ["-night", "night.", "night shift", "nacht\u{e4}", &"n".repeat(64)] {
        assert_eq!(of(wrong)[0].field, "queueName", "{wrong}");
    }
}

#[test]
fn a_queue_takes_a_launch_that_is_one_job() {
    let of = |more: Value| {
        let mut job = json!({ "queueName": "night", "shardingTotalCount": 51 });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        problems(&app(json!({})), &carried(job))
    };
    let refused = of(json!({}));
    assert_eq!(refused.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>(), ["queueName"]);
    assert!(refused[0].reason.as_str().contains("50 pods at most: 51 items"), "{refused:?}");
    let daemon = json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?" });
    for one in
        [json!({ "shardingTotalCount": 50 }), json!({ "itemsPerProcess": 2 }), json!({ "queueName": null }), daemon]
    {
        assert_eq!(of(one), []);
    }
}

#[test]
fn the_service_of_the_manual_sends_a_client_to_the_scheduler_that_took_its_login() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kubernetes/scheduler.yaml");
    let manifest = std::fs::read_to_string(file).unwrap();
    let service = manifest.split("\n---\n").find(|part| part.contains("\nkind: Service\n")).unwrap();
    assert!(service.contains("\n  sessionAffinity: ClientIP\n"), "{service}");
}

#[test]
fn the_registrations_of_the_first_run_are_what_a_cluster_can_carry() {
    let docs = include_str!("../../../../docs/cloud.md");
    let run = docs.split("### A first run on Kubernetes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let bodies = run.split("-d '{").skip(1).map(|rest| format!("{{{}", rest.split('\'').next().unwrap()));
    let bodies: Vec<Value> = bodies.map(|body| serde_json::from_str(&body).unwrap()).collect();
    let [app, job] = &bodies[..] else { panic!("{bodies:?}") };
    let (app, job) = (App::from_json(app.clone()).unwrap(), CarriedJob::from_json(job.clone()).unwrap());
    assert_eq!((needs(&app), problems(&app, &job)), (vec![], vec![]));
    assert_eq!((job.app_name.as_str(), job.failover), (app.app_name.as_str(), true));
    // The files that its commands name are there.
    let files: Vec<&str> = run.split_whitespace().filter(|word| word.ends_with(".yaml")).collect();
    assert!(!files.is_empty());
    for file in files {
        assert!(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file).exists(), "{file}");
    }
}
