//! What was measured, as a table of Markdown.

use std::fmt::Write as _;

use serde_json::Value;

use super::Measured;

/// A column: its title, where its value is in a line, and by what that is divided.
const COLUMNS: [(&str, &str, f64); 11] = [
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

/// Medians of all rounds, a row for Rust and one for Java for each case.
pub fn table(measured: &[Measured]) -> String {
    let titles: Vec<&str> = COLUMNS.iter().map(|(title, ..)| *title).collect();
    let mut text = format!("| case | | {} |\n|---|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for case in measured {
        for (name, lines) in [("Rust", &case.rust), ("Java", &case.java)] {
            let cells: Vec<String> = COLUMNS.iter().map(|column| cell(lines, column)).collect();
            // A text takes any.
            let _ = writeln!(text, "| {} | {name} | {} |", case.case, cells.join(" | "));
        }
    }
    text
}

fn cell(lines: &[Value], (_, pointer, unit): &(&str, &str, f64)) -> String {
    let Some(value) = median(lines, pointer) else { return String::new() };
    match *pointer {
        "/item_runs" => format!("{value} of {}", median(lines, "/expected_runs").unwrap_or_default()),
        "/lateness_us/p50" | "/lateness_us/p99" | "/lateness_us/max" if is_one_off(lines) => String::new(),
        _ => number(value / unit),
    }
}

/// Manual fires are late by nothing: what counts is the time from the request on.
fn is_one_off(lines: &[Value]) -> bool {
    lines.iter().any(|line| line["latency_us"].is_object())
}

fn median(lines: &[Value], pointer: &str) -> Option<f64> {
    let mut values: Vec<f64> = lines.iter().filter_map(|line| line.pointer(pointer)?.as_f64()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// With as many digits as matter.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        return format!("{value:.0}");
    }
    if value >= 10.0 { format!("{value:.1}") } else { format!("{value:.2}") }
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
        let text = table(&[Measured { case: "1x10", rust, java: vec![one_off] }]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| 1x10 | Rust | 9 of 10 |  |  | 1.50 |  |  |  |  | 2 |  |  |",
                "| 1x10 | Java |  |  |  |  |  |  | 123 |  |  |  |  |"
            ]
        );
    }
}
