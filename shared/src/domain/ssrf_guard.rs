//! Which addresses may be called. Receivers are named by customers, so a request could be aimed at this
//! machine, at the cloud's metadata service or at the Runtime API on loopback: nothing that is not publicly
//! routed is called, whether it is written as a literal or comes out of a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use url::{Host, Url};

/// Every network that IANA's special-purpose registries do not call globally reachable, and those that
/// carry another address inside (checked by [`embedded`] too) or are multicast or reserved.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "::1/128",
    "::/96",
    "::ffff:0:0:0/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
];

/// Why a target is not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// Not an address of the web at all.
    #[error("must be an http or https URL")]
    NotHttp,
    /// Plain http where only https is allowed.
    #[error("must be an https URL")]
    NotHttps,
    /// A user name or password in the address would end up in ledgers and logs.
    #[error("must not contain a user name or password")]
    Credentials,
    /// A private or special address.
    #[error("must not lead to a private or special address")]
    Address,
}

/// What may be called.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    special: Vec<IpNet>,
    allowed: Vec<IpNet>,
    http: bool,
}

impl Guard {
    /// A guard that also allows `private` networks, and plain http where `http` says so.
    pub fn new(private: Vec<IpNet>, http: bool) -> Self {
        Self { special: SPECIAL.iter().filter_map(|net| net.parse().ok()).collect(), allowed: private, http }
    }

    /// Whether a URL may be called, as far as it says itself: a name is checked when it is resolved. The `url`
    /// crate reads decimal, octal, hexadecimal and shortened IPv4 as browsers do.
    pub fn check(&self, url: &Url) -> Result<(), Forbidden> {
        match url.scheme() {
            "https" => {}
            "http" if self.http => {}
            "http" => return Err(Forbidden::NotHttps),
            _ => return Err(Forbidden::NotHttp),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Forbidden::Credentials);
        }
        match url.host() {
            Some(Host::Ipv4(address)) => self.check_address(address.into()),
            Some(Host::Ipv6(address)) => self.check_address(address.into()),
            Some(Host::Domain(_)) => Ok(()),
            None => Err(Forbidden::NotHttp),
        }
    }

    /// Whether an address may be called.
    pub fn check_address(&self, address: IpAddr) -> Result<(), Forbidden> {
        let inner = embedded(address);
        let within = |networks: &[IpNet], address: &IpAddr| networks.iter().any(|network| network.contains(address));
        let allowed = |address: &IpAddr| within(&self.allowed, address) || !within(&self.special, address);
        if allowed(&inner) { Ok(()) } else { Err(Forbidden::Address) }
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, NAT64, 6to4; else the address itself.
fn embedded(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return v4.into();
    }
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => pair(high, low).into(),
        [0x2002, high, low, ..] => pair(high, low).into(),
        _ => Ipv6Addr::into(v6),
    }
}

fn pair(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(guard: &Guard, url: &str) -> Result<(), Forbidden> {
        guard.check(&url.parse().unwrap())
    }

    #[test]
    fn every_network_of_the_list_parses() {
        assert_eq!(Guard::new(vec![], true).special.len(), SPECIAL.len());
    }

    #[test]
    fn special_addresses_are_refused_however_they_are_written() {
        let guard = Guard::new(vec![], true);
        let hosts = [
            "127.0.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b:1::1]",
            "[2002:7f00:1::]",
            "[2001::1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[ff02::1]",
        ];
        for host in hosts {
            assert_eq!(check(&guard, &format!("https://{host}/x")), Err(Forbidden::Address), "{host}");
        }
    }

    #[test]
    fn public_addresses_and_names_are_allowed() {
        let guard = Guard::new(vec![], false);
        for host in ["example.com", "93.184.216.34", "[2606:2800:220:1::1]", "[64:ff9b::5db8:d822]", "172.32.0.1"] {
            assert_eq!(check(&guard, &format!("https://{host}/")), Ok(()), "{host}");
        }
    }

    #[test]
    fn single_networks_can_be_opened() {
        let guard = Guard::new(vec!["127.0.0.0/8".parse().unwrap()], true);
        assert_eq!(check(&guard, "http://127.0.0.1:99/"), Ok(()));
        assert_eq!(check(&guard, "http://[::ffff:127.0.0.1]/"), Ok(()));
        assert_eq!(check(&guard, "http://10.0.0.1/"), Err(Forbidden::Address));
    }

    #[test]
    fn other_schemes_and_credentials_are_refused() {
        let guard = Guard::new(vec![], false);
        assert_eq!(check(&guard, "http://example.com/"), Err(Forbidden::NotHttps));
        assert_eq!(check(&guard, "ftp://example.com/"), Err(Forbidden::NotHttp));
        assert_eq!(check(&guard, "https://me:secret@example.com/"), Err(Forbidden::Credentials));
    }
}
