//! Opens the connections to the database of a [`DataSource`].

use std::time::Duration;

use elasticjob_syntax::message::Message;
use sqlx::{ConnectOptions, Connection, pool::PoolOptions};
use tokio::time::{Instant, sleep, timeout_at};

use super::RdbPool;
use super::error::RdbError;
use super::source::{DataSource, Database, Use};
use crate::texts;

/// How long a connection may take, at the start and later.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// The pause before the next attempt on a database that was locked.
const LOCKED_PAUSE: Duration = Duration::from_millis(20);

impl DataSource {
    /// Connects once, so that an error is reported as it is, and makes a pool.
    pub(super) async fn open(&self, purpose: Use) -> Result<(RdbPool, Message), RdbError> {
        match self.database {
            #[cfg(feature = "tracing-sqlite")]
            Database::Sqlite => {
                let options: sqlx::sqlite::SqliteConnectOptions = self.options()?;
                let at = texts::storage_file(options.get_filename().display().to_string());
                let options = match purpose {
                    Use::Read => options.create_if_missing(false),
                    Use::Write => self.for_writing(options),
                };
                Ok((pool::<sqlx::Sqlite>(options, purpose, &at, is_locked).await?.into(), at))
            }
            #[cfg(feature = "tracing-postgres")]
            Database::Postgres => {
                let mut options: sqlx::postgres::PgConnectOptions = self.options()?;
                if let Some(username) = &self.username {
                    options = options.username(username);
                }
                if let Some(password) = &self.password {
                    options = options.password(password.reveal());
                }
                let database = options.get_database().unwrap_or(options.get_username());
                let (host, port) = (options.get_host(), options.get_port().to_string());
                let at = texts::storage_server("PostgreSQL", database, host, port);
                Ok((pool::<sqlx::Postgres>(options, purpose, &at, |_| false).await?.into(), at))
            }
            #[cfg(feature = "tracing-mysql")]
            Database::MySql => {
                let mut options: sqlx::mysql::MySqlConnectOptions = self.options()?;
                if let Some(username) = &self.username {
                    options = options.username(username);
                }
                if let Some(password) = &self.password {
                    options = options.password(password.reveal());
                }
                let database = options.get_database().unwrap_or_default();
                let (host, port) = (options.get_host(), options.get_port().to_string());
                let at = texts::storage_server("MySQL", database, host, port);
                if database.is_empty() {
                    let reason = format!("it names no database after the host; {}", super::source::EXAMPLES);
                    return Err(RdbError::Url { reason });
                }
                Ok((pool::<sqlx::MySql>(options, purpose, &at, |_| false).await?.into(), at))
            }
            #[allow(unreachable_patterns, reason = "no other is left where all drivers are built in")]
            database => Err(RdbError::NotBuiltIn { database }),
        }
    }

    /// Creates the file unless the URL says otherwise. A reader waits for no writer, and a writer for no reader.
    #[cfg(feature = "tracing-sqlite")]
    fn for_writing(&self, options: sqlx::sqlite::SqliteConnectOptions) -> sqlx::sqlite::SqliteConnectOptions {
        let options = if self.names_mode() { options } else { options.create_if_missing(true) };
        if self.creates_file() {
            create_for_owner(options.get_filename());
        }
        let options = options.journal_mode(sqlx::sqlite::SqliteJournalMode::Wal);
        options.synchronous(sqlx::sqlite::SqliteSynchronous::Normal)
    }
}

/// Creates a file that only its owner may read, as it will contain errors of jobs; SQLite gives the same mode to the
/// files that it puts beside it. A file that exists keeps its mode. SQLite itself reports errors here.
#[cfg(feature = "tracing-sqlite")]
fn create_for_owner(file: &std::path::Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.open(file));
}

async fn pool<DB: sqlx::Database>(
    options: <DB::Connection as Connection>::Options,
    purpose: Use,
    at: &Message,
    is_passing: fn(&sqlx::Error) -> bool,
) -> Result<sqlx::Pool<DB>, RdbError> {
    let refused = |why: Message| RdbError::Connect { at: at.clone(), why };
    let options = options.disable_statement_logging();
    let deadline = Instant::now() + CONNECT_LIMIT;
    loop {
        match timeout_at(deadline, options.connect()).await {
            Ok(Ok(connection)) => break drop(connection.close().await),
            Ok(Err(error)) if is_passing(&error) && Instant::now() < deadline => sleep(LOCKED_PAUSE).await,
            Ok(Err(error)) => return Err(refused(error.to_string().into())),
            Err(_) => return Err(refused(texts::storage_no_answer(CONNECT_LIMIT.as_secs().to_string()))),
        }
    }
    Ok(PoolOptions::new()
        .max_connections(purpose.connections())
        .acquire_timeout(CONNECT_LIMIT)
        .connect_lazy_with(options))
}

