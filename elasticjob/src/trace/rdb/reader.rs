//! Reads the tables of one database.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use chrono::NaiveDateTime;
use elasticjob_syntax::message::Message;
use sqlx::pool::PoolConnection;
use sqlx::{ColumnIndex, Decode, Encode, Executor, IntoArguments, Pool, QueryBuilder, Type};
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::RdbPool;
use super::dialect::{DECISION_LOG, Dialect, EXECUTION_LOG, OwnColumn, RUN_LOG, STATUS_TRACE_LOG, Table};
use super::error::RdbError;
use super::select::{Columns, Placed, Select};
use super::source::{DataSource, Use};
use super::store::{check_session_zone, columns};
use super::turns::{LONGEST_WAIT, NoTurn, Turns};
use super::wall_time::WallClock;
use crate::schedule::TimeZone;
use crate::texts;
use crate::trace::{
    DecisionFilter, DecisionRecord, ExecutionFilter, ExecutionRecord, FireCount, LogFilter, LogRecord, NewestRuns,
    Page, PageRequest, ReadError, RunCount, RunParts, StateFilter, StateRecord, TraceReader,
};

/// A statement of SQLite has at most 500 parts.
const MOST_JOBS: usize = 400;

/// How many values a statement has at most: SQLite takes 32,766 of them, the other databases twice as many.
const MOST_VALUES: usize = 30_000;

/// Reads what was traced to a database, by Java instances as well. It creates nothing, and needs the right to read alone.
///
/// As many reads go on at a time as its pool has connections: 4 for a reader that connects by itself. Others wait for their turn,
/// in their order, for at most 5 seconds; then they fail with [`ReadError::TooManyReaders`]. A read whose future is dropped
/// leaves the queue.
pub struct RdbTraceReader {
    reader: Box<dyn Calls>,
    at: Message,
}

impl RdbTraceReader {
    /// Connects with connections of its own. `time_zone` is the zone of times in PostgreSQL and SQLite, see
    /// [`RdbOptions`](super::RdbOptions); default: that of the host.
    ///
    /// # Errors
    /// [`RdbError`] when the database is not reached or refuses.
    pub async fn connect(source: &DataSource, time_zone: Option<TimeZone>) -> Result<Self, RdbError> {
        let (pool, at) = source.open(Use::Read).await?;
        Self::prepare(pool, at, time_zone).await
    }

    /// Uses a pool of the application.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    pub async fn on_pool(pool: impl Into<RdbPool>, time_zone: Option<TimeZone>) -> Result<Self, RdbError> {
        let pool = pool.into();
        let at = pool.of_application();
        Self::prepare(pool, at, time_zone).await
    }

    async fn prepare(pool: RdbPool, at: Message, time_zone: Option<TimeZone>) -> Result<Self, RdbError> {
        let zone = time_zone.map_or_else(TimeZone::local, Ok)?;
        let reader: Box<dyn Calls> = match pool {
            #[cfg(feature = "tracing-sqlite")]
            RdbPool::Sqlite(pool) => Box::new(Reader::prepare(pool, &at, zone).await?),
            #[cfg(feature = "tracing-postgres")]
            RdbPool::Postgres(pool) => Box::new(Reader::prepare(pool, &at, zone).await?),
            #[cfg(feature = "tracing-mysql")]
            RdbPool::MySql(pool) => Box::new(Reader::prepare(pool, &at, zone).await?),
        };
        Ok(Self { reader, at })
    }

    /// The name of the database, without a password.
    pub fn at(&self) -> &str {
        self.at.as_str()
    }
}

impl fmt::Debug for RdbTraceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RdbTraceReader").field("at", &self.at()).finish_non_exhaustive()
    }
}

impl TraceReader for RdbTraceReader {
    async fn executions(
        &self,
        filter: &ExecutionFilter,
        page: &PageRequest,
    ) -> Result<Page<ExecutionRecord>, ReadError> {
        self.reader.executions(filter, page).await
    }

    async fn count(&self, filter: &ExecutionFilter, most: u32) -> Result<RunCount, ReadError> {
        self.reader.count(filter, most).await
    }

