//! Writes the figures as one Markdown table.

use std::fmt::Write as _;

use serde_json::Value;

use super::case::Figure;
use super::{FAILS, Measured, NOT_WITHIN, Party};
use crate::measure::{digits, median};

/// Medians of all rounds, a row for each figure.
pub fn table(measured: &[Measured]) -> String {
    let mut text = "| | | goal | before | now | peer | limit |\n|---|---|---|---|---|---|---|".to_owned();
    for case in measured {
        for (index, figure) in case.case.figures.iter().enumerate() {
            let name = if index == 0 { case.case.name } else { "" };
            let cells = Party::ALL.map(|party| cell(case.of(party), figure));
            // A text takes any.
            let _ = write!(text, "\n| {name} | {} | {} | {} |", figure.title, figure.goal, cells.join(" | "));
        }
    }
    text
}

fn cell(lines: &[Value], figure: &Figure) -> String {
    let Some(value) = median(lines, figure.pointer) else {
        if lines.iter().any(|line| line[FAILS].is_string()) {
            return "fails".to_owned();
        }
        let seconds = lines.iter().find_map(|line| line[NOT_WITHIN].as_u64());
        return seconds.map(|seconds| format!("not ended within {seconds} s")).unwrap_or_default();
    };
    match median(lines, "/expected_runs").filter(|_| figure.pointer == "/item_runs") {
        Some(due) => format!("{value} of {due}"),
        None => digits(value / figure.unit),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::goals::case::CASES;

    #[test]
    fn a_figure_is_a_row_with_the_median_of_each_party() {
        let case = CASES.iter().find(|case| case.name == "1,000 jobs together").unwrap();
        let line = |late: u32| json!({ "requests_per_s": 5.9, "lateness_us": { "p50": late }, "item_runs": 7, "expected_runs": 8 });
        let now = vec![line(9_000), line(1_250), line(1_500)];
        let limit = vec![json!({ "lateness_us": { "p50": 123_456 } })];
        let text = table(&[Measured { case, lines: [vec![], now, vec![], limit] }]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows.len(), case.figures.len());
        assert_eq!(rows[0], "| 1,000 jobs together | requests a second | <= 40 |  | 5.90 |  |  |");
        assert_eq!(rows[1], "|  | late, ms p50 | <= 15 |  | 1.50 |  | 123 |");
        assert_eq!(rows[3], "|  | item runs, of those due | all |  | 7 of 8 |  |  |");
    }

    #[test]
    fn who_cannot_keep_up_or_fails_is_named() {
        let case = CASES.iter().find(|case| case.name == "5,000 jobs together").unwrap();
        let before = vec![json!({ NOT_WITHIN: 180 })];
        let text = table(&[Measured { case, lines: [before, vec![], vec![], vec![]] }]);
        assert!(text.ends_with("| late, ms p99 |  | not ended within 180 s |  |  |  |"), "{text}");
        let before = vec![json!({ FAILS: "so many do not fit" })];
        let text = table(&[Measured { case, lines: [before, vec![], vec![], vec![]] }]);
        assert!(text.ends_with("| late, ms p99 |  | fails |  |  |  |"), "{text}");
    }

    #[test]
    fn cases_have_names_of_their_own() {
        let mut names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len());
    }
}
