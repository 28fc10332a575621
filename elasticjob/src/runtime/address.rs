//! The address of this host, which names its instances and its server node.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use regex_lite::Regex;

use crate::log::{apart, info, warn};

/// An address of a network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostInterface {
    /// Name of the interface, for example `eth0`.
    pub name: String,
    /// The address.
    pub ip: IpAddr,
    /// Whether the interface is up and running.
    pub is_up: bool,
}

/// The address to take where a host has several.
#[derive(Debug, Clone, Default)]
pub struct AddressPreference {
    interface: Option<String>,
    ip: Option<IpPattern>,
}

#[derive(Debug, Clone)]
struct IpPattern {
    text: String,
    regex: Regex,
}

/// The address of the host, by which its instances and its server node are named, was not determined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The preferred address is not a pattern.
    #[error(
        "elasticjob.preferred.network.ip '{pattern}' is neither the beginning of an address, as '192.168.', nor a \
         regular expression, as '192\\.168\\.(1|2)\\..*': {reason}"
    )]
    InvalidPattern {
        /// The setting.
        pattern: String,
        /// The reason.
        reason: String,
    },
    /// No address of the host is as preferred.
    #[error("no address of this host has {wanted}{why}; there are {available}")]
    NothingPreferred {
        /// The settings that nothing matched.
        wanted: String,
        /// The problem of the preferred interface, if that is the cause.
        why: String,
        /// The addresses that could have been chosen.
        available: String,
    },
    /// The operating system does not list its network interfaces.
    #[error("the network interfaces of this host cannot be listed: {0}")]
    Interfaces(#[source] io::Error),
}

impl AddressPreference {
    /// Takes the settings `elasticjob.preferred.network.interface` (a name) and `elasticjob.preferred.network.ip` (the
    /// beginning of an address, or a regular expression for all of it). Blank is the same as absent.
    ///
    /// # Errors
    /// [`AddressError::InvalidPattern`].
    pub fn new(interface: Option<&str>, ip: Option<&str>) -> Result<Self, AddressError> {
        let given = |setting: Option<&str>| setting.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let ip = given(ip).map(IpPattern::new).transpose()?;
        Ok(Self { interface: given(interface), ip })
    }

    fn is_any(&self) -> bool {
        self.interface.is_none() && self.ip.is_none()
    }

    fn allows_interface(&self, name: &str) -> bool {
        // The label of a further address of an interface is `eth0:1`; it belongs to `eth0`.
        self.interface.as_deref().is_none_or(|wanted| name == wanted || name.split(':').next() == Some(wanted))
    }
}

impl fmt::Display for AddressPreference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interface = self.interface.iter().map(|name| format!("elasticjob.preferred.network.interface '{name}'"));
        let ip = self.ip.iter().map(|pattern| format!("elasticjob.preferred.network.ip '{}'", pattern.text));
        f.write_str(&interface.chain(ip).collect::<Vec<_>>().join(" and "))
    }
}

impl IpPattern {
    fn new(text: String) -> Result<Self, AddressError> {
        match Regex::new(&format!("^(?:{text})$")) {
            Ok(regex) => Ok(Self { text, regex }),
            Err(reason) => Err(AddressError::InvalidPattern { pattern: text, reason: reason.to_string() }),
        }
    }

    fn matches(&self, ip: IpAddr) -> bool {
        let ip = ip.to_string();
        ip.starts_with(&self.text) || self.regex.is_match(&ip)
    }
}

