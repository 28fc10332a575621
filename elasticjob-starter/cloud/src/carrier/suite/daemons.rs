//! Processes that are kept.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::{Daemon, DaemonProcess};
use super::{Ground, ItemState, Scene, in_time, job};

fn daemon(ground: &dyn Ground, name: &str, script: &str, instances: u32) -> Daemon {
    let more =
        json!({ "jobExecutionType": "DAEMON", "cron": "0 0 3 * * ?", "instances": instances, "gracePeriodSeconds": 1 });
    let (app, job) = job(ground, name, script, more);
    Daemon { app, job, instances, registry_center: None }
}

/// Waits until the processes of a job are so.
async fn until(scene: &Scene, daemon: &Daemon, what: &str, are: impl Fn(&[DaemonProcess]) -> bool) {
    let waiting = async {
        loop {
            let kept = scene.carrier.kept(&daemon.job.job_name).await.unwrap();
            if are(&kept) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    in_time(what, waiting).await;
}

fn runs(process: &DaemonProcess) -> bool {
    // In the moment after its start it is not known since when.
    matches!(process.state, ItemState::Running { since: 1.., .. })
}

pub(super) async fn processes_of_a_daemon_are_there_until_none_are_wanted(ground: Arc<dyn Ground>) {
    let scene = Scene::of(&*ground).await;
    let two = daemon(&*ground, "resident", "exec sleep 600", 2);
    scene.carrier.keep(two.clone()).await.unwrap();
    until(&scene, &two, "two processes", |kept| kept.len() == 2 && kept.iter().all(runs)).await;
    scene.carrier.keep(Daemon { instances: 1, ..two.clone() }).await.unwrap();
    until(&scene, &two, "one process", |kept| kept.len() == 1 && kept.iter().all(runs)).await;
    scene.carrier.keep(Daemon { instances: 0, ..two.clone() }).await.unwrap();
    until(&scene, &two, "no process", <[DaemonProcess]>::is_empty).await;
}

pub(super) async fn a_daemon_that_ends_is_started_again_after_a_pause(ground: Arc<dyn Ground>) {
    let scene = Scene::of(&*ground).await;
    let one = daemon(&*ground, "ailing", "echo 'no database' >&2; exit 3", 1);
    assert_eq!(scene.carrier.daemon_log(&one.job.job_name, 0, 100).await, Ok(None));
    scene.carrier.keep(one.clone()).await.unwrap();
    let waits = |process: &DaemonProcess| matches!(&process.state, ItemState::Waiting { why, .. } if !why.is_empty());
    until(&scene, &one, "a second start", |kept| kept.iter().any(|process| process.restarts >= 1 && waits(process)))
        .await;
    let log = scene.carrier.daemon_log(&one.job.job_name, 0, 100).await.unwrap();
    assert!(
        log.is_none_or(|log| log == "no database\n"),
        "a carrier may keep no logs of processes, but not those of others"
    );
    scene.carrier.keep(Daemon { instances: 0, ..one.clone() }).await.unwrap();
    until(&scene, &one, "no process", <[DaemonProcess]>::is_empty).await;
}

pub(super) async fn another_scheduler_keeps_what_runs_of_a_daemon(ground: Arc<dyn Ground>) {
    let one = daemon(&*ground, "adopted", "exec sleep 600", 1);
    let first = Scene::of(&*ground).await;
    first.carrier.keep(one.clone()).await.unwrap();
    until(&first, &one, "a process", |kept| kept.len() == 1 && kept.iter().all(runs)).await;
    let before = first.carrier.kept(&one.job.job_name).await.unwrap();
    drop(first);
    let second = Scene::of(&*ground).await;
    second.carrier.keep(one.clone()).await.unwrap();
    until(&second, &one, "the process", |kept| kept.len() == 1 && kept.iter().all(runs)).await;
    assert_eq!(second.carrier.kept(&one.job.job_name).await, Ok(before), "it is the same process");
    assert_eq!(second.carrier.is_kept(&one).await, Ok(true));
    second.carrier.keep(Daemon { instances: 0, ..one.clone() }).await.unwrap();
    until(&second, &one, "no process", <[DaemonProcess]>::is_empty).await;
}

pub(super) async fn a_daemon_with_other_settings_runs_with_them(ground: Arc<dyn Ground>) {
    let scene = Scene::of(&*ground).await;
    let sound = daemon(&*ground, "changed", "exec sleep 600", 1);
    let failing = Daemon { app: daemon(&*ground, "changed-to-fail", "exit 3", 1).app, ..sound.clone() };
    scene.carrier.keep(sound.clone()).await.unwrap();
    until(&scene, &sound, "a process", |kept| kept.len() == 1 && kept.iter().all(runs)).await;
    scene.carrier.keep(failing).await.unwrap();
    let fails = |process: &DaemonProcess| matches!(&process.state, ItemState::Waiting { why, .. } if why.contains("exit code 3"));
    until(&scene, &sound, "one that ends", |kept| kept.iter().any(fails)).await;
    scene.carrier.keep(sound.clone()).await.unwrap();
    until(&scene, &sound, "one that lives", |kept| kept.len() == 1 && kept.iter().all(runs)).await;
    scene.carrier.keep(Daemon { instances: 0, ..sound.clone() }).await.unwrap();
    until(&scene, &sound, "no process", <[DaemonProcess]>::is_empty).await;
}
