//! Limits the number of chats that a channel can open in a time window. A conditional write counts each chat before it
//! is opened, so concurrent requests cannot exceed the limit. Once a process finds that a window's limit has been
//! reached, it rejects further chats without a write until the window ends.
//!
//! In a widget, a client network can use only a share of the limit, so that one caller cannot keep out everybody else.
//! The same write counts the networks, in `NETWORK_SLOTS` attributes: networks with the same slot share their share.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::rate_limit::{RATE_WINDOW, fixed_window};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::{ItemUpdate, Key, WriteResult, n};

/// How long after the end of its window a count expires.
const COUNTER_TTL_SECONDS: u64 = 60;
const NETWORK_SLOTS: u64 = 32;
/// A network may open this part of the chats that a widget may open in a window, but at least [`MIN_NETWORK_CHATS`].
const NETWORK_SHARE: u32 = 10;
const MIN_NETWORK_CHATS: u32 = 5;

/// Expands to the update and the condition for each slot, because both are `&'static str` in an `ItemUpdate`.
macro_rules! network_expressions {
    ($($slot:literal),+) => {
        [$((
            concat!("ADD #count :one, #network_", $slot, " :one SET #expires_at = :expires_at"),
            concat!(
                "(attribute_not_exists(#count) OR #count < :limit) AND ",
                "(attribute_not_exists(#network_", $slot, ") OR #network_", $slot, " < :share)"
            ),
        )),+]
    };
}
const NETWORK_EXPRESSIONS: [(&str, &str); NETWORK_SLOTS as usize] = network_expressions!(
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    31
);

const CHANNEL_EXPRESSION: (&str, &str) =
    ("ADD #count :one SET #expires_at = :expires_at", "attribute_not_exists(#count) OR #count < :limit");

pub(crate) fn opened_chats_key(channel_id: &str, window: u64) -> Key {
    Key::new(format!("OPENED_CHATS#{channel_id}"), format!("{window}"))
}

/// Returns the slot of a network. `network` is a hash in hexadecimal.
fn slot_of(network: &str) -> Option<usize> {
    let slot = u64::from_str_radix(network.get(..4)?, 16).ok()? % NETWORK_SLOTS;
    usize::try_from(slot).ok()
}

fn has_reached(item: &HashMap<String, AttributeValue>, limit: u32) -> bool {
    let count = item.get("count").and_then(|count| count.as_n().ok()?.parse::<u32>().ok());
    count.is_some_and(|count| count >= limit)
}

impl Chats {
    /// Counts a new chat in a channel, and in the client network of a widget's visitor. Fails with
    /// [`Error::TooManyChats`] if the channel has already opened `limit` chats in the current window, or the network
    /// its share of them.
    pub(crate) async fn count_opened_chat(
        &self,
        channel_id: &str,
        network: Option<&str>,
        limit: u32,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (window, end) = fixed_window(RATE_WINDOW, now);
        let limit_reached = || Error::TooManyChats(end.since(now));
        let is_full =
            |key: &str| self.full_windows.get(key).flatten().is_some_and(|full_window| *full_window == window);
        let slot = network.and_then(slot_of);
        let network_key = slot.map(|slot| format!("{channel_id}#{slot}"));
        if is_full(channel_id) || network_key.as_deref().is_some_and(is_full) {
            return Err(limit_reached());
        }
        let expressions = slot.and_then(|slot| NETWORK_EXPRESSIONS.get(slot)).unwrap_or(&CHANNEL_EXPRESSION);
        let share = (limit / NETWORK_SHARE).max(MIN_NETWORK_CHATS);
        let mut values =
            vec![(":one", n(1)), (":expires_at", n(end.seconds() + COUNTER_TTL_SECONDS)), (":limit", n(limit))];
        values.extend(slot.map(|_| (":share", n(share))));
        let update = ItemUpdate {
            key: opened_chats_key(channel_id, window),
            update: expressions.0,
            condition: expressions.1,
            values,
        };
        let Err(item) = self.table.update(update).await.condition()? else { return Ok(()) };
        let network_key = network_key.filter(|_| !item.is_some_and(|item| has_reached(&item, limit)));
        self.full_windows.put(network_key.as_deref().unwrap_or(channel_id), Some(window));
        Err(limit_reached())
    }
}
