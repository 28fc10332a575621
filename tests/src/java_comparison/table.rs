//! Writes measurements as Markdown tables.

use std::fmt::Write as _;

use serde_json::Value;

use super::Measured;
use crate::measure::{digits, median};

/// Where cases are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Fires,
    Takeover,
    Reshard,
}

/// A column: its title, where its value is in a line, and by what that is divided.
type Column = (&'static str, &'static str, f64);

const FIRES: [Column; 11] = [
    ("items run of those due", "/item_runs", 1.0),
    ("requests a fire", "/registry_requests_per_fire", 1.0),
    ("writes a fire", "/registry_writes_per_fire", 1.0),
    ("late ms p50", "/lateness_us/p50", 1e3),
    ("p99", "/lateness_us/p99", 1e3),
    ("max", "/lateness_us/max", 1e3),
    ("one-off ms p50", "/latency_us/p50", 1e3),
    ("start ms", "/start_ms", 1.0),
    ("MB", "/rss_kb", 1024.0),
    ("threads", "/threads", 1.0),
    ("CPU ms a second", "/cpu_ms_per_s", 1.0),
];

const TAKEOVER: [Column; 6] = [
    ("session time-out ms", "/session_timeout_ms", 1.0),
    ("takeovers", "/takeovers", 1.0),
    ("ms from the removal p50", "/since_removal_us/p50", 1e3),
    ("max", "/since_removal_us/max", 1e3),
    ("ms from the kill p50", "/total_us/p50", 1e3),
    ("max", "/total_us/max", 1e3),
];

const RESHARD: [Column; 6] = [
    ("ms to the first owner that changes", "/waited_us", 1e3),
    ("ms to the last", "/moved_us", 1e3),
    ("ms in all", "/total_us", 1e3),
    ("requests", "/registry_requests", 1.0),
    ("writes", "/registry_writes", 1.0),
    ("requests of a fire alone", "/registry_requests_per_fire", 1.0),
];

impl Table {
    const ALL: [Self; 3] = [Self::Fires, Self::Takeover, Self::Reshard];

    fn columns(self) -> &'static [Column] {
        match self {
            Self::Fires => &FIRES,
            Self::Takeover => &TAKEOVER,
            Self::Reshard => &RESHARD,
        }
    }
}

/// Medians of all rounds, a row for Rust and one for Java for each case.
pub fn tables(measured: &[Measured]) -> String {
    let tables = Table::ALL.into_iter().filter_map(|table| {
        let cases: Vec<&Measured> = measured.iter().filter(|measured| measured.table == table).collect();
        (!cases.is_empty()).then(|| rendered(table.columns(), &cases))
    });
    tables.collect::<Vec<_>>().join("\n\n")
}

fn rendered(columns: &[Column], cases: &[&Measured]) -> String {
    let titles: Vec<&str> = columns.iter().map(|(title, ..)| *title).collect();
    let mut text = format!("| case | | {} |\n|---|---|{}", titles.join(" | "), "---|".repeat(titles.len()));
    for case in cases {
        for (name, lines) in [("Rust", &case.rust), ("Java", &case.java)] {
            let cells: Vec<String> = columns.iter().map(|column| cell(lines, column)).collect();
            // A text takes any.
            let _ = write!(text, "\n| {} | {name} | {} |", case.case, cells.join(" | "));
        }
    }
    text
}

fn cell(lines: &[Value], (_, pointer, unit): &Column) -> String {
    let Some(value) = median(lines, pointer) else { return String::new() };
    match *pointer {
        "/item_runs" => format!("{value} of {}", median(lines, "/expected_runs").unwrap_or_default()),
        "/lateness_us/p50" | "/lateness_us/p99" | "/lateness_us/max" if is_one_off(lines) => String::new(),
        _ => digits(value / unit),
    }
}

/// Manual fires are late by nothing: what counts is the time from the request on.
fn is_one_off(lines: &[Value]) -> bool {
    lines.iter().any(|line| line["latency_us"].is_object())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_have_the_medians_of_their_rounds() {
        let line =
            |late: u32| json!({ "item_runs": 9, "expected_runs": 10, "lateness_us": { "p50": late }, "rss_kb": 2048 });
        let rust = vec![line(9_000), line(1_250), line(1_500)];
        let one_off = json!({ "lateness_us": { "p50": 7 }, "latency_us": { "p50": 123_456 } });
        let text = tables(&[Measured { case: "1x10", table: Table::Fires, rust, java: vec![one_off] }]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| 1x10 | Rust | 9 of 10 |  |  | 1.50 |  |  |  |  | 2 |  |  |",
                "| 1x10 | Java |  |  |  |  |  |  | 123 |  |  |  |  |"
            ]
        );
    }

    #[test]
    fn each_kind_of_case_has_a_table_of_its_own() {
        let measured = |case, table, line: Value| Measured { case, table, rust: vec![line.clone()], java: vec![line] };
        let since_removal = json!({ "p50": 4_300, "max": 12_000 });
        let takeover = json!({ "takeovers": 8, "since_removal_us": since_removal, "session_timeout_ms": 4_000 });
        let resharded = json!({ "waited_us": 2_500, "total_us": 1_234_000, "registry_writes": 3 });
        let text = tables(&[measured("joins", Table::Reshard, resharded), measured("idle", Table::Takeover, takeover)]);
        let tables: Vec<Vec<&str>> = text.split("\n\n").map(|table| table.lines().collect()).collect();
        let [takeovers, reshardings] = &tables[..] else { panic!("{text}") };
        assert_eq!(takeovers[2], "| idle | Rust | 4000 | 8 | 4.30 | 12 |  |  |");
        assert_eq!(reshardings[3], "| joins | Java | 2.50 |  | 1234 |  | 3 |  |");
        assert_eq!(takeovers.len() + reshardings.len(), 8);
    }
}
