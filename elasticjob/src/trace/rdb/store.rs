//! The tables of one database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use elasticjob_syntax::message::Message;
use sqlx::{
    AssertSqlSafe, Column, Encode, Executor, FromRow, IntoArguments, Pool, QueryBuilder, SqlSafeStr, Statement, Type,
};

use super::dialect::{Dialect, EXECUTION_LOG, OwnColumn, SOURCE, STATUS_TRACE_LOG, Table};
use super::error::RdbError;
use super::extras::{Extra, Extras};
use super::insert::{insert_decisions, insert_executions, insert_lines, insert_states, known_states};
use super::rows::Rows;
use super::wall_time::WallClock;
use super::{Calls, Pending, RdbOptions, Retention};
use crate::log::warn;
use crate::schedule::TimeZone;
use crate::trace::{JobEvent, WriteError, now};

/// How often the tables are prepared. Instances that start together may create the same table or add the same column at
/// the same moment, and then the database refuses all but one of them.
const PREPARE_TRIES: u32 = 8;

/// How many rows are removed in one step.
const STEP: u64 = 1_000;

/// The pause between two steps, and the pause after everything old is removed.
const NEXT_STEP: Duration = Duration::from_millis(100);
const NEXT_ROUND: Duration = Duration::from_secs(600);

pub(super) struct Store<DB: Dialect> {
    pool: Pool<DB>,
    clock: WallClock,
    retention: Retention,
    /// That of the logs of runs.
    log_retention: Retention,
    /// The columns of this implementation that the tables have.
    own_of_executions: Vec<OwnColumn>,
    own_of_states: Vec<OwnColumn>,
    /// The tables beside them that can be written. The tables of Java may be all that the account may write to.
    extras: Extras,
    /// The database, for the log.
    at: String,
    /// Whether the table of states is one of ElasticJob before 3.0.5, see [`SOURCE`].
    has_source: bool,
    /// Whether the last write may have been applied without an answer.
    in_doubt: AtomicBool,
}

