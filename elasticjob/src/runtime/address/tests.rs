use super::*;

fn interfaces(list: &[(&str, &str)]) -> Vec<HostInterface> {
    list.iter()
        .map(|(name, ip)| HostInterface { name: (*name).to_owned(), ip: ip.parse().unwrap(), is_up: true })
        .collect()
}

fn host() -> Vec<HostInterface> {
    interfaces(&[
        ("lo", "127.0.0.1"),
        ("eth0", "10.1.2.30"),
        ("eth0:1", "10.1.2.3"),
        ("eth1", "192.168.7.4"),
        ("eth2", "192.168.8.5"),
        ("lo", "::1"),
        ("eth0", "fe80::1"),
        ("eth0", "2001:db8::30"),
    ])
}

fn chosen(interfaces: &[HostInterface], interface: &str, ip: &str) -> String {
    let preference = AddressPreference::new(Some(interface), Some(ip)).unwrap();
    choose(interfaces, &preference).unwrap().to_string()
}

fn refused(interfaces: &[HostInterface], interface: &str, ip: &str) -> String {
    let preference = AddressPreference::new(Some(interface), Some(ip)).unwrap();
    choose(interfaces, &preference).unwrap_err().to_string()
}

#[test]
fn the_first_ipv4_address_that_is_not_loopback_is_taken() {
    assert_eq!(choose(&host(), &AddressPreference::default()).unwrap().to_string(), "10.1.2.30");
    assert_eq!(chosen(&host(), "", "  "), "10.1.2.30");
}

#[test]
fn ipv4_goes_before_ipv6_whatever_the_order() {
    assert_eq!(chosen(&interfaces(&[("eth0", "2001:db8::1"), ("eth0", "10.0.0.1")]), "", ""), "10.0.0.1");
}

#[test]
fn a_preferred_interface_is_taken_with_all_its_addresses() {
    assert_eq!(chosen(&host(), "eth1", ""), "192.168.7.4");
    assert_eq!(chosen(&host(), "eth0:1", ""), "10.1.2.3");
    assert_eq!(chosen(&host(), "eth0", "10.1.2.3$"), "10.1.2.3");
}

#[test]
fn a_preferred_address_is_its_beginning_or_a_full_pattern() {
    assert_eq!(chosen(&host(), "", "192.168."), "192.168.7.4");
    assert_eq!(chosen(&host(), "", "192.168.*"), "192.168.7.4");
    assert_eq!(chosen(&host(), "", r"192\.168\.(8|9)\.\d+"), "192.168.8.5");
    assert_eq!(chosen(&host(), "", "2001:db8:"), "2001:db8::30");
    // An alternative in the pattern is no beginning or end of an address of its own.
    assert!(refused(&host(), "", "168|8.5").contains("no address"));
}

#[test]
fn of_several_matches_the_first_is_taken_and_the_equal_one_before_it() {
    assert_eq!(chosen(&host(), "", "192.168"), "192.168.7.4");
    assert_eq!(chosen(&host(), "", "10.1.2.3"), "10.1.2.3");
}

#[test]
fn a_preference_that_nothing_matches_is_an_error_with_what_there_is() {
    let error = refused(&host(), "eth9", "172.");
    for part in ["network.interface 'eth9' and elasticjob.preferred.network.ip '172.'", "192.168.8.5 (eth2)"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!error.contains("127.0.0.1") && !error.contains("fe80"), "{error}");
    // Both have to hold for the same address.
    assert!(refused(&host(), "eth1", "10.").contains("no address"));
    assert!(refused(&host(), "lo", "").contains("interface 'lo'"));
    assert!(refused(&interfaces(&[("lo", "127.0.0.1")]), "", "10.").contains("there are only loopback addresses"));
}

#[test]
fn a_preferred_interface_that_cannot_be_says_what_is_wrong_with_it() {
    assert!(refused(&host(), "eth9", "").contains(
        ": it has no interface 'eth9' with an address, but eth0, eth0:1, eth1, eth2, lo; there are 10.1.2.30 (eth0)"
    ));
    let mut down = host();
    down[3].is_up = false;
    assert!(refused(&down, "eth1", "").contains(": the interface 'eth1' is down; there are"));
    assert!(refused(&host(), "lo", "").contains("'lo' has only loopback or link-local addresses"));
    let link_local = interfaces(&[("eth0", "fe80::1"), ("eth1", "10.0.0.1")]);
    assert!(refused(&link_local, "eth0", "").contains("'eth0' has only loopback or link-local addresses"));
    // The interface is fine, the address is not.
    assert!(refused(&host(), "eth1", "10.").contains("ip '10.'; there are"));
}

#[test]
fn a_host_without_a_network_gets_the_loopback_address() {
    assert_eq!(chosen(&[], "", ""), "127.0.0.1");
    assert_eq!(chosen(&interfaces(&[("lo", "127.0.0.1"), ("lo", "::1"), ("eth0", "fe80::1")]), "", ""), "127.0.0.1");
}

#[test]
fn a_host_with_ipv6_alone_gets_its_global_address() {
    let host = interfaces(&[("lo", "127.0.0.1"), ("eth0", "fe80::1"), ("eth0", "2001:db8::30")]);
    assert_eq!(chosen(&host, "", ""), "2001:db8::30");
}

#[test]
fn an_interface_that_is_down_is_not_considered() {
    let mut host = host();
    host[1].is_up = false;
    assert_eq!(chosen(&host, "", ""), "10.1.2.3");
    assert!(!refused(&host, "", "172.").contains("10.1.2.30"));
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_refused_by_the_name_of_the_setting() {
    let error = AddressPreference::new(None, Some("192.168.[")).unwrap_err().to_string();
    assert!(error.starts_with("elasticjob.preferred.network.ip '192.168.['"), "{error}");
}

#[test]
fn this_host_has_an_address() {
    assert!(!host_address(&AddressPreference::default()).unwrap().is_unspecified());
}
