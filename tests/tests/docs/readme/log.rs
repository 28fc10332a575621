//! Lines of the log that the pages show are made of texts of the code.

use std::fs;
use std::path::Path;

use super::pages::{Page, root};

/// The code whose lines the pages show.
const SOURCES: [&str; 4] =
    ["elasticjob/src/fire", "elasticjob/src/engine", "elasticjob/src/runtime", "elasticjob-starter/src/app"];
/// What stands before a line of a job in a log.
const TARGET: &str = " elasticjob::runtime::log: ";
/// Shorter texts say too little to be looked for.
const SHORTEST: usize = 5;

/// The code below a folder, with texts that go over several lines in one.
fn code_below(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let entries = entries.map(|entry| entry.expect("an entry of a folder").path());
    let texts = entries.map(|path| match path.is_dir() {
        true => code_below(&path),
        false => fs::read_to_string(&path).expect("readable source"),
    });
    let code = texts.collect::<Vec<_>>().join("\n");
    let mut lines = code.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, rest| joined + rest.trim_start())
}

/// The parts of a line that the code has as they are: without numbers, names and what follows them.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split(" ... ").flat_map(|part| part.split([':', ',', ';']));
    let fixed = |part: &str| part.find(|character: char| character.is_ascii_digit() || "[.".contains(character));
    parts.map(move |part| part[..fixed(part).unwrap_or(part.len())].trim()).filter(|part| part.len() >= SHORTEST)
}

#[test]
fn lines_of_the_log_that_the_pages_show_are_those_of_the_code() {
    let code: String = SOURCES.iter().map(|folder| code_below(&root().join(folder))).collect();
    let mut found = 0;
    for page in Page::for_users() {
        let blocks = [page.blocks(""), page.blocks("text")].concat().concat();
        let shown = blocks.lines().filter_map(|line| line.split_once(TARGET)).map(|(_, line)| line);
        let shown = shown.map(|line| line.split(" job=").next().unwrap_or_default());
        // The table of lines, with what they mean.
        let (_, table) = page.text.split_once("## What the log says").unwrap_or_default();
        let rows = table.lines().take_while(|line| !line.starts_with("## "));
        let listed = rows.filter_map(|row| row.strip_prefix("| `")?.split_once("` |")).map(|(line, _)| line);
        for part in shown.chain(listed).flat_map(parts) {
            assert!(code.contains(part), "{} shows '{part}', which no line of the log has", page.name);
            found += 1;
        }
    }
    assert!(found > 20, "the pages show lines of the log: {found} parts");
}
