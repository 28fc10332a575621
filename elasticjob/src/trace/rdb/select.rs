//! The statements that read rows, and the rows as records.

mod fires;
mod never;
mod parts;

use chrono::{DateTime, NaiveDateTime, Utc};
use sqlx::{ColumnIndex, Decode, Encode, QueryBuilder, Row, Type};

use self::never::{NO_ROW, comparable, comparable_micros, fits_no_column, is_in_no_column};
use super::dialect::{DECISION_LOG, Dialect, EXECUTION_LOG, OwnColumn, RUN_LOG, Shown, Table};
use super::wall_time::{Bound, WallClock};
use crate::ident::{InstanceId, JobName};
use crate::trace::{
    Cursor, DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionOutcome, ExecutionRecord, LogFilter, LogLevel,
    LogRecord, PageRequest, StateFilter, StateRecord,
};

/// The numbers of runs of items by their end.
const NUMBERS: &str = "COUNT(*) AS runs, \
     COUNT(CASE WHEN complete_time IS NOT NULL AND NOT is_success THEN 1 END) AS failed, \
     COUNT(CASE WHEN complete_time IS NULL THEN 1 END) AS no_end";

/// A statement that reads rows of a table, under construction.
pub(super) struct Select<'a, DB: Dialect> {
    query: QueryBuilder<DB>,
    table: Table,
    own: &'a [OwnColumn],
    clock: WallClock,
    /// A column that a filter needs and the table does not have.
    lacks: Option<OwnColumn>,
}

