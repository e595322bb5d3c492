//! The account's balance of call minutes, with the number of today's callbacks, and the payments. A call that the
//! account pays for reserves its minutes in the transaction that stores it.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Deserialize;

use crate::domain::calls::phone_call::{Call, CallCharge};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, Write, WriteResult, n};

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// The number of callbacks that have been started on a day (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct CallbackCount {
    /// The number of days since 1 January 1970.
    #[serde(default)]
    pub(crate) callback_day: u64,
    #[serde(default)]
    pub(crate) callbacks: u32,
}

/// The item of an account's balance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CallBalance {
    #[serde(default)]
    pub minutes: i64,
    #[serde(flatten)]
    pub(crate) callbacks: CallbackCount,
}

impl CallBalance {
    /// Returns the number of callbacks that the account has started today (UTC).
    pub fn callbacks_today(&self, now: Timestamp) -> u32 {
        self.callbacks.on_day_of(now)
    }
}

impl CallbackCount {
    pub(crate) fn on_day_of(self, now: Timestamp) -> u32 {
        if self.callback_day == utc_day(now) { self.callbacks } else { 0 }
    }

    /// Returns the count after a call has started, which counts only if it is a callback.
    pub(crate) fn after_call(self, is_callback: bool, now: Timestamp) -> Self {
        let callbacks = self.on_day_of(now).saturating_add(u32::from(is_callback));
        Self { callback_day: utc_day(now), callbacks }
    }

    pub(crate) fn values(self) -> [(&'static str, AttributeValue); 2] {
        [(":callback_day", n(self.callback_day)), (":callbacks", n(self.callbacks))]
    }
}

fn utc_day(now: Timestamp) -> u64 {
    now.seconds() / SECONDS_PER_DAY
}

pub(crate) fn balance_key(account_id: &str) -> Key {
    Key::new(format!("CALL_BALANCE#{account_id}"), "BALANCE")
}

fn top_up_key(account_id: &str, reference: &str) -> Key {
    Key::new(format!("CALL_BALANCE#{account_id}"), format!("TOP_UP#{reference}"))
}

/// Returns the update that adds minutes to the balance.
pub(crate) fn add_minutes(account_id: &str, minutes: u64) -> ItemUpdate {
    ItemUpdate {
        key: balance_key(account_id),
        update: "ADD #minutes :minutes",
        condition: "",
        values: vec![(":minutes", n(minutes))],
    }
}

impl Chats {
    /// Returns the account's balance: the minutes that are not used or reserved, and today's callbacks.
    pub async fn call_balance(&self, account_id: &str) -> Result<CallBalance, Error> {
        from_item(self.table.get(balance_key(account_id)).await?.unwrap_or_default())
    }

    /// Adds minutes to the account's balance and returns the new balance. A repeated request with the same reference
    /// adds nothing.
    ///
    /// # Errors
    /// Fails with [`Error::IdempotencyMismatch`] if the reference was used with another number of minutes.
    pub async fn top_up_call_balance(
        &self,
        account_id: &str,
        minutes: u64,
        reference: &str,
        now: Timestamp,
    ) -> Result<i64, Error> {
        let mut top_up = top_up_key(account_id, reference).into_item();
        top_up.extend([("minutes".to_owned(), n(minutes)), ("at".to_owned(), n(now.0))]);
        let writes = vec![Write::Create(top_up), Write::Update(add_minutes(account_id, minutes))];
        if let Err(stored) = self.table.transact(writes).await.condition()?
            && stored.is_none_or(|top_up| top_up.get("minutes") != Some(&n(minutes)))
        {
            return Err(Error::IdempotencyMismatch);
        }
        Ok(self.call_balance(account_id).await?.minutes)
    }

    /// Returns the write that changes the balance when a call ends, if it changes. Minutes that were not reserved are
    /// taken only as far as the balance suffices, which reduces the call's charge.
    pub(crate) async fn balance_write(
        &self,
        account_id: &str,
        call: &mut Call,
        change: i64,
    ) -> Result<Option<Write>, Error> {
        if change >= 0 {
            return Ok((change > 0).then(|| Write::Update(add_minutes(account_id, change.unsigned_abs()))));
        }
        let owed = change.unsigned_abs();
        // A batch, because the function that receives reports may not read single items.
        let item = self.table.batch_get(vec![balance_key(account_id)]).await?.pop().unwrap_or_default();
        let taken = owed.min(u64::try_from(from_item::<CallBalance>(item)?.minutes).unwrap_or_default());
        if let CallCharge::Charged(minutes) = &mut call.charge {
            *minutes = minutes.saturating_sub(owed - taken);
        }
        let take = ItemUpdate {
            key: balance_key(account_id),
            update: "SET #minutes = #minutes - :taken",
            condition: "#minutes >= :taken",
            values: vec![(":taken", n(taken))],
        };
        Ok((taken > 0).then_some(Write::Update(take)))
    }
}
