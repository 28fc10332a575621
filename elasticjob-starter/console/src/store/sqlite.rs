//! The file itself: who may read it, which version its schema has, and what writes to it in the background.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use elasticjob::__private::log::{apart, error, warn};
use elasticjob::ident::JobName;
use elasticjob::trace::{AnyTraceReader, Tracing};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Row};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::error::DataError;
use super::storage::{AccessCursor, Pending, Storage, StoreError};
use super::{acknowledged, action_log, login_log, users_and_tokens, versions};
use crate::access::{Entry, KEPT_AFTER_END, KeptToken, KeptUser};
use crate::service::alarms::Acknowledged;
use crate::service::versions::Version;

/// Marks a database as the data of a console: `EJCO`.
const APPLICATION: i64 = 0x454a_434f;

/// The statements that lead from each version of the schema to the next, and say so in `user_version`. What was released never
/// changes.
const SCHEMA: [&str; 1] = [include_str!("schema_1.sql")];

/// How long a row that says what happened is kept.
const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);

/// How often old rows are removed.
const CLEAN: Duration = Duration::from_secs(3600);

/// How many events wait for the file at the most.
const QUEUE: usize = 1_000;

/// What is written soon, by a task of its own.
enum Later {
    Access(Entry),
    FirstUser(KeptUser),
    TokenUse(String, i64),
}

/// What became of things that are written soon.
#[derive(Default)]
struct Counts {
    /// They wait.
    unwritten: AtomicUsize,
    /// The file did not take them, and they are not tried again.
    lost: AtomicUsize,
}

/// An opened file.
pub(super) struct SqliteFile {
    pub(super) pool: SqlitePool,
    later: mpsc::Sender<Later>,
    counts: Arc<Counts>,
    /// As they were when the file was opened.
    users: Vec<KeptUser>,
    tokens: Vec<KeptToken>,
    acknowledgements: Vec<(String, String, Acknowledged)>,
    /// The task that writes events, until it is asked to end.
    writer: Mutex<Option<(tokio_util::sync::CancellationToken, JoinHandle<()>)>>,
    /// Says that this process uses the file, until it is closed.
    lock: Mutex<Option<File>>,
}

impl SqliteFile {
    pub(super) async fn open(path: &Path) -> Result<Self, DataError> {
        let file = path.display().to_string();
        let unusable = |why: String| DataError::Unusable { file: file.clone(), why };
        let lock = lock(path, &file)?;
        make_for_owner(path).map_err(|error| unusable(error.to_string()))?;
        check_mode(path, &file)?;
        let options = SqliteConnectOptions::from_str("sqlite:").map_err(|error| unusable(error.to_string()))?;
        let options = options
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .disable_statement_logging();
        // One connection: SQLite has one writer, and what is read is short.
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await;
        let pool = pool.map_err(|error| unusable(error.to_string()))?;
        bring_up_to_date(&pool, &file).await?;
        let removed = users_and_tokens::remove_expired(&pool, oldest_end()).await;
        removed.map_err(|error| unusable(error.to_string()))?;
        let users = users_and_tokens::users(&pool).await.map_err(|error| unusable(error.to_string()))?;
        let tokens = users_and_tokens::tokens(&pool).await.map_err(|error| unusable(error.to_string()))?;
        let acknowledgements = acknowledged::all(&pool).await.map_err(|error| unusable(error.to_string()))?;
        let (later, waiting) = mpsc::channel(QUEUE);
        let end = tokio_util::sync::CancellationToken::new();
        let counts = Arc::new(Counts::default());
        let task = tokio::spawn(write(pool.clone(), waiting, counts.clone(), end.clone()));
        let (writer, lock) = (Mutex::new(Some((end, task))), Mutex::new(Some(lock)));
        Ok(Self { pool, later, counts, users, tokens, acknowledgements, writer, lock })
    }

