//! The address of the database: URLs of sqlx and of JDBC.

use std::fmt;
use std::str::FromStr;

use super::error::RdbError;
use super::tls;
use crate::secret::Secret;

/// The supported databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Database {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL or MariaDB.
    MySql,
}

/// What connections are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// One connection writes all events.
    Write,
    /// Some connections read, and create nothing.
    Read,
}

impl Use {
    /// How many connections there are at most.
    pub(super) fn connections(self) -> u32 {
        match self {
            Self::Write => 1,
            Self::Read => 4,
        }
    }
}

/// The database, and the user who connects to it.
///
/// URLs are those of sqlx (`sqlite:trace.db`, `postgres://host:5432/db`, `mysql://host/db`) or of JDBC
/// (`jdbc:sqlite:trace.db`, `jdbc:postgresql://host/db`, `jdbc:mysql://host/db`, `jdbc:mariadb://host/db`). Parameters of
/// a JDBC URL that are only for Java are left out, see [`ignored`](Self::ignored).
#[derive(Debug, Clone)]
pub struct DataSource {
    pub(super) database: Database,
    /// The URL in the form that the driver takes.
    url: Secret,
    pub(super) username: Option<String>,
    pub(super) password: Option<Secret>,
    ignored: Vec<String>,
}

impl Database {
    /// The cargo feature that brings its driver.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Sqlite => "tracing-sqlite",
            Self::Postgres => "tracing-postgres",
            Self::MySql => "tracing-mysql",
        }
    }

    fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "sqlite" => Some(Self::Sqlite),
            "postgres" | "postgresql" => Some(Self::Postgres),
            "mysql" | "mariadb" => Some(Self::MySql),
            _ => None,
        }
    }

    fn scheme(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::MySql => "mysql",
        }
    }

    /// A parameter in the form that the driver takes; `None` when the driver does not know it.
    fn parameter(self, name: &str, value: &str) -> Option<(String, String)> {
        let as_it_is = || Some((name.to_owned(), value.to_owned()));
        let known = |known: &str, value: &str| Some((known.to_owned(), value.to_owned()));
        match (self, name) {
            (Self::Sqlite, "mode" | "cache" | "immutable" | "vfs") => as_it_is(),
            (Self::Postgres, "user" | "password" | "sslrootcert" | "ssl-root-cert") => as_it_is(),
            (Self::Postgres, "sslcert" | "ssl-cert" | "sslkey" | "ssl-key" | "ssl-ca" | "host" | "hostaddr") => {
                as_it_is()
            }
            (Self::Postgres, "port" | "dbname" | "application_name" | "options" | "statement-cache-capacity") => {
                as_it_is()
            }
            (Self::Postgres, name) if name.starts_with("options[") => as_it_is(),
            (Self::Postgres, "ApplicationName") => known("application_name", value),
            (Self::Postgres, "currentSchema") => known("options[search_path]", value),
            (Self::MySql, "sslca" | "ssl-ca" | "charset" | "collation" | "socket") => as_it_is(),
            (Self::MySql, "sslcert" | "ssl-cert" | "sslkey" | "ssl-key" | "statement-cache-capacity") => as_it_is(),
            _ => None,
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL",
        })
    }
}

