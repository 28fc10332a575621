//! The statement that counts how the items of the newest fires of several jobs ended. One statement reads all jobs: each by
//! the index of its name and time, and never more rows than were asked for.

use sqlx::{ColumnIndex, Decode, Encode, QueryBuilder, Row, Type};

use super::{Columns, Select};
use crate::ident::JobName;
use crate::trace::rdb::dialect::{Dialect, EXECUTION_LOG, OwnColumn};
use crate::trace::rdb::wall_time::WallClock;
use crate::trace::{FireCount, NewestRuns};

impl<'a, DB> Select<'a, DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> i64: Encode<'e, DB> + Type<DB>,
    for<'e> chrono::NaiveDateTime: Encode<'e, DB> + Type<DB>,
{
    /// The fires of these jobs. A job is told by its number in the list: where a database does not tell capitals apart, rows
    /// of two jobs would become one.
    pub(in crate::trace::rdb) fn fires(
        own: &'a [OwnColumn],
        clock: WallClock,
        wanted: &[NewestRuns],
    ) -> QueryBuilder<DB> {
        let (name, time) = (EXECUTION_LOG.name, EXECUTION_LOG.time);
        let second = DB::SECOND_OF_START;
        // Runs without a scheduled time belong together by the second in which they began.
        let fire = match own.contains(&OwnColumn::ScheduledAt) {
            true => format!("scheduled_at, CASE WHEN scheduled_at IS NULL THEN {second} END AS began"),
            false => format!("{second} AS began"),
        };
        let keys = if own.contains(&OwnColumn::ScheduledAt) { "job, scheduled_at, began" } else { "job, began" };
        let head = format!(
            "SELECT {keys}, MIN(start_time) AS first_start, COUNT(*) AS runs, COUNT(DISTINCT sharding_item) AS items, \
             COUNT(DISTINCT CASE WHEN complete_time IS NOT NULL AND is_success THEN sharding_item END) AS succeeded, \
             COUNT(DISTINCT CASE WHEN complete_time IS NOT NULL THEN sharding_item END) AS ended FROM ("
        );
        let mut select = Self::from(head, EXECUTION_LOG, own, clock);
        for (number, NewestRuns { job, most, from }) in wanted.iter().enumerate() {
            let union = if number == 0 { "" } else { " UNION ALL " };
            select.query.push(format!(
                "{union}SELECT * FROM (SELECT '{number}' AS job, {fire}, start_time, complete_time, is_success, sharding_item \
                 FROM {name} WHERE {time} IS NOT NULL"
            ));
            select.job(Some(job));
            select.times(*from, None);
            select.query.push(format!(" ORDER BY {time} DESC, id DESC LIMIT {most}) AS newest_{number}"));
        }
        select.query.push(format!(") AS newest GROUP BY {keys}"));
        select.query
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
    /// A fire of one of these jobs.
    pub(in crate::trace::rdb) fn fire(&self, wanted: &[NewestRuns]) -> Result<FireCount, sqlx::Error> {
        let job: Option<&JobName> =
            self.text("job")?.parse().ok().and_then(|number: usize| wanted.get(number)).map(|wanted| &wanted.job);
        let job = job.ok_or(sqlx::Error::RowNotFound)?;
        let number = |column: &str| self.row.try_get::<i64, _>(column).map(i64::unsigned_abs);
        let started = self.time("first_start")?.map(|time| self.clock.instant(time)).unwrap_or_default();
        let [runs, items] = [number("runs")?, number("items")?];
        let [succeeded, ended] = [number("succeeded")?, number("ended")?];
        Ok(FireCount {
            job_name: job.to_string(),
            scheduled_at: self.scheduled_at()?,
            started,
            runs,
            items,
            succeeded,
            failed: ended - succeeded,
            no_end: items - ended,
        })
    }
}
