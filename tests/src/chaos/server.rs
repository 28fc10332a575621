//! The server under the group: one that was started for it, or one that is there and left alone.

use std::sync::Arc;

use crate::zookeeper::ZookeeperServer;

#[derive(Debug, Clone)]
pub(super) enum Server {
    Own(Arc<ZookeeperServer>),
    Given(String),
}

impl Server {
    pub(super) fn new(given: Option<&str>) -> Result<Self, String> {
        match given {
            Some(server) => Ok(Self::Given(server.to_owned())),
            None => Ok(Self::Own(Arc::new(ZookeeperServer::start().map_err(|error| error.to_string())?))),
        }
    }

    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    pub(super) fn connect_string(&self) -> String {
        match self {
            Self::Own(server) => server.connect_string(),
            Self::Given(server) => server.clone(),
        }
    }

    /// Does something to an own server, off the threads that others wait for.
    pub(super) async fn act(&self, act: impl FnOnce(&ZookeeperServer) -> std::io::Result<()> + Send + 'static) {
        let Self::Own(server) = self else { return };
        let server = server.clone();
        let acted = tokio::task::spawn_blocking(move || act(&server)).await;
        acted.expect("it does not panic").expect("the server does what it is told");
    }
}
