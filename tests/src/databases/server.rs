//! A server of PostgreSQL or MariaDB.

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sqlx::{Connection, MySqlConnection, PgConnection};
use tokio::time::timeout;

use super::Kind;
use super::program::{command, find, give, run};
use crate::ports;

const START_LIMIT: Duration = Duration::from_secs(120);
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The user of the tests.
pub(super) const USER: &str = "tester";
pub(super) const PASSWORD: &str = "open sesame";

/// A server. It is killed and its data are gone when this is dropped.
#[derive(Debug)]
pub struct DatabaseServer {
    kind: Kind,
    folder: PathBuf,
    port: u16,
    process: Mutex<Option<Child>>,
}

impl DatabaseServer {
    /// Looks for the programs.
    ///
    /// # Errors
    /// What was not found, and what to install.
    pub fn find(kind: Kind) -> Result<(), String> {
        let missing = |name: &&str| find(name).is_none();
        match programs(kind).iter().find(|name| missing(name)) {
            None => Ok(()),
            Some(name) => Err(format!("no '{name}'; on Debian install {}", package(kind))),
        }
    }

    /// Makes a server and waits until it serves.
    ///
    /// # Errors
    /// When nothing is installed, or it does not come up; its log is in the error.
    pub async fn start(kind: Kind) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self::find(kind).map_err(io::Error::other)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("elasticjob-{}-{}-{number}", kind.name(), std::process::id()));
        fs::create_dir_all(&folder)?;
        give(&folder, user(kind))?;
        let mut server = Self { kind, folder, port: 0, process: Mutex::new(None) };
        server.install()?;
        loop {
            server.port = ports::free()?;
            match server.resume().await {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                started => return started.map(|()| server),
            }
        }
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Stops the server as a crash does; its data stay.
    pub fn stop(&self) {
        if let Some(mut process) = self.process().take() {
            // PostgreSQL would leave processes behind that take a while to notice.
            let signal = if self.kind == Kind::Postgresql { "-QUIT" } else { "-KILL" };
            // An error says that it has ended already.
            let _ = Command::new("kill").args([signal, &process.id().to_string()]).status();
            let _ = process.wait();
        }
    }

    /// Starts the server again after [`Self::stop`], with its data and on its port, and waits until it serves.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn resume(&self) -> io::Result<()> {
        let log = File::create(self.folder.join("server.log"))?;
        let child = self.server()?.stdout(log.try_clone()?).stderr(log).spawn()?;
        *self.process() = Some(child);
        let deadline = Instant::now() + START_LIMIT;
        // Another program that took the port may accept connections and say nothing.
        let silent = |_| Err(sqlx::Error::Io(ErrorKind::TimedOut.into()));
        while let Err(error) = timeout(ANSWER_LIMIT, self.ask("SELECT 1")).await.unwrap_or_else(silent) {
            let ended = self.process().as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)));
            if ended || Instant::now() > deadline {
                let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
                return Err(ports::not_served(&format!("{} does not serve: {error}", self.kind.name()), &log));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Runs a statement as the tester, outside of the databases of tests.
    pub(super) async fn ask(&self, statement: &'static str) -> Result<(), sqlx::Error> {
        let url = self.url(if self.kind == Kind::Postgresql { "postgres" } else { "" });
        match self.kind {
            Kind::Postgresql => {
                let mut connection = PgConnection::connect(&url).await?;
                sqlx::query(statement).execute(&mut connection).await.map(|_| ())
            }
            _ => {
                let mut connection = MySqlConnection::connect(&url).await?;
                sqlx::query(statement).execute(&mut connection).await.map(|_| ())
            }
        }
    }

    pub(super) fn url(&self, database: &str) -> String {
        let scheme = if self.kind == Kind::Postgresql { "postgres" } else { "mysql" };
        format!("{scheme}://{USER}:{}@{}/{database}", PASSWORD.replace(' ', "%20"), self.address())
    }

    /// The same for Java, with user and password beside it.
    pub(super) fn jdbc(&self, database: &str) -> [String; 3] {
        let scheme = if self.kind == Kind::Postgresql { "postgresql" } else { "mysql" };
        [format!("jdbc:{scheme}://{}/{database}", self.address()), USER.to_owned(), PASSWORD.to_owned()]
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn program(&self, number: usize) -> io::Result<Command> {
        let name = programs(self.kind)[number];
        let program = find(name).ok_or_else(|| io::Error::other(format!("no {name}")))?;
        let mut command = command(&program, user(self.kind))?;
        // Its user may not write where the tests do.
        command.env("TMPDIR", &self.folder);
        Ok(command)
    }

    fn install(&self) -> io::Result<()> {
        let mut install = self.program(0)?;
        let data = self.data();
        if self.kind == Kind::Postgresql {
            let password = self.folder.join("password");
            fs::write(&password, PASSWORD)?;
            give(&password, user(self.kind))?;
            install.arg("-D").arg(&data).args([
                "-U",
                USER,
                "-A",
                "scram-sha-256",
                "--no-sync",
                "--locale=C",
                "-E",
                "UTF8",
            ]);
            install.arg(format!("--pwfile={}", password.display()));
        } else {
            install.arg("--no-defaults").arg(format!("--datadir={}", data.display()));
            install.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
            let statements = format!(
                "CREATE USER IF NOT EXISTS {USER} IDENTIFIED BY '{PASSWORD}';\nGRANT ALL ON *.* TO {USER} WITH GRANT OPTION;\n"
            );
            fs::write(self.start_file(), statements)?;
            give(&self.start_file(), user(self.kind))?;
        }
        run(&mut install)
    }

    fn start_file(&self) -> PathBuf {
        self.folder.join("start.sql")
    }

    /// The data must outlive the process, not the machine.
    fn server(&self) -> io::Result<Command> {
        let mut server = self.program(1)?;
        let (data, port) = (self.data(), self.port.to_string());
        let text = |path: &Path| path.display().to_string();
        if self.kind == Kind::Postgresql {
            server.args(["-D", &text(&data), "-p", &port, "-h", "127.0.0.1", "-k", &text(&self.folder), "-F"]);
        } else {
            server.arg("--no-defaults").args([
                "--bind-address=127.0.0.1",
                "--skip-name-resolve",
                "--innodb-flush-log-at-trx-commit=2",
            ]);
            server.args([format!("--datadir={}", text(&data)), format!("--port={port}")]);
            server.arg(format!("--socket={}", text(&self.folder.join("socket"))));
            server.arg(format!("--pid-file={}", text(&self.folder.join("pid"))));
            server.arg(format!("--init-file={}", text(&self.start_file())));
        }
        Ok(server)
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DatabaseServer {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What makes its data, and the server.
fn programs(kind: Kind) -> [&'static str; 2] {
    match kind {
        Kind::Sqlite => panic!("SQLite has no server"),
        Kind::Postgresql => ["initdb", "postgres"],
        Kind::Mariadb => ["mariadb-install-db", "mariadbd"],
    }
}

/// The user that its package makes.
fn user(kind: Kind) -> &'static str {
    if kind == Kind::Postgresql { "postgres" } else { "mysql" }
}

fn package(kind: Kind) -> &'static str {
    if kind == Kind::Postgresql { "postgresql" } else { "mariadb-server" }
}
