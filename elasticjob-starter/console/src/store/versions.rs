//! Versions of configurations in the file.

use elasticjob::ident::JobName;
use sqlx::{Row, SqlitePool};

use super::sqlite::{SqliteFile, failed};
use super::storage::Pending;
use crate::service::versions::Version;

/// Removes versions that were followed by another one before a time: what a job has is kept, however old it is.
pub(super) async fn remove_old(pool: &SqlitePool, oldest: i64) -> Result<(), sqlx::Error> {
    let delete = "DELETE FROM configuration_version AS old WHERE EXISTS (SELECT 1 FROM configuration_version AS next \
        WHERE next.registry = old.registry AND next.job = old.job AND next.at > old.at AND next.at < ?)";
    sqlx::query(delete).bind(oldest).execute(pool).await.map(drop)
}

impl SqliteFile {
    pub(super) fn add_version_now(&self, registry: &str, job: &JobName, version: Version) -> Pending<'_, ()> {
        let (registry, job) = (registry.to_owned(), job.to_string());
        Box::pin(async move {
            let insert = "INSERT INTO configuration_version (registry, job, version, at, actor, reason, settings) \
                VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (registry, job, at, version) \
                DO UPDATE SET actor = excluded.actor, reason = excluded.reason WHERE actor = '' AND excluded.actor <> ''";
            let settings = serde_json::Value::Object(version.settings).to_string();
            let query = sqlx::query(insert).bind(registry).bind(job).bind(version.number).bind(version.at);
            let query = query.bind(version.actor).bind(version.reason).bind(settings);
            query.execute(&self.pool).await.map(drop).map_err(failed)
        })
    }

    pub(super) fn read_versions(&self, registry: &str, job: &JobName, most: u32) -> Pending<'_, Vec<Version>> {
        let (registry, job) = (registry.to_owned(), job.to_string());
        Box::pin(async move {
            let select = "SELECT id, version, at, actor, reason, settings FROM configuration_version \
                WHERE registry = ? AND job = ? ORDER BY at DESC, version DESC LIMIT ?";
            let rows = sqlx::query(select).bind(registry).bind(job).bind(most).fetch_all(&self.pool).await;
            let version = |row: &sqlx::sqlite::SqliteRow| Version {
                id: row.get("id"),
                number: row.get("version"),
                at: row.get("at"),
                actor: row.get("actor"),
                reason: row.get("reason"),
                settings: serde_json::from_str(row.get("settings")).unwrap_or_default(),
            };
            Ok(rows.map_err(failed)?.iter().map(version).collect())
        })
    }
}
