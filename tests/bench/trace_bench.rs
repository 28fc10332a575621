//! Writes the same events into each database one by one, as Java does, and through the queue, in one run. PostgreSQL then gets
//! the same rows by its two fastest ways, as a limit: `COPY` in batches of the size of those of the queue, and one `INSERT` from
//! another of its tables, for which nothing is sent at all. MariaDB gets them once more while it waits for the disk at each
//! commit, as it does unless it is told otherwise. The last line is one JSON object with the rates and their ratio.
//!
//!     trace_bench [--events N]

use std::env;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob::trace::rdb::{DataSource, RdbOptions, RdbPool, RdbTracingStorage};
use elasticjob::trace::{JobEvent, TaskState, Tracing, TracingConfiguration, TracingStorage};
use elasticjob_tests::databases::{Database, DatabaseServer, Kind};
use elasticjob_tests::tracing_suite::{end, start, state};
use futures_util::TryStreamExt;
use serde_json::{Map, Value, json};
use sqlx::postgres::PgPoolCopyExt;
use sqlx::{AssertSqlSafe, PgPool};
use tokio::runtime::Handle;

const USAGE: &str = "usage: trace_bench [--events N]";

/// How many of the events are written one by one: so slow that more tell nothing more.
const SINGLY: usize = 4_000;

/// How many rows a batch of `COPY` has: as many as the queue writes events together.
const BATCH: usize = 1_000;

/// The tables that the events go to.
const TABLES: [&str; 2] = ["job_execution_log", "job_status_trace_log"];

fn events(count: usize, mark: &str) -> Vec<JobEvent> {
    let run = |number: usize| {
        let id = format!("{mark}-{number:08}");
        [
            JobEvent::Status(state(&format!("{id}-begin"), TaskState::Running)),
            JobEvent::Execution(start(&id)),
            JobEvent::Execution(end(&id, None)),
            JobEvent::Status(state(&format!("{id}-end"), TaskState::Finished)),
        ]
    };
    (0..count / 4).flat_map(run).collect()
}

fn rate(events: usize, took: Duration) -> f64 {
    (events as f64 / took.as_secs_f64()).round()
}

async fn measure(database: &Database, count: usize) -> Result<Value, String> {
    let open = async || {
        let source = DataSource::new(database.url())?;
        RdbTracingStorage::connect(&source, RdbOptions::default()).await
    };
    let storage = open().await.map_err(|error| error.to_string())?;
    let (single, queued) = (events(SINGLY.min(count), "single"), events(count, "queued"));

    let began = Instant::now();
    for event in &single {
        storage.write(std::slice::from_ref(event)).await.map_err(|error| error.to_string())?;
    }
    let singly = rate(single.len(), began.elapsed());

    let configuration = TracingConfiguration::new(storage).queue(count);
    let tracing = Tracing::start(configuration, &Handle::current());
    let (posted, began) = (queued.len(), Instant::now());
    queued.into_iter().for_each(|event| tracing.post(event));
    let posting = rate(posted, began.elapsed());
    tracing.close(Duration::from_secs(600)).await;
    let together = rate(posted, began.elapsed());
    let ratio = (together / singly * 10.0).round() / 10.0;
    let lost = tracing.counts().lost;
    let mut result = json!({
        "one_by_one_per_s": singly, "queued_per_s": together, "ratio": ratio, "posted_per_s": posting, "lost": lost
    });
    if let RdbPool::Postgres(pool) = database.pool() {
        let [copied, inserted] = limits(pool).await.map_err(|error| error.to_string())?;
        let all = single.len() + posted;
        result["copy_per_s"] = rate(all, copied).into();
        result["insert_select_per_s"] = rate(all, inserted).into();
    }
    Ok(result)
}

/// How long PostgreSQL takes for the rows that are in its tables now by `COPY`, and by `INSERT` from another table.
async fn limits(pool: &PgPool) -> Result<[Duration; 2], sqlx::Error> {
    let run = async |statement: String| sqlx::query(AssertSqlSafe(statement)).execute(pool).await.map(drop);
    let mut took = [Duration::ZERO; 2];
    for table in TABLES {
        let text: Vec<_> = pool.copy_out_raw(&format!("COPY {table} TO STDOUT")).await?.try_collect().await?;
        // A message of the server is a row.
        let batches: Vec<Vec<u8>> = text.chunks(BATCH).map(|rows| rows.concat()).collect();
        run(format!("CREATE TABLE saved AS TABLE {table}")).await?;
        run(format!("TRUNCATE {table}")).await?;
        let began = Instant::now();
        for batch in batches {
            let mut copy = pool.copy_in_raw(&format!("COPY {table} FROM STDIN")).await?;
            copy.send(batch).await?;
            copy.finish().await?;
        }
        took[0] += began.elapsed();
        run(format!("TRUNCATE {table}")).await?;
        let began = Instant::now();
        run(format!("INSERT INTO {table} SELECT * FROM saved")).await?;
        took[1] += began.elapsed();
        run("DROP TABLE saved".to_owned()).await?;
    }
    Ok(took)
}

async fn run(count: usize) -> Result<Map<String, Value>, String> {
    let mut results = Map::new();
    results.insert("events".to_owned(), json!(count));
    for kind in Kind::ALL {
        if kind == Kind::Sqlite {
            results.insert(kind.name().to_owned(), measure(&Database::file().await, count).await?);
            continue;
        }
        let server = Arc::new(DatabaseServer::start(kind).await.map_err(|error| error.to_string())?);
        let database = Database::on(server.clone(), kind).await;
        results.insert(kind.name().to_owned(), measure(&database, count).await?);
        if let RdbPool::MySql(pool) = database.pool() {
            let flushes = sqlx::query("SET GLOBAL innodb_flush_log_at_trx_commit = 1").execute(pool).await;
            flushes.map_err(|error| error.to_string())?;
            let database = Database::on(server, kind).await;
            results.insert(format!("{}_flushed", kind.name()), measure(&database, count).await?);
        }
    }
    Ok(results)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let count = match arguments.as_slice() {
        [] => Some(100_000),
        [option, count] if option == "--events" => count.parse().ok().filter(|count| *count >= 4),
        _ => None,
    };
    let Some(count) = count else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(count).await {
        Ok(results) => {
            println!("{}", Value::Object(results));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