    fn write_later(&self, what: Later) {
        self.counts.unwritten.fetch_add(1, Ordering::Relaxed);
        if self.later.try_send(what).is_err() {
            self.counts.unwritten.fetch_sub(1, Ordering::Relaxed);
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
            apart(|| warn!("the data file of the console is too slow: an event was dropped"));
        }
    }

    /// Ends the task that writes events, once it has written what waits.
    async fn write_rest(&self) {
        let writer = self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some((end, task)) = writer {
            end.cancel();
            // A task that panicked has ended, too.
            let _ = task.await;
        }
    }

    async fn end(&self) {
        self.write_rest().await;
        self.pool.close().await;
        drop(self.lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    }
}

/// The error for callers; the log has the cause.
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    apart(move || error!("the data file of the console: {error}"));
    StoreError
}

/// Takes a lock beside the file: two consoles would not know of the users that the other one changed.
fn lock(path: &Path, file: &str) -> Result<File, DataError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let unusable = |error: std::io::Error| DataError::Unusable { file: file.to_owned(), why: error.to_string() };
    let lock = for_owner().create(true).truncate(false).open(beside).map_err(unusable)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(DataError::InUse { file: file.to_owned() }),
        Err(TryLockError::Error(error)) => Err(unusable(error)),
    }
}

fn for_owner() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the file. SQLite gives its mode to those that it puts beside it.
fn make_for_owner(path: &Path) -> std::io::Result<()> {
    match for_owner().create_new(true).open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn check_mode(path: &Path, file: &str) -> Result<(), DataError> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path);
    let found = found.map_err(|error| DataError::Unusable { file: file.to_owned(), why: error.to_string() })?;
    let mode = found.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(DataError::OpenToOthers { file: file.to_owned(), mode }),
    }
}

#[cfg(not(unix))]
fn check_mode(_: &Path, _: &str) -> Result<(), DataError> {
    Ok(())
}

/// Makes the tables, or those that a later version of the schema has.
async fn bring_up_to_date(pool: &SqlitePool, file: &str) -> Result<(), DataError> {
    let unusable = |error: sqlx::Error| DataError::Unusable { file: file.to_owned(), why: error.to_string() };
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(unusable)?;
    let number = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
        (SELECT count(*) FROM sqlite_schema)";
    let row = sqlx::query(number).fetch_one(&mut *transaction).await.map_err(unusable)?;
    let (application, version, tables): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
    if application != APPLICATION && (application != 0 || version != 0 || tables != 0) {
        return Err(DataError::Foreign { file: file.to_owned() });
    }
    let known = i64::try_from(SCHEMA.len()).unwrap_or(i64::MAX);
    if version > known {
        return Err(DataError::Newer { file: file.to_owned(), found: version, known });
    }
    for (_, statements) in (1..).zip(SCHEMA).filter(|(number, _)| *number > version) {
        sqlx::raw_sql(statements).execute(&mut *transaction).await.map_err(unusable)?;
    }
    transaction.commit().await.map_err(unusable)
}

/// Writes events as they come, and removes old rows from time to time.
async fn write(
    pool: SqlitePool,
    mut waiting: mpsc::Receiver<Later>,
    counts: Arc<Counts>,
    end: tokio_util::sync::CancellationToken,
) {
    let mut batch = Vec::with_capacity(QUEUE);
    let mut clean = tokio::time::interval(CLEAN);
    loop {
        let is_last = tokio::select! {
            _ = clean.tick() => {
                remove_old(&pool).await;
                continue;
            }
            _ = waiting.recv_many(&mut batch, QUEUE) => false,
            () = end.cancelled() => {
                waiting.close();
                while let Ok(one) = waiting.try_recv() {
                    batch.push(one);
                }
                true
            }
        };
        let taken = batch.len();
        if let Err(error) = write_all(&pool, batch.drain(..)).await {
            counts.lost.fetch_add(taken, Ordering::Relaxed);
            failed(error);
        }
        counts.unwritten.fetch_sub(taken, Ordering::Relaxed);
        if is_last {
            return;
        }
    }
}

