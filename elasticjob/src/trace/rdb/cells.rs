//! The values of a row, as they go into a statement.

use chrono::NaiveDateTime;

/// Takes the values of a row in the order of the columns.
pub(super) trait Cells {
    fn text(&mut self, value: Option<String>);
    fn number(&mut self, value: i32);
    fn long(&mut self, value: Option<i64>);
    fn flag(&mut self, value: bool);
    fn time(&mut self, value: Option<NaiveDateTime>);
}
