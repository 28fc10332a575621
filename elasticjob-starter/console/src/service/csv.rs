//! Tables as files for spreadsheets.

/// What a file begins with: a mark by which spreadsheets know that it is UTF-8, and the names of the columns.
pub(crate) fn head(columns: &[&str]) -> String {
    format!("\u{feff}{}", row(columns))
}

/// A row as CSV (RFC 4180).
pub(crate) fn row(cells: &[impl AsRef<str>]) -> String {
    cells.iter().map(|text| cell(text.as_ref())).collect::<Vec<_>>().join(",") + "\r\n"
}

/// A text that a spreadsheet would take for a formula gets a quote before it, which makes it a text.
fn cell(text: &str) -> String {
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_becomes_a_formula_and_no_text_ends_its_cell() {
        for (text, written) in [
            ("a b", "a b"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("  +1", "'  +1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("say \"no\", twice", "\"say \"\"no\"\", twice\""),
            ("=1\n2", "\"'=1\n2\""),
            ("订单", "订单"),
        ] {
            assert_eq!(cell(text), written, "{text}");
        }
        assert_eq!(head(&["a", "b"]) + &row(&["1", ""]), "\u{feff}a,b\r\n1,\r\n");
    }
}
