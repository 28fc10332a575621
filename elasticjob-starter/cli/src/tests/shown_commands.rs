//! Commands that pages, findings, alerts and errors show: each is one of the command line.

use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;
use elasticjob::ident::JobName;
use elasticjob::operations::{Remedy, shell_command};

use crate::args::Arguments;

/// The repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Names that jobs, servers and users may have.
const NAMES: [&str; 9] =
    ["settle", "-x", "--json", "--", "it's a job", "'", "a b", "报表;reboot", "- $(reboot)`x` \"q\" \\"];

/// What stands for a value in a text, with a value.
const VALUES: [(&str, &str); 13] = [
    ("{job}", "settle"),
    ("JOB", "settle"),
    ("{item}", "0"),
    ("{server}", "10.0.0.1"),
    ("{fire}", "2026-11-21T03:00:00Z"),
    ("{user}", "zhang"),
    ("FILE", "console.db"),
    ("HOST:PORT", "localhost:9888"),
    ("SETTING=VALUE", "cron='0 0 3 * * ?'"),
    ("{operand}", "settle"),
    ("{option}", "--job settle"),
    ("{of_server}", "--server 10.0.0.1"),
    ("{}", "2026-11-21T03:00:00Z"),
];

/// The words of a line, as a shell splits it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut is_quoted, mut characters) = (false, line.chars());
    while let Some(character) = characters.next() {
        let last = words.last_mut().expect("there is a first word");
        match character {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => last.extend(characters.next()),
            ' ' if !is_quoted => words.push(String::new()),
            other => last.push(other),
        }
    }
    words
}

/// Why the command line does not take a command; `None` where it does.
fn wrong(command: &str) -> Option<clap::Error> {
    let filled = VALUES.iter().fold(command.to_owned(), |command, (name, value)| command.replace(name, value));
    Arguments::try_parse_from(words(&filled)).err()
}

/// The command line takes the command, and has the name in it as one word.
fn is_right_with(command: &str, name: Option<&str>) {
    assert!(wrong(command).is_none(), "{command}: {}", wrong(command).expect("it is wrong"));
    let has = |name: &str| words(command).iter().any(|word| word == name || *word == format!("--job={name}"));
    assert!(name.is_none_or(has), "{command}");
}

fn text(path: &str) -> String {
    let path = Path::new(ROOT).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The parts of a text that begin with a command between these marks.
fn between<'a>(text: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = String> + 'a {
    let begun = text.match_indices(begin).map(move |(at, _)| &text[at + begin.len()..]);
    let begun = begun.filter(|rest| rest.starts_with("elasticjob "));
    begun.filter_map(move |rest| Some(rest.split_once(end)?.0.to_owned()))
}

#[cfg(feature = "console")]
#[test]
fn every_command_that_a_page_of_the_console_offers_is_one_of_the_command_line() {
    let table = text("elasticjob-starter/console/src/parity/table.rs");
    let commands: Vec<String> = between(&table, "\"", "\"").collect();
    assert!(commands.len() > 20, "{commands:?}");
    for (command, name) in commands.iter().flat_map(|command| NAMES.map(|name| (command, name))) {
        let value = |of: &str| match of {
            "item" => Some("0".to_owned()),
            "fire" | "at" => Some("2026-11-21T03:00:00Z".to_owned()),
            "cron" => Some("0 0 3 * * ?".to_owned()),
            "zone" => Some("Asia/Shanghai".to_owned()),
            _ => Some(name.to_owned()),
        };
        is_right_with(&shell_command(command, value), command.contains("{job}").then_some(name));
    }
}

#[test]
fn every_command_of_a_remedy_is_one_of_the_command_line_whatever_the_job_is_called() {
    let remedies = [
        Remedy::CorrectConfiguration,
        Remedy::ChangeSchedule,
        Remedy::EnableServers,
        Remedy::EnableServer("10.0.0.1".to_owned()),
        Remedy::EnableItem(3),
        Remedy::CancelRun(3),
        Remedy::Trigger,
    ];
    let written = text("elasticjob/src/operations/views/finding.rs").matches("format!(\"elasticjob ").count();
    assert_eq!(written, remedies.len(), "each command of the source is tried");
    for name in NAMES {
        let job = JobName::new(name).expect("a name");
        for remedy in &remedies {
            is_right_with(&remedy.command(&job).expect("a command does it"), Some(name));
            if let Remedy::EnableServer(_) = remedy {
                is_right_with(&Remedy::EnableServer(name.to_owned()).command(&job).expect("it does"), Some(name));
            }
        }
    }
}

#[test]
fn every_command_that_an_alert_names_is_one_of_the_command_line() {
    let rules = text("docs/prometheus/elasticjob.rules.yaml");
    let commands: Vec<String> = between(&rules, "`", "`").collect();
    assert_eq!(commands.len(), rules.matches("elasticjob ").count(), "{commands:?}");
    assert!(commands.len() > 5);
    for (command, name) in commands.iter().flat_map(|command| NAMES.map(|name| (command, name))) {
        // As Prometheus fills it in: `elasticjob.rules.test.yaml` has an example of it.
        let filled =
            command.replace(r#"{{ reReplaceAll "'" "'\\''" $labels.job_name }}"#, &name.replace('\'', r"'\''"));
        assert!(!filled.contains("{{"), "{command}");
        is_right_with(&filled, Some(name));
    }
}

#[cfg(feature = "cloud")]
#[test]
fn every_command_that_a_text_of_the_programs_names_is_one_of_the_command_line() {
    let folders = [
        "elasticjob/src",
        "elasticjob-starter/src",
        "elasticjob-starter/cli/src",
        "elasticjob-starter/cloud/src",
        "elasticjob-starter/console/src",
        "elasticjob-starter/console/i18n",
        "elasticjob-starter/console/templates",
    ];
    let mut count = 0;
    for path in folders.iter().flat_map(|folder| files(&Path::new(ROOT).join(folder))) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // What documents the code names commands in short, and is not shown to operators.
        let shown = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in shown {
            let marks = [("`", "`"), ("<code>", "</code>"), ("format!(\"", "\"")];
            for command in marks.iter().flat_map(|(begin, end)| between(line, begin, end)) {
                // A text may name a command without what it needs.
                let wrong = wrong(&command).filter(|wrong| wrong.kind() != ErrorKind::MissingRequiredArgument);
                assert!(wrong.is_none(), "{}: {command}: {}", path.display(), wrong.expect("it is wrong"));
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    for command in [
        "elasticjob explain {job}",
        "elasticjob trigger {job} --hosts x",
        "elasticjob trigger --json",
        "elasticjob enable --job -x",
    ] {
        assert!(wrong(command).is_some(), "{command}");
    }
    assert_eq!(words(r"set 'it'\''s a job' cron='0 0 3'"), ["set", "it's a job", "cron=0 0 3"]);
}