impl DataSource {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`RdbError::Url`] says what is wrong with the URL, [`RdbError::NotBuiltIn`] which driver is missing.
    pub fn new(url: &str) -> Result<Self, RdbError> {
        let wrong = |reason: String| RdbError::Url { reason };
        let url = url.trim();
        let (url, is_jdbc) = url.strip_prefix("jdbc:").map_or((url, false), |url| (url, true));
        let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        let Some((scheme, (_, rest))) = scheme.zip(url.split_once(':')) else {
            return Err(wrong(format!("it names no database; {EXAMPLES}")));
        };
        let Some(database) = Database::of_scheme(&scheme) else {
            return Err(wrong(format!("there is no '{scheme}' here; {EXAMPLES}")));
        };
        let (place, query) = rest.split_once('?').map_or((rest, ""), |(place, query)| (place, query));
        if database != Database::Sqlite {
            let Some(authority) = place.strip_prefix("//") else {
                return Err(wrong(format!("after '{scheme}:' stands '//' and a host; {EXAMPLES}")));
            };
            let host = authority.split('/').next().unwrap_or_default();
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            if host.contains(',') {
                return Err(wrong("it names several hosts; name one, for example a proxy".to_owned()));
            }
        } else if place.trim_start_matches('/').is_empty() {
            return Err(wrong("it names no file; for example sqlite:trace.db".to_owned()));
        } else if is_in_memory(place, query) {
            let why = "it is a database in memory, which is gone with its connection; name a file, for example sqlite:trace.db";
            return Err(wrong(why.to_owned()));
        }
        let (mut username, mut password, mut ignored) = (None, None, Vec::new());
        let mut known = Vec::new();
        let flavour = tls::Flavour::of(database, &scheme);
        let of_tls = |name: &str| flavour.is_some_and(|flavour| flavour.decides(name));
        let parameters = || query.split('&').filter(|pair| !pair.is_empty()).map(pair);
        if let Some(flavour) = flavour {
            let given: Vec<(&str, &str)> = parameters().filter(|(name, _)| of_tls(name)).collect();
            let translated = flavour.translated(&given).map_err(wrong)?;
            known.extend(translated.into_iter().map(|(name, value)| format!("{name}={value}")));
        }
        for (name, value) in parameters().filter(|(name, _)| !of_tls(name)) {
            match (database, name) {
                (Database::MySql, "user") => username = Some(decoded(value)),
                (Database::MySql, "password") => password = Some(Secret::from(decoded(value))),
                _ => match database.parameter(name, value) {
                    Some((name, value)) => known.push(format!("{name}={value}")),
                    None if is_jdbc => ignored.push(name.to_owned()),
                    None => return Err(wrong(format!("{database} has no parameter '{name}' here; remove it"))),
                },
            }
        }
        let query = if known.is_empty() { String::new() } else { format!("?{}", known.join("&")) };
        let url = Secret::from(format!("{}:{place}{query}", database.scheme()));
        let source = Self { database, url, username, password, ignored };
        source.check()?;
        Ok(source)
    }

    /// The user, instead of that of the URL.
    #[must_use]
    pub fn username(mut self, username: Option<String>) -> Self {
        self.username = username.or(self.username);
        self
    }

    /// The password, instead of that of the URL.
    #[must_use]
    pub fn password(mut self, password: Option<Secret>) -> Self {
        self.password = password.or(self.password);
        self
    }

    /// The parameters of a JDBC URL that have no effect here.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Checks that the files of certificates and keys in the URL can be read, without a connection. The driver reads them itself
    /// each time it connects.
    ///
    /// # Errors
    /// [`RdbError::Url`] names each file that cannot be read, or has nothing of the form PEM in it.
    pub fn check_files(&self) -> Result<(), RdbError> {
        let (_, query) = self.url.reveal().split_once('?').unwrap_or_default();
        let named = query.split('&').map(pair).filter(|(name, _)| FILES.contains(name));
        let wrong = named.filter_map(|(name, file)| {
            let file = decoded(file);
            // The driver of PostgreSQL takes the text itself, too.
            if file.is_empty() || file.trim_start().starts_with(PEM) {
                return None;
            }
            let why = match std::fs::read(&file) {
                Ok(text) if String::from_utf8_lossy(&text).contains(PEM) => return None,
                Ok(_) => "is no PEM file".to_owned(),
                Err(error) => format!("cannot be read: {error}"),
            };
            Some(format!("{name} '{file}' {why}"))
        });
        let wrong: Vec<String> = wrong.collect();
        if wrong.is_empty() { Ok(()) } else { Err(RdbError::Url { reason: wrong.join("; ") }) }
    }

    /// Checks that the driver is in the program and understands the URL.
    fn check(&self) -> Result<(), RdbError> {
        match self.database {
            #[cfg(feature = "tracing-sqlite")]
            Database::Sqlite => self.options::<sqlx::sqlite::SqliteConnectOptions>().map(|_| ()),
            #[cfg(feature = "tracing-postgres")]
            Database::Postgres => self.options::<sqlx::postgres::PgConnectOptions>().map(|_| ()),
            #[cfg(feature = "tracing-mysql")]
            Database::MySql => self.options::<sqlx::mysql::MySqlConnectOptions>().map(|_| ()),
            #[allow(unreachable_patterns, reason = "no other is left where all drivers are built in")]
            database => Err(RdbError::NotBuiltIn { database }),
        }
    }

    pub(super) fn options<O: FromStr<Err = sqlx::Error>>(&self) -> Result<O, RdbError> {
        self.url.reveal().parse::<O>().map_err(|error| {
            // The text of the driver's error may show a part of the URL.
            let reason = match error {
                sqlx::Error::Configuration(reason) if !self.url.reveal().contains('@') => reason.to_string(),
                _ => format!("the driver of {} does not understand it; {EXAMPLES}", self.database),
            };
            RdbError::Url { reason }
        })
    }

    /// Whether a missing SQLite file is created.
    #[cfg(feature = "tracing-sqlite")]
    pub(super) fn creates_file(&self) -> bool {
        let (_, query) = self.url.reveal().split_once('?').unwrap_or_default();
        !self.names_mode() || query.split('&').any(|parameter| pair(parameter) == ("mode", "rwc"))
    }

    /// Whether the URL of an SQLite file says how to open it.
    #[cfg(feature = "tracing-sqlite")]
    pub(super) fn names_mode(&self) -> bool {
        let (_, query) = self.url.reveal().split_once('?').unwrap_or_default();
        query.split('&').any(|parameter| pair(parameter).0 == "mode")
    }
}

