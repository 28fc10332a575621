//! PostgreSQL takes whole columns: one array for each, however many rows there are. It reads such a statement faster than
//! one with a placeholder for every value.

use chrono::NaiveDateTime;
use sqlx::{Postgres, QueryBuilder};

use super::cells::Cells;

/// The statement with an array for each column, after the given head.
pub(super) fn by_column<R>(head: String, rows: Vec<R>, put: impl Fn(R, &mut dyn Cells)) -> QueryBuilder<Postgres> {
    let mut columns = Columns::default();
    for row in rows {
        columns.next = 0;
        put(row, &mut columns);
    }
    let mut query = QueryBuilder::new(head);
    query.push("SELECT * FROM UNNEST(");
    let mut arrays = query.separated(", ");
    for column in columns.all {
        match column {
            Column::Text(values) => arrays.push_bind(values),
            Column::Number(values) => arrays.push_bind(values),
            Column::Long(values) => arrays.push_bind(values),
            Column::Flag(values) => arrays.push_bind(values),
            Column::Time(values) => arrays.push_bind(values),
        };
    }
    query.push(")");
    query
}

/// The columns, filled row by row.
#[derive(Default)]
struct Columns {
    all: Vec<Column>,
    /// The column of the next value.
    next: usize,
}

enum Column {
    Text(Vec<Option<String>>),
    Number(Vec<i32>),
    Long(Vec<Option<i64>>),
    Flag(Vec<bool>),
    Time(Vec<Option<NaiveDateTime>>),
}

/// Takes a value into the column of its turn: all rows have the same kinds of values in the same order.
macro_rules! take {
    ($columns:expr, $kind:ident, $value:expr) => {{
        let columns = $columns;
        if columns.next == columns.all.len() {
            columns.all.push(Column::$kind(Vec::new()));
        }
        match &mut columns.all[columns.next] {
            Column::$kind(values) => values.push($value),
            _ => unreachable!("a row has other values than the one before"),
        }
        columns.next += 1;
    }};
}

impl Cells for Columns {
    fn text(&mut self, value: Option<String>) {
        take!(self, Text, value);
    }

    fn number(&mut self, value: i32) {
        take!(self, Number, value);
    }

    fn long(&mut self, value: Option<i64>) {
        take!(self, Long, value);
    }

    fn flag(&mut self, value: bool) {
        take!(self, Flag, value);
    }

    fn time(&mut self, value: Option<NaiveDateTime>) {
        take!(self, Time, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_one_array_for_each_column_however_many_rows_there_are() {
        let put = |(name, number): (&str, i32), cells: &mut dyn Cells| {
            cells.text(Some(name.to_owned()));
            cells.number(number);
        };
        let text = |rows| by_column("INSERT INTO t (name, number) ".to_owned(), rows, put).sql().as_str().to_owned();
        assert_eq!(text(vec![("a", 1)]), "INSERT INTO t (name, number) SELECT * FROM UNNEST($1, $2)");
        assert_eq!(text(vec![("a", 1), ("b", 2), ("c", 3)]), text(vec![("a", 1)]));
    }
}
