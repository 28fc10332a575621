//! A node that dies with items on it.

use std::sync::Arc;
use std::time::Duration;

use elasticjob_cloud::carrier::{Carrier, ItemState, Outcome};
use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::kubernetes::{Cluster, NODE, Namespace};
use elasticjob_tests::scheduler::{SchedulerProcess, SchedulerProgram};
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::json;

use crate::killed;
use crate::support::{ended, launch, running, until_so, waiting};

pub(crate) async fn with_its_node(cluster: Cluster, server: Arc<ZookeeperServer>) {
    let cluster = Arc::new(cluster);
    let namespace = Namespace::new(cluster.clone());
    let script = "echo begun; [ -n \"$AGAIN\" ] || sleep 600";
    let patient = namespace
        .connect(|options| {
            // Kubernetes waits for five minutes before it gives a silent node's pods up, unless it is told otherwise.
            let silent = |taint: &str| json!({ "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1 });
            let tolerations = ["node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready"].map(silent);
            options.pod_template = Some(json!({ "spec": { "tolerations": tolerations } }));
        })
        .await;
    let strict = namespace.connect(|options| options.lost_after = Some(Duration::from_secs(1))).await;
    let waits = launch(&namespace, "waits", script, &[0], json!({ "failover": true }));
    let fails = launch(&namespace, "fails", script, &[0], json!({}));
    let again =
        launch(&namespace, "again", "echo begun $ELASTICJOB_ATTEMPT; sleep 20", &[0], json!({ "failover": true }));
    patient.launch(waits.clone()).await.unwrap();
    for launch in [&fails, &again] {
        strict.launch(launch.clone()).await.unwrap();
    }
    for launch in [&waits, &fails, &again] {
        running(&strict, &launch.id, 0).await;
    }
    let carried = Carried::run(&cluster, &server).await;
    let other = cluster.add_node(NODE).unwrap();
    for name in ["waits", "fails", "again"] {
        other.tag(&format!("localhost/{name}:1")).unwrap();
    }
    let carried = carried.kill_with(&cluster);

    match ended(&strict, &fails.id, 0).await {
        Outcome::Lost { why } => assert!(!why.is_empty()),
        outcome => panic!("{outcome:?}"),
    }
    match running(&strict, &again.id, 0).await {
        // It is the one of before as long as the node is not known to be silent.
        ItemState::Running { place, .. } if place.starts_with(NODE) => {}
        _ => {
            let is_there =
                |state: &ItemState| matches!(state, ItemState::Running { place, .. } if place.starts_with(NODE));
            crate::support::until(&strict, &again.id, 0, "running on the other node", is_there).await;
        }
    }
    assert_eq!(ended(&strict, &again.id, 0).await, Outcome::Succeeded);
    assert_eq!(strict.log(&again.id, 0, 100).await, Ok(Some("begun 2\n".to_owned())));
    // Without `lost_after` it is never run twice at a time, and says what it waits for.
    waiting(&patient, &waits.id, 0, "does not answer").await;
    carried.check().await;
}

/// The jobs of a scheduler that is killed with the node on which its items run.
struct Carried {
    program: SchedulerProgram,
    scheduler: SchedulerProcess,
    // It goes after them.
    _folder: TemporaryFolder,
}

impl Carried {
    /// Starts it, and waits until the items of both jobs run.
    async fn run(cluster: &Cluster, server: &ZookeeperServer) -> Self {
        let folder = TemporaryFolder::new("lost-with-scheduler").unwrap();
        let mut program = killed::program(cluster.kubeconfig(), server, &folder, "lost-with-scheduler");
        program.carrier.extend(["--lost-after", "1"].map(str::to_owned));
        let scheduler = program.start();
        for (name, failover) in [("again", true), ("lost", false)] {
            let script = format!(
                "sh -c 'echo begun {name} $ELASTICJOB_ATTEMPT >>/notes/runs; [ $ELASTICJOB_ATTEMPT -gt 1 ] || sleep 600; \
                 echo ended {name} $ELASTICJOB_ATTEMPT >>/notes/runs'"
            );
            let app = json!({ "appName": name, "appURL": "oci://localhost/box:1", "bootstrapScript": script, "cpuCount": 0, "memoryMB": 16 });
            let job = json!({ "jobName": name, "appName": name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.01, "memoryMB": 16,
                              "shardingTotalCount": 1, "failover": failover, "gracePeriodSeconds": 1 });
            scheduler.register(&app, &job);
            let triggered = || scheduler.call("POST", "/api/job/trigger", name).is_ok_and(|answer| answer.0 == 200);
            until_so(&program, "it is triggered", triggered).await;
        }
        until_so(&program, "both run", || program.noted("begun") == 2).await;
        Self { _folder: folder, program, scheduler }
    }

    /// Kills the scheduler and the node, and starts another scheduler then.
    fn kill_with(self, cluster: &Cluster) -> Self {
        let Self { _folder, program, scheduler } = self;
        drop(scheduler);
        cluster.node().kill();
        let scheduler = program.start();
        Self { _folder, program, scheduler }
    }

    /// The one with failover has run again; the other one is lost, and says so.
    async fn check(&self) {
        let program = &self.program;
        until_so(program, "it has run again", || program.lines("runs").iter().any(|line| line == "ended again 2"))
            .await;
        until_so(program, "the other one is lost", || self.is_lost()).await;
        let mut lines = program.lines("runs");
        lines.sort_unstable();
        assert_eq!(lines, ["begun again 1", "begun again 2", "begun lost 1", "ended again 2"], "{}", program.logs());
    }

    fn is_lost(&self) -> bool {
        self.program.logs().lines().any(|line| line.contains("job=lost") && line.contains("it was lost"))
    }
}
