//! A test handshake: the ZooKeeper client library does not report why its own handshake fails.

use std::io;
use std::time::Duration;

use elasticjob_syntax::message::Message;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::files::Loaded;
use super::refused;

/// How long a server may take to accept or refuse the certificate of this client.
const VERDICT: Duration = Duration::from_secs(1);

impl Loaded {
    /// Whether a server and this client agree on TLS.
    ///
    /// # Errors
    /// The reason, in the words of TLS.
    pub(in super::super) async fn try_handshake(&self, host: &str, stream: TcpStream) -> io::Result<()> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let mut stream = TlsConnector::from(self.config.clone()).connect(name, stream).await?;
        // With TLS 1.3 the client completes the handshake before the server checks the certificate of the client.
        stream.write_all(b"srvr").await?;
        match tokio::time::timeout(VERDICT, stream.read(&mut [0; 16])).await {
            Ok(Err(error)) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(()),
        }
    }

    /// The meaning of a failed handshake, and what to do. `plain`: whether the port answers without TLS.
    pub(in super::super) fn explain(&self, host: &str, error: &io::Error, plain: bool) -> Message {
        refused::explain(&self.tls, host, error, plain)
    }
}