impl<'a, DB> Select<'a, DB>
where
    DB: Dialect,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Type<DB>,
    for<'e> i64: Encode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
{
    fn new(table: Table, own: &'a [OwnColumn], clock: WallClock) -> Self {
        let columns: Vec<&str> = table.columns.iter().copied().chain(own.iter().map(|own| own.name())).collect();
        let head = format!("SELECT {} FROM {} WHERE {} IS NOT NULL", columns.join(", "), table.name, table.time);
        Self::from(head, table, own, clock)
    }

    fn from(head: String, table: Table, own: &'a [OwnColumn], clock: WallClock) -> Self {
        Self { query: QueryBuilder::new(head), table, own, clock, lacks: None }
    }

    pub(super) fn executions(own: &'a [OwnColumn], clock: WallClock, filter: &ExecutionFilter) -> Self {
        Self::new(EXECUTION_LOG, own, clock).of_executions(filter)
    }

    /// The begin of a statement that counts, see [`count`](Self::count).
    pub(super) fn outcomes(own: &'a [OwnColumn], clock: WallClock, filter: &ExecutionFilter) -> Self {
        let head = format!(
            "SELECT {NUMBERS} FROM (SELECT complete_time, is_success FROM {} WHERE {} IS NOT NULL",
            EXECUTION_LOG.name, EXECUTION_LOG.time
        );
        Self::from(head, EXECUTION_LOG, own, clock).of_executions(filter)
    }

    fn of_executions(self, filter: &ExecutionFilter) -> Self {
        let ExecutionFilter {
            id,
            job,
            jobs,
            item,
            from,
            until,
            instance,
            ip,
            scheduled_at,
            outcome,
            source,
            run_id,
            task_id,
        } = filter;
        let (own, mut select) = (self.own, self);
        select.text("id", id.clone());
        select.job(job.as_ref());
        select.jobs(jobs);
        select.times(*from, *until);
        if let Some(item) = item {
            select.query.push(" AND sharding_item = ").push_bind(i32::try_from(*item).unwrap_or(i32::MAX));
        }
        if let Some(at) = scheduled_at {
            match own.contains(&OwnColumn::ScheduledAt) {
                true => drop(select.query.push(" AND scheduled_at = ").push_bind(at.timestamp_millis())),
                false => select.lacks = Some(OwnColumn::ScheduledAt),
            }
        }
        select.query.push(match outcome {
            None => "",
            Some(ExecutionOutcome::Succeeded) => " AND complete_time IS NOT NULL AND is_success",
            Some(ExecutionOutcome::Failed) => " AND complete_time IS NOT NULL AND NOT is_success",
            Some(ExecutionOutcome::NoEnd) => " AND complete_time IS NULL",
        });
        select.text("ip", ip.clone());
        select.text("execution_source", source.map(|source| source.to_string()));
        select.text("task_id", task_id.clone());
        select.instance(instance.as_ref());
        select.run(run_id.as_deref());
        select
    }

    pub(super) fn states(own: &'a [OwnColumn], clock: WallClock, filter: &StateFilter) -> Self {
        let StateFilter { job, jobs, from, until, instance, ip, state, state_name, execution_type, run_id, task_id } =
            filter;
        let mut select = Self::new(super::dialect::STATUS_TRACE_LOG, own, clock);
        select.job(job.as_ref());
        select.jobs(jobs);
        select.times(*from, *until);
        select.text("slave_id", ip.clone());
        select.text("state", state.map(|state| state.to_string()));
        select.text("state", state_name.clone());
        select.text("execution_type", execution_type.map(|kind| kind.to_string()));
        select.text("task_id", task_id.clone());
        select.instance(instance.as_ref());
        select.run(run_id.as_deref());
        select
    }

    pub(super) fn decisions(clock: WallClock, filter: &DecisionFilter) -> Self {
        let DecisionFilter { job, jobs, item, instance, ip, from, until, fire, kinds } = filter;
        let mut select = Self::new(DECISION_LOG, &[], clock);
        select.job(job.as_ref());
        select.jobs(jobs);
        select.times(*from, *until);
        if let Some(item) = item {
            // The items are a list as `rows` writes it: [3, 4].
            let places = [format!("[{item}]"), format!("[{item}, %"), format!("%, {item}, %"), format!("%, {item}]")];
            select.like("sharding_items", places);
        }
        select.text("instance_id", instance.as_ref().map(ToString::to_string));
        if let Some(ip) = ip {
            select.like("instance_id", [format!("{}@-@%", escaped(ip))]);
        }
        if let Some(fire) = fire.map(|fire| fire.timestamp_millis()) {
            select.query.push(" AND (scheduled_at = ").push_bind(fire);
            select.query.push(" OR (scheduled_at < ").push_bind(fire);
            select.query.push(" AND scheduled_until > ").push_bind(fire).push("))");
        }
        if !kinds.is_empty() {
            select.query.push(" AND kind IN (");
            let mut list = select.query.separated(", ");
            kinds.iter().for_each(|kind| {
                list.push_bind(kind.to_string());
            });
            select.query.push(")");
        }
        select
    }

    /// The whole statement for the first `limit` lines of the log of a run.
    pub(super) fn log(clock: WallClock, filter: &LogFilter, limit: u32) -> QueryBuilder<DB> {
        let LogFilter { job, execution_id, after, level, contains } = filter;
        let mut select = Self::new(RUN_LOG, &[], clock);
        select.text("execution_id", Some(execution_id.clone()));
        select.query.push(" AND line_number > ").push_bind(i32::try_from(*after).unwrap_or(i32::MAX));
        select.job(Some(job));
        if let Some(least) = level {
            select.query.push(" AND log_level IN (");
            let mut list = select.query.separated(", ");
            LogLevel::ALL.into_iter().filter(|level| level >= least).for_each(|level| {
                list.push_bind(level.to_string());
            });
            select.query.push(")");
        }
        if let Some(text) = contains {
            select.like("message", [format!("%{}%", escaped(text))]);
        }
        select.query.push(format!(" ORDER BY line_number LIMIT {limit}"));
        select.query
    }

    fn text(&mut self, column: &str, value: Option<String>) {
        match value {
            Some(value) if is_in_no_column(&value) => drop(self.query.push(NO_ROW)),
            Some(value) => drop(self.query.push(format!(" AND {column} = ")).push_bind(value)),
            None => {}
        }
    }

    /// The comparison by the index, and where that does not tell capitals apart, one that does.
    fn job(&mut self, job: Option<&JobName>) {
        let Some(job) = job else { return };
        self.text("job_name", Some(job.as_str().to_owned()));
        if let Some(exact) = DB::EXACT_JOB_NAME {
            self.query.push(" AND ").push(exact).push(" = ").push_bind(job.as_str().to_owned());
        }
    }

    fn jobs(&mut self, patterns: &[String]) {
        if !patterns.is_empty() && !patterns.iter().any(|pattern| pattern == "*") {
            let any = |pattern: &String| pattern.split('*').map(escaped).collect::<Vec<_>>().join("%");
            self.like("job_name", patterns.iter().map(any));
        }
    }

    /// The column matches one of these patterns, which escape with `!`.
    fn like(&mut self, column: &str, patterns: impl IntoIterator<Item = String>) {
        let mut patterns = patterns.into_iter().filter(|pattern| !fits_no_column(pattern)).peekable();
        if patterns.peek().is_none() {
            self.query.push(NO_ROW);
            return;
        }
        for (number, pattern) in patterns.enumerate() {
            let begin = if number == 0 { " AND (" } else { " OR " };
            self.query.push(format!("{begin}{column} LIKE ")).push_bind(pattern).push(" ESCAPE '!'");
        }
        self.query.push(")");
    }

    fn times(&mut self, from: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) {
        let time = self.table.time;
        if let Some(from) = from {
            self.query.push(format!(" AND {time} >= "));
            self.bound(from, Bound::From);
        }
        if let Some(until) = until {
            self.query.push(format!(" AND {time} < "));
            self.bound(until, Bound::Until);
        }
    }

    fn bound(&mut self, at: DateTime<Utc>, bound: Bound) {
        match self.table.in_milliseconds {
            true => self.query.push_bind(at.timestamp_millis()),
            false => self.query.push_bind(self.clock.bound(comparable(at), bound)),
        };
    }

    /// The time of a cursor, in the unit of the table.
    fn after(&mut self, time: i64) {
        match self.table.in_milliseconds {
            true => self.query.push_bind(time),
            false => self.query.push_bind(comparable_micros(time).naive_utc()),
        };
    }

    /// A Java instance writes its id as the end of the task id alone.
    fn instance(&mut self, instance: Option<&InstanceId>) {
        let Some(instance) = instance else { return };
        let ends = format!("%@-@{}", escaped(instance.as_str()));
        if fits_no_column(&ends) {
            self.query.push(NO_ROW);
            return;
        }
        let has_column = self.own.contains(&OwnColumn::InstanceId);
        if has_column {
            self.query.push(" AND (instance_id = ").push_bind(instance.as_str().to_owned());
            self.query.push(" OR instance_id IS NULL");
        }
        self.query.push(" AND task_id LIKE ").push_bind(ends).push(" ESCAPE '!'");
        if has_column {
            self.query.push(")");
        }
    }

    fn run(&mut self, run_id: Option<&str>) {
        let Some(run_id) = run_id else { return };
        match self.own.contains(&OwnColumn::RunId) {
            true => self.text("run_id", Some(run_id.to_owned())),
            false => self.lacks = Some(OwnColumn::RunId),
        }
    }

    /// The whole statement, for the numbers of the `most` rows that come last: of all, of those that ended badly, and of
    /// those without an end.
    ///
    /// # Errors
    /// A column that the filter needs is missing.
    pub(super) fn count(mut self, most: u32) -> Result<QueryBuilder<DB>, &'static str> {
        if let Some(column) = self.lacks {
            return Err(column.name());
        }
        let time = self.table.time;
        self.query.push(format!(" ORDER BY {time} DESC, id DESC LIMIT {most}) AS newest"));
        Ok(self.query)
    }

    /// The whole statement, for one row more than the page has.
    ///
    /// # Errors
    /// A column that the filter needs is missing.
    pub(super) fn page(mut self, page: &PageRequest) -> Result<QueryBuilder<DB>, &'static str> {
        if let Some(column) = self.lacks {
            return Err(column.name());
        }
        let time = self.table.time;
        if let Some(Cursor { time: after, id }) = page.cursor() {
            // A comparison of pairs would say the same, and MySQL uses no index for it.
            self.query.push(format!(" AND {time} <= "));
            self.after(*after);
            self.query.push(format!(" AND ({time} < "));
            self.after(*after);
            self.query.push(" OR id < ").push_bind(id.clone()).push(")");
        }
        self.query.push(format!(" ORDER BY {time} DESC, id DESC LIMIT {}", page.size() + 1));
        Ok(self.query)
    }
}

