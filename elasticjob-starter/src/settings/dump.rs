//! The section `elasticjob.dump`.

use std::net::IpAddr;

use super::error::SettingError;
use super::node::Origin;
use super::read::{Reader, parse_flag};
use super::schema::Key;

/// `elasticjob.dump`: the port that gives dumps of jobs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DumpSettings {
    /// `address` to listen on. Default: loopback.
    pub address: IpAddr,
    /// `port`; 0 for any that is free.
    pub port: u16,
    /// Where the port stands.
    pub origin: Origin,
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<DumpSettings> {
    let section = Key::of(["dump"]);
    let enabled = reader.or_default(&section.child("enabled"), parse_flag);
    let address = reader.or_default(&section.child("address"), |text| text.parse().ok());
    let key = section.child("port");
    match (reader.text(&key).map(|given| given.origin), reader.whole(&key)) {
        (Some(origin), Some(port)) => Some(DumpSettings { address, port, origin }).filter(|_| enabled),
        (None, _) if enabled => {
            // What it wants is not said: a port that is not there would be missed when it is needed.
            let origin = reader.origin(&section)?;
            let reason = "write for example `port: 9888`, or `enabled: false`".to_owned();
            reader.errors.push(SettingError::Missing { origin, key: key.to_string(), reason });
            None
        }
        _ => None,
    }
}
