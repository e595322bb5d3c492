//! Stores phone calls. A call is the content of a timeline entry. Delivering the entry orders the call from the
//! telephony provider. Each change of a call's status is stored in one transaction with its notifications and the
//! account's balance.
//!
//! A call that the account pays for reserves its minutes in the transaction that stores it. The same transaction counts
//! callbacks and replaces the references to the last call of the visitor and of the number, so that concurrent requests
//! cannot exceed a limit.

use std::cmp::Reverse;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::{join3, try_join_all};
use serde::Deserialize;

use crate::chats::append_entry::StoreMessageResult;
use crate::chats::notifications::{NotificationContent, NotificationContext};
use crate::chats::send_agent_message::AgentMessage;
use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, Sender};
use crate::domain::delivery::{Delivery, Target};
use crate::domain::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::message_content::Content;
use crate::domain::phone_call::{Call, CallCharge, CallKind, CallProgress, CallReport, CallStatus};
use crate::domain::phone_number;
use crate::domain::sha256;
use crate::domain::telephony::CallbackCaps;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Visitor;
use crate::domain::webhook::{Webhook, WebhookEventDetails};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets;
use crate::store::chats::items::CallItem;
use crate::store::chats::report_counters::count_call_write;
use crate::store::chats::{Chats, entry_key, entry_write, visitor_from_item, visitor_key};
use crate::store::table::{Item, ItemUpdate, Key, Query, Write, WriteError, WriteResult, item_key, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

/// How long the references to the last call of a visitor and of a number are kept. It must be longer than any call, and
/// at least as long as the day for which callbacks are counted.
const LAST_CALL_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of visitors that one query for a caller's number returns. Each format of the number has its own
/// query.
const MAX_CALLERS: i32 = 50;
const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

pub const CALL_IN_PROGRESS: &str = "the visitor has a call in progress";
pub const NUMBER_IN_CALL: &str = "the number has a call in progress";
pub const BALANCE_USED_UP: &str = "the call balance is used up";
const TOO_MANY_CALLBACKS: &str = "the limit for callbacks of this day is reached";

#[derive(Debug)]
pub struct ChangedCall {
    pub entry: TimelineEntry,
    /// The stored call_event notifications, which the caller must queue.
    pub notifications: Vec<TimelineEntry>,
}

pub struct ReportedCall<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    pub seq: u64,
    /// The id that the call's entry must have. `None` if the caller has already read the entry.
    pub call_id: Option<&'a str>,
    pub report: &'a CallReport,
    pub provider_call_id: Option<&'a str>,
}

pub struct AgentCall<'a> {
    pub chat: &'a Chat,
    pub agent: &'a AgentSnapshot,
    pub call: Call,
    pub webhooks: &'a [Webhook],
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

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

/// The number of callbacks that have been started on a day (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
struct CallbackCount {
    /// The number of days since 1 January 1970.
    #[serde(default)]
    callback_day: u64,
    #[serde(default)]
    callbacks: u32,
}

/// The item of an account's balance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct CallBalance {
    #[serde(default)]
    pub minutes: i64,
    #[serde(flatten)]
    callbacks: CallbackCount,
}

impl CallBalance {
    /// Returns the number of callbacks that the account has started today (UTC).
    pub fn callbacks_today(&self, now: Timestamp) -> u32 {
        self.callbacks.on_day_of(now)
    }
}

impl CallbackCount {
    fn on_day_of(self, now: Timestamp) -> u32 {
        if self.callback_day == utc_day(now) { self.callbacks } else { 0 }
    }

    /// Returns the count after a call has started, which counts only if it is a callback.
    fn after_call(self, is_callback: bool, now: Timestamp) -> Self {
        let callbacks = self.on_day_of(now).saturating_add(u32::from(is_callback));
        Self { callback_day: utc_day(now), callbacks }
    }

    fn values(self) -> [(&'static str, AttributeValue); 2] {
        [(":callback_day", n(self.callback_day)), (":callbacks", n(self.callbacks))]
    }
}

fn utc_day(now: Timestamp) -> u64 {
    now.seconds() / SECONDS_PER_DAY
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

fn balance_key(account_id: &str) -> Key {
    Key::new(format!("CALL_BALANCE#{account_id}"), "BALANCE")
}

fn top_up_key(account_id: &str, reference: &str) -> Key {
    Key::new(format!("CALL_BALANCE#{account_id}"), format!("TOP_UP#{reference}"))
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

/// Returns the update that adds minutes to the balance.
fn add_minutes(account_id: &str, minutes: u64) -> ItemUpdate {
    ItemUpdate {
        key: balance_key(account_id),
        update: "ADD #minutes :minutes",
        condition: "",
        values: vec![(":minutes", n(minutes))],
    }
}

impl NotificationContext<'_> {
    /// Returns a call_event notification of each status in `reached` for each subscribed webhook.
    pub(crate) fn call_notifications<'c>(
        &self,
        call: &'c Call,
        reached: impl IntoIterator<Item = &'c CallStatus>,
    ) -> Vec<NotificationContent> {
        let notifications_of = |status: &CallStatus| {
            let event = call.event(status.clone());
            let details = WebhookEventDetails { call: Some(&event), ..WebhookEventDetails::default() };
            self.webhook_notifications(WebhookEvent::CallEvent, details)
        };
        reached.into_iter().flat_map(notifications_of).collect()
    }
}

impl Chats {
    /// Returns the slot for a new call of the visitor. Fails with a conflict if a call of the visitor is in progress.
    ///
    /// A call that the account pays for also fails with a conflict if a call to the number is in progress, if the balance
    /// is too small, or if a limit in `callback_caps` is reached.
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

