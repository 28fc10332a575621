//! Limits on what the clients of a port may take.

use std::time::Duration;

/// The most connections of a port, where the process may open many files.
const CONNECTIONS: usize = 256;

/// Of the files that a process may open, this part is for the connections of a port at the most.
const PART_OF_FILES: u64 = 4;

/// The limits of the clients of a port. The default fits to the number of files that the process may open.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The number of connections that may be open at a time. Further clients wait until one of these ends. Default: 256, and a quarter of
    /// the files that the process may open (`ulimit -n`) at the most.
    pub connections: usize,
    /// The number of them that one address may have; a further one is answered with 503 and closed. Of IPv6 the first 64 bits count, as
    /// a host has all addresses with them. Default: half of [`connections`](Self::connections), since behind a proxy all
    /// clients have one address.
    pub per_address: usize,
    /// The time that a client may take to send the header of a request, from the begin of the connection or from the end of the
    /// request before, and how long it may pause within the body. Then its connection is closed. Default: 30 s.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self::within(open_files())
    }
}

impl Limits {
    /// The limits of a process that may open so many files; `None` where that is not limited.
    fn within(files: Option<u64>) -> Self {
        let part = files.map_or(CONNECTIONS, |files| usize::try_from(files / PART_OF_FILES).unwrap_or(CONNECTIONS));
        let connections = part.clamp(2, CONNECTIONS);
        Self { connections, per_address: connections.div_ceil(2), patience: Duration::from_secs(30) }
    }
}

#[cfg(unix)]
fn open_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn open_files() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_may_open_few_files_has_few_connections() {
        let of = |files| {
            let limits = Limits::within(files);
            (limits.connections, limits.per_address)
        };
        assert_eq!(of(None), (256, 128));
        assert_eq!(of(Some(1_048_576)), (256, 128));
        assert_eq!(of(Some(60)), (15, 8));
        assert_eq!(of(Some(3)), (2, 1));
    }
}
