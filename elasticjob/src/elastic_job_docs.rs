//! Checks that the documentation of the attribute agrees with the table of its options.

use std::fmt::Write as _;

use elasticjob_syntax::job_option::{self, JobOption, Unset};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/elastic_job.md");
const HEAD: &str = "| option | value | meaning | default |\n|---|---|---|---|\n";

fn row(option: &JobOption) -> String {
    let unset = match option.unset {
        Unset::Value(value) => format!("`{value}`"),
        Unset::Words(words) => words.to_owned(),
    };
    let (meaning, unset) =
        option.in_attribute.map_or((option.meaning, unset), |(meaning, unset)| (meaning, unset.to_owned()));
    let mut meaning = meaning.to_owned();
    if let Some(short) = option.short {
        let _ = write!(meaning, " Also written `{short}`.");
    }
    format!("| `{}` | {} | {meaning} | {unset} |\n", option.name, option.takes())
}

#[test]
fn the_table_of_options_stands_in_the_documentation() {
    let page = include_str!("elastic_job.md");
    let (before, table) = page.split_once(HEAD).unwrap();
    let after = &table[table.find("\n\n").unwrap() + 1..];
    let rows: String = job_option::all().map(row).collect();
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
