//! The tables of `docs/faults.md` name files, tests and planted bugs that exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Roots of the paths on the page, in the order in which they are tried.
const ROOTS: [&str; 3] = ["elasticjob/src", "", "elasticjob-starter"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is a folder of the workspace")
}

/// The file that the page means; `starter/` is short for the sources of the starter.
fn file(named: &str) -> Option<PathBuf> {
    let named = named.replacen("starter/", "elasticjob-starter/src/", usize::from(named.starts_with("starter/")));
    ROOTS.iter().map(|folder| root().join(folder).join(&named)).find(|path| path.exists())
}

fn sources_below(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            sources_below(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
    }
}

/// Whether a span is the name of a test: words with `_` between them, as no other span of a test is.
fn is_test(span: &str) -> bool {
    span.matches('_').count() > 2 && span.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// What is wrong with a cell that names tests and files. A test is a function of the file before it; tests that get a
/// server are registered by their names.
fn wrong_names(cell: &str, tests: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut text = String::new();
    for span in cell.split('`').skip(1).step_by(2) {
        let (path, test) = match span.split_once("::") {
            Some((path, test)) => (path, Some(test)),
            None => (span, None),
        };
        let is_path = path.contains('/') && !path.contains(' ') && !path.starts_with('/');
        if is_path {
            match file(path) {
                Some(path) if path.is_file() => text = fs::read_to_string(&path).expect("a readable file"),
                Some(_) => text.clear(),
                None => wrong.push(format!("there is no file `{path}`")),
            }
        } else if path.ends_with(".rs") && test.is_some() {
            match file(path) {
                Some(path) => text = fs::read_to_string(&path).expect("a readable file"),
                None => wrong.push(format!("there is no file `{path}`")),
            }
        }
        if let Some(test) = test {
            if is_test(test) && !text.contains(&format!("fn {test}(")) {
                wrong.push(format!("there is no test `{span}`"));
            }
        } else if is_test(span) && !tests.contains(&format!("fn {span}(")) && !tests.contains(&format!("\"{span}\"")) {
            wrong.push(format!("there is no test `{span}`"));
        }
    }
    wrong
}

#[test]
fn the_faults_that_were_found_are_kept_away_by_what_exists() {
    let page = fs::read_to_string(root().join("docs/faults.md")).expect("the page can be read");
    let planted = fs::read_to_string(root().join("elasticjob/src/engine/planted.rs")).expect("a readable file");
    let mut tests = String::new();
    for folder in ["tests/tests", "elasticjob/src", "elasticjob-starter"] {
        sources_below(&root().join(folder), &mut tests);
    }
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").collect())
        .skip(1)
        .collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for cells in &rows {
        let [fault, reproduced, mended, kept, bugs, _] = cells.as_slice() else {
            panic!("{cells:?} has not six cells")
        };
        let mut of_row: Vec<String> =
            [reproduced, mended, kept].iter().flat_map(|cell| wrong_names(cell, &tests)).collect();
        if !bugs.starts_with("none: ") {
            let named = bugs.split('`').skip(1).step_by(2);
            let unknown = named.filter(|bug| !planted.contains(&format!("(\"{bug}\",")));
            of_row.extend(unknown.map(|bug| format!("there is no planted bug `{bug}`")));
        }
        wrong.extend(of_row.into_iter().map(|what| format!("{}: {what}", fault.chars().take(50).collect::<String>())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_is_gone_is_found() {
    let wrong =
        wrong_names("`engine/tests/retry.rs::a_test_that_nobody_wrote`, `engine/no_such_file.rs`, `processes`", "");
    assert_eq!(
        wrong,
        [
            "there is no test `engine/tests/retry.rs::a_test_that_nobody_wrote`",
            "there is no file `engine/no_such_file.rs`"
        ]
    );
}