    async fn count_parts(&self, wanted: &[RunParts]) -> Result<Vec<Vec<RunCount>>, ReadError> {
        self.reader.count_parts(wanted).await
    }

    async fn fires(&self, wanted: &[NewestRuns]) -> Result<Vec<FireCount>, ReadError> {
        self.reader.fires(wanted).await
    }

    async fn states(&self, filter: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        self.reader.states(filter, page).await
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        self.reader.decisions(filter, page).await
    }

    async fn log(&self, filter: &LogFilter, limit: u32) -> Result<Vec<LogRecord>, ReadError> {
        self.reader.log(filter, limit).await
    }
}

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send + 'a>>;

/// A reader of any database.
trait Calls: Send + Sync {
    fn executions<'a>(
        &'a self,
        filter: &'a ExecutionFilter,
        page: &'a PageRequest,
    ) -> Pending<'a, Page<ExecutionRecord>>;
    fn count<'a>(&'a self, filter: &'a ExecutionFilter, most: u32) -> Pending<'a, RunCount>;
    fn count_parts<'a>(&'a self, wanted: &'a [RunParts]) -> Pending<'a, Vec<Vec<RunCount>>>;
    fn fires<'a>(&'a self, wanted: &'a [NewestRuns]) -> Pending<'a, Vec<FireCount>>;
    fn states<'a>(&'a self, filter: &'a StateFilter, page: &'a PageRequest) -> Pending<'a, Page<StateRecord>>;
    fn decisions<'a>(&'a self, filter: &'a DecisionFilter, page: &'a PageRequest) -> Pending<'a, Page<DecisionRecord>>;
    fn log<'a>(&'a self, filter: &'a LogFilter, limit: u32) -> Pending<'a, Vec<LogRecord>>;
}

struct Reader<DB: Dialect> {
    pool: Pool<DB>,
    turns: Turns,
    at: Message,
    clock: WallClock,
    /// The columns of this implementation that the tables have, known once the tables exist.
    own_of_executions: OnceLock<Vec<OwnColumn>>,
    own_of_states: OnceLock<Vec<OwnColumn>>,
}

/// The longest time that a read waits for a connection when it has its turn; a pool of the application may wait longer.
const LONGEST_DIAL: Duration = Duration::from_secs(5);

/// A connection for one statement.
struct Taken<'t, DB: Dialect> {
    connection: PoolConnection<DB>,
    /// A statement goes on: when this is dropped now, the read is given up.
    is_reading: bool,
    _turn: SemaphorePermit<'t>,
}

impl<DB: Dialect> Drop for Taken<'_, DB> {
    fn drop(&mut self) {
        if self.is_reading && DB::IS_REMOTE {
            self.connection.close_on_drop();
        }
    }
}

