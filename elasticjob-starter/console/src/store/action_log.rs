//! The log of what operators did, for registry centers whose traces no database has.

use std::time::Duration;

use chrono::{DateTime, Utc};
use elasticjob::ident::{JobName, ShardingItem};
use elasticjob::trace::{
    AnyTraceReader, Cursor, DecisionFilter, DecisionKind, DecisionRecord, ExecutionFilter, ExecutionRecord,
    JobDecisionEvent, JobEvent, Page, PageRequest, ReadError, StateFilter, StateRecord, TraceReader, Tracing,
    TracingConfiguration, TracingStorage, WriteError,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite, SqlitePool};

use super::sqlite::SqliteFile;
use crate::texts;

/// The actions in one registry center.
#[derive(Clone)]
struct Actions {
    pool: SqlitePool,
    registry: String,
}

impl SqliteFile {
    pub(super) fn actions_of(&self, registry: &str) -> AnyTraceReader {
        AnyTraceReader::new(Actions { pool: self.pool.clone(), registry: registry.to_owned() })
    }

    pub(super) fn recording_of(&self, registry: &str) -> Tracing {
        let actions = Actions { pool: self.pool.clone(), registry: registry.to_owned() };
        Tracing::start(TracingConfiguration::new(actions), &tokio::runtime::Handle::current())
    }
}

/// Removes what was done before a time.
pub(super) async fn remove_old(pool: &SqlitePool, oldest: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM action WHERE at < ?").bind(oldest).execute(pool).await.map(drop)
}

impl TracingStorage for Actions {
    fn type_name(&self) -> &str {
        "CONSOLE"
    }

    async fn write(&self, events: &[JobEvent]) -> Result<(), WriteError> {
        for event in events {
            let JobEvent::Decision(action) = event else { continue };
            self.insert(action).await.map_err(|error| WriteError::Unavailable(error.to_string()))?;
        }
        Ok(())
    }

    /// The file does it for all registry centers.
    async fn clean(&self) -> Result<Option<Duration>, WriteError> {
        Ok(None)
    }
}

impl Actions {
    async fn insert(&self, action: &JobDecisionEvent) -> Result<(), sqlx::Error> {
        let items: Vec<String> = action.sharding_items.iter().map(ToString::to_string).collect();
        let insert = "INSERT INTO action (id, registry, job, at, items, reason, detail) VALUES (?, ?, ?, ?, ?, ?, ?) \
            ON CONFLICT (id) DO NOTHING";
        let detail = serde_json::Value::Object(action.detail.clone()).to_string();
        let query = sqlx::query(insert).bind(&action.id).bind(&self.registry).bind(action.job_name.as_str());
        let query = query.bind(action.at.timestamp_millis()).bind(items.join(","));
        query.bind(&action.reason).bind(detail).execute(&self.pool).await.map(drop)
    }

