//! Tables for readers, JSON for programs.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

/// A value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is told has a JSON form") + "\n"
}

/// Rows under a head, in columns as wide as they need to be.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<'h>(head: impl IntoIterator<Item = &'h str>) -> Self {
        Self { rows: vec![head.into_iter().map(str::to_owned).collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    pub(crate) fn into_text(self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| Some(row.get(column)?.width())).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let space = " ".repeat(width - cell.width() + 2);
                line.push_str(cell);
                line.push_str(&space);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// The text of a cell in one row: without ends of lines and control characters. An empty cell becomes a dash.
fn one_line(cell: &str) -> String {
    match cell.trim() {
        "" => "-".to_owned(),
        text => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_is_seen() {
        let mut table = Table::new(["JOB", "STATUS"]);
        table.row(["订单".to_owned(), "OK".to_owned()]);
        table.row(["a\nb".to_owned(), String::new()]);
        assert_eq!(table.into_text(), "JOB   STATUS\n订单  OK\na b   -\n");
    }
}
