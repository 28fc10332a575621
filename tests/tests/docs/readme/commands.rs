//! Commands that the pages show exist, with the options that they show.

use std::fs;

use elasticjob_cli::Console;
use elasticjob_starter::settings::Sources;

use super::pages::{Page, root};

/// Runs a command of `elasticjob` without settings; its exit code, standard output and standard error.
async fn elasticjob(words: &[String]) -> (u8, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let console = Console { stdout: &mut stdout, stderr: &mut stderr, is_terminal: false };
    let code = elasticjob_cli::run(words, Sources::in_folder(env!("CARGO_TARGET_TMPDIR")), console).await;
    (code, String::from_utf8_lossy(&stdout).into_owned(), String::from_utf8_lossy(&stderr).into_owned())
}

/// The words of a command, as a shell splits it; a comment ends it.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in command.chars() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, '#') => break,
            (None, ' ') => words.push(String::new()),
            (_, character) => words.last_mut().expect("never empty").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The commands of a page, in blocks and in paragraphs.
fn commands(page: &Page) -> Vec<Vec<String>> {
    let blocks = [page.blocks(""), page.blocks("text")].concat();
    let lines: Vec<String> = blocks.iter().flat_map(|block| block.lines().map(str::to_owned)).collect();
    let all = lines.into_iter().chain(page.code_spans());
    all.map(|line| words(line.trim_start_matches("$ "))).filter(|words| words.len() > 1).collect()
}

/// The problem of a command of cargo, if it runs or builds a program that does not exist.
fn cargo_problem(words: &[String]) -> Option<String> {
    let after = |option: &str| words.iter().position(|word| word == option).and_then(|at| words.get(at + 1));
    let package = after("-p").map(String::as_str);
    let is_member = |name: &str| {
        let folders =
            ["elasticjob", "elasticjob-macros", "elasticjob-starter", "elasticjob-starter/cli", "examples", "tests"];
        folders.iter().any(|folder| {
            let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
            manifest.lines().any(|line| line == format!("name = \"{name}\""))
        })
    };
    if let Some(package) = package.filter(|package| !is_member(package)) {
        return Some(format!("there is no package {package}"));
    }
    let program = after("--bin")?;
    let folders = ["examples/src/bin", "tests/src/bin", "tests/bench"];
    let exists = folders.iter().any(|folder| root().join(folder).join(format!("{program}.rs")).exists());
    (!exists).then(|| format!("there is no program {program}"))
}

/// The command of `elasticjob` that a command of cargo builds and runs; none where it runs something else.
fn run_by_cargo(mut words: Vec<String>) -> Vec<String> {
    if !words.join(" ").starts_with("cargo run -p elasticjob-cli -- ") {
        return Vec::new();
    }
    words.splice(..=4, ["elasticjob".to_owned()]);
    words
}

#[tokio::test]
async fn every_command_that_the_pages_show_exists() {
    let (mut of_cargo, mut of_operators) = (0, 0);
    let mut wrong = Vec::new();
    for page in Page::for_users() {
        for mut words in commands(&page) {
            // Variables of the environment stand before a command.
            words.drain(..words.iter().take_while(|word| word.starts_with("ELASTICJOB_")).count());
            if words.first().is_some_and(|word| word == "cargo") {
                wrong.extend(cargo_problem(&words).map(|problem| format!("{}: {words:?}: {problem}", page.name)));
                of_cargo += 1;
                words = run_by_cargo(words);
            }
            if words.first().is_some_and(|word| word == "elasticjob") {
                // The words before `--help` are read, and nothing is done.
                words.push("--help".to_owned());
                let (code, _, stderr) = elasticjob(&words).await;
                if code != 0 {
                    wrong.push(format!("{}: {words:?}: {stderr}", page.name));
                }
                of_operators += 1;
            }
        }
    }
    assert!(of_cargo > 3 && of_operators > 10, "{of_cargo} commands of cargo, {of_operators} of elasticjob");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_found() {
    for wrong in ["elasticjob explain job --help", "elasticjob trigger job --hosts x --help"] {
        assert_ne!(elasticjob(&words(wrong)).await.0, 0, "{wrong}");
    }
    assert_eq!(cargo_problem(&words("cargo run --bin quickstart")), None);
    assert!(cargo_problem(&words("cargo run --bin slowstart")).is_some());
    assert_eq!(run_by_cargo(words("cargo run -p elasticjob-cli -- status job")), ["elasticjob", "status", "job"]);
    assert!(run_by_cargo(words("cargo run --bin quickstart -- --console")).is_empty());
    assert!(cargo_problem(&words("cargo build -p elasticjob-none")).is_some());
    assert_eq!(words("set cron='0 0 3 * * ?' x   # a comment"), ["set", "cron=0 0 3 * * ?", "x"]);
}

#[tokio::test]
async fn the_coming_fires_are_those_that_the_guide_shows() {
    let page = Page::read(&root().join("docs/guide/operations.md"));
    let blocks = page.blocks("text").concat();
    let (_, shown) = blocks.split_once("$ elasticjob next ").expect("the guide shows coming fires");
    let (command, output) = shown.split_once('\n').expect("the command has output");
    // The block ends, or the next command follows.
    let output =
        output.split("\n\n").next().and_then(|part| part.split("\n$ ").next()).expect("a first part").trim_end();
    let (code, stdout, stderr) = elasticjob(&words(&format!("elasticjob next {command}"))).await;
    assert_eq!((code, stdout.trim_end()), (0, output), "{stderr}");
}

#[test]
fn the_readme_says_how_the_tests_are_run() {
    assert!(Page::readme().code_spans().contains("tests/run"), "README.md names the command");
    assert!(root().join("tests/run").exists());
}
