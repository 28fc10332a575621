//! A job that runs after another one, with schedulers that are killed while the first one runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use elasticjob_tests::group::TemporaryFolder;
use elasticjob_tests::scheduler::SchedulerProgram;
use elasticjob_tests::until;
use elasticjob_tests::zookeeper::ZookeeperServer;
use serde_json::{Value, json};

use super::killed;

const ITEMS: u32 = 2;

/// How often a scheduler is killed.
const ROUNDS: usize = 4;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

/// Notes its begin and its end, with its job, its fire and its item.
fn script(seconds: &str) -> String {
    format!(
        "note() {{ echo \"$1 $ELASTICJOB_JOB_NAME $ELASTICJOB_SCHEDULED_AT $ELASTICJOB_SHARDING_ITEM\" >>$DIR/runs; }}; \
         note begun; sleep {seconds}; note ended"
    )
}

fn job(name: &str, more: &Value) -> Value {
    let mut job = json!({ "jobName": name, "appName": name, "jobExecutionType": "TRANSIENT", "cpuCount": 0.1, "memoryMB": 16,
                          "shardingTotalCount": ITEMS, "gracePeriodSeconds": 1, "misfire": true });
    job.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    job
}

pub async fn each_fire_is_followed_once(server: Arc<ZookeeperServer>) {
    let folder = TemporaryFolder::new("depends-on-carried").expect("a folder");
    let carrier = ["--carrier", "process", "--memory-limit", "off", "--cpus", "64"].map(str::to_owned).to_vec();
    let program = killed::program(&server, folder.path().to_owned(), "depends-on-carried", carrier);
    let mut schedulers = vec![program.start(), program.start()];
    schedulers[0].register(&program.app("load", &script("0.1")), &job("load", &json!({ "dependsOn": "extract" })));
    let every = |cron: &str| job("extract", &json!({ "cron": cron }));
    schedulers[0].register(&program.app("extract", &script("2")), &every("0/8 * * * * ?"));
    for round in 0..ROUNDS {
        // Each fire begins in a time of its own, while all schedulers live, and one of them is killed while it runs: all of its
        // items, as one that is just being launched is lost with its scheduler.
        let before = notes(&program, "begun", "extract").len();
        let at = until(&program, "the first job runs", || {
            let (begun, ended) = (notes(&program, "begun", "extract"), notes(&program, "ended", "extract"));
            let at = begun.last().filter(|_| begun.len() > before)?.0.clone();
            let of_fire = |notes: &[(String, String)]| notes.iter().filter(|(of, _)| *of == at).count();
            (of_fire(&begun) == ITEMS as usize && of_fire(&ended) == 0).then_some(at)
        })
        .await;
        drop(schedulers.remove(round % 2));
        until(&program, "the second job has run after this fire", || {
            let followed = notes(&program, "ended", "load").iter().filter(|(of, _)| *of == at).count();
            (followed == ITEMS as usize).then_some(())
        })
        .await;
        schedulers.push(program.start());
    }
    // It fires next year.
    schedulers[0].done("PUT", "/api/job/update", &every("0 0 3 1 1 ?").to_string());
    until(&program, "nothing runs, and the latest fire is followed", || {
        let latest = |kind: &str, job: &str| notes(&program, kind, job).into_iter().max();
        let all = |job: &str| notes(&program, "begun", job).len() == notes(&program, "ended", job).len();
        let is_idle = ["running", "ready"].iter().all(|list| {
            let path = format!("/api/job/tasks/{list}");
            schedulers[0].call("GET", &path, "").is_ok_and(|(_, tasks)| tasks == "[]")
        });
        let is_followed = all("extract") && all("load") && latest("begun", "extract") == latest("ended", "load");
        (is_idle && is_followed).then_some(())
    })
    .await;
    check(&program);
}

/// The fires and items of a job that have begun or ended, in their order.
fn notes(program: &SchedulerProgram, kind: &str, job: &str) -> Vec<(String, String)> {
    let of = |line: String| {
        let words: Vec<&str> = line.split(' ').collect();
        let [noted, of, fire, item] = words[..] else { panic!("'{line}' is no note") };
        (noted == kind && of == job).then(|| (fire.to_owned(), item.to_owned()))
    };
    program.lines("runs").into_iter().filter_map(of).collect()
}

/// Both jobs ran each item of each fire once, the second one for all fires of the first one and after their end.
fn check(program: &SchedulerProgram) {
    let lines = program.lines("runs").join("\n");
    let times = |kind: &str, job: &str| {
        let mut times: BTreeMap<(String, String), usize> = BTreeMap::new();
        notes(program, kind, job).into_iter().for_each(|note| *times.entry(note).or_default() += 1);
        times
    };
    let first = times("begun", "extract");
    assert!(first.len() >= ROUNDS * ITEMS as usize, "{lines}");
    assert!(first.values().all(|times| *times == 1), "{lines}\n{}", program.logs());
    for (kind, job) in [("ended", "extract"), ("begun", "load"), ("ended", "load")] {
        assert_eq!(times(kind, job), first, "{kind} {job}\n{lines}\n{}", program.logs());
    }
    let mut ended: BTreeMap<String, u32> = BTreeMap::new();
    for line in program.lines("runs") {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["ended", "extract", fire, _] => *ended.entry(fire.to_owned()).or_default() += 1,
            ["begun", "load", fire, _] => assert_eq!(ended.get(fire), Some(&ITEMS), "{lines}"),
            _ => {}
        }
    }
}

async fn until<T>(program: &SchedulerProgram, what: &str, find: impl Fn() -> Option<T>) -> T {
    let told = || format!("{}\n{}", program.lines("runs").join("\n"), program.logs());
    until::until(LIMIT, what, told, find).await
}
