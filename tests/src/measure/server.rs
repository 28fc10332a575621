//! The figures that a ZooKeeper server gives about itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The answer of a server to `mntr`.
#[derive(Debug)]
pub struct ServerReport(String);

impl ServerReport {
    /// Asks a server, `host:port`; `None` where it does not tell.
    pub fn of(server: &str) -> Option<Self> {
        let mut stream = TcpStream::connect(server).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
        stream.write_all(b"mntr").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(Self(text))
    }

    /// One of its numbers.
    pub fn count(&self, name: &str) -> Option<u64> {
        let value = |line: &str| line.strip_prefix(name)?.strip_prefix('\t')?.trim().parse().ok();
        self.0.lines().find_map(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_by_its_whole_name() {
        let report = ServerReport("zk_watch_count_more\t7\nzk_watch_count\t3\nzk_version\t3.8.0\n".to_owned());
        assert_eq!(report.count("zk_watch_count"), Some(3));
        assert_eq!(report.count("zk_version"), None);
        assert_eq!(report.count("zk_watch"), None);
    }
}
