//! The parts that all measurements share.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elasticjob::ident::JobName;
use elasticjob::registry::RegistryCenter;
use elasticjob::registry::layout::JobPath;
use elasticjob::registry::zookeeper::{ZookeeperConfiguration, ZookeeperRegistryCenter};
use tokio::runtime::Handle;

use crate::group::{Group, Program};
use crate::java_peer::{JavaPeer, Kind};
use crate::measure::beside;
use crate::zookeeper::ZookeeperServer;

/// After how long without a sign of life sessions end: a virtual machine for Java may pause.
pub(super) const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

/// Everything that is waited for happens within this, or never.
const LIMIT: Duration = Duration::from_secs(90);

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// The server and the programs of both kinds.
#[derive(Debug)]
pub(super) struct Stage {
    pub server: ZookeeperServer,
    pub peer: JavaPeer,
    pub seconds: u32,
}

impl Stage {
    /// The benchmark program.
    pub fn bench(&self, kind: Kind) -> io::Result<Command> {
        Ok(match kind {
            Kind::Rust => Command::new(beside("bench")?),
            Kind::Java => self.peer.command("bench"),
        })
    }

    /// A connection of the observer.
    pub async fn registry(&self, namespace: &str) -> io::Result<Arc<dyn RegistryCenter>> {
        let config = ZookeeperConfiguration::new(self.server.connect_string(), namespace);
        let registry = ZookeeperRegistryCenter::connect(config, &Handle::current()).await;
        Ok(Arc::new(registry.map_err(io::Error::other)?))
    }
}

/// Waits until something is so.
///
/// # Errors
/// That of the look, and one with the logs of all processes when it is not so in time.
pub(super) async fn until<P: Program, T>(
    group: &Group<P>,
    what: &str,
    look: impl AsyncFn() -> io::Result<Option<T>>,
) -> io::Result<T> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look().await? {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err(io::Error::other(format!("{what}: not within {LIMIT:?}\n{}", group.logs())));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The data of a node as text, `None` where there is no node.
pub(super) async fn text_of(registry: &Arc<dyn RegistryCenter>, path: &str) -> io::Result<Option<String>> {
    let node = registry.get(path).await.map_err(io::Error::other)?;
    Ok(node.and_then(|node| node.data.text().map(str::to_owned)))
}

/// The absolute path of a node of a job.
pub(super) fn path(job: &str, node: JobPath) -> String {
    node.absolute(&JobName::new(job).expect("a name for a job"))
}
