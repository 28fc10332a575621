//! The example of README.md, built and run as it stands.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use chrono::DateTime;

use super::pages::{Page, root};

/// Long enough for the fire after the next one.
const LIMIT: Duration = Duration::from_secs(60);

/// The one block of code that has this text.
fn block(readme: &Page, language: &str, text: &str) -> String {
    let mut blocks = readme.blocks(language);
    blocks.retain(|block| block.contains(text));
    assert_eq!(blocks.len(), 1, "README.md has one block of {language} with '{text}'");
    blocks.remove(0)
}

/// A program that is ended with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The example as a project of its own, which uses the locked versions and the build output of the workspace.
fn project(readme: &Page) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(folder.join("src")).expect("a folder for the project");
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("a file of the project");

    let manifest = block(readme, "toml", "[package]");
    let (clone, here) = ("../elasticjob/elasticjob-starter", root().join("elasticjob-starter"));
    assert!(manifest.contains(clone), "the example depends on the starter in the clone: {manifest}");
    // It stands below the workspace here, and is not a member of it.
    let manifest = manifest.replace(clone, &here.display().to_string()) + "\n[workspace]\n";
    write("Cargo.toml", manifest);
    write("src/main.rs", block(readme, "rust", "fn main()"));
    write("application.yaml", block(readme, "yaml", "reg-center"));
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the versions of the workspace");
    folder
}

fn build(folder: &Path) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder is one of the build output");
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--offline", "--quiet", "--target-dir"])
        .arg(target)
        // As in the workspace, so that what is built there can be taken.
        .args(["--config", "profile.dev.debug='line-tables-only'", "--config", "profile.dev.package.'*'.debug=false"])
        .current_dir(folder)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "the example does not build:\n{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/my-jobs")
}

/// A line without its time; the time has to be one at which the schedule of the example fires.
fn without_time(line: &str) -> String {
    let (time, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no time in '{line}'"));
    let time = DateTime::parse_from_rfc3339(time).unwrap_or_else(|error| panic!("'{line}': {error}"));
    assert_eq!(time.timestamp() % 5, 0, "{line}");
    rest.to_owned()
}

#[cfg(unix)]
#[test]
fn the_example_builds_and_prints_what_the_readme_promises() {
    let readme = Page::readme();
    let promised: BTreeSet<String> = block(&readme, "text", "orders of").lines().map(without_time).collect();
    assert_eq!(promised.len(), 3);

    let folder = project(&readme);
    let program = build(&folder);
    let mut command = Command::new(program);
    // The settings of the user who runs the tests are not those of the example.
    command.env_clear().current_dir(&folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = Program(command.spawn().expect("the example starts"));
    let stderr = program.0.stderr.take().expect("it is piped");
    let log =
        thread::spawn(move || BufReader::new(stderr).lines().map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let stdout = program.0.stdout.take().expect("it is piped");
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        // An error says that the test has seen enough.
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });

    let deadline = Instant::now() + LIMIT;
    let next = || lines.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    let printed: BTreeSet<String> = (0..promised.len()).map_while(|_| next().ok()).map(|l| without_time(&l)).collect();
    let id = program.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    let status = program.0.wait().expect("it can be waited for");
    let log = log.join().expect("reading the log does not fail");
    assert_eq!(printed, promised, "{log}");
    assert!(status.success(), "{status}:\n{log}");
    assert!(log.contains("jobs run on the embedded registry") && log.contains("left job=sync_orders"), "{log}");
}
