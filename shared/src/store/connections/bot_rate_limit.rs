//! The rate limit of a bot connection, shared by all processes. A count in the table for every request would be a
//! third of a bot message's writes, so a process counts by itself and adds up every tenth request: one process
//! alone is exact, and many let through nine more each at the most.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use crate::domain::rate::{WINDOW, window_at};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::Connections;
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, n};

/// Requests between two additions to the shared count.
const COUNT_FLUSH_SIZE: u64 = 10;

/// What a process knows of each bot's present window.
#[derive(Clone, Default)]
pub(in crate::store) struct BotRates(Arc<Mutex<HashMap<String, LocalWindow>>>);

#[derive(Clone, Copy, Default)]
struct LocalWindow {
    window: u64,
    /// The shared count when it was last asked.
    shared: u64,
    /// Requests since then.
    own: u64,
}

#[derive(Deserialize)]
struct CountItem {
    count: u64,
}

impl Connections {
    /// Counts a request of a bot that may make `limit` in a window, or says how long to wait. A write for every tenth.
    pub async fn take_bot_request(&self, bot_id: &str, limit: u64, now: Timestamp) -> Result<(), Error> {
        let (window, ends) = window_at(now);
        let mut known = self.bot_rates.count(bot_id, window);
        if known.own >= COUNT_FLUSH_SIZE && known.shared <= limit {
            known = LocalWindow { window, shared: self.add_to_window(bot_id, window, known.own, now).await?, own: 0 };
            self.bot_rates.learn(bot_id, known);
        }
        if known.shared + known.own <= limit {
            return Ok(());
        }
        Err(Error::RateLimited(ends.since(now)))
    }

    async fn add_to_window(&self, bot_id: &str, window: u64, own: u64, now: Timestamp) -> Result<u64, Error> {
        let change = ItemUpdate {
            key: Key::new(format!("RATE#{bot_id}"), format!("{window}")),
            update: "ADD #count :own SET #expires_at = :expires",
            condition: "",
            values: vec![(":own", n(own)), (":expires", n(now.after(WINDOW).seconds() + 60))],
        };
        Ok(from_item::<CountItem>(self.table.update(change).await?)?.count)
    }
}

impl BotRates {
    fn count(&self, bot_id: &str, window: u64) -> LocalWindow {
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rates.entry(bot_id.to_owned()).or_default();
        if known.window != window {
            *known = LocalWindow { window, ..LocalWindow::default() };
        }
        known.own += 1;
        *known
    }

    fn learn(&self, bot_id: &str, known: LocalWindow) {
        let mut rates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rates.insert(bot_id.to_owned(), known);
    }
}
