//! The carrier on a real cluster.

use std::sync::Arc;
use std::time::Duration;

use elasticjob::fire::Fire;
use elasticjob_cloud::carrier::suite::{Case, Ground};
use elasticjob_cloud::carrier::{Answer, Carrier, ItemState, Launch, LaunchId, LaunchItem, Outcome, Stop, StopCause};
use elasticjob_cloud::model::{App, CarriedJob};
use elasticjob_cloud::slurm::SlurmCarrier;
use elasticjob_tests::slurm::SlurmCluster;
use serde_json::{Value, json};
use tokio::time::sleep;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

/// A folder of its own on a cluster.
struct Shared {
    cluster: Arc<SlurmCluster>,
    name: String,
}

impl Ground for Shared {
    fn carrier(&self) -> Answer<'_, Arc<dyn Carrier>> {
        Box::pin(async {
            let carrier = self.cluster.carrier(&self.name).await;
            Ok(Arc::new(carrier.unwrap_or_else(|why| panic!("{why}"))) as Arc<dyn Carrier>)
        })
    }

    fn app(&self, name: &str, script: &str) -> App {
        app(&self.cluster, &format!("{}-{name}", self.name), name, script)
    }

    fn tells_out_of_memory(&self) -> bool {
        true
    }

    fn keeps_the_order_of_outputs(&self) -> bool {
        true
    }
}

pub async fn play(cluster: Arc<SlurmCluster>, case: Case) {
    (case.play)(Arc::new(Shared { cluster, name: case.name.to_owned() })).await;
}

/// An application whose program is this script.
fn app(cluster: &SlurmCluster, folder: &str, name: &str, script: &str) -> App {
    let folder = cluster.shared().join(format!("scripts-{folder}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.sh"));
    std::fs::write(&file, format!("#!/bin/sh\nDIR={}\n{script}\n", folder.display())).expect("a script");
    let url = format!("file://{}", file.display());
    let app = json!({ "appName": name, "appURL": url, "bootstrapScript": format!("./{name}.sh"), "cpuCount": 0,
                      "memoryMB": 16 });
    App::from_json(app).expect("an application")
}

fn launch(app: App, more: Value, items: u32) -> Launch {
    let mut job = json!({ "jobName": app.app_name, "appName": app.app_name, "jobExecutionType": "TRANSIENT",
                          "cpuCount": 0.1, "memoryMB": 64, "shardingTotalCount": items });
    if let (Value::Object(fields), Value::Object(more)) = (&mut job, more) {
        fields.extend(more);
    }
    let job = Arc::new(CarriedJob::from_json(job).expect("a job"));
    let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(1_700_000_000_000) };
    let items = (0..items).map(|item| LaunchItem::new(item, None)).collect();
    Launch::new(id, items, Arc::new(app), job)
}

/// Waits until a state of an item is so.
async fn until(
    carrier: &SlurmCarrier,
    cluster: &SlurmCluster,
    id: &LaunchId,
    item: u32,
    is: impl Fn(&ItemState) -> bool,
) -> ItemState {
    let mut last = None;
    let waiting = async {
        loop {
            if let Ok(Some(mut states)) = carrier.states(id).await
                && let Some(state) = states.remove(&item)
            {
                if is(&state) {
                    return state;
                }
                last = Some(state);
            }
            sleep(Duration::from_millis(100)).await;
        }
    };
    match tokio::time::timeout(LIMIT, waiting).await {
        Ok(state) => state,
        Err(_) => panic!("item {item} of {id} is {last:?}\n{}", cluster.logs()),
    }
}

async fn outcome(carrier: &SlurmCarrier, cluster: &SlurmCluster, id: &LaunchId, item: u32) -> Outcome {
    let state = until(carrier, cluster, id, item, |state| state.outcome().is_some()).await;
    state.outcome().expect("it was waited for").clone()
}

fn is_running(state: &ItemState) -> bool {
    matches!(state, ItemState::Running { .. })
}

pub async fn waits(cluster: Arc<SlurmCluster>) {
    let carrier = cluster.carrier("waits").await.expect("a carrier");
    // All CPUs of a node each, and there are two nodes.
    let app = app(&cluster, "waits", "large", "exec sleep 600");
    let launch = launch(app, json!({ "cpuCount": 64 }), 3);
    assert_eq!(carrier.check(&launch.app, &launch.job), []);
    let id = launch.id.clone();
    carrier.launch(launch).await.expect("it is launched");
    let why = |state: &ItemState| matches!(state, ItemState::Waiting { why, .. } if why.contains("(Resources)") || why.contains("(Priority)"));
    until(&carrier, &cluster, &id, 2, why).await;
    carrier.stop(&id, &[0, 1, 2], Stop::new(Duration::ZERO, StopCause::Operator)).await.expect("they are stopped");
    for item in 0..3 {
        assert_eq!(outcome(&carrier, &cluster, &id, item).await, Outcome::Stopped);
    }
}

