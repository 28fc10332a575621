//! Users and tokens in the file.

use elasticjob::__private::log::{apart, error};
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};

use super::sqlite::{SqliteFile, failed};
use super::storage::Pending;
use crate::access::{Grant, KeptToken, KeptUser};

/// A role as the file has it.
#[derive(Serialize, Deserialize)]
struct KeptGrant {
    role: String,
    registries: String,
    jobs: String,
}

fn written(grants: &[Grant]) -> String {
    let grants = grants.iter().map(|grant| KeptGrant {
        role: grant.role().to_string(),
        registries: grant.registries_pattern().to_owned(),
        jobs: grant.jobs_pattern().to_owned(),
    });
    serde_json::to_string(&grants.collect::<Vec<_>>()).unwrap_or_default()
}

/// The roles of a text of the file; `None` where it has something that is no role.
fn read(text: &str) -> Option<Vec<Grant>> {
    let grants: Vec<KeptGrant> = serde_json::from_str(text).ok()?;
    let grant =
        |kept: KeptGrant| Some(Grant::everywhere(kept.role.parse().ok()?).registries(kept.registries).jobs(kept.jobs));
    grants.into_iter().map(grant).collect()
}

/// A row that cannot be read is left out, which takes rights away and gives none; the log names it.
fn readable<T>(row: &SqliteRow, kind: &str, made: Option<T>) -> Option<T> {
    if made.is_none() {
        let name: String = row.get("name");
        let kind = kind.to_owned();
        apart(move || {
            error!(?name, "the data file of the console has a {kind} that cannot be read: it does not count")
        });
    }
    made
}

pub(super) async fn users(pool: &SqlitePool) -> Result<Vec<KeptUser>, sqlx::Error> {
    let user = |row: &SqliteRow| {
        Some(KeptUser {
            name: row.get("name"),
            password: row.get::<&str, _>("password_hash").parse().ok()?,
            grants: read(row.get("grants"))?,
            enabled: row.get("enabled"),
            changed_at: row.get("changed_at"),
        })
    };
    let rows = sqlx::query("SELECT * FROM user").fetch_all(pool).await?;
    Ok(rows.iter().filter_map(|row| readable(row, "user", user(row))).collect())
}

pub(super) async fn tokens(pool: &SqlitePool) -> Result<Vec<KeptToken>, sqlx::Error> {
    let token = |row: &SqliteRow| {
        Some(KeptToken {
            name: row.get("name"),
            hash: row.get::<&str, _>("token_hash").parse().ok()?,
            owner: row.get("owner"),
            grants: read(row.get("grants"))?,
            made_at: row.get("made_at"),
            expires_at: row.get("expires_at"),
            used_at: row.get("used_at"),
        })
    };
    let rows = sqlx::query("SELECT * FROM token").fetch_all(pool).await?;
    Ok(rows.iter().filter_map(|row| readable(row, "token", token(row))).collect())
}

pub(super) async fn save_user(pool: &SqlitePool, user: &KeptUser) -> Result<(), sqlx::Error> {
    let replace =
        "INSERT OR REPLACE INTO user (name, password_hash, grants, enabled, changed_at) VALUES (?, ?, ?, ?, ?)";
    let query = sqlx::query(replace).bind(&user.name).bind(user.password.as_str()).bind(written(&user.grants));
    query.bind(user.enabled).bind(user.changed_at).execute(pool).await.map(drop)
}

/// Removes the tokens that expired at a time or before, in milliseconds since 1970.
pub(super) async fn remove_expired(pool: &SqlitePool, before: i64) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM token WHERE expires_at <= ?").bind(before).execute(pool).await.map(drop)
}

/// Writes when a token was shown last.
pub(super) async fn note_use(pool: &SqlitePool, name: &str, at: i64) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE token SET used_at = ? WHERE name = ?").bind(at).bind(name).execute(pool).await.map(drop)
}

impl SqliteFile {
    pub(super) fn save_user_now(&self, user: KeptUser) -> Pending<'_, ()> {
        Box::pin(async move { save_user(&self.pool, &user).await.map_err(failed) })
    }

    pub(super) fn remove_user_now(&self, name: &str) -> Pending<'_, ()> {
        let name = name.to_owned();
        Box::pin(async move {
            let delete = sqlx::query("DELETE FROM user WHERE name = ?").bind(name);
            delete.execute(&self.pool).await.map(drop).map_err(failed)
        })
    }

    pub(super) fn save_token_now(&self, token: KeptToken) -> Pending<'_, ()> {
        Box::pin(async move {
            let mut both = self.pool.begin().await.map_err(failed)?;
            // One of that name that expired long ago may still be there.
            let expired = sqlx::query("DELETE FROM token WHERE name = ? AND expires_at <= ?").bind(&token.name);
            expired.bind(token.made_at).execute(&mut *both).await.map_err(failed)?;
            let insert = "INSERT INTO token (name, token_hash, owner, grants, made_at, expires_at, used_at) \
                VALUES (?, ?, ?, ?, ?, ?, ?)";
            let query = sqlx::query(insert).bind(&token.name).bind(token.hash.to_string()).bind(&token.owner);
            let query = query.bind(written(&token.grants)).bind(token.made_at).bind(token.expires_at);
            query.bind(token.used_at).execute(&mut *both).await.map_err(failed)?;
            both.commit().await.map_err(failed)
        })
    }

    pub(super) fn remove_token_now(&self, name: &str) -> Pending<'_, ()> {
        let name = name.to_owned();
        Box::pin(async move {
            let delete = sqlx::query("DELETE FROM token WHERE name = ?").bind(name);
            delete.execute(&self.pool).await.map(drop).map_err(failed)
        })
    }
}
