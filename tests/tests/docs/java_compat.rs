//! The list of Java's faults in `docs/java-compat.md` names rules, files and tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// How many faults of the Java release are known.
const FAULTS: usize = 59;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the workspace")
}

fn sources_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let entries = entries.map(|entry| entry.expect("an entry of a folder").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_source = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "rs");
    files.into_iter().filter(is_source).chain(folders.iter().flat_map(|folder| sources_below(folder))).collect()
}

#[test]
fn every_known_fault_of_java_is_settled_and_by_something_that_exists() {
    let page = fs::read_to_string(root().join("docs/java-compat.md")).expect("the page can be read");
    let (_, faults) = page.split_once("## Races and faults of Java").expect("the list of faults");
    let rows: Vec<Vec<&str>> = faults
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").collect())
        .filter(|cells: &Vec<&str>| cells[0].parse::<usize>().is_ok())
        .collect();
    let numbers: Vec<usize> = rows.iter().filter_map(|cells| cells[0].parse().ok()).collect();
    assert_eq!(numbers, Vec::from_iter(1..=FAULTS));

    let files: Vec<PathBuf> =
        ["elasticjob/src", "tests/tests"].iter().flat_map(|f| sources_below(&root().join(f))).collect();
    let code: String = files.iter().map(|file| fs::read_to_string(file).expect("readable source")).collect();
    let mut wrong = Vec::new();
    for cells in &rows {
        let [number, _, state, how] = cells.as_slice() else { panic!("{cells:?} has not four cells") };
        if !["Done", "Absent", "Later"].contains(state) {
            wrong.push(format!("{number}: '{state}' is no way to settle it"));
        }
        for span in how.split('`').skip(1).step_by(2) {
            let exists = match span {
                file if file.ends_with(".rs") => files.iter().any(|known| known.ends_with(file)),
                name if name.contains('_') && name == name.to_lowercase() => code.contains(&format!("fn {name}(")),
                _ => true,
            };
            if !exists {
                wrong.push(format!("{number}: there is no `{span}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
