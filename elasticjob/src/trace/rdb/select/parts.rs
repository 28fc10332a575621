//! The statement that counts the runs of items of several jobs by parts of a time.
//!
//! One statement reads all jobs: a page that asked for each part of each job would send hundreds of statements whenever it is
//! drawn again. It is grouped by the number of the part, which comes from comparisons with the bounds of the parts: each
//! database has another arithmetic of times, and a wall-clock time that is divided is wrong where clocks are set back.

use chrono::NaiveDateTime;
use sqlx::{ColumnIndex, Decode, Encode, QueryBuilder, Row, Type};

use super::never::comparable;
use super::{Columns, Select};
use crate::trace::rdb::dialect::{Dialect, EXECUTION_LOG, OwnColumn};
use crate::trace::rdb::wall_time::WallClock;
use crate::trace::{RunCount, RunParts};

impl<'a, DB> Select<'a, DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> i64: Encode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
{
    /// The numbers of each part that has runs. A job is told by its number in the list.
    pub(in crate::trace::rdb) fn parts(
        own: &'a [OwnColumn],
        clock: WallClock,
        wanted: &[RunParts],
    ) -> QueryBuilder<DB> {
        let (name, time) = (EXECUTION_LOG.name, EXECUTION_LOG.time);
        let numbers = super::NUMBERS;
        let head = format!("SELECT job, part, {numbers} FROM (");
        let mut select = Self::from(head, EXECUTION_LOG, own, clock);
        for (number, parts) in wanted.iter().enumerate() {
            let RunParts { job, from, until, most, .. } = parts;
            let union = if number == 0 { "" } else { " UNION ALL " };
            select.query.push(format!("{union}SELECT * FROM (SELECT '{number}' AS job, "));
            select.part(parts.parts().skip(1).map(|(begin, _)| clock.time(comparable(begin))));
            select.query.push(format!(" AS part, complete_time, is_success FROM {name} WHERE {time} IS NOT NULL"));
            select.job(Some(job));
            select.times(Some(*from), Some(*until));
            select.query.push(format!(" ORDER BY {time} DESC, id DESC LIMIT {most}) AS newest_{number}"));
        }
        select.query.push(") AS newest GROUP BY job, part");
        select.query
    }

    /// The number of the part that the start of a run is in.
    fn part(&mut self, splits: impl ExactSizeIterator<Item = NaiveDateTime>) {
        let last = splits.len();
        if last == 0 {
            self.query.push("'0'");
            return;
        }
        self.query.push("CASE");
        for (number, split) in splits.enumerate() {
            self.query.push(format!(" WHEN {} < ", self.table.time)).push_bind(split);
            self.query.push(format!(" THEN '{number}'"));
        }
        self.query.push(format!(" ELSE '{last}' END"));
    }
}

impl<R> Columns<'_, R>
where
    R: Row,
    R::Database: Dialect,
    for<'d> <R::Database as Dialect>::Time: Decode<'d, R::Database> + Type<R::Database>,
    for<'c> &'c str: ColumnIndex<R>,
    for<'d> String: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> i32: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> i64: Decode<'d, R::Database> + Type<R::Database>,
    for<'d> bool: Decode<'d, R::Database> + Type<R::Database>,
{
    /// Puts the numbers of a part in their place.
    pub(in crate::trace::rdb) fn part_into(&self, counts: &mut [Vec<RunCount>]) -> Result<(), sqlx::Error> {
        let place = |column: &str| Ok::<_, sqlx::Error>(self.text(column)?.parse::<usize>().unwrap_or(usize::MAX));
        let (job, part) = (place("job")?, place("part")?);
        let count = counts.get_mut(job).and_then(|parts| parts.get_mut(part));
        *count.ok_or(sqlx::Error::RowNotFound)? = self.run_count()?;
        Ok(())
    }

    /// The numbers of a row.
    pub(in crate::trace::rdb) fn run_count(&self) -> Result<RunCount, sqlx::Error> {
        let number = |column: &str| self.row.try_get::<i64, _>(column).map(i64::unsigned_abs);
        Ok(RunCount { runs: number("runs")?, failed: number("failed")?, no_end: number("no_end")? })
    }
}