async fn write_all(pool: &SqlitePool, batch: impl Iterator<Item = Later>) -> Result<(), sqlx::Error> {
    let mut events = Vec::new();
    for one in batch {
        match one {
            Later::Access(event) => events.push(event),
            Later::FirstUser(user) => users_and_tokens::save_user(pool, &user).await?,
            Later::TokenUse(name, at) => users_and_tokens::note_use(pool, &name, at).await?,
        }
    }
    if events.is_empty() { Ok(()) } else { login_log::write(pool, &events).await }
}

/// Tokens that expired then, or before, are removed; in milliseconds since 1970.
fn oldest_end() -> i64 {
    crate::service::now().saturating_sub(KEPT_AFTER_END)
}

async fn remove_old(pool: &SqlitePool) {
    if let Err(error) = users_and_tokens::remove_expired(pool, oldest_end()).await {
        failed(error);
    }
    let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
    let oldest = crate::service::now().saturating_sub(kept);
    if let Err(error) = login_log::remove_old(pool, oldest).await {
        failed(error);
    }
    if let Err(error) = action_log::remove_old(pool, oldest).await {
        failed(error);
    }
    if let Err(error) = acknowledged::remove_old(pool, oldest).await {
        failed(error);
    }
    if let Err(error) = versions::remove_old(pool, oldest).await {
        failed(error);
    }
}

impl Storage for SqliteFile {
    fn add_access(&self, entry: Entry) {
        self.write_later(Later::Access(entry));
    }

    fn access(&self, before: Option<AccessCursor>, limit: u32) -> Pending<'_, (Vec<Entry>, Option<AccessCursor>)> {
        self.read_access(before, limit)
    }

    fn users(&self) -> Vec<KeptUser> {
        self.users.clone()
    }

    fn add_first_user(&self, user: KeptUser) {
        self.write_later(Later::FirstUser(user));
    }

    fn save_user(&self, user: KeptUser) -> Pending<'_, ()> {
        self.save_user_now(user)
    }

    fn remove_user(&self, name: &str) -> Pending<'_, ()> {
        self.remove_user_now(name)
    }

    fn tokens(&self) -> Vec<KeptToken> {
        self.tokens.clone()
    }

    fn save_token(&self, token: KeptToken) -> Pending<'_, ()> {
        self.save_token_now(token)
    }

    fn remove_token(&self, name: &str) -> Pending<'_, ()> {
        self.remove_token_now(name)
    }

    fn note_token_use(&self, name: &str, at: i64) {
        self.write_later(Later::TokenUse(name.to_owned(), at));
    }

    fn add_version(&self, registry: &str, job: &JobName, version: Version) -> Pending<'_, ()> {
        self.add_version_now(registry, job, version)
    }

    fn versions(&self, registry: &str, job: &JobName, most: u32) -> Pending<'_, Vec<Version>> {
        self.read_versions(registry, job, most)
    }

    fn acknowledgements(&self) -> Vec<(String, String, Acknowledged)> {
        self.acknowledgements.clone()
    }

    fn save_acknowledgement(&self, registry: &str, alarm: &str, by: Acknowledged) -> Pending<'_, ()> {
        self.save_acknowledgement_now(registry, alarm, by)
    }

    fn remove_acknowledgement(&self, registry: &str, alarm: &str) -> Pending<'_, ()> {
        self.remove_acknowledgement_now(registry, alarm)
    }

    fn record_actions(&self, registry: &str) -> Tracing {
        self.recording_of(registry)
    }

    fn actions(&self, registry: &str) -> AnyTraceReader {
        self.actions_of(registry)
    }

    fn unwritten(&self) -> usize {
        self.counts.unwritten.load(Ordering::Relaxed)
    }

    fn lost(&self) -> usize {
        self.counts.lost.load(Ordering::Relaxed)
    }

    fn write_rest(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.write_rest())
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.end())
    }
}