/// Whether another process writes to the file at this moment. A client that switches a file to a write-ahead log has
/// read the file before. SQLite refuses such a reader at once, whatever its busy time-out is: two such readers would
/// wait for each other for ever (<https://sqlite.org/c3ref/busy_handler.html>).
#[cfg(feature = "tracing-sqlite")]
fn is_locked(error: &sqlx::Error) -> bool {
    /// The lowest byte of every code of the kind `SQLITE_BUSY`, see <https://sqlite.org/rescode.html>.
    const BUSY: u32 = 5;
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    code.is_some_and(|code| code & 0xff == BUSY)
}

#[cfg(test)]
#[cfg(feature = "tracing-sqlite")]
mod tests {
    use std::pin::pin;

    use sqlx::Executor;
    use sqlx::sqlite::SqliteConnectOptions;

    use super::*;

    #[tokio::test]
    async fn a_file_whose_name_looks_like_a_parameter_is_created() {
        let folder = std::env::temp_dir().join(format!("elasticjob-mode=-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("trace.db");
        let opened = DataSource::new(&format!("sqlite:{}", file.display())).unwrap().open(Use::Write).await;
        let exists = file.exists();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(opened.is_ok() && exists, "{:?}", opened.err());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_is_made_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("elasticjob-owner-{}", std::process::id()));
        for url in ["a.db", "b.db?mode=rwc"] {
            std::fs::create_dir_all(&folder).unwrap();
            let opened =
                DataSource::new(&format!("sqlite:{}", folder.join(url).display())).unwrap().open(Use::Write).await;
            let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap());
            let modes: Vec<u32> = files.map(|file| file.metadata().unwrap().permissions().mode() & 0o777).collect();
            std::fs::remove_dir_all(&folder).unwrap();
            assert!(opened.is_ok() && !modes.is_empty(), "{url}: {:?}", opened.err());
            assert!(modes.iter().all(|mode| *mode == 0o600), "{url}: {modes:?}");
        }
    }

    #[tokio::test]
    async fn a_file_that_another_process_writes_to_is_waited_for() {
        let folder = std::env::temp_dir().join(format!("elasticjob-locked-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let url = format!("sqlite:{}", folder.join("trace.db").display());
        let mut other = format!("{url}?mode=rwc").parse::<SqliteConnectOptions>().unwrap().connect().await.unwrap();
        other.execute("CREATE TABLE other (id INT); BEGIN IMMEDIATE").await.unwrap();
        let source = DataSource::new(&url).unwrap();
        let mut opening = pin!(source.open(Use::Write));
        let early = timeout_at(Instant::now() + 10 * LOCKED_PAUSE, &mut opening).await;
        assert!(early.is_err(), "it is locked, and yet: {early:?}");
        other.execute("COMMIT").await.unwrap();
        let opened = opening.await;
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(opened.is_ok(), "{:?}", opened.err());
    }
}

#[cfg(test)]
#[cfg(feature = "tracing-postgres")]
mod tls_tests {
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::task::JoinHandle;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::crypto::ring;
    use tokio_rustls::rustls::pki_types::pem::PemObject;
    use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

    use super::*;

    const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/tls/localhost.pem");

    /// A server whose certificate no client trusts. Returns whether a client logs in all the same.
    async fn server() -> (u16, JoinHandle<bool>) {
        let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
        let key = PrivateKeyDer::from_pem_file(CERTIFICATE.replace(".pem", ".key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let acceptor = TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate], key).unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let logs_in = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // The request for TLS, and the agreement of the server.
            stream.read_exact(&mut [0; 8]).await.unwrap();
            stream.write_all(b"S").await.unwrap();
            match acceptor.accept(stream).await {
                Ok(mut stream) => stream.read_u8().await.is_ok(),
                Err(_) => false,
            }
        });
        (port, logs_in)
    }

    #[tokio::test]
    async fn a_password_goes_only_to_a_server_whose_certificate_is_verified() {
        let trusted = format!("ssl=true&sslrootcert={CERTIFICATE}");
        for (host, query, expected) in [
            ("localhost", "ssl=true", false),
            ("localhost", trusted.as_str(), true),
            ("localhost", "sslmode=verify-full", false),
            ("localhost", "sslmode=require", true),
        ] {
            let (port, logs_in) = server().await;
            let source = DataSource::new(&format!("jdbc:postgresql://{host}:{port}/jobs?{query}")).unwrap();
            source.open(Use::Write).await.expect_err("it is no database");
            assert_eq!(logs_in.await.unwrap(), expected, "{query}");
        }
    }
}
