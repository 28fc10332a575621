//! TLS to the ZooKeeper servers.

#[cfg(not(feature = "zookeeper-tls"))]
mod absent;
#[cfg(feature = "zookeeper-tls")]
mod files;
#[cfg(feature = "zookeeper-tls")]
mod handshake;
#[cfg(feature = "zookeeper-tls")]
mod refused;

use std::path::PathBuf;

#[cfg(all(feature = "zookeeper", not(feature = "zookeeper-tls")))]
pub(super) use self::absent::Loaded;
#[cfg(not(feature = "zookeeper-tls"))]
pub(super) use self::absent::{load, valid_name};
#[cfg(feature = "zookeeper-tls")]
pub(super) use self::files::{Loaded, load, valid_name};
use super::config::InvalidSetting;

/// TLS to the servers. A server needs a certificate of a trusted CA for the name in `server_lists`; the client always
/// verifies that. It reads the files each time it dials a session, so a renewed certificate needs no restart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZookeeperTls {
    /// PEM file with the certificates of the CAs to trust, and their revocation lists if there are any. `None`: the CAs
    /// that the system trusts.
    pub trust_store: Option<PathBuf>,
    /// PEM file with the certificate of this program, then those between it and its CA: for servers that ask for one.
    pub client_certificate: Option<PathBuf>,
    /// PEM file with the private key of that certificate, without a passphrase.
    pub client_key: Option<PathBuf>,
}

#[cfg(feature = "zookeeper-tls")]
const TRUST_STORE: &str = "tls.trust-store";
const CLIENT_CERTIFICATE: &str = "tls.client-certificate";
const CLIENT_KEY: &str = "tls.client-key";

impl ZookeeperTls {
    /// All settings and files that cannot be used, each with the reason.
    pub(super) fn problems(&self) -> Vec<InvalidSetting> {
        let mut problems = Vec::new();
        match (&self.client_certificate, &self.client_key) {
            (Some(certificate), None) => {
                let reason = format!(
                    "the certificate of {CLIENT_CERTIFICATE} '{}' needs its private key: name the PEM file of it",
                    certificate.display()
                );
                problems.push(InvalidSetting { key: CLIENT_KEY, value: String::new(), reason });
            }
            (None, Some(key)) => {
                let reason = format!("no certificate belongs to it: name the PEM file of it in {CLIENT_CERTIFICATE}");
                problems.push(InvalidSetting { key: CLIENT_KEY, value: key.display().to_string(), reason });
            }
            _ => {}
        }
        problems.extend(load(self).err().unwrap_or_default());
        problems
    }
}
