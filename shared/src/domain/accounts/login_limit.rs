//! Limits on failed logins (docs/decisions.md, Logins).
//!
//! Failed logins are counted in time windows, with three counters: for the e-mail address together with the client's
//! network (see [`client_network`]), for the network alone, and for the e-mail address alone. The limit for the e-mail
//! address together with the network is low. The limits for the network alone and for the e-mail address alone are
//! high, because they also affect people who have not made a failed attempt. The high limits do not apply if someone
//! has signed in with the same e-mail address from the same network in the last 30 days.

use crate::domain::named::named;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// The length of a time window. Windows start at multiples of this length, so logins are rejected for at most this
/// long.
pub const LOGIN_WINDOW: Duration = Duration::from_secs(5 * 60);
/// How long a network counts as known for an e-mail address after a successful login.
pub const KNOWN_NETWORK_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

named! {
    pub enum LoginCounter {
        EmailAndNetwork = "EMAIL_AND_NETWORK",
        Network = "NETWORK",
        Email = "EMAIL",
    }
}

impl LoginCounter {
    /// Returns the number of failed logins in one window after which all further logins in the window are rejected.
    pub fn limit(self) -> u64 {
        match self {
            Self::EmailAndNetwork => 10,
            Self::Network => 100,
            Self::Email => 50,
        }
    }

    /// Whether the limit also applies to known networks. A network is known for [`KNOWN_NETWORK_LIFETIME`] after
    /// someone has signed in from it with this e-mail address.
    pub fn applies_to_known_networks(self) -> bool {
        self == Self::EmailAndNetwork
    }
}

/// Returns the number of the window that contains `now`, and the time until that window ends.
pub fn login_window(now: Timestamp) -> (u64, Duration) {
    let length = LOGIN_WINDOW.as_secs();
    let (number, elapsed) = (now.seconds() / length, now.seconds() % length);
    (number, Duration::from_secs(length - elapsed))
}

/// Returns the network of a client's IP address. For IPv4, this is the address itself. For IPv6, it is the /64 prefix,
/// because a single client can use every address in its prefix. Returns `unknown` if `source` is not an IP address.
pub fn client_network(source: &str) -> String {
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
    fn window_ends_within_five_minutes() {
        let table = [(0, 0, 300), (299_999, 0, 1), (300_000, 1, 300), (450_000, 1, 150)];
        for (now, number, time_left) in table {
            assert_eq!(login_window(Timestamp(now)), (number, Duration::from_secs(time_left)), "{now}");
        }
    }

    #[test]
    fn equal_networks_have_one_notation() {
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
            assert_eq!(client_network(source), expected, "{source}");
        }
    }
}
