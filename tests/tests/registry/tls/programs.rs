//! Programs that have TLS from their settings, and the command line.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use elasticjob::registry::RegistryCenter;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use elasticjob_cli::Console;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::support::{Secured, says};

/// Set where this program is the one with the jobs: the jobs that it runs, with commas between them.
const PLAYED: &str = "ELASTICJOB_TEST_TLS_PROGRAM";

static RAN: Notify = Notify::const_new();

#[elastic_job(sharding_total_count = 1)]
async fn encrypted(_context: ShardingContext) {
    RAN.notify_one();
}

#[elastic_job(sharding_total_count = 1)]
async fn archived(_context: ShardingContext) {
    RAN.notify_one();
}

/// Runs each job once where this is the program with the jobs.
pub fn play() -> Option<ExitCode> {
    let jobs = std::env::var(PLAYED).ok()?;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ran = runtime.block_on(async {
        elasticjob_starter::init_logging()?;
        let app = ElasticJobApp::builder().start().await?;
        for job in jobs.split(',') {
            app.one_off_job(&format!("{job}OneOffJobBootstrap"))?.execute().await?;
            RAN.notified().await;
        }
        app.shutdown().await;
        Ok::<(), Box<dyn std::error::Error>>(())
    });
    Some(match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

/// A program that runs these jobs, without settings yet.
fn program(jobs: &str) -> Command {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.current_dir(env!("CARGO_TARGET_TMPDIR")).env(PLAYED, jobs).env_remove("RUST_LOG");
    program
}

/// Gives it a registry center, whose settings begin so, with files of TLS where there are any.
fn with_center<'f>(
    program: &mut Command,
    section: &str,
    [servers, namespace]: [&str; 2],
    files: impl IntoIterator<Item = (&'f str, PathBuf)>,
) {
    let mut set = |name: &str, value: &OsStr| {
        program.env(format!("{section}_{name}"), value);
    };
    set("SERVER_LISTS", servers.as_ref());
    set("NAMESPACE", namespace.as_ref());
    set("MAX_RETRIES", "20".as_ref());
    for (name, file) in files {
        set(&format!("TLS_{name}"), file.as_os_str());
    }
}

/// Those that a server accepts.
fn own_files(server: &Secured) -> [(&'static str, PathBuf); 3] {
    let made = &server.certificates;
    [("TRUST_STORE", "ca.pem"), ("CLIENT_CERTIFICATE", "client.pem"), ("CLIENT_KEY", "client.key")]
        .map(|(name, file)| (name, made.path(file)))
}

/// A program with one registry center.
fn alone(server: &Secured, files: [(&str, PathBuf); 3]) -> Output {
    let mut program = program("encrypted");
    with_center(&mut program, "ELASTICJOB_REG_CENTER", [&server.secure.connect_string(), "tls-program"], files);
    program.output().unwrap()
}

/// A program whose job `archived` is of the registry center `archive`, the only one with TLS.
fn with_archive(
    server: &Secured,
    namespace: &str,
    files: impl IntoIterator<Item = (&'static str, PathBuf)>,
) -> Command {
    let mut program = program("encrypted,archived");
    let plain = server.secure.server.connect_string();
    with_center(&mut program, "ELASTICJOB_REG_CENTER", [&plain, &format!("{namespace}-main")], []);
    let secure = server.secure.connect_string();
    with_center(&mut program, "ELASTICJOB_REG_CENTERS_ARCHIVE", [&secure, &format!("{namespace}-archive")], files);
    program.env("ELASTICJOB_JOBS_ARCHIVED_REGISTRY_CENTER_REF", "archive");
    program
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub async fn runs(server: Arc<Secured>) {
    let ran = alone(&server, own_files(&server));
    assert!(ran.status.success(), "{}", text(&ran.stderr));
}

pub async fn named_center(server: Arc<Secured>) {
    let ran = with_archive(&server, "tls-named", own_files(&server)).output().unwrap();
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    for (namespace, job, other) in
        [("tls-named-main", "encrypted", "archived"), ("tls-named-archive", "archived", "encrypted")]
    {
        let config = ZookeeperConfiguration::new(server.secure.server.connect_string(), namespace);
        let center = ZookeeperRegistryCenter::connect(config, &Handle::current()).await.unwrap();
        let has = async |job: &str| center.get(&format!("/{job}/config")).await.unwrap().is_some();
        assert!(has(job).await && !has(other).await, "{namespace}");
        center.close().await;
    }
}

pub async fn named_center_refused(server: Arc<Secured>) {
    let secure = server.secure.connect_string();
    let told = |files: &[(&'static str, PathBuf)]| {
        let mut program = with_archive(&server, "tls-refused", files.iter().cloned());
        // It gives up after eight seconds, half of which is left for a look at the server.
        program.env("ELASTICJOB_REG_CENTERS_ARCHIVE_MAX_SLEEP_TIME_MILLISECONDS", "1000");
        let ran = program.env("ELASTICJOB_REG_CENTERS_ARCHIVE_MAX_RETRIES", "8").output().unwrap();
        assert!(!ran.status.success());
        let told = text(&ran.stderr);
        says(&told, &["no job was started: elasticjob.reg-centers.archive: no ZooKeeper server", &secure]);
        told
    };
    let [trust_store, ..] = own_files(&server);
    says(&told(&[trust_store]), &["showed no certificate: set tls.client-certificate and tls.client-key"]);
    // The other registry center has no TLS, and needs none.
    says(&told(&[]), &["set tls.enabled: true"]);
}

pub async fn wrong_files(server: Arc<Secured>) {
    let [trust_store, certificate, key] = own_files(&server);
    let missing = |(name, _)| (name, PathBuf::from("/no/such.pem"));
    let ran = alone(&server, [missing(trust_store), missing(certificate), key]);
    assert!(!ran.status.success());
    let told = text(&ran.stderr);
    for key in ["TRUST_STORE", "CLIENT_CERTIFICATE"] {
        says(&told, &[&format!("ELASTICJOB_REG_CENTER_TLS_{key}"), "'/no/such.pem'", "cannot be read", "name"]);
    }
}

pub async fn command_line(server: Arc<Secured>) {
    let namespace = ["--namespace", "tls-command-line"];
    let servers = server.secure.connect_string();
    let [ca, certificate, key] =
        ["ca.pem", "client.pem", "client.key"].map(|name| server.certificates.path(name).display().to_string());
    let files = ["--tls-trust-store", &ca, "--tls-client-certificate", &certificate, "--tls-client-key", &key];
    let asked = async |files: &[&str]| {
        let arguments = [&["elasticjob", "jobs", "--server-lists", &servers], &namespace[..], files].concat();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
        let sources = Sources::in_folder(env!("CARGO_TARGET_TMPDIR"));
        (elasticjob_cli::run(arguments, sources, console).await, text(&stderr))
    };
    // The namespace is missing, as the command line makes none: it was looked for over TLS.
    let (code, told) = asked(&files).await;
    assert_eq!(code, 1, "{told}");
    says(&told, &["has no namespace 'tls-command-line'"]);
    let (code, told) = asked(&["--tls-trust-store", "/no/such.pem"]).await;
    assert_eq!(code, 2, "{told}");
    says(&told, &["--tls-trust-store", "'/no/such.pem'", "cannot be read"]);
    let (code, told) = asked(&["--tls"]).await;
    assert_eq!(code, 3, "{told}");
    says(&told, &["not of a CA that this system trusts", "tls.trust-store"]);
}
