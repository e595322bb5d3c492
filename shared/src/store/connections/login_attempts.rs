//! Counts failed logins and enforces their limits (see [`crate::domain::accounts::login_limit`]).
//!
//! An attempt is counted before its password is verified, so that concurrent attempts cannot exceed the limits. If the
//! password is right, the attempt is subtracted again. The counters are checked in order, and an attempt that one
//! counter rejects is not added to those that follow. Therefore, a single client network (an IPv4 address or an IPv6
//! /64 prefix) cannot use up the limit of an e-mail address.

use futures_util::future::try_join4;
use serde::Deserialize;

use crate::domain::accounts::login_limit::{
    KNOWN_NETWORK_LIFETIME, LOGIN_WINDOW, LoginCounter, client_network, login_window,
};
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::Connections;
use crate::store::from_item;
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Key, WriteResult, n};

/// A login attempt that has been counted, but whose password has not been verified yet.
pub struct LoginAttempt {
    /// The counters of the e-mail address in combination with the network, of the network, and of the e-mail address.
    counters: [(LoginCounter, Key); 3],
    known_network: Key,
}

#[derive(Deserialize)]
struct LoginAttemptCountItem {
    count: u64,
}

#[derive(Deserialize)]
struct KnownNetworkItem {
    /// The time at which the network is no longer treated as known, as Unix time in seconds.
    expires_at: u64,
}

impl Connections {
    /// Counts a login attempt before the password is verified.
    ///
    /// # Errors
    /// Fails with `RateLimited` if a limit is exceeded. The error contains the time until the window ends.
    pub async fn count_login_attempt(
        &self,
        email: &str,
        ip_address: &str,
        now: Timestamp,
    ) -> Result<LoginAttempt, Error> {
        let (window_number, remaining) = login_window(now);
        let network = client_network(ip_address);
        let email_and_network = sha256::hex_digest(format!("{email} {network}"));
        let counter = |counter: LoginCounter, subject: &str| {
            (counter, Key::new(format!("LOGIN_FAILURES#{}#{subject}", counter.name()), window_number.to_string()))
        };
        let attempt = LoginAttempt {
            counters: [
                counter(LoginCounter::EmailAndNetwork, &email_and_network),
                counter(LoginCounter::Network, &sha256::hex_digest(&network)),
                counter(LoginCounter::Email, &sha256::hex_digest(email)),
            ],
            known_network: Key::new(format!("LOGIN_NETWORK#{email_and_network}"), "KNOWN"),
        };
        for (counter, key) in &attempt.counters {
            let count = self.increment_failures(key, now).await?;
            let applies = counter.applies_to_known_networks();
            if count > counter.limit() && (applies || !self.is_known_network(&attempt, now).await?) {
                return Err(Error::RateLimited(remaining));
            }
        }
        Ok(attempt)
    }

    /// Records that the password was right. Subtracts the attempt from the network's counter and the e-mail address's
    /// counter, resets the counter for their combination, and remembers the network as known for the e-mail address.
    pub async fn record_login_success(&self, attempt: LoginAttempt, now: Timestamp) -> Result<(), Error> {
        let LoginAttempt { counters: [(_, email_and_network), (_, network), (_, email)], known_network } = attempt;
        let decrement = |key: Key| {
            self.table.update_if(ItemUpdate {
                key,
                update: "ADD #count :minus_one",
                condition: ITEM_EXISTS,
                values: vec![(":minus_one", n(-1))],
            })
        };
        let store_network = self.table.update_if(ItemUpdate {
            key: known_network,
            update: "SET #expires_at = :expires",
            condition: "",
            values: vec![(":expires", n(now.plus(KNOWN_NETWORK_LIFETIME).seconds()))],
        });
        let reset = async { self.table.delete(email_and_network).await.map(|_| ()) };
        try_join4(reset, decrement(network), decrement(email), store_network).await.map(|_| ())
    }

    async fn increment_failures(&self, key: &Key, now: Timestamp) -> Result<u64, Error> {
        let item_update = ItemUpdate {
            key: key.clone(),
            update: "ADD #count :one SET #expires_at = :expires",
            condition: "",
            values: vec![(":one", n(1)), (":expires", n(now.plus(LOGIN_WINDOW).seconds()))],
        };
        Ok(from_item::<LoginAttemptCountItem>(self.table.update(item_update).await.unconditional()?)?.count)
    }

    async fn is_known_network(&self, attempt: &LoginAttempt, now: Timestamp) -> Result<bool, Error> {
        let Some(item) = self.table.get(attempt.known_network.clone()).await? else { return Ok(false) };
        Ok(from_item::<KnownNetworkItem>(item)?.expires_at > now.seconds())
    }
}
