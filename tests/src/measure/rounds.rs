//! What several rounds of one measurement come to, and how it is written.

use serde_json::Value;

/// The median of a number in the lines of all rounds; the upper one of two in the middle.
pub fn median(lines: &[Value], pointer: &str) -> Option<f64> {
    let mut values: Vec<f64> = lines.iter().filter_map(|line| line.pointer(pointer)?.as_f64()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// A number with as many digits as matter.
pub fn digits(value: f64) -> String {
    if value.fract() == 0.0 || value >= 100.0 {
        return format!("{value:.0}");
    }
    if value >= 10.0 { format!("{value:.1}") } else { format!("{value:.2}") }
}