pub async fn cancelled(cluster: Arc<SlurmCluster>) {
    let carrier = cluster.carrier("cancelled").await.expect("a carrier");
    let launch = launch(app(&cluster, "cancelled", "long", "exec sleep 600"), json!({}), 1);
    let id = launch.id.clone();
    carrier.launch(launch).await.expect("it is launched");
    until(&carrier, &cluster, &id, 0, is_running).await;
    cluster.ask("scancel", &["--name", &id.token("cancelled")]);
    let outcome = outcome(&carrier, &cluster, &id, 0).await;
    assert!(matches!(&outcome, Outcome::Failed { text, .. } if text.contains("cancelled in Slurm")), "{outcome:?}");
}

pub async fn asked_once(cluster: Arc<SlurmCluster>) {
    let hour = Duration::from_secs(3_600);
    let first = cluster.carrier("asked-once").await.expect("a carrier");
    // It lives on for a moment when the test lets it end: a second signal would still be noted.
    let script = "trap 'echo asked >>$DIR/asked' TERM; echo begun >>$DIR/begun; while [ ! -e $DIR/end ]; do sleep 0.1; done; sleep 2";
    let launch = launch(app(&cluster, "asked-once", "deaf", script), json!({}), 1);
    let (id, folder) = (launch.id.clone(), cluster.shared().join("scripts-asked-once"));
    let until_lines = async |name: &str| {
        let deadline = tokio::time::Instant::now() + LIMIT;
        while !folder.join(name).exists() {
            assert!(tokio::time::Instant::now() < deadline, "{name}: {}", cluster.logs());
            sleep(Duration::from_millis(50)).await;
        }
    };
    first.launch(launch.clone()).await.expect("it is launched");
    until_lines("begun").await;
    first.stop(&id, &[0], Stop::new(hour, StopCause::Operator)).await.expect("it is stopped");
    until_lines("asked").await;
    drop(first);
    let next = cluster.carrier("asked-once").await.expect("a carrier");
    assert_eq!(next.launch(launch).await.expect("it is adopted").adopted, [0]);
    next.stop(&id, &[0], Stop::new(hour, StopCause::LaterRun)).await.expect("it is stopped");
    std::fs::write(folder.join("end"), "").expect("a file");
    let ended = until(&next, &cluster, &id, 0, |state| state.outcome().is_some()).await;
    assert_eq!(ended, ItemState::from(Outcome::Succeeded).stopped_for(Some(StopCause::Operator)));
    assert_eq!(std::fs::read_to_string(folder.join("asked")).expect("it was asked"), "asked\n");
}

pub async fn at_the_same_time(cluster: Arc<SlurmCluster>) {
    let carriers = futures_util::future::join_all((0..4).map(|_| cluster.carrier("at-once"))).await;
    let carriers: Vec<SlurmCarrier> = carriers.into_iter().collect::<Result<_, _>>().expect("carriers");
    let script = "echo \"$ELASTICJOB_SHARDING_ITEM\" >>$DIR/begun; sleep 1";
    let launch = launch(app(&cluster, "at-once", "short", script), json!({}), 5);
    let id = launch.id.clone();
    let launched = futures_util::future::join_all(carriers.iter().map(|carrier| carrier.launch(launch.clone()))).await;
    assert!(launched.iter().all(Result::is_ok), "{launched:?}");
    for carrier in &carriers {
        for item in 0..5 {
            assert_eq!(outcome(carrier, &cluster, &id, item).await, Outcome::Succeeded, "item {item}");
        }
    }
    // Until the last of the arrays that came too late has found its items claimed.
    let deadline = tokio::time::Instant::now() + LIMIT;
    while !cluster.ask("squeue", &["-h", "--name", &id.token("at-once")]).trim().is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "{}", cluster.logs());
        sleep(Duration::from_millis(100)).await;
    }
    let begun = std::fs::read_to_string(cluster.shared().join("scripts-at-once/begun")).expect("they have begun");
    let mut begun: Vec<&str> = begun.lines().collect();
    begun.sort_unstable();
    assert_eq!(begun, ["0", "1", "2", "3", "4"]);
}

