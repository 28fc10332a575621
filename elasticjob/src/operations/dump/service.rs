//! The dump port: gives the nodes of a job as text to every client over TCP, like ElasticJob's dump port.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::conversation::Conversation;
use crate::log::{apart, debug, info, warn};
use crate::operations::Operations;
use crate::registry::RegistryCenter;

/// The limit for each of three steps: the client sends its command, the registry center answers, the client reads the
/// answer.
pub(super) const STEP_LIMIT: Duration = Duration::from_secs(10);

/// How many clients are served at a time.
const CLIENTS: usize = 64;

/// How long no client is accepted after the operating system refused a connection, as it does when file descriptors run
/// out.
const PAUSE: Duration = Duration::from_millis(200);

/// Gives dumps of jobs to clients that send the line `dump@` with the name of a job, or `dump` for all jobs. It only
/// reads; clients can do nothing else with it.
///
/// Addresses of hosts are hidden as `ip1`, `ip2` and so on, and secrets are masked, so that an answer can be passed on.
/// By default the port listens on the loopback address only: every client that reaches it may read all configurations.
/// Where Java closes the connection without an answer, this port sends a line that says what is wrong. A client that
/// sends no command, or reads its answer slowly, does not delay other clients. But only one dump is read at a time, so
/// that dumps take little from the jobs.
///
/// ```
/// use std::error::Error;
/// use std::sync::Arc;
///
/// use elasticjob::ident::JobName;
/// use elasticjob::operations::dump::{self, DumpService};
/// use elasticjob::registry::RegistryCenter;
///
/// async fn ask(registry: Arc<dyn RegistryCenter>) -> Result<(), Box<dyn Error>> {
///     // 0: any port that is free.
///     let port = DumpService::new(registry, 0).listen().await?;
///     println!("{}", dump::ask(&port.address().to_string(), &JobName::new("settle")?).await?);
///     port.close().await;
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct DumpService {
    registries: Vec<Operations>,
    address: IpAddr,
    port: u16,
    patience: Duration,
    clients: usize,
    /// Lets one dump read at a time: the registry center serves the jobs at the same time.
    turn: Arc<Semaphore>,
}

impl DumpService {
    /// A dump port for the jobs of a registry center's namespace, on a port of the loopback address; 0 means any free
    /// port.
    pub fn new(registry: Arc<dyn RegistryCenter>, port: u16) -> Self {
        let registries = vec![Operations::new(registry)];
        let turn = Arc::new(Semaphore::new(1));
        Self { registries, address: Ipv4Addr::LOCALHOST.into(), port, patience: STEP_LIMIT, clients: CLIENTS, turn }
    }

    /// Adds the jobs of another registry center. Where several have a job of the same name, the first registry center
    /// is asked.
    #[must_use]
    pub fn registry(mut self, registry: Arc<dyn RegistryCenter>) -> Self {
        self.registries.push(Operations::new(registry));
        self
    }

    /// The address to listen on: an address of the host, or `0.0.0.0` or `::` for all. Default: the loopback address.
    #[must_use]
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    /// The limit for each of three steps: the client sends its command, the registry center answers, the client reads
    /// the answer. Default 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the number of clients that are served at a time, 1 at the least. Other clients wait until one of these is done or exceeds
    /// its limit. Default 64.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.clients = clients.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Listens, on the tokio runtime that calls this.
    ///
    /// # Errors
    /// The operating system refuses the address or the port.
    pub async fn listen(self) -> io::Result<DumpPort> {
        self.listen_on(&Handle::current()).await
    }

    /// Listens on another runtime. For example [the runtime of coordination](crate::runtime::JobEnvironment::system)
    /// also answers while jobs block the runtime of the program.
    ///
    /// # Errors
    /// The operating system refuses the address or the port.
    pub async fn listen_on(self, runtime: &Handle) -> io::Result<DumpPort> {
        let wanted = SocketAddr::new(self.address, self.port);
        let listener = runtime.spawn(TcpListener::bind(wanted)).await.map_err(io::Error::other)??;
        let address = listener.local_addr()?;
        apart(move || match address.ip().is_loopback() {
            true => info!("the dump port listens on {address}"),
            false => info!("the dump port listens on {address}, and is open to everyone who reaches it"),
        });
        let (closing, closed) = (CancellationToken::new(), CancellationToken::new());
        let open = Arc::new(closed.clone().drop_guard());
        runtime.spawn(accept(listener, Arc::new(self), closing.clone(), open));
        Ok(DumpPort { address, closed, closing: closing.drop_guard() })
    }

    pub(super) fn registries(&self) -> &[Operations] {
        &self.registries
    }

    /// Waits until this dump may read. The next dump may read when the permit is dropped.
    pub(super) async fn turn(&self) -> SemaphorePermit<'_> {
        self.turn.acquire().await.expect("it is never closed")
    }

    pub(super) fn limit(&self) -> Duration {
        self.patience
    }
}

/// An open dump port. Dropping this closes it.
#[derive(Debug)]
pub struct DumpPort {
    address: SocketAddr,
    closed: CancellationToken,
    closing: DropGuard,
}

impl DumpPort {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and all connections. Afterwards the port is free again, and nothing is read any more.
    pub async fn close(self) {
        let Self { closed, closing, .. } = self;
        drop(closing);
        closed.cancelled().await;
    }
}

/// `close` waits until every holder of `open` has dropped it.
async fn accept(listener: TcpListener, service: Arc<DumpService>, closing: CancellationToken, open: Arc<DropGuard>) {
    let places = Arc::new(Semaphore::new(service.clients));
    let serve = async {
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, client)) => {
                    let (service, closing, open) = (service.clone(), closing.clone(), open.clone());
                    tokio::spawn(async move {
                        let talk = Conversation::new(stream, &service).hold();
                        if let Some(Err(error)) = closing.run_until_cancelled(talk).await {
                            apart(move || {
                                debug!("the client {client} of the dump port closed the connection: {error}")
                            });
                        }
                        drop((place, service, open));
                    });
                }
                Err(error) => {
                    apart(move || warn!("the dump port cannot take a client: {error}"));
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    };
    closing.run_until_cancelled(serve).await;
    drop((listener, service, open));
}

#[cfg(test)]
mod tests;
