//! Ports that servers of tests listen on: a free one is found here, and taken by the server only a while later.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{Error, ErrorKind, Result};
use std::net::TcpListener;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Below the ports that Linux gives to outgoing connections (32768 and up). A server of an ensemble binds the port it
/// leads on only once it leads, and a killed server comes back to its port: a connection must not hold it by then.
const RANGE: Range<u16> = 12_000..32_000;

/// A port is given once in this process, even while nothing listens on it.
static GIVEN: LazyLock<Mutex<HashSet<u16>>> = LazyLock::new(Mutex::default);

/// The text that Java, PostgreSQL and MariaDB log when another program took the port first.
const TAKEN: &str = "Address already in use";

/// A port of this host that no program listens on right now, and that no outgoing connection gets.
///
/// # Errors
/// When there is none.
pub fn free() -> Result<u16> {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    // Programs of tests that run side by side begin at different places.
    let begin = RandomState::new().hash_one(std::process::id()) as usize;
    let port = RANGE
        .cycle()
        .skip(begin % RANGE.len())
        .take(RANGE.len())
        .find(|port| !given.contains(port) && TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .ok_or_else(|| Error::new(ErrorKind::AddrInUse, format!("no free port in {RANGE:?}")))?;
    given.insert(port);
    Ok(port)
}

/// The error of a server that does not serve, with its log: [`ErrorKind::AddrInUse`] where another port is the cure.
pub fn not_served(what: &str, log: &str) -> Error {
    let kind = if log.contains(TAKEN) { ErrorKind::AddrInUse } else { ErrorKind::Other };
    Error::new(kind, format!("{what}:\n{log}"))
}