/// A text in a pattern that escapes with `!`.
fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| matches!(c, '%' | '_' | '!').then_some('!').into_iter().chain([c])).collect()
}

/// A record with the time that its table has, of which the place in the order is made.
pub(super) struct Placed<T> {
    pub(super) record: T,
    pub(super) cursor: Cursor,
}

/// The columns of a row.
pub(super) struct Columns<'r, R> {
    row: &'r R,
    own: &'r [OwnColumn],
    clock: WallClock,
}

impl<'r, R> Columns<'r, R>
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
    pub(super) fn of(row: &'r R, own: &'r [OwnColumn], clock: WallClock) -> Self {
        Self { row, own, clock }
    }

    fn text(&self, column: &str) -> Result<String, sqlx::Error> {
        Ok(self.row.try_get::<Option<String>, _>(column)?.unwrap_or_default())
    }

    fn time(&self, column: &str) -> Result<Option<NaiveDateTime>, sqlx::Error> {
        let time: Option<<R::Database as Dialect>::Time> = self.row.try_get(column)?;
        Ok(time.map(|time| {
            let Shown(time) = time.into();
            time
        }))
    }

    fn own_text(&self, column: OwnColumn) -> Result<Option<String>, sqlx::Error> {
        if self.own.contains(&column) { self.row.try_get(column.name()) } else { Ok(None) }
    }

    fn scheduled_at(&self) -> Result<Option<DateTime<Utc>>, sqlx::Error> {
        match self.own.contains(&OwnColumn::ScheduledAt) {
            true => self.milliseconds(OwnColumn::ScheduledAt.name()),
            false => Ok(None),
        }
    }

    fn placed<T>(id: &str, time: NaiveDateTime, record: T) -> Placed<T> {
        Placed { record, cursor: Cursor::after(time.and_utc().timestamp_micros(), id) }
    }

    pub(super) fn execution(&self) -> Result<Placed<ExecutionRecord>, sqlx::Error> {
        let start = self.time("start_time")?.unwrap_or_default();
        let complete = self.time("complete_time")?;
        let success: bool = self.row.try_get("is_success")?;
        let item: i32 = self.row.try_get("sharding_item")?;
        let id = self.text("id")?;
        let record = ExecutionRecord {
            id: id.clone(),
            job_name: self.text("job_name")?,
            task_id: self.text("task_id")?,
            hostname: self.text("hostname")?,
            ip: self.text("ip")?,
            sharding_item: u32::try_from(item).unwrap_or_default(),
            source: self.text("execution_source")?,
            start_time: self.clock.instant(start),
            complete_time: complete.map(|time| self.clock.instant(time)),
            outcome: match (complete, success) {
                (None, _) => ExecutionOutcome::NoEnd,
                (Some(_), true) => ExecutionOutcome::Succeeded,
                (Some(_), false) => ExecutionOutcome::Failed,
            },
            failure_cause: self.row.try_get("failure_cause")?,
            run_id: self.own_text(OwnColumn::RunId)?,
            scheduled_at: self.scheduled_at()?,
            instance: self.own_text(OwnColumn::InstanceId)?,
            attempt: self.own_text(OwnColumn::Attempt)?,
        };
        Ok(Self::placed(&id, start, record))
    }

    pub(super) fn state(&self) -> Result<Placed<StateRecord>, sqlx::Error> {
        let time = self.time("creation_time")?.unwrap_or_default();
        let id = self.text("id")?;
        let record = StateRecord {
            id: id.clone(),
            job_name: self.text("job_name")?,
            task_id: self.text("task_id")?,
            ip: self.text("slave_id")?,
            execution_type: self.text("execution_type")?,
            sharding_items: self.text("sharding_item")?,
            state: self.text("state")?,
            message: self.text("message")?,
            creation_time: self.clock.instant(time),
            run_id: self.own_text(OwnColumn::RunId)?,
            scheduled_at: self.scheduled_at()?,
            instance: self.own_text(OwnColumn::InstanceId)?,
            attempt: self.own_text(OwnColumn::Attempt)?,
        };
        Ok(Self::placed(&id, time, record))
    }

    fn milliseconds(&self, column: &str) -> Result<Option<DateTime<Utc>>, sqlx::Error> {
        let at: Option<i64> = self.row.try_get(column)?;
        Ok(at.and_then(DateTime::from_timestamp_millis))
    }

    pub(super) fn decision(&self) -> Result<Placed<DecisionRecord>, sqlx::Error> {
        let (id, at) = (self.text("id")?, self.milliseconds("decided_at")?.unwrap_or_default());
        let record = DecisionRecord {
            id: id.clone(),
            job_name: self.text("job_name")?,
            at,
            kind: self.text("kind")?,
            scheduled_at: self.milliseconds("scheduled_at")?,
            scheduled_until: self.milliseconds("scheduled_until")?,
            // Only this implementation writes the table, and it writes both as JSON has them.
            sharding_items: serde_json::from_str(&self.text("sharding_items")?).unwrap_or_default(),
            instance: self.row.try_get("instance_id")?,
            related_instance: self.row.try_get("related_instance")?,
            reason: self.text("reason")?,
            detail: serde_json::from_str(&self.text("detail")?).unwrap_or_default(),
        };
        Ok(Placed { record, cursor: Cursor::after(at.timestamp_millis(), id) })
    }

    pub(super) fn line(&self) -> Result<LogRecord, sqlx::Error> {
        let number =
            |column: &str| self.row.try_get::<i32, _>(column).map(|number| u32::try_from(number).unwrap_or_default());
        Ok(LogRecord {
            line: number("line_number")?,
            at: self.milliseconds("logged_at")?.unwrap_or_default(),
            level: self.text("log_level")?,
            target: self.text("target")?,
            message: self.text("message")?,
            left_out: number("left_out")?,
        })
    }
}
