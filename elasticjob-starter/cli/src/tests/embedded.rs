//! Commands on a registry of this process.

use std::sync::Arc;

use elasticjob::registry::memory::MemoryRegistry;
use elasticjob::registry::{CreateMode, RegistryCenter, Transaction};

use super::*;

const CONFIG: &str = "cron: 0 0 0 1 1 ?\nshardingTotalCount: 1\ntimeZone: GMT\n";

/// A job with one instance.
async fn registry(config: &str) -> MemoryRegistry {
    let registry = MemoryRegistry::new();
    let mut nodes = Transaction::new();
    for (path, data) in [
        ("/tick", ""),
        ("/tick/config", config),
        ("/tick/servers", ""),
        ("/tick/servers/10.0.0.1", "ENABLED"),
        ("/tick/instances", ""),
        ("/tick/instances/10.0.0.1@-@7", ""),
        ("/tick/sharding", ""),
        ("/tick/sharding/0", ""),
        ("/tick/sharding/0/instance", "10.0.0.1@-@7"),
    ] {
        nodes.create(path, data, CreateMode::Persistent);
    }
    registry.connect().commit(nodes).await.unwrap();
    registry
}

/// What a command says, or the code and the text of its failure.
async fn says(registry: &MemoryRegistry, arguments: &[&str]) -> Result<String, (u8, String)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let done = on_registry(command(arguments), &operations(registry), false, &mut console).await;
    done.map_err(|failure| (failure.exit_code(), failure.to_string()))
}

fn command(arguments: &[&str]) -> RegistryCommand {
    let arguments = Arguments::try_parse_from(["elasticjob"].iter().chain(arguments)).unwrap();
    let Command::OnRegistry(command) = arguments.command else { panic!("{arguments:?}") };
    command
}

fn operations(registry: &MemoryRegistry) -> Operations {
    Operations::new(Arc::new(registry.connect()))
}

#[tokio::test]
async fn a_configuration_that_cannot_be_read_is_said_and_how_to_repair_it() {
    let registry = registry("cron: [").await;
    let status = says(&registry, &["status", "tick"]).await.unwrap();
    for part in [
        "status     CONFIGURATION_REFUSED\n",
        "fires      not known: its configuration cannot be used\n",
        "! its configuration in the registry center cannot be used: ",
    ] {
        assert!(status.contains(part), "{status}");
    }
    for arguments in [&["config", "get", "tick"][..], &["config", "set", "tick", "failover=true"]] {
        let (code, error) = says(&registry, arguments).await.unwrap_err();
        assert_eq!(code, 1, "{error}");
        for part in ["`elasticjob dump tick`", "`overwrite: true`", "`elasticjob config remove tick --force`"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[tokio::test]
async fn a_wrong_value_is_wrong_usage_whoever_finds_it() {
    let registry = registry(CONFIG).await;
    for wrong in [
        "sharding-total-count=many",
        "sharding-total-count=0",
        "cron=x",
        "cron=",
        "failover=perhaps",
        "job-error-handler-type=EMAIL",
    ] {
        let (code, error) = says(&registry, &["config", "set", "tick", wrong]).await.unwrap_err();
        assert_eq!(code, 2, "{wrong}: {error}");
    }
    let said = says(&registry, &["config", "set", "tick", "job-error-handler-type=PAGER"]).await.unwrap();
    let note = "not built in, so the programs of the job have to have it: job-error-handler-type 'PAGER'\n";
    assert_eq!(said, format!("job-error-handler-type: '' -> 'PAGER'\n{note}"));
}

#[tokio::test]
async fn a_job_is_triggered_on_one_server_and_its_servers_are_listed() {
    let registry = registry(CONFIG).await;
    let error = says(&registry, &["trigger", "tick", "--server", "10.0.0.9"]).await.unwrap_err();
    assert_eq!(error.0, 1, "{error:?}");
    let said = says(&registry, &["trigger", "--server", "10.0.0.1"]).await.unwrap();
    assert_eq!(said, "triggered job 'tick' on 10.0.0.1@-@7\n");
    let said = says(&registry, &["servers", "--job", "tick"]).await.unwrap();
    assert_eq!(said, "SERVER    STATUS   INSTANCES\n10.0.0.1  ENABLED  1\n");
}
