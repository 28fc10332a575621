//! Programs that have TLS from their settings, and the command line.

use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::Arc;

use elasticjob_cli::Console;
use elasticjob_starter::prelude::*;
use elasticjob_starter::settings::Sources;
use tokio::sync::Notify;

use crate::support::{Secured, says};

/// Set for this program as the one with the job.
const PLAYED: &str = "ELASTICJOB_TEST_TLS_PROGRAM";

static RAN: Notify = Notify::const_new();

#[elastic_job(sharding_total_count = 1)]
async fn encrypted(_context: ShardingContext) {
    RAN.notify_one();
}

/// Runs the job once where this is the program with the job.
pub fn play() -> Option<ExitCode> {
    std::env::var_os(PLAYED)?;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ran = runtime.block_on(async {
        elasticjob_starter::init_logging()?;
        let app = ElasticJobApp::builder().start().await?;
        app.one_off_job("encryptedOneOffJobBootstrap")?.execute().await?;
        RAN.notified().await;
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

fn program(server: &Secured, files: [&Path; 3]) -> Output {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.current_dir(env!("CARGO_TARGET_TMPDIR")).env(PLAYED, "1").env_remove("RUST_LOG");
    program.env("ELASTICJOB_REG_CENTER_SERVER_LISTS", server.secure.connect_string());
    program.env("ELASTICJOB_REG_CENTER_NAMESPACE", "tls-program").env("ELASTICJOB_REG_CENTER_MAX_RETRIES", "20");
    for (name, file) in ["TRUST_STORE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].into_iter().zip(files) {
        program.env(format!("ELASTICJOB_REG_CENTER_TLS_{name}"), file);
    }
    program.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub async fn runs(server: Arc<Secured>) {
    let made = &server.certificates;
    let files = ["ca.pem", "client.pem", "client.key"].map(|name| made.path(name));
    let ran = program(&server, files.each_ref().map(|file| file.as_path()));
    assert!(ran.status.success(), "{}", text(&ran.stderr));
}

pub async fn wrong_files(server: Arc<Secured>) {
    let missing = Path::new("/no/such.pem");
    let ran = program(&server, [missing, missing, &server.certificates.path("client.key")]);
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
