//! Takes the place of TLS where TLS is not compiled in: it refuses settings that ask for TLS.

#[cfg(feature = "zookeeper")]
use std::io;

#[cfg(feature = "zookeeper")]
use elasticjob_syntax::message::Message;
#[cfg(feature = "zookeeper")]
use tokio::net::TcpStream;
#[cfg(feature = "zookeeper")]
use zookeeper_client::Connector;

use super::super::config::InvalidSetting;
use super::ZookeeperTls;

/// Never exists: no files can be loaded without TLS.
pub(in super::super) enum Loaded {}

pub(in super::super) fn load(_: &ZookeeperTls) -> Result<Loaded, Vec<InvalidSetting>> {
    let reason =
        "this program is built without TLS to ZooKeeper: build it with the feature zookeeper-tls of elasticjob or \
        elasticjob-starter"
            .to_owned();
    Err(vec![InvalidSetting { key: "tls.enabled", value: "true".to_owned(), reason }])
}

pub(in super::super) fn valid_name(_: &str) -> bool {
    true
}

#[cfg(feature = "zookeeper")]
impl Loaded {
    pub(in super::super) fn on(&self, _: Connector) -> Connector {
        match *self {}
    }

    pub(in super::super) async fn try_handshake(&self, _: &str, _: TcpStream) -> io::Result<()> {
        match *self {}
    }

    pub(in super::super) fn explain(&self, _: &str, _: &io::Error, _: bool) -> Message {
        match *self {}
    }
}
