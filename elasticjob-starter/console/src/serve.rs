//! Listens, and serves until the end.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Extension;
use elasticjob::__private::log::{apart, warn, written};
use elasticjob_ports::Port;
use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use crate::access::OwnAddress;
use crate::app::{App, Console, ConsoleError};

/// How long a shutdown waits for answers that are under way.
const GRACE: Duration = Duration::from_secs(10);

/// The time that the data file has after that.
const DATA_LIMIT: Duration = Duration::from_secs(4);

/// A console that listens.
#[derive(Debug)]
pub struct Listening {
    console: Console,
    port: Port,
    address: SocketAddr,
}

impl Console {
    /// Listens on the address of the options.
    ///
    /// # Errors
    /// [`ConsoleError::Listen`].
    pub async fn listen(self) -> Result<Listening, ConsoleError> {
        let address = self.app().options.listen;
        let listen = |cause| ConsoleError::Listen { address, cause };
        let port = Port::listen(address, "the console").await.map_err(listen)?;
        let address = port.address().map_err(listen)?;
        self.app().cookies.listens_on(address.port());
        Ok(Listening { console: self, port, address })
    }
}

/// A kind of things that wait for the data file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Waiting {
    /// Actions of operators in this registry center.
    Actions(String),
    /// Logins, the first user, and the last uses of tokens.
    Logins,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actions(registry) => write!(f, "what operators did in the registry center '{registry}'"),
            Self::Logins => f.write_str("logins and the last uses of tokens"),
        }
    }
}

/// Writes what waits for the data file, within a limit, and returns what it did not take.
async fn close_data(app: &App, limit: Duration) -> Vec<Waiting> {
    let Some(data) = &app.options.data else { return Vec::new() };
    let (deadline, storage) = (Instant::now() + limit, data.storage());
    let lost_before = storage.lost();
    let actions = join_all(app.registries.values().map(|registry| async move {
        let lost = registry.close_kept(limit).await;
        (lost > 0).then(|| Waiting::Actions(registry.name().to_owned()))
    }));
    // Side by side: where one does not come to its end, the other one has its time all the same.
    let (actions, _) = tokio::join!(actions, timeout_at(deadline, storage.write_rest()));
    // After both, as it takes the file from them.
    let _ = timeout_at(deadline, storage.close()).await;
    let mut left: Vec<Waiting> = actions.into_iter().flatten().collect();
    let unwritten = storage.unwritten() + storage.lost() - lost_before;
    left.extend((unwritten > 0).then_some(Waiting::Logins));
    left
}

impl Listening {
    #[cfg(test)]
    pub(crate) fn into_console(self) -> Console {
        self.console
    }

    /// The address. With port 0 it has the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the start page.
    pub fn url(&self) -> String {
        format!("http://{}{}/", self.address, self.console.app().options.base_path)
    }

    /// Serves until `end` completes, within the [limits of the port](elasticjob_ports::Limits). Streams end at once then,
    /// other answers have 10 s, and the data file 4 s more. The log says what was not written by then.
    pub async fn serve(self, end: impl Future<Output = ()> + Send + 'static) {
        let app = self.console.app().clone();
        let ending = app.ending.clone();
        let ended = {
            let ending = ending.clone();
            async move {
                end.await;
                ending.cancel();
            }
        };
        let router = self.console.router().layer(Extension(OwnAddress(self.address)));
        let served = self.port.serve(router, ended);
        let overtime = async {
            ending.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = served => {}
            () = overtime => {}
        }
        let left: Vec<String> = close_data(&app, DATA_LIMIT).await.iter().map(ToString::to_string).collect();
        if let Some(data) = app.options.data.as_ref().filter(|_| !left.is_empty()) {
            let (at, left, seconds) = (data.at().to_owned(), left.join(", "), DATA_LIMIT.as_secs());
            apart(move || warn!("the data file {at} did not take everything within {seconds} s: {left}"));
            written().await;
        }
    }
}

#[cfg(all(test, feature = "data"))]
mod tests {
    use elasticjob::registry::memory::MemoryRegistry;
    use sqlx::Connection;
    use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

    use super::*;
    use crate::DataFile;
    use crate::access::{Entry, Event};
    use crate::service::now;
    use crate::store::tests::{Folder, console_with};
    use crate::testing::{call, cookie_of, json, start_job};

    #[tokio::test]
    async fn a_data_file_that_another_program_holds_costs_a_limited_time_and_what_waits_is_told() {
        let (folder, memory) = (Folder::new("held"), MemoryRegistry::new());
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let _job = start_job(&memory, "settle", &Default::default()).await;
        let console = console_with(&memory, &data);
        let admin = cookie_of(&console, "admin").await;
        let options = SqliteConnectOptions::new().filename(folder.file());
        let mut holder = SqliteConnection::connect_with(&options).await.expect("it opens");
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut holder).await.expect("it holds the file");
        let body = serde_json::json!({ "enabled": false, "reason": "kernel update" });
        let done = call(&console, json("PUT", "/api/v1/registries/default/jobs/settle/state", &admin, &body)).await;
        assert_eq!(done.status, 200, "{}", done.body);
        let event = Event::LoginRefused;
        data.storage().add_access(Entry { at: now(), who: "root".to_owned(), from: None, event, count: 1 });
        let (begun, limit) = (Instant::now(), Duration::from_millis(500));
        let left = close_data(console.app(), limit).await;
        // By itself the file would wait for 5 s for each of them.
        assert!(begun.elapsed() < 4 * limit, "{:?}", begun.elapsed());
        assert_eq!(left, [Waiting::Actions("default".to_owned()), Waiting::Logins]);
    }

    #[tokio::test]
    async fn logins_that_the_data_file_refuses_at_the_end_are_told() {
        let (folder, memory) = (Folder::new("refused"), MemoryRegistry::new());
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&memory, &data);
        let options = SqliteConnectOptions::new().filename(folder.file());
        let mut other = SqliteConnection::connect_with(&options).await.expect("it opens");
        sqlx::raw_sql("DROP TABLE access_event").execute(&mut other).await.expect("it is done");
        let event = Event::LoginRefused;
        data.storage().add_access(Entry { at: now(), who: "root".to_owned(), from: None, event, count: 1 });
        assert_eq!(close_data(console.app(), Duration::from_secs(60)).await, [Waiting::Logins]);
        // Nothing waits any more, so the file is let go.
        DataFile::open(folder.file()).await.expect("no other console has it");
    }

    #[tokio::test]
    async fn a_data_file_that_takes_everything_leaves_nothing() {
        let (folder, memory) = (Folder::new("taken"), MemoryRegistry::new());
        let data = DataFile::open(folder.file()).await.expect("it is made");
        let console = console_with(&memory, &data);
        let _admin = cookie_of(&console, "admin").await;
        assert_eq!(close_data(console.app(), Duration::from_secs(60)).await, []);
    }
}
