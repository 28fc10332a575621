//! A handshake of our own: the client of ZooKeeper keeps to itself why its own fails.

use std::io;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::files::Loaded;
use super::refused;

/// How long a server may take to say what it thinks of the certificate of this client.
const VERDICT: Duration = Duration::from_secs(1);

impl Loaded {
    /// Whether a server and this client agree on TLS.
    ///
    /// # Errors
    /// Why not, as TLS says it.
    pub(in super::super) async fn try_handshake(&self, host: &str, stream: TcpStream) -> io::Result<()> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let mut stream = TlsConnector::from(self.config.clone()).connect(name, stream).await?;
        // With TLS 1.3 a server looks at the certificate of the client after the client takes the handshake for done.
        stream.write_all(b"srvr").await?;
        match tokio::time::timeout(VERDICT, stream.read(&mut [0; 16])).await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(()),
        }
    }

    /// What a failed handshake means, and what to do. `plain`: whether the port answers without TLS.
    pub(in super::super) fn explain(&self, host: &str, error: &io::Error, plain: bool) -> String {
        refused::explain(&self.tls, host, error, plain)
    }
}
