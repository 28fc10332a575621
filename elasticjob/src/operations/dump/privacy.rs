//! Hides addresses.

use std::collections::BTreeMap;

use regex_lite::{Captures, Regex, escape};

/// Matches an IPv4 address, also in the middle of longer numbers, like Java.
const IPV4: &str = r"(?:(?:25[0-5]|2[0-4]\d|[01]?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|[01]?\d?\d)";

/// Replaces addresses by `ip1`, `ip2` and so on, in the order in which they first occur: IPv4 addresses, and the
/// addresses of servers that are IPv6, which Java does not hide.
pub(super) fn hide<'a>(text: &str, servers: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<String> = servers.filter(|server| server.contains(':')).map(escape).collect();
    // An address may be the beginning of another one, so longer ones go first.
    known.sort_by_key(|address| std::cmp::Reverse(address.len()));
    known.push(IPV4.to_owned());
    let addresses = Regex::new(&known.join("|")).expect("escaped texts and a pattern that is known");
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut name = |found: &Captures<'_>| {
        let next = format!("ip{}", names.len() + 1);
        names.entry(found[0].to_owned()).or_insert(next).clone()
    };
    let mut hidden = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // Most lines of a long configuration have no addresses, and searching them takes long.
        match line.contains(['.', ':']) {
            true => hidden.push_str(&addresses.replace_all(line, &mut name)),
            false => hidden.push_str(line),
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_names_in_the_order_in_which_they_come() {
        let text = "/a/10.0.0.2@-@7 | 10.0.0.1\n10.0.0.2 255.255.255.255";
        assert_eq!(hide(text, std::iter::empty()), "/a/ip1@-@7 | ip2\nip1 ip3");
    }

    #[test]
    fn the_middle_of_longer_numbers_is_hidden_as_java_hides_it() {
        assert_eq!(hide("10.0.0.1 10.0.0.2 999.10.0.0.1.5", std::iter::empty()), "ip1 ip2 9ip3.1.5");
    }

    #[test]
    fn servers_with_other_addresses_are_hidden_too() {
        let servers = ["2001:db8::1", "2001:db8::12", "10.0.0.1"];
        assert_eq!(hide("2001:db8::12@-@1 2001:db8::1", servers.into_iter()), "ip1@-@1 ip2");
    }
}
