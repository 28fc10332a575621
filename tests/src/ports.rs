//! Ports that servers of tests listen on: a free one is found here, and taken by the server only a while later.

use std::io::{Error, ErrorKind, Result};
use std::net::TcpListener;

/// The text that Java, PostgreSQL and MariaDB log when another program took the port first.
const TAKEN: &str = "Address already in use";

/// A port of this host that no program listens on right now.
///
/// # Errors
/// When there is none.
pub fn free() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The error of a server that does not serve, with its log: [`ErrorKind::AddrInUse`] where another port is the cure.
pub fn not_served(what: &str, log: &str) -> Error {
    let kind = if log.contains(TAKEN) { ErrorKind::AddrInUse } else { ErrorKind::Other };
    Error::new(kind, format!("{what}:\n{log}"))
}
