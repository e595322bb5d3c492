//! Failed logins in the Connections table, see [`crate::domain::login_limit`].
//!
//! An attempt is counted before its password is verified, and no more when the password was right: of many attempts at
//! the same moment no more are verified than the limits say. The limits are asked one after the other, and an attempt that
//! one of them refuses is not counted by those behind it: one network cannot use up the limit of an e-mail.

use futures_util::future::try_join4;
use serde::Deserialize;

use crate::domain::login_limit::{CountedBy, KNOWN_NETWORK_LIFETIME, LOGIN_WINDOW, network, window};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::secret::hex_hash;
use crate::store::connections::Connections;
use crate::store::from_item;
use crate::store::table::{EXISTS, ItemUpdate, Key, n};

/// A login whose password has not been verified yet.
pub struct LoginAttempt {
    /// `<e-mail> <network>`, hashed; the e-mail; the network.
    counters: [(CountedBy, Key); 3],
    known: Key,
}

#[derive(Deserialize)]
struct CountItem {
    count: u64,
}

#[derive(Deserialize)]
struct KnownItem {
    /// Seconds.
    expires_at: u64,
}

impl Connections {
    /// Counts a login, by e-mail and by the caller's address, before the password is verified. Three writes; a read for each
    /// of the loose limits that is exceeded.
    ///
    /// # Errors
    /// `RateLimited` when there were too many failures; the window ends after the stated time.
    pub async fn begin_login(&self, email: &str, source: &str, now: Timestamp) -> Result<LoginAttempt, Error> {
        let (number, left) = window(now);
        let network = network(source);
        let pair = hex_hash(format!("{email} {network}"));
        let counter =
            |by: CountedBy, of: &str| (by, Key::new(format!("LOGIN_FAILURES#{}#{of}", by.name()), number.to_string()));
        let attempt = LoginAttempt {
            counters: [
                counter(CountedBy::EmailAndNetwork, &pair),
                counter(CountedBy::Network, &hex_hash(&network)),
                counter(CountedBy::Email, &hex_hash(email)),
            ],
            known: Key::new(format!("LOGIN_NETWORK#{pair}"), "KNOWN"),
        };
        for (by, key) in &attempt.counters {
            let count = self.add_login(key, now).await?;
            if count > by.limit() && (by.binds_known_networks() || !self.is_known(&attempt, now).await?) {
                return Err(Error::RateLimited(left));
            }
        }
        Ok(attempt)
    }

    /// Notes that the password was right: takes the attempt out of the counters, forgets earlier failures with this e-mail
    /// from this network and remembers the network. Four writes at once.
    pub async fn login_succeeded(&self, attempt: LoginAttempt, now: Timestamp) -> Result<(), Error> {
        let LoginAttempt { counters: [(_, pair), (_, network), (_, email)], known } = attempt;
        let take_back = |key: Key| {
            self.table.update_if(ItemUpdate {
                key,
                update: "ADD #count :minus_one",
                condition: EXISTS,
                values: vec![(":minus_one", n(-1))],
            })
        };
        let remember = self.table.update_if(ItemUpdate {
            key: known,
            update: "SET #expires_at = :expires",
            condition: "",
            values: vec![(":expires", n(now.after(KNOWN_NETWORK_LIFETIME).seconds()))],
        });
        let forget = async { self.table.delete(pair).await.map(|_| ()) };
        try_join4(forget, take_back(network), take_back(email), remember).await.map(|_| ())
    }

    async fn add_login(&self, key: &Key, now: Timestamp) -> Result<u64, Error> {
        let change = ItemUpdate {
            key: key.clone(),
            update: "ADD #count :one SET #expires_at = :expires",
            condition: "",
            values: vec![(":one", n(1)), (":expires", n(now.after(LOGIN_WINDOW).seconds()))],
        };
        Ok(from_item::<CountItem>(self.table.update(change).await?)?.count)
    }

    async fn is_known(&self, attempt: &LoginAttempt, now: Timestamp) -> Result<bool, Error> {
        let Some(item) = self.table.get(attempt.known.clone()).await? else { return Ok(false) };
        Ok(from_item::<KnownItem>(item)?.expires_at > now.seconds())
    }
}
