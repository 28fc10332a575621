//! A user who can write the registry center runs no command on the hosts of the programs.

use std::path::{Path, PathBuf};

use super::super::ShutdownMode;
use super::remote::Remote;
use super::*;
use crate::config::wire;
use crate::job_types::JobTypes;
use crate::registry::{CreateMode, Transaction};
use crate::runtime::StartError;
use crate::test_log::Logged;

const CONFIG: &str = "/job/config";

/// Writes a configuration as a user with access to the registry center does.
pub(super) async fn written(registry: &Arc<dyn RegistryCenter>, configuration: JobConfigurationBuilder) {
    let yaml = wire::to_yaml(&configuration.build().unwrap());
    let mut transaction = Transaction::new();
    if registry.get(CONFIG).await.unwrap().is_some() {
        transaction.set(CONFIG.to_owned(), yaml, None);
    } else {
        transaction.create("/job".to_owned(), "", CreateMode::Persistent);
        transaction.create(CONFIG.to_owned(), yaml, CreateMode::Persistent);
    }
    registry.commit(transaction).await.unwrap();
}

/// The command line of a job that leaves a line in a file, and the file.
fn leaving(name: &str) -> (String, PathBuf) {
    let file = std::env::temp_dir().join(format!("elasticjob-bound-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    (format!("sh -c 'echo here >> {}'", file.display()), file)
}

fn script(command: &str, items: u32) -> JobConfigurationBuilder {
    each_second("job", items).elastic_job_type("SCRIPT").prop("script.command.line", command)
}

async fn exists(file: &Path) {
    soon(async {
        while !file.exists() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_command_of_the_registry_is_not_run() {
    let environment = environment();
    let registry = environment.embedded_registry();
    let ((ours, our_file), (theirs, their_file)) = (leaving("ours"), leaving("theirs"));
    let handler = JobTypes::built_in().get("SCRIPT").unwrap().handler().clone();
    let mut job = scheduled(&environment, &registry, script(&ours, 1), handler).await;
    written(&registry, script(&theirs, 2)).await;
    // The rest of the change is in force.
    let mut status = job.handle().status();
    soon(status.wait_for(|status| status.items == [0, 1])).await.unwrap();
    std::fs::remove_file(&our_file).ok();
    exists(&our_file).await;
    let told = soon(status.wait_for(|status| status.refused_values.is_some())).await.unwrap().refused_values.clone();
    assert!(told.is_some_and(|told| told.contains("`props.script.command.line.from-registry: true`")));
    job.shutdown(ShutdownMode::Graceful).await;
    std::fs::remove_file(&our_file).unwrap();
    assert!(!their_file.exists(), "the command of the registry was run");
}

#[tokio::test]
async fn a_job_that_runs_commands_on_the_word_of_everyone_is_warned_of() {
    let environment = environment();
    for (permission, expected) in [("false", "WARN everyone who reaches"), ("true", "ERROR everyone who reaches")] {
        let logged = Logged::default();
        let _default = ::tracing::subscriber::set_default(logged.clone());
        let registry: Arc<dyn RegistryCenter> = Remote::new(Duration::from_secs(20));
        let handler = JobTypes::built_in().get("SCRIPT").unwrap().handler().clone();
        let job = script("true", 1).prop("script.command.line.from-registry", permission);
        let mut job = scheduled(&environment, &registry, job, handler).await;
        job.shutdown(ShutdownMode::Now).await;
        let lines = logged.lines();
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{permission}: {lines:?}");
    }
}

#[tokio::test]
async fn a_job_without_a_command_of_its_own_needs_the_permission_to_run_that_of_the_registry() {
    let environment = environment();
    let handler = || JobTypes::built_in().get("SCRIPT").unwrap().handler().clone();
    let bare = || each_second("job", 1).elastic_job_type("SCRIPT");
    let (command, file) = leaving("allowed");
    let registry = environment.embedded_registry();
    let refused = ScheduleJobBootstrap::new(&environment, registry.clone(), bare().build().unwrap(), handler());
    assert!(refused.map(drop).unwrap_err().to_string().contains("script.command.line: is missing"));
    let allowed = bare().prop("script.command.line.from-registry", "true");
    // The registry center has none either: the job waits until it has.
    let configuration = allowed.clone().build().unwrap();
    let mut alone = ScheduleJobBootstrap::new(&environment, registry.clone(), configuration, handler()).unwrap();
    let why = alone.schedule().await.unwrap_err();
    let waits = matches!(&why, StartError::WaitsForConfiguration { why, .. }
        if why.contains("script.command.line: is missing") && why.contains("no configuration of the job yet"));
    assert!(waits, "{why}");
    written(&registry, script(&command, 1)).await;
    exists(&file).await;
    alone.shutdown(ShutdownMode::Graceful).await;
    std::fs::remove_file(&file).unwrap();
    let registry = environment.embedded_registry();
    written(&registry, script(&command, 1)).await;
    let mut job = scheduled(&environment, &registry, allowed, handler()).await;
    exists(&file).await;
    job.shutdown(ShutdownMode::Graceful).await;
    std::fs::remove_file(&file).unwrap();
}
