//! Makes sure that a visitor and a number have only one call at a time. The transaction that stores a call replaces the
//! references to the last call of the visitor and of the number, counts callbacks and reserves the call's minutes, so
//! that concurrent requests cannot exceed a limit.

use std::time::Duration;

use futures_util::future::join3;
use serde::Deserialize;

use crate::domain::calls::phone_call::{Call, CallCharge, CallKind};
use crate::domain::calls::telephony::CallbackCaps;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::calls::call_balance::{CallBalance, CallbackCount, balance_key};
use crate::store::chats::{Chats, visitor_key};
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, Write, n};

/// How long the references to the last call of a visitor and of a number are kept. It must be longer than any call, and
/// at least as long as the day for which callbacks are counted.
const LAST_CALL_TTL: Duration = Duration::from_secs(24 * 60 * 60);

pub const CALL_IN_PROGRESS: &str = "the visitor has a call in progress";
pub const NUMBER_IN_CALL: &str = "the number has a call in progress";
pub const BALANCE_USED_UP: &str = "the call balance is used up";
const TOO_MANY_CALLBACKS: &str = "the limit for callbacks of this day is reached";

/// What was read before a call is stored. The call replaces the stored items only if they have not changed since, so
/// that only one of two concurrent calls can start.
pub(crate) struct CallSlot {
    /// The reference to the visitor's last call.
    visitor: LastCall,
    /// `None` for an incoming call, which the account does not pay for.
    ordered: Option<OrderedCallSlot>,
}

struct LastCall {
    key: Key,
    item: Option<LastCallItem>,
}

struct OrderedCallSlot {
    /// The reference to the last call to the number.
    number: LastCall,
    account_id: String,
    balance: CallBalance,
    reserved_minutes: u64,
    is_callback: bool,
}

#[derive(Clone, Copy, Deserialize)]
struct LastCallItem {
    chat_id: u64,
    seq: u64,
    /// Unix time in seconds. The table may delete the item some time later.
    expires_at: u64,
    /// The callbacks to a number. References to the last call of a visitor do not count callbacks.
    #[serde(flatten)]
    callbacks: CallbackCount,
}

/// Returns the key of the item that refers to the visitor's last call. Like the visitor's own key, it contains a hash
/// of the visitor's id.
fn last_call_key(channel_id: &str, external_id: &str) -> Key {
    let visitor = visitor_key(channel_id, external_id);
    Key::new(visitor.pk.replacen("VISITOR#", "VISITOR_CALL#", 1), "CALL")
}

/// Returns the key of the item that refers to the last call to a number. It contains a hash of the number, because keys
/// can appear in logs and metrics.
fn number_key(account_id: &str, number: &str) -> Key {
    Key::new(format!("CALL_NUMBER#{account_id}#{}", sha256::hex_digest(number)), "CALL")
}

impl CallSlot {
    /// Returns the writes that make a new call the last one of the visitor and of the number, count it, and reserve its
    /// minutes.
    pub(crate) fn writes(&self, chat_id: u64, seq: u64, now: Timestamp) -> Vec<Write> {
        let mut writes = vec![self.visitor.replace_write((chat_id, seq), None, now)];
        if let Some(ordered) = &self.ordered {
            writes.extend([ordered.number_write((chat_id, seq), now), ordered.balance_write(now)]);
        }
        writes
    }
}

impl LastCall {
    /// Returns the write that replaces the reference. `callbacks` is the new count of callbacks to the number.
    fn replace_write(&self, (chat_id, seq): (u64, u64), callbacks: Option<CallbackCount>, now: Timestamp) -> Write {
        let mut values =
            vec![(":chat_id", n(chat_id)), (":seq", n(seq)), (":expires_at", n(now.plus(LAST_CALL_TTL).seconds()))];
        let condition = match self.item {
            None => "attribute_not_exists(#pk)",
            Some(LastCallItem { chat_id, seq, .. }) => {
                values.extend([(":last_chat_id", n(chat_id)), (":last_seq", n(seq))]);
                "#chat_id = :last_chat_id AND #seq = :last_seq"
            }
        };
        let update = match callbacks {
            None => "SET #chat_id = :chat_id, #seq = :seq, #expires_at = :expires_at",
            Some(count) => {
                values.extend(count.values());
                "SET #chat_id = :chat_id, #seq = :seq, #expires_at = :expires_at, #callback_day = :callback_day, \
                 #callbacks = :callbacks"
            }
        };
        Write::Update(ItemUpdate { key: self.key.clone(), update, condition, values })
    }
}