    /// Stores an agent's call to the visitor, with its pending delivery.
    ///
    /// # Errors
    /// Fails with a conflict if the agent does not own the chat, if the visitor or the number has a call in progress,
    /// or if the balance is used up.
    pub async fn store_agent_call(&self, outgoing: &AgentCall<'_>) -> Result<StoreMessageResult, Error> {
        let mut races = WriteRaces::new("call of an agent");
        loop {
            if let Some(receipt) = self.earlier_receipt(outgoing.key).await? {
                return Ok(StoreMessageResult { receipt, entry: None, notifications: Vec::new() });
            }
            let written = self.write_agent_call(outgoing).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }

    async fn write_agent_call(&self, outgoing: &AgentCall<'_>) -> Result<StoreMessageResult, WriteError> {
        let AgentCall { chat, agent, call, webhooks, key, now } = outgoing;
        let visitor = (chat.channel_id.as_str(), chat.external_id.as_str());
        let slot = self.free_call_slot(&chat.account_id, visitor, call, None, *now).await?;
        let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now: *now };
        let contents = context.call_notifications(call, [&CallStatus::Start]);
        let message = AgentMessage {
            account_id: &chat.account_id,
            chat_id: chat.chat_id,
            agent,
            content: Content::Call(Box::new(call.clone())),
            key: None,
            now: *now,
        };
        let mut header = self.advance_header_for_agent(&message, 1 + contents.len()).await?;
        header.seq = header.seq.saturating_sub(contents.len() as u64);
        let entry = TimelineEntry {
            account_id: header.account_id.clone(),
            chat_id: header.chat_id,
            seq: header.seq,
            id: random_ids_and_secrets::new_message_id(header.chat_id, header.seq, *now)?,
            from: Sender::Agent((*agent).clone()),
            content: message.content,
            at: *now,
            caused_by: None,
            webhook_dispatch: None,
            retain_until: header.retain_until(*now),
            delivery: Some(Delivery::new(Target::Call, *now)),
        };
        let notifications = context.create_entries(&mut header, contents)?;
        let mut others = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        others.extend(slot.writes(entry.chat_id, entry.seq, *now));
        self.store_entry_with(&entry, *key, others).await?;
        Ok(StoreMessageResult { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
    }

    /// Applies a report to a call. Returns `None` if the report changes nothing. If a concurrent report changes the
    /// call first, the call is read again.
    ///
    /// # Errors
    /// Fails with `NotFound` if the entry does not exist or is not this call.
    pub async fn report_call(
        &self,
        reported: &ReportedCall<'_>,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Option<ChangedCall>, Error> {
        let ReportedCall { account_id, chat_id, seq, call_id, report, provider_call_id } = reported;
        let mut races = WriteRaces::new("report of a call");
        loop {
            let found = self.entry_and_chat(account_id, *chat_id, *seq).await?;
            let found = found.filter(|(entry, _)| call_id.is_none_or(|call_id| entry.id == call_id));
            let (entry, chat) = found.ok_or(Error::NotFound)?;
            let call = entry.content.call().ok_or(Error::NotFound)?;
            let Some(progress) = call.after_report(report, *provider_call_id, now) else { return Ok(None) };
            let written = self.write_call_progress(&entry, &chat, progress, webhooks, now).await;
            if let Some(result) = races.final_result(written) {
                return result.map(Some);
            }
        }
    }

    async fn write_call_progress(
        &self,
        before: &TimelineEntry,
        chat: &Chat,
        progress: CallProgress,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<ChangedCall, WriteError> {
        let CallProgress { mut call, reached, is_finished, balance_change } = progress;
        let balance_write = self.balance_write(&before.account_id, &mut call, balance_change).await?;
        let call_write = ItemUpdate {
            key: entry_key(&before.account_id, before.chat_id, before.seq),
            update: "SET #content.#call = :call",
            condition: "#content.#call.#revision = :revision",
            values: vec![
                (":call", to_attribute(&CallItem::from(call.clone()))?),
                (":revision", n(call.revision.saturating_sub(1))),
            ],
        };
        let agent_id = call.agent.as_ref().map(|called| called.agent.agent_id);
        let context = NotificationContext { webhooks, agent_id, now };
        let contents = context.call_notifications(&call, &reached);
        let call_before = before.content.call();
        let counters = call_before.filter(|_| is_finished).map(|before| count_call_write(chat, before, &call));
        let mut entry = before.clone();
        entry.content = Content::Call(Box::new(call));
        if reached.is_empty() {
            self.table.update(call_write).await?;
            return Ok(ChangedCall { entry, notifications: Vec::new() });
        }
        let mut header = self.reserve_call_events(chat, contents.len(), now).await?;
        let notifications = context.create_entries(&mut header, contents)?;
        let mut writes = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        writes.push(Write::Update(call_write));
        writes.extend(counters);
        writes.extend(balance_write);
        self.table.transact(writes).await?;
        Ok(ChangedCall { entry, notifications })
    }

    /// Returns the write that changes the balance when a call ends, if it changes. Minutes that were not reserved are
    /// taken only as far as the balance suffices, which reduces the call's charge.
    async fn balance_write(&self, account_id: &str, call: &mut Call, change: i64) -> Result<Option<Write>, Error> {
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

    /// Deletes the entry of a call whose minutes are reserved, and gives the minutes back if nobody has answered the
    /// call yet. The provider cannot be told to end an answered call, so its minutes are charged. Does nothing to
    /// another entry, or if the call has changed since `item` was read. Returns whether the entry was deleted.
    pub(crate) async fn delete_reserved_call(&self, account_id: &str, item: &Item) -> Result<bool, Error> {
        let Some((minutes, revision, is_unanswered)) = reserved_call(item) else { return Ok(false) };
        let Some(key) = item_key(item) else { return Ok(false) };
        let delete = Write::DeleteIf(key, "#content.#call.#revision = :revision", vec![(":revision", n(revision))]);
        let refund = is_unanswered.then(|| Write::Update(add_minutes(account_id, minutes)));
        Ok(self.table.transact([delete].into_iter().chain(refund).collect()).await.condition()?.is_ok())
    }

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

    /// Finds the visitors with this phone number in E.164 format, the most likely caller first: visitors with an open
    /// chat, then those with the most recent chat. A stored number without a country code belongs to the country of
    /// `own_number`, the account's number.
    pub async fn visitors_by_phone(
        &self,
        account_id: &str,
        e164: &str,
        own_number: &str,
        now: Timestamp,
    ) -> Result<Vec<Visitor>, Error> {
        let queries = phone_number::search_keys(e164).into_iter().map(|phone_key| Query {
            index: Some("by_phone"),
            condition: "#account_id = :account AND #phone_key = :phone_key",
            values: vec![(":account", s(account_id)), (":phone_key", s(phone_key))],
            limit: MAX_CALLERS,
            descending: false,
        });
        let found = try_join_all(queries.map(|query| self.table.query(query))).await?;
        let keys = found.iter().flatten().filter_map(item_key).collect();
        let items = self.table.batch_get(keys).await?;
        let visitors = items.into_iter().map(visitor_from_item).collect::<Result<Vec<_>, _>>()?;
        // Keep only the visitors with exactly this number, because the same national number can exist in several
        // countries.
        let has_number = |visitor: &Visitor| {
            let phone = visitor.profile.phone.as_deref();
            let number = phone.and_then(|phone| phone_number::to_e164_with_optional_plus(phone, Some(own_number)));
            number.as_deref() == Some(e164)
        };
        let mut callers: Vec<_> =
            visitors.into_iter().filter(|visitor| !visitor.is_expired(now) && has_number(visitor)).collect();
        callers.sort_by_key(|visitor| Reverse((visitor.open_chat.is_some(), visitor.last_chat, visitor.number)));
        Ok(callers)
    }
}

pub(crate) fn has_reserved_minutes(item: &Item) -> bool {
    reserved_call(item).is_some()
}

/// Returns the reserved minutes of a call in a stored entry, its revision, and whether nobody has answered it. Returns
/// `None` if the item is not such a call.
fn reserved_call(item: &Item) -> Option<(u64, u64, bool)> {
    let call = item.get("content")?.as_m().ok()?.get("call")?.as_m().ok()?;
    let number = |name: &str| call.get(name)?.as_n().ok()?.parse().ok();
    let is_unanswered = call.get("status")?.as_s().is_ok_and(|status| status == CallStatus::Start.name());
    Some((number("reserved_minutes")?, number("revision")?, is_unanswered))
}