impl<DB> Store<DB>
where
    DB: Dialect<Arguments: IntoArguments<DB>>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
    for<'r> (String,): FromRow<'r, DB::Row>,
    for<'r> (i64,): FromRow<'r, DB::Row>,
{
    /// Creates the tables when they are missing, and reads their columns.
    pub(super) async fn prepare(
        pool: Pool<DB>,
        name: &Message,
        zone: TimeZone,
        options: RdbOptions,
    ) -> Result<Self, RdbError> {
        let (at, clock) = (name.as_str(), WallClock::of(DB::KEEPS_INSTANTS, zone));
        let mut store = Self {
            pool,
            clock,
            retention: options.retention,
            log_retention: options.run_log.unwrap_or_default(),
            own_of_executions: Vec::new(),
            own_of_states: Vec::new(),
            extras: Extras::default(),
            at: at.to_owned(),
            has_source: false,
            in_doubt: AtomicBool::new(false),
        };
        let columns = store.must_have(at, EXECUTION_LOG, DB::CREATE_EXECUTION_LOG).await?;
        store.own_of_executions = OwnColumn::among(&columns);
        let columns = store.must_have(at, STATUS_TRACE_LOG, DB::CREATE_STATUS_TRACE_LOG).await?;
        store.own_of_states = OwnColumn::among(&columns);
        store.has_source = columns.iter().any(|column| column == SOURCE);
        let has_decisions = store.has(at, Extra::Decisions, DB::CREATE_DECISION_LOG).await;
        let has_lines = options.run_log.is_some() && store.has(at, Extra::Lines, DB::CREATE_RUN_LOG).await;
        store.extras = Extras::new(has_decisions, has_lines);
        if DB::KEEPS_INSTANTS {
            check_session_zone(&store.pool, name).await?;
        }
        Ok(store)
    }

    /// The columns of a table without which nothing can be traced.
    async fn must_have(&self, at: &str, table: Table, create: &[&'static str]) -> Result<Vec<String>, RdbError> {
        let error = match self.have(at, table, create).await? {
            Ok(columns) => return Ok(columns),
            Err(error) => error,
        };
        Err(RdbError::Table { at: at.to_owned(), table: table.name, why: error })
    }

    /// Whether there is a table without which less is traced.
    async fn has(&self, at: &str, extra: Extra, create: &[&'static str]) -> bool {
        let (name, what, statements) = (extra.table().name, extra.what(), create.join("; "));
        match self.have(at, extra.table(), create).await {
            Ok(Ok(_)) => return true,
            Ok(Err(error)) => warn!(
                "tracing: {at} has no table {name} and this account may not create it, so {what} are not recorded; let an \
                 administrator run: {statements}; and GRANT this account SELECT, INSERT and DELETE on it (the database says: \
                 {error})"
            ),
            Err(error) => warn!("tracing: table {name} cannot be used, so {what} are not recorded: {error}"),
        }
        false
    }

    /// The columns of a table. Creates the table, or adds a column, where that is missing. The inner error is the text of
    /// the database where the account has not the right to create the table.
    async fn have(
        &self,
        at: &str,
        table: Table,
        create: &[&'static str],
    ) -> Result<Result<Vec<String>, String>, RdbError> {
        let unusable = |why: &dyn std::fmt::Display| {
            let (at, table) = (at.to_owned(), table.name);
            RdbError::Table { at, table, why: why.to_string() }
        };
        let mut why = String::new();
        for attempt in 1..=PREPARE_TRIES {
            let read = async { columns::<DB>(&mut *self.pool.acquire().await?, table, attempt).await };
            let changed = match read.await {
                Ok(columns) => {
                    let missing = table.missing(&columns);
                    if !missing.is_empty() {
                        return Err(RdbError::Columns { at: at.to_owned(), table: table.name, missing });
                    }
                    let has = OwnColumn::among(&columns);
                    let lacks = table.own.iter().filter(|own| !has.contains(own));
                    let add: Vec<String> = lacks.map(|own| own.add_to(table)).collect();
                    if add.is_empty() {
                        return Ok(Ok(columns));
                    }
                    match self.run(&add.iter().map(String::as_str).collect::<Vec<_>>()).await {
                        // The tables of Java are enough to write to.
                        Err(sqlx::Error::Database(error)) if DB::is_not_permitted(&*error) => {
                            let (name, add) = (table.name, add.join("; "));
                            warn!(
                                "tracing: table {name} in {at} lacks columns and this user may not add them, so rows are \
                                 written without them; let an administrator run: {add} (the database says: {error})"
                            );
                            return Ok(Ok(columns));
                        }
                        added => added,
                    }
                }
                Err(sqlx::Error::Database(error)) if DB::is_missing_table(&*error) => match self.run(create).await {
                    Err(sqlx::Error::Database(error)) if DB::is_not_permitted(&*error) => {
                        return Ok(Err(error.to_string()));
                    }
                    created => created,
                },
                Err(error) => return Err(unusable(&error)),
            };
            why = changed.err().map_or(why, |error| error.to_string());
        }
        Err(unusable(&why))
    }

    async fn run(&self, statements: &[&str]) -> Result<(), sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        for statement in statements {
            sqlx::query(AssertSqlSafe((*statement).to_owned())).execute(&mut *connection).await?;
        }
        Ok(())
    }

    /// Writes all events or none. Where the database does not take rows of an extra table, from then on all but those: a
    /// batch of nothing else is refused once.
    async fn insert(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        let extras = self.extras.of(events);
        let error = match self.insert_with(events, &extras).await {
            Err(error) if !extras.is_empty() && Self::lacks_table(&error) => error,
            inserted => return inserted.map_err(|error| Self::write_error(&error)),
        };
        // Which of the tables it is depends on the database and its language: what can be written is.
        let mut kept: Vec<Extra> = Vec::new();
        for extra in &extras {
            let with: Vec<Extra> = kept.iter().copied().chain([*extra]).collect();
            let only: Vec<JobEvent> = events.iter().filter(|event| Extra::of(event) == Some(*extra)).cloned().collect();
            match self.insert_with(&only, &with).await {
                Ok(()) => kept = with,
                Err(error) if Self::lacks_table(&error) => {}
                Err(error) => return Err(Self::write_error(&error)),
            }
        }
        let rest = events.iter().any(|event| Extra::of(event).is_none_or(|extra| kept.contains(&extra)));
        if rest {
            self.insert_with(events, &kept).await.map_err(|error| Self::write_error(&error))?;
        }
        for extra in extras.into_iter().filter(|extra| !kept.contains(extra)) {
            self.extras.give_up(extra);
            let (at, name, what) = (&self.at, extra.table().name, extra.what());
            warn!(
                "tracing: {what} are not recorded from now on, as {at} does not take rows of {name}: {error}; let an \
                 administrator GRANT this account SELECT, INSERT and DELETE on it, and start the program again"
            );
        }
        if rest { Ok(()) } else { Err(WriteError::Refused(error.to_string())) }
    }

    async fn insert_with(&self, events: &[JobEvent], extras: &[Extra]) -> Result<(), sqlx::Error> {
        let Rows { executions, mut states, decisions, lines } = Rows::of(events, self.clock);
        let mut transaction = self.pool.begin().await?;
        if self.in_doubt.swap(true, Ordering::Relaxed) && DB::KEEP_STATUS.is_empty() && !states.is_empty() {
            let mut query = known_states(&states);
            let known: Vec<(String,)> = query.build_query_as().fetch_all(&mut *transaction).await?;
            states.retain(|state| !known.iter().any(|(id,)| *id == state.id));
        }
        write(&mut transaction, executions, |rows| insert_executions(rows, &self.own_of_executions)).await?;
        write(&mut transaction, states, |rows| insert_states(rows, &self.own_of_states, self.has_source)).await?;
        if extras.contains(&Extra::Decisions) {
            write(&mut transaction, decisions, insert_decisions).await?;
        }
        if extras.contains(&Extra::Lines) {
            write(&mut transaction, lines, insert_lines).await?;
        }
        transaction.commit().await?;
        self.in_doubt.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Removes one step of rows that are too old from a table. Returns whether the step was a full one.
    async fn remove(&self, table: Table, retention: Retention) -> Result<bool, sqlx::Error> {
        let mut removed = 0;
        if let Some(days) = retention.days {
            let (head, tail) = DB::delete(table, STEP);
            let mut query = QueryBuilder::new(head);
            let oldest = days_ago(days);
            match table.in_milliseconds {
                true => query.push_bind(Some(oldest.timestamp_millis())),
                false => query.push_bind(self.clock.time(oldest)),
            };
            query.push(tail);
            removed = DB::rows_affected(&query.build().execute(&self.pool).await?);
        }
        if let Some(rows) = retention.rows.filter(|_| removed < STEP) {
            let Table { name, time, .. } = table;
            let mut count = QueryBuilder::new(format!("SELECT COUNT(*) FROM {name}"));
            let (count,): (i64,) = count.build_query_as().fetch_one(&self.pool).await?;
            let excess = u64::try_from(count).unwrap_or(0).saturating_sub(rows).min(STEP);
            if excess > 0 {
                let (head, tail) = DB::delete(table, excess);
                // In a table of its own, as MySQL does not read from the table that it deletes from.
                let newest = format!(
                    "(SELECT t.{time} FROM (SELECT {time} FROM {name} ORDER BY {time} DESC LIMIT 1 OFFSET {rows}) t)"
                );
                let mut query = QueryBuilder::new(head);
                query.push(newest).push(tail);
                removed = removed.max(DB::rows_affected(&query.build().execute(&self.pool).await?));
            }
        }
        Ok(removed >= STEP)
    }

    /// Whether a table is not there, or not for this account.
    fn lacks_table(error: &sqlx::Error) -> bool {
        let answer = error.as_database_error();
        answer.is_some_and(|error| DB::is_not_permitted(error) || DB::is_missing_table(error))
    }

    fn write_error(error: &sqlx::Error) -> WriteError {
        match error {
            sqlx::Error::Database(database) if DB::refuses(&**database) => WriteError::Refused(error.to_string()),
            // A pool goes on dialling while it waits, and does not report why that fails.
            sqlx::Error::PoolTimedOut => WriteError::Unavailable(
                "no connection to the database in time: it is away, refuses, or all connections of the pool are taken"
                    .to_owned(),
            ),
            error => WriteError::Unavailable(error.to_string()),
        }
    }
}

/// Writes rows, with as many statements as the dialect takes for them.
async fn write<DB, R>(
    connection: &mut DB::Connection,
    rows: Vec<R>,
    insert: impl Fn(Vec<R>) -> QueryBuilder<DB>,
) -> Result<(), sqlx::Error>
where
    DB: Dialect<Arguments: IntoArguments<DB>>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let mut rows = rows.into_iter();
    while rows.len() > 0 {
        let next = DB::next_rows(rows.len());
        let part = rows.by_ref().take(next).collect();
        insert(part).build().persistent(DB::KEEPS_INSERTS).execute(&mut *connection).await?;
    }
    Ok(())
}

fn days_ago(days: u32) -> DateTime<Utc> {
    now().checked_sub_signed(TimeDelta::days(days.into())).unwrap_or_default()
}

/// The columns of a table. Each attempt has another text, as connections remember the result for a text.
pub(super) async fn columns<DB>(
    connection: &mut DB::Connection,
    table: Table,
    attempt: u32,
) -> Result<Vec<String>, sqlx::Error>
where
    DB: Dialect,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let sql = AssertSqlSafe(format!("SELECT * FROM {} WHERE {attempt} = 0", table.name));
    let statement = connection.prepare(sql.into_sql_str()).await?;
    Ok(statement.columns().iter().map(|column| column.name().to_lowercase()).collect())
}

/// Refuses a pool whose sessions show times in another zone than UTC.
pub(super) async fn check_session_zone<DB>(pool: &Pool<DB>, at: &Message) -> Result<(), RdbError>
where
    DB: Dialect<Arguments: IntoArguments<DB>>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'r> (i64,): FromRow<'r, DB::Row>,
{
    let mut query = QueryBuilder::new("SELECT CAST(TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP, CURRENT_TIMESTAMP) AS SIGNED)");
    match query.build_query_as::<(i64,)>().fetch_one(pool).await {
        Ok((0,)) => Ok(()),
        Ok(_) => Err(RdbError::SessionZone { at: at.to_string() }),
        Err(error) => Err(RdbError::Connect { at: at.clone(), why: error.to_string().into() }),
    }
}

impl<DB> Calls for Store<DB>
where
    DB: Dialect<Arguments: IntoArguments<DB>>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'e> String: Encode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
    for<'e> Option<i64>: Encode<'e, DB> + Type<DB>,
    for<'r> (String,): FromRow<'r, DB::Row>,
    for<'r> (i64,): FromRow<'r, DB::Row>,
{
    fn write<'a>(&'a self, events: &'a [JobEvent]) -> Pending<'a, ()> {
        Box::pin(self.insert(events))
    }

    fn keeps(&self, extra: Extra) -> bool {
        self.extras.has(extra)
    }

    fn clean(&self) -> Pending<'_, Option<Duration>> {
        Box::pin(async {
            let of = |table: Option<Table>, retention: Retention| table.map(|table| (table, retention));
            let extra = |extra: Extra| self.extras.has(extra).then_some(extra.table());
            let tables = [
                of(Some(EXECUTION_LOG), self.retention),
                of(Some(STATUS_TRACE_LOG), self.retention),
                of(extra(Extra::Decisions), self.retention),
                of(extra(Extra::Lines), self.log_retention),
            ];
            let is_bounded = |(_, retention): &(Table, Retention)| *retention != Retention::default();
            let mut more = None;
            for (table, retention) in tables.into_iter().flatten().filter(is_bounded) {
                let removed = self.remove(table, retention).await.map_err(|error| Self::write_error(&error))?;
                more = Some(more.unwrap_or(false) | removed);
            }
            Ok(more.map(|more| if more { NEXT_STEP } else { NEXT_ROUND }))
        })
    }
}
