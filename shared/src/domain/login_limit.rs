//! How many wrong passwords the service verifies (docs/decisions.md, Logins).
//!
//! Failed logins are counted in windows: for an e-mail from one network, for a network, and for an e-mail. The first limit
//! is tight, the others are loose, because they also refuse people who have done nothing wrong. Somebody who has signed
//! in with this e-mail from this network before is therefore subject to the first alone.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// The length of a window. Windows begin at its multiples, so nobody is refused for longer than this.
pub const LOGIN_WINDOW: Duration = Duration::from_secs(5 * 60);
/// How long a network from which somebody has signed in is known.
pub const KNOWN_NETWORK_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What failed logins are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedBy {
    /// An e-mail from one network.
    EmailAndNetwork,
    /// A network, whatever the e-mail.
    Network,
    /// An e-mail, whatever the network.
    Email,
}

impl CountedBy {
    /// Failed logins in a window; the next attempt is refused.
    pub fn limit(self) -> u64 {
        match self {
            Self::EmailAndNetwork => 10,
            Self::Network => 100,
            Self::Email => 50,
        }
    }

    /// Whether the limit holds also for a network from which somebody has signed in with this e-mail.
    pub fn binds_known_networks(self) -> bool {
        self == Self::EmailAndNetwork
    }

    /// The name in storage.
    pub fn name(self) -> &'static str {
        match self {
            Self::EmailAndNetwork => "EMAIL_AND_NETWORK",
            Self::Network => "NETWORK",
            Self::Email => "EMAIL",
        }
    }
}

/// The number of the window in which a moment is, and how long the window still lasts.
pub fn window(now: Timestamp) -> (u64, Duration) {
    let length = LOGIN_WINDOW.as_secs();
    let (number, passed) = (now.seconds() / length, now.seconds() % length);
    (number, Duration::from_secs(length - passed))
}

/// The network of a source address: the address itself, or the /64 of an IPv6 address, which one host has to itself.
pub fn network(source: &str) -> String {
    let Ok(address) = source.parse::<IpAddr>() else { return "unknown".to_owned() };
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_string(),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_within_five_minutes() {
        let table = [(0, 0, 300), (299_999, 0, 1), (300_000, 1, 300), (450_000, 1, 150)];
        for (now, number, left) in table {
            assert_eq!(window(Timestamp(now)), (number, Duration::from_secs(left)), "{now}");
        }
    }

    #[test]
    fn a_host_is_one_network_however_its_address_is_written() {
        let table = [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::9", "2001:db8:1:2::"),
            ("2001:db8:1:3::9", "2001:db8:1:3::"),
            ("", "unknown"),
            ("192.0.2.1, 10.0.0.1", "unknown"),
        ];
        for (source, expected) in table {
            assert_eq!(network(source), expected, "{source}");
        }
    }
}
