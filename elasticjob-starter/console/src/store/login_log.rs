//! The log of logins in the file.

use sha2::{Digest, Sha256};
use sqlx::{Row, SqlitePool};

use super::sqlite::{SqliteFile, failed};
use super::storage::{AccessCursor, Pending};
use crate::access::{Entry, Event};

/// How many rows are kept: refusals of names that are made up must not fill the disk.
const MOST: i64 = 100_000;

/// A day, in milliseconds.
const DAY: i64 = 24 * 3600 * 1000;

/// Writes events. Refusals of a kind on one day become one row, which counts them.
pub(super) async fn write(pool: &SqlitePool, entries: &[Entry]) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin().await?;
    for entry in entries {
        let insert = "INSERT INTO access_event (at, who, origin, event, detail, count, merge_key) \
            VALUES (?, ?, ?, ?, ?, ?, ?) \
            ON CONFLICT (merge_key) DO UPDATE SET at = excluded.at, count = count + excluded.count";
        sqlx::query(insert)
            .bind(entry.at)
            .bind(&entry.who)
            .bind(&entry.from)
            .bind(entry.event.code())
            .bind(entry.event.detail())
            .bind(i64::try_from(entry.count).unwrap_or(i64::MAX))
            .bind(merge_key(entry))
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

/// The same for all refusals that are counted together.
fn merge_key(entry: &Entry) -> Option<String> {
    if !entry.event.is_refusal() {
        return None;
    }
    let day = entry.at.div_euclid(DAY);
    let parts = [entry.who.as_str(), entry.from.as_deref().unwrap_or(""), entry.event.detail().unwrap_or("")];
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{day} {} {hash}", entry.event.code()))
}

/// Removes what happened before a time, and the oldest of too many rows.
pub(super) async fn remove_old(pool: &SqlitePool, oldest: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM access_event WHERE at < ?").bind(oldest).execute(pool).await?;
    let too_many = "DELETE FROM access_event WHERE id IN \
        (SELECT id FROM access_event ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)";
    sqlx::query(too_many).bind(MOST).execute(pool).await.map(drop)
}

impl SqliteFile {
    pub(super) fn read_access(
        &self,
        before: Option<AccessCursor>,
        limit: u32,
    ) -> Pending<'_, (Vec<Entry>, Option<AccessCursor>)> {
        let before = before.unwrap_or(AccessCursor { at: i64::MAX, id: i64::MAX });
        Box::pin(async move {
            let select = "SELECT id, at, who, origin, event, detail, count FROM access_event \
                WHERE (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?";
            let query = sqlx::query(select).bind(before.at).bind(before.id).bind(i64::from(limit) + 1);
            let mut rows = query.fetch_all(&self.pool).await.map_err(failed)?;
            let has_more = rows.len() > limit as usize;
            rows.truncate(limit as usize);
            let last = rows.last().map(|row| AccessCursor { at: row.get("at"), id: row.get("id") });
            let entries = rows.iter().map(|row| Entry {
                at: row.get("at"),
                who: row.get("who"),
                from: row.get("origin"),
                event: Event::of(row.get("event"), row.get("detail")),
                count: usize::try_from(row.get::<i64, _>("count")).unwrap_or(usize::MAX),
            });
            Ok((entries.collect(), last.filter(|_| has_more)))
        })
    }
}
