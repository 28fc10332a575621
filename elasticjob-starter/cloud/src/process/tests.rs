use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use elasticjob::fire::Fire;
use futures_util::future::join_all;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use super::slot::{Look, Slot};
use super::{MemoryLimit, ProcessCarrier, ProcessOptions};
use crate::carrier::suite::{Case, Ground, cases};
use crate::carrier::{
    Answer, Carrier, Daemon, DaemonProcess, ItemState, Launch, LaunchEvent, LaunchId, LaunchItem, LostPlace, Outcome,
    Stop, StopCause,
};
use crate::model::{App, CarriedJob};
use crate::scratch::Scratch;

mod daemons;
mod let_go;
mod stops;

/// A folder that several carriers share.
struct Host {
    scratch: Scratch,
    memory: MemoryLimit,
}

impl Host {
    fn connect(&self) -> ProcessCarrier {
        let folder = self.scratch.path().join("work");
        ProcessCarrier::new(ProcessOptions { memory: self.memory, ..ProcessOptions::new(folder, "tests") }).unwrap()
    }
}

impl Ground for Host {
    fn carrier(&self) -> Answer<'_, Arc<dyn Carrier>> {
        Box::pin(async { Ok(Arc::new(self.connect()) as Arc<dyn Carrier>) })
    }

    fn app(&self, name: &str, script: &str) -> App {
        let file = self.scratch.path().join(format!("{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let url = format!("file://{}", file.display());
        let app = json!({ "appName": name, "appURL": url, "bootstrapScript": format!("./{name}.sh"), "cpuCount": 0, "memoryMB": 16 });
        App::from_json(app).unwrap()
    }

    fn tells_out_of_memory(&self) -> bool {
        self.connect().tells_out_of_memory()
    }

    fn keeps_the_order_of_outputs(&self) -> bool {
        true
    }
}

/// Plays cases at the same time, as they mostly wait.
async fn play(cases: impl IntoIterator<Item = Case>, memory: MemoryLimit) {
    let playing = cases.into_iter().map(async |case| {
        let started = std::time::Instant::now();
        println!("{}", case.name);
        (case.play)(Arc::new(Host { scratch: Scratch::new(), memory })).await;
        println!("{}: {} ms", case.name, started.elapsed().as_millis());
    });
    join_all(playing).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_of_the_host_pass_the_suite() {
    play(cases(), MemoryLimit::Auto).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_they_do_where_only_the_address_space_can_be_limited() {
    let concerned = |case: &Case| ["memory", "ends_well", "forgotten"].iter().any(|part| case.name.contains(part));
    play(cases().into_iter().filter(concerned), MemoryLimit::AddressSpace).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_waits_is_not_started_once_another_scheduler_has_forgotten_its_launch() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let (carrier, other) = (host.connect(), host.connect());
    let end = host.scratch.path().join("end");
    let app = Arc::new(host.app("busy", &format!("while [ ! -e {} ]; do sleep 0.05; done", end.display())));
    let job = json!({ "jobName": "busy", "appName": "busy", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1 });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let mut events = carrier.watch();
    let ids = [0, 1].map(|at| LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(at) });
    let mut until = async |id: &LaunchId, is: fn(&ItemState) -> bool| {
        let waiting = async {
            loop {
                if let Some(LaunchEvent::Changed { id: of, state, .. }) = events.next().await
                    && of == *id
                    && is(&state)
                {
                    return state;
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap()
    };
    let launch = |id: &LaunchId| {
        let items = vec![LaunchItem::new(0, None)];
        carrier.launch(Launch::new(id.clone(), items, app.clone(), job.clone()))
    };
    launch(&ids[0]).await.unwrap();
    until(&ids[0], |state| matches!(state, ItemState::Running { .. })).await;
    launch(&ids[1]).await.unwrap();
    // It waits for the run of the fire before.
    until(&ids[1], |state| matches!(state, ItemState::Waiting { why, .. } if why.contains("fire before"))).await;
    other.forget(&ids[1]).await.unwrap();
    fs::write(&end, "").unwrap();
    let ended = until(&ids[1], |state| !matches!(state, ItemState::Waiting { .. })).await;
    assert!(
        matches!(&ended, ItemState::Ended { outcome: Outcome::Lost { why }, .. } if why.contains("forgotten")),
        "{ended:?}"
    );
    assert_eq!(other.states(&ids[1]).await, Ok(None));
}

/// How the first item of a launch ends.
async fn ended(carrier: &ProcessCarrier, id: &LaunchId) -> Outcome {
    loop {
        match carrier.states(id).await.unwrap().and_then(|mut states| states.remove(&0)) {
            Some(ItemState::Ended { outcome, .. }) => return outcome,
            _ => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_that_needs_more_than_the_host_has_fails_and_keeps_no_other_one_waiting() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let carrier = host.connect();
    let launch = async |name: &str, cpus: f64| {
        let app = Arc::new(host.app(name, "true"));
        let job = json!({ "jobName": name, "appName": name, "jobExecutionType": "TRANSIENT", "cpuCount": cpus,
                          "memoryMB": 16, "shardingTotalCount": 1 });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(0) };
        let items = vec![LaunchItem::new(0, None)];
        carrier.launch(Launch::new(id.clone(), items, app, job)).await.unwrap();
        tokio::time::timeout(std::time::Duration::from_secs(60), ended(&carrier, &id)).await.unwrap()
    };
    let outcome = launch("large", 100_000.0).await;
    assert!(matches!(&outcome, Outcome::Failed { text, .. } if text.contains("the host has")), "{outcome:?}");
    assert_eq!(launch("small", 0.01).await, Outcome::Succeeded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_got_no_memory_says_that_its_address_space_was_limited() {
    for (memory, said, is_told) in [
        (MemoryLimit::AddressSpace, "Could not reserve enough space for object heap", true),
        (MemoryLimit::AddressSpace, "the table is locked", false),
        (MemoryLimit::Off, "Could not reserve enough space for object heap", false),
    ] {
        let host = Host { scratch: Scratch::new(), memory };
        let carrier = host.connect();
        let app = Arc::new(host.app("java", &format!("echo '{said}' >&2; exit 1")));
        let job = json!({ "jobName": "java", "appName": "java", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                          "memoryMB": 64, "shardingTotalCount": 1 });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(0) };
        let items = vec![LaunchItem::new(0, None)];
        carrier.launch(Launch::new(id.clone(), items, app, job)).await.unwrap();
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), ended(&carrier, &id)).await.unwrap();
        let Outcome::Failed { text, .. } = &ended else { panic!("{ended:?}") };
        assert!(text.starts_with(said), "{text}");
        assert_eq!(text.contains("--memory-limit off"), is_told, "{text}");
    }
}

/// Kills a process with its keeper, and returns how it ended, and its log.
async fn killed(failover: bool) -> (Outcome, String) {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let carrier = host.connect();
    let app = Arc::new(host.app(
        "killed",
        "echo begun; [ -e $ELASTICJOB_FAILURE.again ] && exit 0; touch $ELASTICJOB_FAILURE.again; sleep 600",
    ));
    let job = json!({ "jobName": "killed", "appName": "killed", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1, "failover": failover });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(0) };
    let items = vec![LaunchItem::new(0, None)];
    let folder = host.scratch.path().join("work/launches").join(id.token("tests")).join("0");
    carrier.launch(Launch::new(id.clone(), items, app, job)).await.unwrap();
    let waiting = async {
        while !folder.join("failure.again").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let keeper = fs::read_to_string(folder.join("pid")).unwrap().parse().ok().and_then(Pid::from_raw).unwrap();
        kill_process_group(keeper, Signal::KILL).unwrap();
        ended(&carrier, &id).await
    };
    let outcome = tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap();
    (outcome, carrier.log(&id, 0, 1_000).await.unwrap().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_keeper_was_killed_is_lost_and_runs_again_only_where_it_may() {
    let (outcome, log) = killed(false).await;
    assert!(matches!(outcome, Outcome::Lost { .. }), "{outcome:?}");
    assert_eq!(log, "begun\n");
    assert_eq!(killed(true).await, (Outcome::Succeeded, "begun\n".to_owned()));
}

/// An item that runs until it is killed, and that may run again.
struct Killed {
    host: Host,
    launch: Launch,
}

impl Killed {
    fn new() -> Self {
        let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
        let runs = host.scratch.path().join("runs");
        let app =
            Arc::new(host.app("again", &format!("echo $ELASTICJOB_ATTEMPT >>{}; exec sleep 600", runs.display())));
        let job = json!({ "jobName": "again", "appName": "again", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                          "memoryMB": 16, "shardingTotalCount": 1, "failover": true });
        let job = Arc::new(CarriedJob::from_json(job).unwrap());
        let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(0) };
        Self { host, launch: Launch::new(id, vec![LaunchItem::new(0, None)], app, job) }
    }

    /// A scheduler that launches it, or adopts what another one did.
    async fn scheduler(&self) -> ProcessCarrier {
        let carrier = self.host.connect();
        carrier.launch(self.launch.clone()).await.unwrap();
        carrier
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.host.scratch.path().join("runs")).unwrap_or_default().lines().count()
    }

    /// Waits until its program has begun so many times and a carrier says that it runs, and returns the state.
    async fn running(&self, carrier: &ProcessCarrier, runs: usize) -> ItemState {
        let waiting = async {
            loop {
                let state = carrier.states(&self.launch.id).await.unwrap().and_then(|mut states| states.remove(&0));
                match state {
                    Some(state @ ItemState::Running { .. }) if self.runs() == runs => return state,
                    _ => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap()
    }

    fn kill(&self) {
        let item = self.host.scratch.path().join("work/launches").join(self.launch.id.token("tests")).join("0");
        let keeper = fs::read_to_string(item.join("pid")).unwrap().parse().ok().and_then(Pid::from_raw).unwrap();
        kill_process_group(keeper, Signal::KILL).unwrap();
    }

    /// Kills it while no scheduler is there, waits until it shows to be lost, and returns where it is kept.
    async fn killed_alone(&self) -> Slot {
        self.kill();
        let slot = self.host.connect().shared.known_slot(&self.launch.id, 0);
        let waiting = async {
            while !matches!(slot.look().unwrap(), Look::Ended(Outcome::Lost { .. })) {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap();
        slot
    }
}

fn attempts(state: &ItemState) -> (u32, Option<u32>) {
    match state {
        ItemState::Running { attempt, lost, .. } => (*attempt, lost.as_ref().map(|lost| lost.attempt)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_are_counted_on_where_another_scheduler_adopts_the_item() {
    let item = Killed::new();
    let first = item.scheduler().await;
    assert_eq!(attempts(&item.running(&first, 1).await), (1, None));
    item.kill();
    assert_eq!(attempts(&item.running(&first, 2).await), (2, Some(1)));
    drop(first);
    // One that only looks knows it, too.
    assert_eq!(attempts(&item.running(&item.host.connect(), 2).await), (2, Some(1)));
    let second = item.scheduler().await;
    assert_eq!(attempts(&item.running(&second, 2).await), (2, Some(1)));
    drop(second);
    // It is lost while no scheduler is there.
    item.kill();
    let third = item.scheduler().await;
    assert_eq!(attempts(&item.running(&third, 3).await), (3, Some(2)));
    let told = fs::read_to_string(item.host.scratch.path().join("runs")).unwrap();
    assert_eq!(told, "1\n2\n3\n", "each process is told which attempt it is");
    drop(third);
    item.kill();
    let fourth = item.scheduler().await;
    let outcome =
        tokio::time::timeout(std::time::Duration::from_secs(60), ended(&fourth, &item.launch.id)).await.unwrap();
    assert!(matches!(outcome, Outcome::Lost { .. }), "{outcome:?}");
    assert_eq!(item.runs(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_whose_attempts_cannot_be_read_is_not_told_to_be_lost_before_it_runs_again() {
    let item = Killed::new();
    let first = item.scheduler().await;
    item.running(&first, 1).await;
    drop(first);
    let slot = item.killed_alone().await;
    // What is a folder cannot be read.
    let attempt = slot.folder.join("attempt");
    fs::create_dir(&attempt).unwrap();
    let second = item.host.connect();
    let mut events = second.watch();
    second.launch(item.launch.clone()).await.unwrap();
    fs::remove_dir(&attempt).unwrap();
    assert_eq!(attempts(&item.running(&second, 2).await), (2, Some(1)));
    let running_again = async {
        loop {
            match events.next().await.unwrap() {
                LaunchEvent::Changed { state: ItemState::Running { attempt: 2, .. }, .. } => break,
                LaunchEvent::Changed { state, .. } => assert_eq!(state.outcome(), None),
                LaunchEvent::Gap => {}
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), running_again).await.unwrap();
}

/// A scheduler may be killed at any moment between the loss of a process and the next start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loss_that_was_noted_before_the_scheduler_was_killed_counts_once() {
    for is_cleared in [false, true] {
        let item = Killed::new();
        let first = item.scheduler().await;
        item.running(&first, 1).await;
        drop(first);
        let slot = item.killed_alone().await;
        slot.note_lost(&LostPlace::new(1, None, "noted")).unwrap();
        if is_cleared {
            slot.clear().unwrap();
        }
        let second = item.scheduler().await;
        assert_eq!(attempts(&item.running(&second, 2).await), (2, Some(1)), "cleared: {is_cleared}");
        item.kill();
        assert_eq!(attempts(&item.running(&second, 3).await), (3, Some(2)));
        item.kill();
        let outcome = tokio::time::timeout(std::time::Duration::from_secs(60), ended(&second, &item.launch.id)).await;
        assert!(matches!(outcome.unwrap(), Outcome::Lost { .. }));
    }
}

/// What other users may do with a file or a folder, and its group.
fn open_to_others(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o077
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_other_user_reads_what_is_kept_of_a_process() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let folder = host.scratch.path().join("work");
    // A folder of the host, which stays as it is.
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let carrier = host.connect();
    assert_eq!(open_to_others(&folder), 0o055);
    let app = Arc::new(host.app("closed", "umask; echo told >&2; umask 022; touch $ELASTICJOB_FAILURE.made"));
    let job = json!({ "jobName": "closed", "appName": "closed", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1 });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(0) };
    let launch = Launch::new(id.clone(), vec![LaunchItem::new(0, None)], app, job);
    carrier.launch(launch).await.unwrap();
    tokio::time::timeout(std::time::Duration::from_secs(60), ended(&carrier, &id)).await.unwrap();
    let item = folder.join("launches").join(id.token("tests")).join("0");
    for name in ["stdout", "stderr", "pid", "exit"] {
        assert_eq!(open_to_others(&item.join(name)), 0, "{name}");
    }
    // The program has the mask of the scheduler, not that of its keeper.
    let mask =
        String::from_utf8(std::process::Command::new("sh").args(["-c", "umask"]).output().unwrap().stdout).unwrap();
    assert_eq!(fs::read_to_string(item.join("stdout")).unwrap(), mask);
}

#[tokio::test]
async fn a_folder_that_all_users_write_into_is_refused() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("shared");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
    let error = ProcessCarrier::new(ProcessOptions::new(&folder, "tests")).unwrap_err();
    assert!(error.to_string().contains("chmod 700"), "{error}");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o7777, 0o1777);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_an_earlier_scheduler_left_are_listed_until_they_have_ended() {
    let host = Host { scratch: Scratch::new(), memory: MemoryLimit::Off };
    let (begins, ends) = (host.scratch.path().join("begins"), host.scratch.path().join("ends"));
    // It takes its time when it is asked to end, which it is once it listens.
    let script = format!(
        "trap 'sleep 1; echo ended >>{}; exit 0' TERM; echo begun >>{}; while :; do sleep 0.05; done",
        ends.display(),
        begins.display()
    );
    let app = Arc::new(host.app("resident", &script));
    let job = json!({ "jobName": "resident", "appName": "resident", "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 2, "gracePeriodSeconds": 30 });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let daemon = Daemon { app, job: job.clone(), instances: 2, registry_center: None };
    let runs = |kept: &[DaemonProcess]| {
        kept.iter().filter(|process| matches!(process.state, ItemState::Running { since: 1.., .. })).count()
    };
    let first = host.connect();
    first.keep(daemon.clone()).await.unwrap();
    let waiting = async {
        let listen = || fs::read_to_string(&begins).is_ok_and(|begins| begins.lines().count() == 2);
        while runs(&first.kept(&job.job_name).await.unwrap()) < 2 || !listen() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap();
    drop(first);
    let next = host.connect();
    let kept = next.kept(&job.job_name).await.unwrap();
    assert_eq!(runs(&kept), 2, "{kept:?}");
    assert_eq!(kept.iter().map(|process| process.index).collect::<Vec<_>>(), [0, 1]);
    // Whatever the application is by now: an update may have made it one that this carrier does not run.
    let app = json!({ "appName": "resident", "appURL": "oci://registry/resident:1", "bootstrapScript": "run" });
    let app = Arc::new(App::from_json(app).unwrap());
    assert!(next.keep(Daemon { app: app.clone(), ..daemon.clone() }).await.is_err());
    next.keep(Daemon { app, instances: 0, ..daemon }).await.unwrap();
    let waiting = async {
        while !next.kept(&job.job_name).await.unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), waiting).await.unwrap();
    assert_eq!(fs::read_to_string(&ends).unwrap_or_default(), "ended\nended\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_nothing_of_a_carrier_with_another_folder_and_launches_of_the_same_names() {
    let hosts = [(); 2].map(|()| Host { scratch: Scratch::new(), memory: MemoryLimit::Auto });
    let carriers = [hosts[0].connect(), hosts[1].connect()];
    let job = json!({ "jobName": "same", "appName": "same", "jobExecutionType": "TRANSIENT", "cpuCount": 0.01,
                      "memoryMB": 16, "shardingTotalCount": 1 });
    let job = Arc::new(CarriedJob::from_json(job).unwrap());
    let id = LaunchId { job: job.job_name.clone(), fire: Fire::Scheduled(1) };
    for (host, carrier) in hosts.iter().zip(&carriers) {
        let folder = host.scratch.path().display();
        let app = host.app("same", &format!("touch {folder}/begun; while [ ! -e {folder}/end ]; do sleep 0.05; done"));
        let items = vec![LaunchItem::new(0, None)];
        carrier.launch(Launch::new(id.clone(), items, Arc::new(app), job.clone())).await.unwrap();
        while !host.scratch.path().join("begun").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    carriers[0].stop(&id, &[0], Stop::new(std::time::Duration::ZERO, StopCause::Operator)).await.unwrap();
    assert_eq!(ended(&carriers[0], &id).await, Outcome::Stopped);
    fs::write(hosts[1].scratch.path().join("end"), "").unwrap();
    assert_eq!(ended(&carriers[1], &id).await, Outcome::Succeeded);
}