impl OrderedCallSlot {
    fn number_write(&self, call: (u64, u64), now: Timestamp) -> Write {
        let before = self.number.item.map(|item| item.callbacks).unwrap_or_default();
        self.number.replace_write(call, Some(before.after_call(self.is_callback, now)), now)
    }

    /// Returns the write that reserves the minutes and counts the callback. It fails if the balance has become too
    /// small, or if another callback has been counted.
    fn balance_write(&self, now: Timestamp) -> Write {
        let before = self.balance.callbacks;
        let mut values = vec![(":reserved", n(self.reserved_minutes))];
        let condition = if before == CallbackCount::default() {
            "#minutes >= :reserved AND attribute_not_exists(#callbacks)"
        } else {
            values.extend([(":day_before", n(before.callback_day)), (":before", n(before.callbacks))]);
            "#minutes >= :reserved AND #callback_day = :day_before AND #callbacks = :before"
        };
        values.extend(before.after_call(self.is_callback, now).values());
        Write::Update(ItemUpdate {
            key: balance_key(&self.account_id),
            update: "SET #minutes = #minutes - :reserved, #callback_day = :callback_day, #callbacks = :callbacks",
            condition,
            values,
        })
    }
}

impl Chats {
    /// Returns the slot for a new call of the visitor. Fails with a conflict if a call of the visitor is in progress.
    ///
    /// A call that the account pays for also fails with a conflict if a call to the number is in progress, if the
    /// balance is too small, or if a limit in `callback_caps` is reached.
    pub(crate) async fn free_call_slot(
        &self,
        account_id: &str,
        (channel_id, external_id): (&str, &str),
        call: &Call,
        callback_caps: Option<CallbackCaps>,
        now: Timestamp,
    ) -> Result<CallSlot, Error> {
        let visitor = self.free_last_call(account_id, last_call_key(channel_id, external_id), CALL_IN_PROGRESS, now);
        let CallCharge::Reserved(reserved_minutes) = call.charge else {
            return Ok(CallSlot { visitor: visitor.await?, ordered: None });
        };
        let number = self.free_last_call(account_id, number_key(account_id, &call.phone), NUMBER_IN_CALL, now);
        // If both are in a call, the visitor's call is the one that is reported.
        let (visitor, number, balance) = join3(visitor, number, self.call_balance(account_id)).await;
        let (visitor, number, balance) = (visitor?, number?, balance?);
        if balance.minutes < i64::try_from(reserved_minutes).unwrap_or(i64::MAX) {
            return Err(Error::Conflict(BALANCE_USED_UP));
        }
        let to_number = number.item.map(|item| item.callbacks).unwrap_or_default().on_day_of(now);
        let exceeds = |caps: CallbackCaps| to_number >= caps.per_number || balance.callbacks_today(now) >= caps.per_day;
        if callback_caps.is_some_and(exceeds) {
            return Err(Error::Conflict(TOO_MANY_CALLBACKS));
        }
        let is_callback = call.kind == CallKind::Callback;
        let account_id = account_id.to_owned();
        Ok(CallSlot {
            visitor,
            ordered: Some(OrderedCallSlot { number, account_id, balance, reserved_minutes, is_callback }),
        })
    }

    /// Reads a reference to a last call. Fails with the conflict `in_progress` if this call has not ended.
    async fn free_last_call(
        &self,
        account_id: &str,
        key: Key,
        in_progress: &'static str,
        now: Timestamp,
    ) -> Result<LastCall, Error> {
        let item: Option<LastCallItem> = self.table.get(key.clone()).await?.map(from_item).transpose()?;
        if let Some(LastCallItem { chat_id, seq, expires_at, .. }) = item
            && expires_at > now.seconds()
        {
            let entry = self.entry(account_id, chat_id, seq).await?;
            let call = entry.as_ref().and_then(|entry| entry.content.call());
            if call.is_some_and(|call| !call.status.is_final()) {
                return Err(Error::Conflict(in_progress));
            }
        }
        Ok(LastCall { key, item })
    }

    /// Whether the visitor has a call in progress.
    pub async fn has_call_in_progress(&self, visitor: &Visitor, now: Timestamp) -> Result<bool, Error> {
        let key = last_call_key(&visitor.channel_id, &visitor.external_id);
        match self.free_last_call(&visitor.account_id, key, CALL_IN_PROGRESS, now).await {
            Ok(_) => Ok(false),
            Err(Error::Conflict(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn forget_last_call(&self, channel_id: &str, external_id: &str) -> Result<(), Error> {
        self.table.delete(last_call_key(channel_id, external_id)).await.map(|_| ())
    }
}
