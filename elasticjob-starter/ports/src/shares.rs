//! Counts the connections of each address.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the connections of each address.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shares(Arc<Mutex<BTreeMap<IpAddr, usize>>>);

/// A connection that counts until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    shares: Shares,
    client: IpAddr,
}

impl Shares {
    /// Counts a connection, unless its address has that many already.
    pub(crate) fn take(&self, address: IpAddr, most: usize) -> Option<Counted> {
        let client = host_of(address);
        let mut counts = self.counts();
        let count = counts.entry(client).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Counted { shares: self.clone(), client })
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.shares.counts();
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

/// What stands for the host that has an address: of IPv6 the first 64 bits.
fn host_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_gets_it_back() {
        let shares = Shares::default();
        let (one, other): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let first = shares.take(one, 2);
        let second = shares.take(one, 2);
        assert!(first.is_some() && second.is_some() && shares.take(one, 2).is_none());
        assert!(shares.take(other, 2).is_some());
        drop(first);
        assert!(shares.take(one, 2).is_some());
        drop(second);
        assert!(shares.counts().is_empty(), "addresses without connections are forgotten");
    }

    #[test]
    fn a_host_with_many_addresses_is_one() {
        let host = |text: &str| host_of(text.parse().unwrap());
        assert_eq!(host("2001:db8::1"), host("2001:db8::ffff:1"));
        assert_ne!(host("2001:db8::1"), host("2001:db8:0:1::1"));
        assert_eq!(host("::ffff:10.0.0.1"), host("10.0.0.1"));
    }
}