pub async fn wrong(cluster: Arc<SlurmCluster>) {
    let carrier = cluster.carrier("wrong").await.expect("a carrier");
    let app = app(&cluster, "wrong", "wrong", "true");
    let problems = |more: Value| {
        let launch = launch(app.clone(), more, 1);
        let problems = carrier.check(&launch.app, &launch.job);
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(problems(json!({ "queueName": "night" })).contains("no partition 'night'; it has main"));
    assert!(problems(json!({ "cpuCount": 65 })).contains("the largest node has 64"));
    assert!(problems(json!({ "memoryMB": 16_000 })).contains("16016 MB, and the nodes have 16000 MB"));
    let mut options = cluster.options("wrong");
    options.commands = Some("/no/such/commands".into());
    let error = SlurmCarrier::connect(options).await.expect_err("there is no such cluster");
    assert!(error.to_string().contains("/no/such/commands/scontrol"), "{error}");
}

/// Launches an item, and kills its node when it has begun. Returns the carrier and the node.
async fn on_lost_node(cluster: &SlurmCluster, name: &str, failover: bool) -> (SlurmCarrier, LaunchId, String) {
    let carrier = cluster.carrier(name).await.expect("a carrier");
    let script = "echo begun $ELASTICJOB_ATTEMPT >>$DIR/begun; [ \"$(wc -l <$DIR/begun)\" -gt 1 ] || sleep 600";
    let launch = launch(app(cluster, name, name, script), json!({ "failover": failover }), 1);
    let id = launch.id.clone();
    carrier.launch(launch).await.expect("it is launched");
    let running = until(&carrier, cluster, &id, 0, is_running).await;
    let ItemState::Running { place, attempt, .. } = running else { panic!("{running:?}") };
    assert_eq!(attempt, 1);
    let begun = cluster.shared().join(format!("scripts-{name}/begun"));
    while !begun.exists() {
        sleep(Duration::from_millis(50)).await;
    }
    (carrier, id, place)
}

pub async fn lost_node(cluster: SlurmCluster) {
    let (carrier, id, node) = on_lost_node(&cluster, "not-again", false).await;
    let (again, id_of_again, node_of_again) = on_lost_node(&cluster, "again", true).await;
    cluster.kill_node(&node);
    if node_of_again != node {
        cluster.kill_node(&node_of_again);
        cluster.start_node(0).expect("it starts");
        cluster.start_node(1).expect("it starts");
    }
    let begins_again =
        |state: &ItemState| matches!(state, ItemState::Waiting { why, .. } if why.contains("starts it again at 20"));
    until(&again, &cluster, &id_of_again, 0, begins_again).await;
    let lost = outcome(&carrier, &cluster, &id, 0).await;
    assert!(matches!(&lost, Outcome::Lost { why } if why.contains(&node)), "{lost:?}");
    assert_eq!(outcome(&again, &cluster, &id_of_again, 0).await, Outcome::Succeeded);
    let begun = |name: &str| std::fs::read_to_string(cluster.shared().join(format!("scripts-{name}/begun")));
    assert_eq!(begun("not-again").expect("it began"), "begun 1\n");
    assert_eq!(begun("again").expect("it began"), "begun 1\nbegun 2\n");
}

pub async fn away(cluster: SlurmCluster) {
    let carrier = cluster.carrier("away").await.expect("a carrier");
    let script = "echo begun; while [ ! -e $DIR/end ]; do sleep 0.1; done";
    let launch = launch(app(&cluster, "away", "away", script), json!({}), 1);
    let id = launch.id.clone();
    carrier.launch(launch.clone()).await.expect("it is launched");
    until(&carrier, &cluster, &id, 0, is_running).await;
    cluster.kill_daemon("slurmctld");
    assert!(carrier.states(&id).await.is_err(), "nothing may be concluded");
    let mut other = launch.clone();
    other.id.fire = Fire::Scheduled(1_700_000_000_001);
    let refused = carrier.launch(other).await;
    assert!(matches!(refused, Err(elasticjob_cloud::carrier::LaunchError::NotReached { .. })), "{refused:?}");
    std::fs::write(cluster.shared().join("scripts-away/end"), "").expect("a file");
    // One that starts meanwhile waits.
    let starting = tokio::spawn(SlurmCarrier::connect(cluster.options("later")));
    cluster.resume_controller().expect("it comes back");
    tokio::time::timeout(LIMIT, starting).await.expect("it starts").expect("a task").expect("a carrier");
    assert_eq!(outcome(&carrier, &cluster, &id, 0).await, Outcome::Succeeded);
    assert_eq!(carrier.log(&id, 0, 100).await, Ok(Some("begun\n".to_owned())));
}