    async fn read(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Vec<SqliteRow>, sqlx::Error> {
        let mut query: QueryBuilder<Sqlite> =
            QueryBuilder::new("SELECT id, job, at, items, reason, detail FROM action");
        query.push(" WHERE registry = ").push_bind(&self.registry);
        if let Some(job) = &filter.job {
            query.push(" AND job = ").push_bind(job.as_str());
        }
        if !filter.jobs.is_empty() {
            let mut any = query.push(" AND (").separated(" OR ");
            for pattern in &filter.jobs {
                // GLOB has `*`, and more that names may have.
                let glob = pattern.replace('[', "[[]").replace('?', "[?]");
                any.push("job GLOB ").push_bind_unseparated(glob);
            }
            query.push(")");
        }
        if let Some(from) = filter.from {
            query.push(" AND at >= ").push_bind(from.timestamp_millis());
        }
        if let Some(until) = filter.until {
            query.push(" AND at < ").push_bind(until.timestamp_millis());
        }
        if let Some(item) = &filter.item {
            query.push(" AND ',' || items || ',' LIKE ").push_bind(format!("%,{item},%"));
        }
        if let Some(cursor) = page.cursor() {
            let (time, id) = (cursor.time(), cursor.id().to_owned());
            query.push(" AND (at, id) < (").push_bind(time).push(", ").push_bind(id).push(")");
        }
        query.push(" ORDER BY at DESC, id DESC LIMIT ").push_bind(i64::from(page.size()) + 1);
        query.build().fetch_all(&self.pool).await
    }
}

/// The record of a row; `None` for one that this release cannot read.
fn record(row: &SqliteRow) -> Option<DecisionRecord> {
    let items: String = row.get("items");
    let items = items.split(',').filter(|item| !item.is_empty()).map(str::parse::<ShardingItem>);
    Some(DecisionRecord::from(JobDecisionEvent {
        id: row.get("id"),
        job_name: JobName::new(row.get::<String, _>("job")).ok()?,
        at: DateTime::<Utc>::from_timestamp_millis(row.get("at"))?,
        kind: DecisionKind::Operator,
        scheduled_at: None,
        scheduled_until: None,
        sharding_items: items.collect::<Result<_, _>>().ok()?,
        instance: None,
        related_instance: None,
        reason: row.get("reason"),
        detail: serde_json::from_str(row.get("detail")).ok()?,
    }))
}

impl TraceReader for Actions {
    /// The file has no runs.
    async fn executions(&self, _: &ExecutionFilter, page: &PageRequest) -> Result<Page<ExecutionRecord>, ReadError> {
        Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")))
    }

    async fn states(&self, _: &StateFilter, page: &PageRequest) -> Result<Page<StateRecord>, ReadError> {
        Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")))
    }

    async fn decisions(&self, filter: &DecisionFilter, page: &PageRequest) -> Result<Page<DecisionRecord>, ReadError> {
        if !filter.kinds.is_empty() && !filter.kinds.contains(&DecisionKind::Operator) {
            return Ok(Page::of(Vec::new(), page, |_| Cursor::after(0, "")));
        }
        let rows = self.read(filter, page).await;
        let rows =
            rows.map_err(|error| ReadError::Unavailable { at: texts::data_file(), why: error.to_string().into() })?;
        // One that cannot be read counts as well, or the page would seem to be the last one.
        let page = Page::of(rows, page, |row| Cursor::after(row.get("at"), row.get::<String, _>("id")));
        let mut page = page.map(|row| record(&row));
        page.records.retain(Option::is_some);
        Ok(page.map(|record| record.expect("the others were left out")))
    }
}

#[cfg(test)]
mod tests {
    use sqlx::sqlite::SqlitePoolOptions;

    use super::*;

    #[tokio::test]
    async fn a_record_that_cannot_be_read_does_not_end_the_list() {
        let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.expect("it opens");
        sqlx::raw_sql(include_str!("schema_1.sql")).execute(&pool).await.expect("it has its tables");
        let insert = "INSERT INTO action (id, registry, job, at, items, reason, detail) VALUES (?, 'default', 'job', ?, '', '', ?)";
        for at in 0..5_i64 {
            let detail = if at == 3 { "not JSON" } else { "{}" };
            sqlx::query(insert)
                .bind(format!("id-{at}"))
                .bind(at)
                .bind(detail)
                .execute(&pool)
                .await
                .expect("it is kept");
        }
        let actions = Actions { pool, registry: "default".to_owned() };
        let (mut seen, mut page) = (Vec::new(), PageRequest::default().limit(2));
        loop {
            let read = actions.decisions(&DecisionFilter::default(), &page).await.expect("it is read");
            seen.extend(read.records.into_iter().map(|record| record.id));
            let Some(next) = read.next else { break };
            page = PageRequest::default().limit(2).after(next);
        }
        assert_eq!(seen, ["id-4", "id-2", "id-1", "id-0"]);
    }
}
