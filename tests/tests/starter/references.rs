//! Several registry centers and several tracings in one program: jobs of every kind refer to them in settings.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use elasticjob::operations::Operations;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::memory::MemoryRegistry;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::{Settings, Sources};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// What happens within this, or never.
const LIMIT: Duration = Duration::from_secs(20);

#[elastic_job(sharding_total_count = 1)]
async fn here(_: ShardingContext) {}

#[elastic_job(sharding_total_count = 1, tracing = "audit", registry_center = "archive")]
async fn elsewhere(_: ShardingContext) {}

/// Tells the jobs of the events that it is given.
struct Sends(&'static str, UnboundedSender<String>);

impl TracingStorage for Sends {
    fn type_name(&self) -> &str {
        self.0
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        for event in events {
            if let JobEvent::Status(state) = event {
                let _ = self.1.send(format!("{} {} {}", self.0, state.job_name, state.state));
            }
        }
        Ok(())
    }
}

fn sources(test: &str, text: &str) -> Sources {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter").join("references").join(test);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("application.yaml"), text).unwrap();
    Sources::in_folder(folder)
}

async fn asked(address: SocketAddr, command: &'static str) -> String {
    let ask = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.write_all(command.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    tokio::task::spawn_blocking(ask).await.unwrap()
}

#[tokio::test]
async fn jobs_of_every_kind_belong_to_the_registry_center_that_settings_name() {
    let text = "elasticjob:\n  dump.port: 0\n  reg-centers:\n    reports:\n  jobs:\n    here: {registry-center-ref: default}\n    \
                elsewhere: {tracingRef: ''}\n    report: {elastic-job-class: here, registryCenterRef: reports}\n    \
                backup: {elastic-job-type: SCRIPT, sharding-total-count: 1, registry-center-ref: archive, props: \
                {script.command.line: echo}}\n";
    let archive: Arc<dyn RegistryCenter> = Arc::new(MemoryRegistry::new().connect());
    let started = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .sources(sources("centers", text))
        .registry_center("archive", archive.clone())
        .start();
    let app = started.await.unwrap();
    let jobs = Operations::new(archive).jobs().await.unwrap();
    let names: Vec<&str> = jobs.iter().map(|job| job.job.as_str()).collect();
    assert_eq!(names, ["backup", "elsewhere"]);
    let address = app.dump_address().unwrap();
    for (command, path) in [("dump@here\n", "/here/config"), ("dump@report\n", "/report/config")] {
        let dump = asked(address, command).await;
        assert!(dump.contains(path), "{dump}");
    }
    app.shutdown().await;
}

#[tokio::test]
async fn runs_are_traced_where_the_job_says() {
    let text = "elasticjob:\n  tracing: {type: MAIN}\n  tracings:\n    audit: {type: AUDIT}\n    off: {type: ''}\n  jobs:\n    \
                elsewhere: {registry-center-ref: default}\n    backup: {elastic-job-type: SCRIPT, sharding-total-count: 1, \
                tracing-ref: audit, props: {script.command.line: echo}}\n    quiet: {elastic-job-class: here, tracing-ref: off}\n";
    let (sender, mut told) = unbounded_channel();
    let app = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .tracing_storage(Sends("MAIN", sender.clone()))
        .tracing_storage(Sends("AUDIT", sender))
        .sources(sources("tracings", text))
        .start()
        .await
        .unwrap();
    for (job, expected) in
        [("quiet", None), ("here", Some("MAIN")), ("elsewhere", Some("AUDIT")), ("backup", Some("AUDIT"))]
    {
        app.one_off_job(&format!("{job}OneOffJobBootstrap")).unwrap().execute().await.unwrap();
        let Some(storage) = expected else { continue };
        for state in ["TASK_STAGING", "TASK_RUNNING", "TASK_FINISHED"] {
            let line = timeout(LIMIT, told.recv()).await.expect("it is told in time").unwrap();
            assert_eq!(line, format!("{storage} {job} {state}"));
        }
    }
    assert!(app.tracing().is_some() && app.tracing_named("audit").is_some() && app.tracing_named("off").is_none());
    app.shutdown().await;
}

/// What the console of an application answers to a visitor.
#[cfg(all(feature = "console", feature = "databases"))]
async fn shown(app: &ElasticJobApp, path: &str) -> String {
    let url = app.console_url().unwrap();
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    asked(host.parse().unwrap(), request.leak()).await
}

#[cfg(all(feature = "console", feature = "databases"))]
#[tokio::test]
async fn the_console_shows_the_runs_of_each_job_from_the_storage_that_it_traces_to() {
    let folder = elasticjob_tests::group::TemporaryFolder::new("console-tracings").unwrap();
    let database =
        |name: &str| format!("{{type: RDB, data-source: {{url: 'sqlite:{}'}}}}", folder.path().join(name).display());
    let text = format!(
        "elasticjob:\n  tracing: {}\n  tracings:\n    audit: {}\n  console: {{port: 0, anonymous: viewer}}\n  jobs:\n    \
         elsewhere: {{registry-center-ref: default}}\n    report: {{elastic-job-class: elsewhere, registry-center-ref: reports}}\n  \
         reg-centers:\n    reports:\n",
        database("main.db"),
        database("audit.db"),
    );
    let started = ElasticJobApp::builder().only_jobs_of(module_path!()).sources(sources("console", &text)).start();
    let app = started.await.unwrap();
    for job in ["here", "elsewhere", "report"] {
        app.one_off_job(&format!("{job}OneOffJobBootstrap")).unwrap().execute().await.unwrap();
    }
    let ran = r#""outcome":"SUCCEEDED""#;
    for (registry, job) in [("default", "here"), ("default", "elsewhere"), ("reports", "report")] {
        let path = format!("/api/v1/registries/{registry}/executions?job={job}");
        let traced = timeout(LIMIT, async {
            while !shown(&app, &path).await.contains(ran) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(traced.await.is_ok(), "{job}: {}", shown(&app, &path).await);
        let page = shown(&app, &format!("/r/{registry}/jobs/{job}/runs")).await;
        assert!(page.contains("1/1") || page.contains("Succeeded"), "{page}");
    }
    let all = shown(&app, "/api/v1/registries/default/executions").await;
    for job in ["here", "elsewhere"] {
        assert!(all.contains(&format!(r#""job":"{job}""#)), "{job}: {all}");
    }
    app.shutdown().await;
}

#[test]
fn each_registry_center_has_settings_of_its_own_from_every_source() {
    let text = "elasticjob:\n  reg-centers:\n    my.archive:\n      server-lists: a:1\n      namespace: one\n";
    let sources = sources("settings", text)
        .environment([
            ("ELASTICJOB_REG_CENTERS_MY_ARCHIVE_DIGEST", "u:p"),
            ("ELASTICJOB_REGCENTERS_EAST_NAMESPACE", "x"),
        ])
        .arguments([
            "--elasticjob.reg-centers.my.archive.namespace=two",
            "--elasticjob.regCenters.east.serverLists=b:1",
        ]);
    let settings = Settings::load(&sources, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let archive = settings.reg_centers["my.archive"].zookeeper().unwrap();
    assert_eq!((archive.server_lists.as_str(), archive.namespace.as_str()), ("a:1", "two"));
    assert_eq!(archive.digest.unwrap().reveal(), "u:p");
    assert_eq!(settings.reg_centers["east"].zookeeper().unwrap().namespace, "x");
    assert_eq!(settings.reg_center.zookeeper(), None);
}

#[tokio::test]
async fn what_is_wrong_with_them_is_told_together_with_the_keys_of_each() {
    let text = "elasticjob:\n  reg-centers:\n    archive: {server-lists: a}\n    given: {}\n    default: {}\n  tracings:\n    \
                audit: {include-job-names: x}\n    other: {type: NOBODY}\n  jobs:\n    here:\n      registry-center-ref: archiv\n      \
                tracing-ref: audits\n";
    let given: Arc<dyn RegistryCenter> = Arc::new(MemoryRegistry::new().connect());
    let started = ElasticJobApp::builder()
        .only_jobs_of(module_path!())
        .sources(sources("wrong", text))
        .registry_center("given", given)
        .start()
        .await;
    let error = started.map(|_| ()).unwrap_err().to_string();
    let parts = [
        "8 things are wrong",
        "application.yaml:3: elasticjob.reg-centers.archive.namespace is missing",
        "application.yaml:4: elasticjob.reg-centers.given cannot be set here: the application's builder has a registry center",
        "application.yaml:5: elasticjob.reg-centers.default cannot be set here: the one of `elasticjob.reg-center`",
        "application.yaml:7: unknown key 'elasticjob.tracings.audit.include-job-names'",
        "application.yaml:7: elasticjob.tracings.audit.type is missing",
        "application.yaml:8: elasticjob.tracings.other.type: 'NOBODY'",
        "application.yaml:11: job 'here': registry-center-ref: there is no registry center 'archiv'; did you mean 'archive'?",
        "application.yaml:12: job 'here': tracing-ref: there is no tracing 'audits'; did you mean 'audit'?",
    ];
    for part in parts {
        assert!(error.contains(part), "no {part:?} in: {error}");
    }
}
