//! A ZooKeeper server that has a port with TLS beside its usual one.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use super::ZookeeperServer;
use crate::ports;

/// The PEM files of a server.
#[derive(Debug, Clone)]
pub struct Stores {
    /// Its certificate and its private key.
    pub own: PathBuf,
    /// The CAs whose clients it accepts; it accepts no client without a certificate.
    pub trusted: PathBuf,
}

/// The server, on 127.0.0.1.
#[derive(Debug)]
pub struct SecureServer {
    /// The server, with the usual port.
    pub server: Arc<ZookeeperServer>,
    /// The port with TLS.
    pub port: u16,
}

impl SecureServer {
    /// Starts a server and waits until it serves.
    ///
    /// # Errors
    /// As [`ZookeeperServer::start`].
    pub fn start(stores: &Stores) -> io::Result<Self> {
        loop {
            let port = ports::free()?;
            let server = ZookeeperServer::new(vec!["-Xmx256m".to_owned()])?;
            let mut settings = vec![
                "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory".to_owned(),
                format!("secureClientPort={port}"),
                "secureClientPortAddress=127.0.0.1".to_owned(),
                "ssl.clientAuth=need".to_owned(),
            ];
            for (store, file) in [("keyStore", &stores.own), ("trustStore", &stores.trusted)] {
                settings.push(format!("ssl.{store}.location={}", file.display()));
                settings.push(format!("ssl.{store}.type=PEM"));
            }
            server.configure(&[&ZookeeperServer::own_settings()[..], &settings].concat())?;
            match server.resume() {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                started => return started.map(|()| Self { server: Arc::new(server), port }),
            }
        }
    }

    /// The port with TLS, under the name that the certificate is for.
    pub fn connect_string(&self) -> String {
        format!("localhost:{}", self.port)
    }
}
