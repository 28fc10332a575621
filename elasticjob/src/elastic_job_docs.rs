//! The documentation of the attribute says what the table of its options says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use elasticjob_syntax::job_options::{JOB_OPTIONS, JobOption};

use crate::config::JobSettings;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/elastic_job.md");
const HEAD: &str = "| option | value | meaning | default |\n|---|---|---|---|\n";

fn row(option: &JobOption) -> String {
    let mut meaning = option.meaning.to_owned();
    if let Some(short) = option.short {
        let _ = write!(meaning, " Also written `{short}`.");
    }
    format!("| `{}` | {} | {meaning} | {} |\n", option.name, option.takes, option.default)
}

#[test]
fn the_table_of_options_stands_in_the_documentation() {
    let page = include_str!("elastic_job.md");
    let (before, table) = page.split_once(HEAD).unwrap();
    let after = &table[table.find("\n\n").unwrap() + 1..];
    let rows: String = JOB_OPTIONS.iter().map(row).collect();
    let expected = format!("{before}{HEAD}{rows}{after}");
    if std::env::var_os("ELASTICJOB_WRITE_DOCS").is_some() {
        std::fs::write(FILE, expected).unwrap();
        return;
    }
    assert!(
        page == expected,
        "elastic_job.md is out of date: ELASTICJOB_WRITE_DOCS=1 cargo test -p elasticjob --lib docs"
    );
}

#[test]
fn the_options_are_the_settings_of_a_job_and_two_about_the_attribute() {
    let options: BTreeSet<&str> = JOB_OPTIONS.iter().map(|option| option.name).collect();
    let settings = JobSettings::NAMES.iter().copied().chain(["name", "crate"]);
    assert_eq!(options, settings.collect());
}
