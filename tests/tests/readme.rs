//! Keeps README.md and the code in step: its example is built and run as it stands, its settings and links exist.

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
use elasticjob_starter::settings::{SettingError, Settings, Sources};

/// Long enough for the fire after the next one.
const LIMIT: Duration = Duration::from_secs(60);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the workspace")
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md can be read")
}

/// The blocks of code in a language.
fn blocks(readme: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while lines.any(|line| line == opening) {
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(block.join("\n") + "\n");
    }
    blocks
}

/// The one block of code that has this text.
fn block(readme: &str, language: &str, text: &str) -> String {
    let mut blocks = blocks(readme, language);
    blocks.retain(|block| block.contains(text));
    assert_eq!(blocks.len(), 1, "README.md has one block of {language} with '{text}'");
    blocks.remove(0)
}

/// What stands in code style inside of text and tables.
fn code_spans(readme: &str) -> BTreeSet<String> {
    let mut in_block = false;
    let mut spans = BTreeSet::new();
    let mut text = String::new();
    for line in readme.lines() {
        in_block ^= line.starts_with("```");
        if !in_block && !line.starts_with("```") {
            text.push_str(line);
            text.push(' ');
        }
    }
    spans.extend(text.split('`').skip(1).step_by(2).map(str::to_owned));
    spans
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
fn project(readme: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(folder.join("src")).expect("a folder for the project");
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("a file of the project");

    let manifest = block(readme, "toml", "[package]");
    let (clone, here) = ("../elasticjob/elasticjob-starter", root().join("elasticjob-starter"));
    assert!(manifest.contains(clone), "the example depends on the starter in the clone: {manifest}");
    // It stands below the workspace here, and is none of its members.
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
    let readme = readme();
    let promised: BTreeSet<String> = block(&readme, "text", "orders of").lines().map(without_time).collect();
    assert_eq!(promised.len(), 3);

    let folder = project(&readme);
    let program = build(&folder);
    let mut command = Command::new(program);
    // Settings of whoever runs the tests are not those of the example.
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

#[test]
fn code_that_is_taken_from_an_example_is_the_same_there() {
    let readme = readme();
    let mut found = 0;
    for part in readme.split("<!-- from ").skip(1) {
        let (file, rest) = part.split_once(" -->\n```rust\n").expect("a file and its code");
        let (code, _) = rest.split_once("```").expect("the end of the code");
        let source = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(source.contains(code), "{file} does not have\n{code}");
        found += 1;
    }
    assert!(found > 0, "README.md shows code of examples");
}

#[test]
fn every_file_that_the_documents_link_exists() {
    let documents = fs::read_dir(root().join("docs")).expect("the folder of documents");
    let documents = documents.map(|entry| entry.expect("an entry of a folder").path());
    let documents = documents.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    let mut broken = Vec::new();
    let mut found = 0;
    for file in documents.chain(["README.md", "CHANGELOG.md"].map(|name| root().join(name))) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let folder = file.parent().expect("a file has a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let path = link.split('#').next().unwrap_or_default();
            found += 1;
            if !link.contains("://") && !path.is_empty() && !folder.join(path).exists() {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(found > 5, "the documents have links");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// What is wrong with the name of a setting, if it does not exist.
fn unknown(key: &str) -> Option<String> {
    let sources = Sources::in_folder(env!("CARGO_TARGET_TMPDIR")).arguments([format!("--{key}=0")]);
    let problems = Settings::load(&sources, &[]).err().unwrap_or_default();
    let unknown = |problem: &SettingError| matches!(problem, SettingError::UnknownKey { .. });
    problems.iter().find(|problem| unknown(problem)).map(ToString::to_string)
}

/// Whether a text looks like the name of a setting without what stands before it, and is not the name of a package.
fn is_setting_name(text: &str) -> bool {
    let mut words = text.split('-');
    let are_words = words.clone().all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()));
    are_words && text.contains('-') && words.next() != Some("elasticjob")
}

/// Whether the starter has a feature of that name.
fn is_feature(name: &str) -> bool {
    let manifest = fs::read_to_string(root().join("elasticjob-starter/Cargo.toml")).expect("a manifest");
    manifest.lines().any(|line| line.starts_with(&format!("{name} = [")))
}

#[test]
fn every_setting_that_the_readme_names_exists() {
    let mut wrong = Vec::new();
    let mut found = 0;
    for span in code_spans(&readme()) {
        let name = span.split([':', '=']).next().unwrap_or_default().trim_start_matches("--");
        if let Some(variable) = name.strip_prefix("ELASTICJOB_") {
            let sources = Sources::in_folder(env!("CARGO_TARGET_TMPDIR")).environment([(name, "x")]);
            let settings = Settings::load(&sources, &["sync_orders"]);
            wrong.extend(
                settings.iter().flat_map(|settings| &settings.warnings).map(|warning| format!("{variable}: {warning}")),
            );
        } else if name.starts_with("elasticjob.") {
            wrong.extend(unknown(name));
        } else if is_setting_name(name) {
            let elsewhere = ["reg-center", "tracing"];
            let of_job = unknown(&format!("elasticjob.jobs.any.{name}"));
            let is_unknown = |section| unknown(&format!("elasticjob.{section}.{name}")).is_some();
            wrong.extend(of_job.filter(|_| !is_feature(name) && elsewhere.into_iter().all(is_unknown)));
        } else {
            continue;
        }
        found += 1;
    }
    assert!(found > 20, "README.md names settings");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
