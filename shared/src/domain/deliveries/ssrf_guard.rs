//! Protects against server-side request forgery (SSRF). Customers choose the URLs of receivers, so a URL could lead to
//! this machine, to the metadata service of the cloud or to the Lambda Runtime API. Only public IP addresses are
//! allowed. This applies both to an address in a URL and to every address that a host name resolves to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use url::{Host, Url};

/// All networks that are not globally reachable according to IANA's special-purpose address registries. The list also
/// contains multicast networks, reserved networks, and networks whose addresses embed an IPv4 address. Before an
/// address is compared with the list, [`unwrap_embedded_ipv4`] replaces it with the IPv4 address that it embeds, if
/// any.
const SPECIAL_PURPOSE_NETWORKS: &[&str] = &[
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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddenUrl {
    #[error("must be an http or https URL")]
    NotHttp,
    #[error("must be an https URL")]
    NotHttps,
    /// The URL contains a user name or a password. It is rejected because the credentials would appear in delivery
    /// logs.
    #[error("must not contain a user name or password")]
    Credentials,
    #[error("must not lead to a private or special address")]
    NotPublic,
}

#[derive(Clone, Debug, Default)]
pub struct SsrfGuard {
    special_purpose: Vec<IpNet>,
    allowed: Vec<IpNet>,
    allows_http: bool,
}

impl SsrfGuard {
    /// Creates a guard that allows public addresses and also the networks in `allowed`. If `allows_http` is false, URLs
    /// must use https.
    pub fn new(allowed: Vec<IpNet>, allows_http: bool) -> Self {
        Self {
            special_purpose: SPECIAL_PURPOSE_NETWORKS.iter().filter_map(|net| net.parse().ok()).collect(),
            allowed,
            allows_http,
        }
    }

    pub fn allows_http(&self) -> bool {
        self.allows_http
    }

    /// Checks that a URL has an allowed scheme and no credentials. If its host is an IP address, also checks that
    /// address. A host name is checked later, when it is resolved. The `url` crate has already normalized decimal,
    /// octal, hexadecimal and shortened IPv4 addresses.
    pub fn check(&self, url: &Url) -> Result<(), ForbiddenUrl> {
        match url.scheme() {
            "https" => {}
            "http" if self.allows_http => {}
            "http" => return Err(ForbiddenUrl::NotHttps),
            _ => return Err(ForbiddenUrl::NotHttp),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ForbiddenUrl::Credentials);
        }
        match url.host() {
            Some(Host::Ipv4(address)) => self.check_address(address.into()),
            Some(Host::Ipv6(address)) => self.check_address(address.into()),
            Some(Host::Domain(_)) => Ok(()),
            None => Err(ForbiddenUrl::NotHttp),
        }
    }

    pub fn check_address(&self, address: IpAddr) -> Result<(), ForbiddenUrl> {
        let address = unwrap_embedded_ipv4(address);
        let contains_address =
            |networks: &[IpNet], address: &IpAddr| networks.iter().any(|network| network.contains(address));
        let is_allowed =
            contains_address(&self.allowed, &address) || !contains_address(&self.special_purpose, &address);
        if is_allowed { Ok(()) } else { Err(ForbiddenUrl::NotPublic) }
    }
}

/// Returns the IPv4 address inside an IPv4-mapped, NAT64 or 6to4 address. Returns any other address unchanged.
fn unwrap_embedded_ipv4(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else {
        return address;
    };
    if let Some(v4) = v6.to_ipv4_mapped() {
        return v4.into();
    }
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => ipv4_from_segments(high, low).into(),
        [0x2002, high, low, ..] => ipv4_from_segments(high, low).into(),
        _ => Ipv6Addr::into(v6),
    }
}

fn ipv4_from_segments(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(guard: &SsrfGuard, url: &str) -> Result<(), ForbiddenUrl> {
        guard.check(&url.parse().unwrap())
    }

    #[test]
    fn every_special_purpose_network_parses() {
        assert_eq!(SsrfGuard::new(vec![], true).special_purpose.len(), SPECIAL_PURPOSE_NETWORKS.len());
    }

    #[test]
    fn special_addresses_are_refused_in_every_notation() {
        let guard = SsrfGuard::new(vec![], true);
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
            assert_eq!(check(&guard, &format!("https://{host}/x")), Err(ForbiddenUrl::NotPublic), "{host}");
        }
    }

    #[test]
    fn public_addresses_and_host_names_are_allowed() {
        let guard = SsrfGuard::new(vec![], false);
        for host in ["example.com", "93.184.216.34", "[2606:2800:220:1::1]", "[64:ff9b::5db8:d822]", "172.32.0.1"] {
            assert_eq!(check(&guard, &format!("https://{host}/")), Ok(()), "{host}");
        }
    }

    #[test]
    fn allowed_networks_are_not_refused() {
        let guard = SsrfGuard::new(vec!["127.0.0.0/8".parse().unwrap()], true);
        assert_eq!(check(&guard, "http://127.0.0.1:99/"), Ok(()));
        assert_eq!(check(&guard, "http://[::ffff:127.0.0.1]/"), Ok(()));
        assert_eq!(check(&guard, "http://10.0.0.1/"), Err(ForbiddenUrl::NotPublic));
    }

    #[test]
    fn other_schemes_and_credentials_are_refused() {
        let guard = SsrfGuard::new(vec![], false);
        assert_eq!(check(&guard, "http://example.com/"), Err(ForbiddenUrl::NotHttps));
        assert_eq!(check(&guard, "ftp://example.com/"), Err(ForbiddenUrl::NotHttp));
        assert_eq!(check(&guard, "https://me:secret@example.com/"), Err(ForbiddenUrl::Credentials));
    }
}
