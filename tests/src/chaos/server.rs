//! The servers under the group: one or three that were started for it, or one that is there and left alone.

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::ensemble::Ensemble;
use super::plan::Scope;
use super::{Servers, Settings};
use crate::zookeeper::ZookeeperServer;

#[derive(Debug, Clone)]
pub(super) enum Server {
    Own(Arc<ZookeeperServer>),
    Ensemble { connect_string: String, servers: Arc<Mutex<Ensemble>> },
    Given(String),
}

impl Server {
    pub(super) async fn new(settings: &Settings) -> Result<Self, String> {
        Ok(match &settings.servers {
            Servers::Given(server) => Self::Given(server.clone()),
            Servers::One => Self::Own(Arc::new(ZookeeperServer::start().map_err(|error| error.to_string())?)),
            Servers::Ensemble => {
                let servers = Ensemble::start().await.map_err(|error| error.to_string())?;
                Self::Ensemble { connect_string: servers.connect_string(), servers: Arc::new(Mutex::new(servers)) }
            }
        })
    }

    /// What may be done to them.
    pub(super) fn scope(&self) -> Scope {
        match self {
            Self::Own(_) => Scope::ProcessesAndServer,
            Self::Ensemble { .. } => Scope::ProcessesAndEnsemble,
            Self::Given(_) => Scope::Processes,
        }
    }

    pub(super) fn connect_string(&self) -> String {
        match self {
            Self::Own(server) => server.connect_string(),
            Self::Ensemble { connect_string: server, .. } | Self::Given(server) => server.clone(),
        }
    }

    /// Does something to a single server of its own, off the threads that others wait for.
    pub(super) async fn act(&self, act: impl FnOnce(&ZookeeperServer) -> std::io::Result<()> + Send + 'static) {
        let Self::Own(server) = self else { return };
        let server = server.clone();
        let acted = tokio::task::spawn_blocking(move || act(&server)).await;
        acted.expect("it does not panic").expect("the server does what it is told");
    }

    /// The ensemble, where there is one.
    pub(super) async fn ensemble(&self) -> Option<MutexGuard<'_, Ensemble>> {
        match self {
            Self::Ensemble { servers, .. } => Some(servers.lock().await),
            Self::Own(_) | Self::Given(_) => None,
        }
    }
}
