//! A statement with a list of values for each row.

use chrono::NaiveDateTime;
use sqlx::query_builder::Separated;
use sqlx::{Database, Encode, QueryBuilder, Type};

use super::cells::Cells;

/// The most rows of a statement. With many more, a statement has more placeholders than a database takes.
const MOST_ROWS: usize = 256;

/// How many of so many rows the next statement takes. It is a power of four, so that a connection knows each statement after a
/// while: it prepares none of these again, and closes none. MySQL prepares a statement with a description of each placeholder;
/// it does not answer a close, so that the statement after it waits for the acknowledgement of TCP, 40 ms long. With more
/// numbers of rows there are fewer statements in a batch, and more that the server keeps for each connection: MySQL keeps
/// 16,382 for all of them unless it is told otherwise.
pub(super) fn next_rows(rows: usize) -> usize {
    4_usize.pow(rows.clamp(1, MOST_ROWS).ilog(4))
}

/// The statement with a list of values for each row, after the given head.
pub(super) fn by_row<DB, R>(head: String, rows: Vec<R>, put: impl Fn(R, &mut dyn Cells)) -> QueryBuilder<DB>
where
    DB: Database,
    for<'e> Option<String>: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
    for<'e> bool: Encode<'e, DB> + Type<DB>,
    for<'e> Option<NaiveDateTime>: Encode<'e, DB> + Type<DB>,
{
    let mut query = QueryBuilder::new(head);
    query.push_values(rows, |row, values| put(values, &mut OneRow(row)));
    query
}

/// The place of one row in the statement.
struct OneRow<'q, DB: Database>(Separated<'q, DB, &'static str>);

impl<DB> Cells for OneRow<'_, DB>
where
    DB: Database,
    for<'e> Option<String>: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
    for<'e> bool: Encode<'e, DB> + Type<DB>,
    for<'e> Option<NaiveDateTime>: Encode<'e, DB> + Type<DB>,
{
    fn text(&mut self, value: Option<String>) {
        self.0.push_bind(value);
    }

    fn number(&mut self, value: i32) {
        self.0.push_bind(value);
    }

    fn long(&mut self, value: Option<i64>) {
        self.0.push_bind(value);
    }

    fn flag(&mut self, value: bool) {
        self.0.push_bind(value);
    }

    fn time(&mut self, value: Option<NaiveDateTime>) {
        self.0.push_bind(value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::iter;

    use super::*;

    #[test]
    fn the_rows_of_a_statement_are_few_numbers_for_all_batches() {
        let mut sizes = BTreeSet::new();
        for batch in 1..=2_000_usize {
            let parts = iter::successors(Some((0, batch)), |(_, left)| {
                let part = next_rows(*left);
                Some((part, left.checked_sub(part)?)).filter(|_| *left > 0)
            });
            let parts: Vec<usize> = parts.map(|(part, _)| part).skip(1).collect();
            assert_eq!(parts.iter().sum::<usize>(), batch);
            sizes.extend(parts);
        }
        // Four tables have as many statements each, and a connection keeps a hundred.
        assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [1, 4, 16, 64, 256]);
    }
}
