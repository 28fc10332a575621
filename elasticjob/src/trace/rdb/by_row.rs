//! A statement with a list of values for each row.

use chrono::NaiveDateTime;
use sqlx::query_builder::Separated;
use sqlx::{Database, Encode, QueryBuilder, Type};

use super::cells::Cells;

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
