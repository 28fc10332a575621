//! One database, for one test.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use elasticjob::trace::rdb::RdbPool;
use sqlx::{AssertSqlSafe, MySqlPool, PgPool, Row, SqlitePool};

use super::server::{PASSWORD, USER};
use super::{DatabaseServer, Kind};

/// A row as texts.
pub type TextRow = Vec<Option<String>>;

/// A fresh database with nothing in it.
#[derive(Debug)]
pub struct Database {
    kind: Kind,
    url: String,
    pool: RdbPool,
    place: Place,
    /// What keeps an SQLite file locked.
    lock: Option<SqlitePool>,
}

#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Server(Arc<DatabaseServer>),
}

impl Database {
    /// A database in a file.
    pub async fn file() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("elasticjob-sqlite-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the file");
        let url = format!("sqlite:{}", folder.join("trace.db").display());
        let pool = SqlitePool::connect(&format!("{url}?mode=rwc")).await.expect("a file").into();
        Self { kind: Kind::Sqlite, url, pool, place: Place::Folder(folder), lock: None }
    }

    /// A database of a server.
    pub async fn on(server: Arc<DatabaseServer>, kind: Kind) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let create: &'static str = format!("CREATE DATABASE {name}").leak();
        server.ask(create).await.expect("a database is created");
        let url = server.url(&name);
        let pool = match kind {
            Kind::Postgresql => PgPool::connect(&url).await.expect("it connects").into(),
            _ => MySqlPool::connect(&url).await.expect("it connects").into(),
        };
        Self { kind, url, pool, place: Place::Server(server), lock: None }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it is, with user and password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of another account, which may read and write the rows of all tables that exist now, and nothing more.
    pub async fn url_of_writer(&self) -> String {
        let all = if self.kind == Kind::Postgresql { "ALL TABLES IN SCHEMA public" } else { "*" };
        self.url_of_writer_to(&[all]).await
    }

    /// The same for some of the tables.
    ///
    /// # Panics
    /// When the database is not on a server.
    pub async fn url_of_writer_to(&self, tables: &[&str]) -> String {
        let name = self.url.rsplit('/').next().expect("a name");
        let account = format!("writer_of_{name}");
        let rights = "SELECT, INSERT, UPDATE, DELETE ON";
        if self.kind == Kind::Postgresql {
            self.execute(format!("CREATE ROLE {account} LOGIN PASSWORD '{PASSWORD}'")).await;
            for table in tables {
                self.execute(format!("GRANT {rights} {table} TO {account}")).await;
            }
        } else {
            self.execute(format!("CREATE USER {account} IDENTIFIED BY '{PASSWORD}'")).await;
            for table in tables {
                self.execute(format!("GRANT {rights} {name}.{table} TO {account}")).await;
            }
        }
        self.url.replace(&format!("//{USER}:"), &format!("//{account}:"))
    }

    /// Its URL for Java, user and password; `None` for a file.
    pub fn jdbc(&self) -> Option<[String; 3]> {
        let name = self.url.rsplit('/').next()?;
        match &self.place {
            Place::Server(server) => Some(server.jdbc(name)),
            Place::Folder(_) => None,
        }
    }

    /// Connections to it.
    pub fn pool(&self) -> &RdbPool {
        &self.pool
    }

    /// Runs a statement.
    pub async fn execute(&self, sql: impl Into<String>) {
        let sql = AssertSqlSafe(sql.into());
        let done = match &self.pool {
            RdbPool::Sqlite(pool) => sqlx::query(sql).execute(pool).await.map(|_| ()),
            RdbPool::Postgres(pool) => sqlx::query(sql).execute(pool).await.map(|_| ()),
            RdbPool::MySql(pool) => sqlx::query(sql).execute(pool).await.map(|_| ()),
            other => panic!("{other:?}"),
        };
        done.expect("the statement is right");
    }

    /// Columns of a table as texts, in the order of the first one.
    pub async fn rows(&self, table: &str, columns: &[&str], condition: &str) -> Vec<TextRow> {
        let text = if self.kind == Kind::Mariadb { "CHAR" } else { "TEXT" };
        let texts: Vec<String> = columns.iter().map(|column| format!("CAST({column} AS {text})")).collect();
        let sql = AssertSqlSafe(format!("SELECT {} FROM {table} WHERE {condition} ORDER BY 1", texts.join(", ")));
        let width = columns.len();
        match &self.pool {
            RdbPool::Sqlite(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await.expect("the query is right");
                rows.iter().map(|row| (0..width).map(|column| row.get(column)).collect()).collect()
            }
            RdbPool::Postgres(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await.expect("the query is right");
                rows.iter().map(|row| (0..width).map(|column| row.get(column)).collect()).collect()
            }
            RdbPool::MySql(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await.expect("the query is right");
                rows.iter().map(|row| (0..width).map(|column| row.get(column)).collect()).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    /// How many rows a table has.
    pub async fn count(&self, table: &str) -> u64 {
        let rows = self.rows(table, &["COUNT(*)"], "1 = 1").await;
        rows[0][0].as_deref().expect("a number").parse().expect("a number")
    }

    /// Takes it away: stops its server, or locks its file.
    pub async fn take_away(&mut self) {
        match &self.place {
            Place::Server(server) => server.stop(),
            Place::Folder(_) => {
                let options = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
                let pool = options.connect(&self.url).await.expect("it connects");
                sqlx::query("BEGIN EXCLUSIVE").execute(&pool).await.expect("nobody writes");
                self.lock = Some(pool);
            }
        }
    }

    /// Brings it back.
    pub async fn bring_back(&mut self) {
        match &self.place {
            Place::Server(server) => server.resume().await.expect("it comes back"),
            Place::Folder(_) => {
                if let Some(pool) = self.lock.take() {
                    pool.close().await;
                }
            }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Place::Folder(folder) = &self.place {
            let _ = fs::remove_dir_all(folder);
        }
    }
}