/// The address of this host.
///
/// See [`choose`] for which address it is. Logs a line when there is only the loopback address, or only IPv6. The
/// library does not probe whether other hosts can reach the address: it is a name, no process connects to it, and in
/// containers a probe may fail.
///
/// # Errors
/// [`AddressError::Interfaces`], and what [`choose`] returns.
pub fn host_address(preference: &AddressPreference) -> Result<IpAddr, AddressError> {
    let interfaces = if_addrs::get_if_addrs().map_err(AddressError::Interfaces)?;
    let interfaces: Vec<HostInterface> = interfaces
        .into_iter()
        .map(|interface| HostInterface { ip: interface.ip(), is_up: interface.is_oper_up(), name: interface.name })
        .collect();
    let ip = choose(&interfaces, preference)?;
    if ip.is_loopback() {
        apart(
            move || warn!(%ip, "this host has no address but the loopback one: instances on other hosts may have the same"),
        );
    } else if ip.is_ipv6() {
        apart(
            move || info!(%ip, "this host is named by an IPv6 address: Java instances of a job do not know such a server"),
        );
    }
    Ok(ip)
}

/// Chooses among the addresses in the order of the operating system: the first IPv4 address that is as preferred, else
/// the first such IPv6 address. Loopback and link-local IPv6 addresses and interfaces that are down are not considered.
/// An address that equals the preferred one goes before those that only begin with it. Without a preference, a host that
/// has nothing else gets the loopback address.
///
/// A preferred interface that is not there, is down or has no such address is an error: another address would name
/// another server, and a server that an operator disabled would run jobs again.
///
/// Java takes the last matching interface instead of the first, takes only addresses that answer a probe within 100 ms,
/// ignores a preferred interface that is not there, and fails where there is no IPv4 address. It does not know a server
/// with an IPv6 address either: on a host without IPv4, share no job with Java instances.
///
/// # Errors
/// [`AddressError::NothingPreferred`] names what there is.
pub fn choose(interfaces: &[HostInterface], preference: &AddressPreference) -> Result<IpAddr, AddressError> {
    let usable = || interfaces.iter().filter(|interface| interface.is_up && is_usable(interface.ip));
    let by_family = || usable().filter(|i| i.ip.is_ipv4()).chain(usable().filter(|i| i.ip.is_ipv6()));
    let candidates = || by_family().filter(|i| preference.allows_interface(&i.name)).map(|i| i.ip);

    let chosen = match &preference.ip {
        None => candidates().next(),
        Some(pattern) => candidates()
            .find(|ip| ip.to_string() == pattern.text)
            .or_else(|| candidates().find(|ip| pattern.matches(*ip))),
    };
    match chosen {
        Some(ip) => Ok(ip),
        None if preference.is_any() => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        None => Err(AddressError::NothingPreferred {
            wanted: preference.to_string(),
            why: interface_fault(interfaces, preference).map(|fault| format!(": {fault}")).unwrap_or_default(),
            available: listing(by_family()),
        }),
    }
}

/// Why the preferred interface has no address at all that could be chosen.
fn interface_fault(interfaces: &[HostInterface], preference: &AddressPreference) -> Option<String> {
    let name = preference.interface.as_deref()?;
    let meant = || interfaces.iter().filter(|interface| preference.allows_interface(&interface.name));
    if meant().next().is_none() {
        let names: BTreeSet<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
        let names = if names.is_empty() { "none at all".to_owned() } else { Vec::from_iter(names).join(", ") };
        return Some(format!("it has no interface '{name}' with an address, but {names}"));
    }
    if !meant().any(|interface| interface.is_up) {
        return Some(format!("the interface '{name}' is down"));
    }
    let usable = meant().any(|interface| interface.is_up && is_usable(interface.ip));
    (!usable).then(|| format!("the interface '{name}' has only loopback or link-local addresses"))
}

fn is_usable(ip: IpAddr) -> bool {
    let is_link_local = matches!(ip, IpAddr::V6(v6) if v6.is_unicast_link_local());
    !(ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() || is_link_local)
}

fn listing<'a>(usable: impl Iterator<Item = &'a HostInterface>) -> String {
    let all: Vec<String> = usable.map(|interface| format!("{} ({})", interface.ip, interface.name)).collect();
    if all.is_empty() { "only loopback addresses".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests;