impl<DB> Reader<DB>
where
    DB: Dialect<Arguments: IntoArguments<DB>>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'r> (i64,): sqlx::FromRow<'r, DB::Row>,
{
    async fn prepare(pool: Pool<DB>, at: &Message, zone: TimeZone) -> Result<Self, RdbError> {
        if DB::KEEPS_INSTANTS {
            check_session_zone(&pool, at).await?;
        }
        let clock = WallClock::of(DB::KEEPS_INSTANTS, zone);
        let (own_of_executions, own_of_states) = (OnceLock::new(), OnceLock::new());
        let turns = Turns::new(pool.options().get_max_connections());
        Ok(Self { pool, turns, at: at.clone(), clock, own_of_executions, own_of_states })
    }

    /// The own columns of a table; `known` keeps them.
    async fn own<'a>(&self, table: Table, known: &'a OnceLock<Vec<OwnColumn>>) -> Result<&'a [OwnColumn], ReadError> {
        if let Some(own) = known.get() {
            return Ok(own);
        }
        let mut taken = self.connection().await?;
        taken.is_reading = true;
        let columns = columns::<DB>(&mut taken.connection, table, 1).await;
        taken.is_reading = false;
        let columns = columns.map_err(|error| self.error(table, &error))?;
        Ok(known.get_or_init(|| OwnColumn::among(&columns)))
    }

    /// Waits for a turn, and takes a connection.
    async fn connection(&self) -> Result<Taken<'_, DB>, ReadError> {
        let _turn = self.turns.take().await.map_err(|none| match none {
            NoTurn::Busy => self.too_many_readers(LONGEST_WAIT),
            NoTurn::Away(why) => ReadError::Unavailable { at: self.at.clone(), why },
        })?;
        let limit = self.pool.options().get_acquire_timeout().min(LONGEST_DIAL);
        let error = match timeout(limit, self.pool.acquire()).await.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
            Ok(connection) => {
                self.turns.note(None);
                return Ok(Taken { connection, is_reading: false, _turn });
            }
            Err(error) => error,
        };
        let why = match error {
            // This read dials no more, and has its turn still: others have all connections. The application may use its pool, and
            // a database may go on with a read that was given up.
            sqlx::Error::PoolTimedOut if self.pool.size() >= self.pool.options().get_max_connections() => {
                self.turns.note(None);
                return Err(self.too_many_readers(limit));
            }
            // A pool goes on dialling while it waits, and does not report why that fails.
            sqlx::Error::PoolTimedOut => texts::storage_not_reached(limit.as_secs_f64().to_string()),
            error => error.to_string().into(),
        };
        self.turns.note(Some(why.clone()));
        Err(ReadError::Unavailable { at: self.at.clone(), why })
    }

    fn too_many_readers(&self, waited: Duration) -> ReadError {
        ReadError::TooManyReaders {
            at: self.at.clone(),
            connections: self.pool.options().get_max_connections(),
            waited,
        }
    }

    async fn rows(
        &self,
        table: Table,
        query: Result<QueryBuilder<DB>, &'static str>,
    ) -> Result<Vec<DB::Row>, ReadError> {
        let (at, name) = (&self.at, table.name);
        let no_column = |column| ReadError::NoColumn { at: at.clone(), table: name, column };
        let mut query = query.map_err(no_column)?;
        let mut taken = self.connection().await?;
        taken.is_reading = true;
        let read = query.build().fetch_all(&mut *taken.connection).await;
        taken.is_reading = false;
        read.map_err(|error| self.error(table, &error))
    }

    fn error(&self, table: Table, error: &sqlx::Error) -> ReadError {
        match error {
            sqlx::Error::Database(answer) if DB::is_missing_table(&**answer) => {
                ReadError::NoTable { at: self.at.clone(), table: table.name }
            }
            error => ReadError::Unavailable { at: self.at.clone(), why: error.to_string().into() },
        }
    }

    fn page<T>(
        &self,
        table: Table,
        request: &PageRequest,
        rows: Result<Vec<Placed<T>>, sqlx::Error>,
    ) -> Result<Page<T>, ReadError> {
        let placed = rows.map_err(|error| self.error(table, &error))?;
        let page = Page::of(placed, request, |placed| placed.cursor.clone());
        Ok(Page { records: page.records.into_iter().map(|placed| placed.record).collect(), next: page.next })
    }
}

