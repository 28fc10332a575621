//! The section `elasticjob.dump`.

use std::net::IpAddr;

use super::node::Origin;
use super::read::{Reader, parse_flag};
use super::schema::Key;

/// `elasticjob.dump`: the port that gives dumps of jobs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DumpSettings {
    /// `address`: the address to listen on. Default: loopback.
    pub address: IpAddr,
    /// `port`; 0 means any free port.
    pub port: u16,
    /// The place of the port.
    pub origin: Origin,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<DumpSettings> {
    let section = Key::of(["dump"]);
    let key = section.child("port");
    let enabled = reader.or_default(&section.child("enabled"), parse_flag);
    let address = reader.or_default(&section.child("address"), |text| text.parse().ok());
    let port = reader.whole(&key);
    match (port, reader.origin(&key), reader.origin(&section)) {
        (Some(port), Some(origin), _) => Some(DumpSettings { address, port, origin }).filter(|_| enabled),
        // Off, as in Java, but with a warning: an operator would notice the missing port only when it is needed.
        (None, None, Some(origin)) if enabled => {
            reader
                .warnings
                .push(format!("{origin}: no dump port is opened: {key} is not set; set it, for example to 9888"));
            None
        }
        _ => None,
    }
}