/// The parameters of the drivers that name a file of certificates, or of a key.
const FILES: [&str; 8] =
    ["sslrootcert", "ssl-root-cert", "sslca", "ssl-ca", "sslcert", "ssl-cert", "sslkey", "ssl-key"];

/// How what stands in a PEM file begins.
const PEM: &str = "-----BEGIN ";

pub(super) const EXAMPLES: &str = "write for example sqlite:trace.db, postgres://host:5432/database or mysql://host:3306/database, \
     with or without 'jdbc:' before it";

/// Whether SQLite keeps the whole database in memory.
fn is_in_memory(place: &str, query: &str) -> bool {
    let mode = query.split('&').map(pair).any(|(name, value)| name == "mode" && decoded(value) == "memory");
    mode || decoded(place).trim_start_matches('/') == ":memory:"
}

fn pair(pair: &str) -> (&str, &str) {
    pair.split_once('=').unwrap_or((pair, ""))
}

/// The decoded value of a URL.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (byte, _) => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #[allow(unused_imports, reason = "each test is for some drivers")]
    use super::*;

    #[test]
    #[cfg(all(feature = "tracing-sqlite", feature = "tracing-postgres", feature = "tracing-mysql"))]
    fn urls_of_jdbc_mean_what_they_mean_in_java() {
        for (jdbc, expected) in [
            ("jdbc:sqlite:data/trace.db", "sqlite:data/trace.db"),
            (
                "jdbc:postgresql://db:5433/jobs?currentSchema=batch",
                "postgres://db:5433/jobs?options[search_path]=batch",
            ),
            (
                "jdbc:postgresql://db/jobs?ssl=true&sslrootcert=ca.pem",
                "postgres://db/jobs?sslmode=verify-full&sslrootcert=ca.pem",
            ),
            ("jdbc:mysql://db/jobs?useSSL=false", "mysql://db/jobs?ssl-mode=DISABLED"),
            ("jdbc:mysql://db/jobs?verifyServerCertificate=true&useSSL=true", "mysql://db/jobs?ssl-mode=VERIFY_CA"),
            ("jdbc:mariadb://db:3307/jobs?sslMode=REQUIRED", "mysql://db:3307/jobs?ssl-mode=REQUIRED"),
            ("postgres://me:secret@db/jobs?sslmode=require", "postgres://me:secret@db/jobs?sslmode=require"),
        ] {
            assert_eq!(DataSource::new(jdbc).unwrap().url.reveal(), expected);
        }
        let source =
            DataSource::new("jdbc:mysql://db/jobs?serverTimezone=UTC&user=me&password=p%40ss&useUnicode=true").unwrap();
        assert_eq!(source.ignored(), ["serverTimezone", "useUnicode"]);
        assert_eq!(
            (source.username.as_deref(), source.password.as_ref().map(Secret::reveal)),
            (Some("me"), Some("p@ss"))
        );
        assert!(!format!("{source:?}").contains("p@ss"));
    }

    #[test]
    #[cfg(all(feature = "tracing-sqlite", feature = "tracing-postgres", feature = "tracing-mysql"))]
    fn what_is_wrong_with_a_url_is_told_without_showing_it() {
        for (url, reason) in [
            ("", "names no database"),
            ("jdbc:h2:mem:jobs", "there is no 'h2' here"),
            ("jdbc:oracle:thin:@db:1521/swordfish", "there is no 'oracle' here"),
            ("mysql:db/jobs", "after 'mysql:' stands '//'"),
            ("jdbc:mysql://one:3306,two:3306/jobs", "several hosts"),
            ("sqlite:", "names no file"),
            ("sqlite::memory:", "it is a database in memory"),
            ("jdbc:sqlite::memory:", "it is a database in memory"),
            ("sqlite://:memory:", "it is a database in memory"),
            ("sqlite:%3Amemory:", "it is a database in memory"),
            ("sqlite:a.db?cache=shared&mode=memory", "it is a database in memory"),
            (
                "jdbc:mysql://db/jobs?trustCertificateKeyStoreUrl=file:swordfish.jks",
                "'trustCertificateKeyStoreUrl' is about",
            ),
            ("jdbc:postgresql://db/jobs?ssl=swordfish", "ssl: expected true or false"),
            ("sqlite:a.db?journal=wal", "SQLite has no parameter 'journal'"),
            ("postgres://me:swordfish@db:port/jobs", "the driver of PostgreSQL does not understand it"),
        ] {
            let error = DataSource::new(url).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("swordfish"), "{url}: {error}");
        }
    }

    #[test]
    #[cfg(not(feature = "tracing-postgres"))]
    fn a_driver_that_is_not_built_in_is_named_with_its_feature() {
        let error = DataSource::new("postgres://db/jobs").unwrap_err().to_string();
        for part in ["PostgreSQL is not built in", "features = [\"tracing-postgres\"]"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[cfg(all(feature = "tracing-postgres", feature = "tracing-mysql"))]
    #[test]
    fn each_file_of_tls_that_cannot_be_used_is_named_before_a_connection() {
        let checked = |url: &str| DataSource::new(url).unwrap().check_files().map_err(|error| error.to_string());
        let here = |name: &str| format!("{}/../tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
        let (certificate, key) = (here("localhost.pem"), here("localhost.key"));
        checked(&format!("postgres://db/jobs?sslrootcert={certificate}&sslkey={key}&sslcert={certificate}")).unwrap();
        checked("postgres://db/jobs?sslmode=require").unwrap();
        checked("mysql://db/jobs").unwrap();
        let wrong =
            checked("jdbc:postgresql://db/jobs?ssl=true&sslrootcert=/no/ca.pem&sslkey=/no/key.pem").unwrap_err();
        assert!(wrong.contains("sslrootcert '/no/ca.pem' cannot be read: "), "{wrong}");
        assert!(wrong.contains("sslkey '/no/key.pem' cannot be read: "), "{wrong}");
        let no_pem = checked(&format!("mysql://db/jobs?ssl-ca={}", here("../../Cargo.toml"))).unwrap_err();
        assert!(no_pem.ends_with("is no PEM file"), "{no_pem}");
        let of_java = checked("jdbc:mariadb://db/jobs?sslMode=verify-full&serverSslCert=/no%20such.pem").unwrap_err();
        assert!(of_java.contains("ssl-ca '/no such.pem' cannot be read"), "{of_java}");
    }
}
