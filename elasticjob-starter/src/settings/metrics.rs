//! The section `elasticjob.metrics`.

use std::net::IpAddr;

use super::node::Origin;
use super::read::Reader;
use super::schema::Key;

/// `elasticjob.metrics`: the port that Prometheus scrapes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MetricsSettings {
    /// `port`; 0 means any free port, `None` no port.
    pub port: Option<u16>,
    /// The place of the port, or of the section.
    pub origin: Origin,
    /// `address`: the address to listen on. Default: loopback.
    pub address: IpAddr,
    /// `max-jobs`: how many jobs have time series of their own.
    pub max_jobs: usize,
}

pub(super) fn read(reader: &mut Reader<'_>) -> MetricsSettings {
    let section = Key::of(["metrics"]);
    let port = section.child("port");
    let place = reader.origin(&port).or_else(|| reader.origin(&section));
    MetricsSettings {
        port: reader.whole(&port),
        origin: place.unwrap_or_else(|| Origin::place("settings")),
        address: reader.or_default(&section.child("address"), |text| text.parse().ok()),
        max_jobs: reader.whole_or_default(&section.child("max-jobs")),
    }
}