impl<DB> Calls for Reader<DB>
where
    DB: Dialect<Arguments: IntoArguments<DB>>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'c> &'c str: ColumnIndex<DB::Row>,
    for<'e> String: Encode<'e, DB> + Decode<'e, DB> + Type<DB>,
    for<'e> i32: Encode<'e, DB> + Decode<'e, DB> + Type<DB>,
    for<'e> i64: Encode<'e, DB> + Decode<'e, DB> + Type<DB>,
    for<'e> bool: Decode<'e, DB> + Type<DB>,
    for<'e> NaiveDateTime: Encode<'e, DB> + Type<DB>,
    for<'e> DB::Time: Decode<'e, DB> + Type<DB>,
    for<'r> (i64,): sqlx::FromRow<'r, DB::Row>,
{
    fn executions<'a>(
        &'a self,
        filter: &'a ExecutionFilter,
        page: &'a PageRequest,
    ) -> Pending<'a, Page<ExecutionRecord>> {
        Box::pin(async move {
            let own = self.own(EXECUTION_LOG, &self.own_of_executions).await?;
            let query = Select::executions(own, self.clock, filter).page(page);
            let rows = self.rows(EXECUTION_LOG, query).await?;
            let records = rows.iter().map(|row| Columns::of(row, own, self.clock).execution()).collect();
            self.page(EXECUTION_LOG, page, records)
        })
    }

    fn count<'a>(&'a self, filter: &'a ExecutionFilter, most: u32) -> Pending<'a, RunCount> {
        Box::pin(async move {
            let own = self.own(EXECUTION_LOG, &self.own_of_executions).await?;
            let rows = self.rows(EXECUTION_LOG, Select::outcomes(own, self.clock, filter).count(most)).await?;
            let count = |row: &DB::Row| Columns::of(row, own, self.clock).run_count();
            let counted = rows.first().map_or(Ok(RunCount::default()), count);
            counted.map_err(|error| self.error(EXECUTION_LOG, &error))
        })
    }

    fn count_parts<'a>(&'a self, wanted: &'a [RunParts]) -> Pending<'a, Vec<Vec<RunCount>>> {
        Box::pin(async move {
            let own = self.own(EXECUTION_LOG, &self.own_of_executions).await?;
            let mut all = Vec::new();
            // A value for the begin of each part, and a few more for each job.
            let values = wanted.iter().map(|one| one.splits.len() + 4).max().unwrap_or(1);
            for wanted in wanted.chunks((MOST_VALUES / values).clamp(1, MOST_JOBS)) {
                let rows = self.rows(EXECUTION_LOG, Ok(Select::parts(own, self.clock, wanted))).await?;
                let mut counts: Vec<_> =
                    wanted.iter().map(|one| vec![RunCount::default(); one.parts().len()]).collect();
                for row in &rows {
                    let placed = Columns::of(row, own, self.clock).part_into(&mut counts);
                    placed.map_err(|error| self.error(EXECUTION_LOG, &error))?;
                }
                all.append(&mut counts);
            }
            Ok(all)
        })
    }

    fn fires<'a>(&'a self, wanted: &'a [NewestRuns]) -> Pending<'a, Vec<FireCount>> {
        Box::pin(async move {
            let own = self.own(EXECUTION_LOG, &self.own_of_executions).await?;
            let mut all = Vec::new();
            for wanted in wanted.chunks(MOST_JOBS) {
                let rows = self.rows(EXECUTION_LOG, Ok(Select::fires(own, self.clock, wanted))).await?;
                for row in &rows {
                    let fire = Columns::of(row, own, self.clock).fire(wanted);
                    all.push(fire.map_err(|error| self.error(EXECUTION_LOG, &error))?);
                }
            }
            Ok(FireCount::in_order(all))
        })
    }

    fn states<'a>(&'a self, filter: &'a StateFilter, page: &'a PageRequest) -> Pending<'a, Page<StateRecord>> {
        Box::pin(async move {
            let own = self.own(STATUS_TRACE_LOG, &self.own_of_states).await?;
            let query = Select::states(own, self.clock, filter).page(page);
            let rows = self.rows(STATUS_TRACE_LOG, query).await?;
            let records = rows.iter().map(|row| Columns::of(row, own, self.clock).state()).collect();
            self.page(STATUS_TRACE_LOG, page, records)
        })
    }

    fn decisions<'a>(&'a self, filter: &'a DecisionFilter, page: &'a PageRequest) -> Pending<'a, Page<DecisionRecord>> {
        Box::pin(async move {
            let query = Select::decisions(self.clock, filter).page(page);
            let rows = self.rows(DECISION_LOG, query).await?;
            let records = rows.iter().map(|row| Columns::of(row, &[], self.clock).decision()).collect();
            self.page(DECISION_LOG, page, records)
        })
    }

    fn log<'a>(&'a self, filter: &'a LogFilter, limit: u32) -> Pending<'a, Vec<LogRecord>> {
        Box::pin(async move {
            let rows = self.rows(RUN_LOG, Ok(Select::log(self.clock, filter, limit))).await?;
            let lines = rows.iter().map(|row| Columns::of(row, &[], self.clock).line()).collect::<Result<_, _>>();
            lines.map_err(|error| self.error(RUN_LOG, &error))
        })
    }
}

#[cfg(test)]
#[cfg(all(feature = "tracing-sqlite", feature = "tracing-postgres"))]
mod tests;
