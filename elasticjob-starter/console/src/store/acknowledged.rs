//! In the file: which alarms an operator looks after.

use sqlx::{Row, SqlitePool};

use super::sqlite::{SqliteFile, failed};
use super::storage::Pending;
use crate::service::alarms::Acknowledged;

/// All of them: registry center, id of the alarm, and who looks after it.
pub(super) async fn all(pool: &SqlitePool) -> Result<Vec<(String, String, Acknowledged)>, sqlx::Error> {
    let rows =
        sqlx::query("SELECT registry, alarm, actor, at, note FROM alarm_acknowledgement").fetch_all(pool).await?;
    let one = |row: &sqlx::sqlite::SqliteRow| {
        let by = Acknowledged { by: row.get("actor"), at: row.get("at"), reason: row.get("note") };
        (row.get("registry"), row.get("alarm"), by)
    };
    Ok(rows.iter().map(one).collect())
}

/// Removes those from before a time.
pub(super) async fn remove_old(pool: &SqlitePool, oldest: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM alarm_acknowledgement WHERE at < ?").bind(oldest).execute(pool).await.map(drop)
}

impl SqliteFile {
    pub(super) fn save_acknowledgement_now(&self, registry: &str, alarm: &str, by: Acknowledged) -> Pending<'_, ()> {
        let (registry, alarm) = (registry.to_owned(), alarm.to_owned());
        Box::pin(async move {
            let replace = "INSERT OR REPLACE INTO alarm_acknowledgement (registry, alarm, actor, at, note) VALUES (?, ?, ?, ?, ?)";
            let query = sqlx::query(replace).bind(registry).bind(alarm).bind(by.by).bind(by.at).bind(by.reason);
            query.execute(&self.pool).await.map(drop).map_err(failed)
        })
    }

    pub(super) fn remove_acknowledgement_now(&self, registry: &str, alarm: &str) -> Pending<'_, ()> {
        let (registry, alarm) = (registry.to_owned(), alarm.to_owned());
        Box::pin(async move {
            let delete = "DELETE FROM alarm_acknowledgement WHERE registry = ? AND alarm = ?";
            let query = sqlx::query(delete).bind(registry).bind(alarm);
            query.execute(&self.pool).await.map(drop).map_err(failed)
        })
    }
}
