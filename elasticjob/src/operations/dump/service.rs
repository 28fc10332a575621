//! The dump port: gives the nodes of a job as text to whoever asks over TCP, as that of ElasticJob does.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::conversation::Conversation;
use crate::log::{debug, info, warn};
use crate::operations::Operations;
use crate::registry::RegistryCenter;

/// How long a client may take to ask, the registry center to answer, and the client to take the answer, each.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How many clients are served at a time.
const CLIENTS: usize = 64;

/// How long no client is accepted after the operating system refused one: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(200);

/// Gives dumps of jobs to clients that send the line `dump@` and the name of a job, or `dump` for all jobs. Nothing else
/// can be done through it: it only reads.
///
/// Addresses of hosts are hidden as `ip1`, `ip2` and so on, and secrets are masked, so that an answer can be passed on.
/// It listens on the loopback address alone unless it is opened: whoever reaches it may read all configurations.
/// Where Java closes the connection without a word, here a line says what is wrong. Clients that ask nothing, or take
/// their answer slowly, keep nobody waiting; but one dump is read at a time, so that they take little from the jobs.
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
    /// Whose turn it is to read: a registry center serves the jobs at the same time.
    turn: Arc<Semaphore>,
}

impl DumpService {
    /// For the jobs of a registry center's namespace, on a port of the loopback address; 0 stands for any that is free.
    pub fn new(registry: Arc<dyn RegistryCenter>, port: u16) -> Self {
        let registries = vec![Operations::new(registry)];
        let turn = Arc::new(Semaphore::new(1));
        Self { registries, address: Ipv4Addr::LOCALHOST.into(), port, patience: PATIENCE, clients: CLIENTS, turn }
    }

    /// Also for the jobs of another registry center. Where several have a job of one name, the first is asked.
    #[must_use]
    pub fn registry(mut self, registry: Arc<dyn RegistryCenter>) -> Self {
        self.registries.push(Operations::new(registry));
        self
    }

    /// The address to listen on: one of the host, or `0.0.0.0` or `::` for all.
    #[must_use]
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    /// How long a client may take to ask, the registry center to answer, and the client to take the answer, each;
    /// default 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How many clients are served at a time, at least 1; others wait until one of these is done, or was too slow.
    /// Default 64.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.clients = clients.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Listens, on the tokio runtime this is called in.
    ///
    /// # Errors
    /// The operating system refuses the address or the port.
    pub async fn listen(self) -> io::Result<DumpPort> {
        self.listen_on(&Handle::current()).await
    }

    /// Listens on another runtime, for example [that of coordination](crate::runtime::JobEnvironment::system), which
    /// answers also while jobs block the one of the program.
    ///
    /// # Errors
    /// The operating system refuses the address or the port.
    pub async fn listen_on(self, runtime: &Handle) -> io::Result<DumpPort> {
        let wanted = SocketAddr::new(self.address, self.port);
        let listener = runtime.spawn(TcpListener::bind(wanted)).await.map_err(io::Error::other)??;
        let address = listener.local_addr()?;
        match address.ip().is_loopback() {
            true => info!("dumps of jobs are given at {address}"),
            false => info!("dumps of jobs are served at {address}, to everyone who reaches it"),
        }
        let (closing, closed) = (CancellationToken::new(), CancellationToken::new());
        let open = Arc::new(closed.clone().drop_guard());
        runtime.spawn(accept(listener, Arc::new(self), closing.clone(), open));
        Ok(DumpPort { address, closed, closing: closing.drop_guard() })
    }

    pub(super) fn registries(&self) -> &[Operations] {
        &self.registries
    }

    /// Waits for the turn to read, and keeps it until what it returns is dropped.
    pub(super) async fn turn(&self) -> SemaphorePermit<'_> {
        self.turn.acquire().await.expect("it is never closed")
    }

    pub(super) fn limit(&self) -> Duration {
        self.patience
    }
}

/// A dump port that is open, until this is dropped.
#[derive(Debug)]
pub struct DumpPort {
    address: SocketAddr,
    closed: CancellationToken,
    closing: DropGuard,
}

impl DumpPort {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and all connections; afterwards it can be taken again, and nothing is read any more.
    pub async fn close(self) {
        let Self { closed, closing, .. } = self;
        drop(closing);
        closed.cancelled().await;
    }
}

/// Whoever holds `open` has something that `close` waits for.
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
                            debug!("a client of the dump port at {client} went: {error}");
                        }
                        drop((place, service, open));
                    });
                }
                Err(error) => {
                    warn!("the dump port cannot take a client: {error}");
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
