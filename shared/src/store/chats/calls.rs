//! Stores phone calls. A call is the content of a timeline entry. Delivering the entry orders the call from the
//! telephony provider. Each change of a call's status is stored in one transaction with its notifications and the
//! account's balance.

use std::cmp::Reverse;
use std::time::Duration;

use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, Sender};
use crate::domain::delivery::{Delivery, Target};
use crate::domain::idempotency_key::IdempotencyKey;
use crate::domain::message_content::Content;
use crate::domain::phone_call::{Call, CallProgress, CallReport, CallStatus};
use crate::domain::phone_number;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Visitor;
use crate::domain::webhook::{Webhook, WebhookEventDetails};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets;
use crate::store::chats::agent_messages::AgentMessage;
use crate::store::chats::bot_and_webhook_notifications::{NotificationContent, NotificationContext};
use crate::store::chats::idempotency_receipts::MessageReceipt;
use crate::store::chats::items::CallItem;
use crate::store::chats::report_counters::count_call_write;
use crate::store::chats::visitor_messages::StoreMessageResult;
use crate::store::chats::{Chats, entry_key, entry_write, item_key, visitor_from_item, visitor_key};
use crate::store::table::{ItemUpdate, Key, Query, Write, WriteError, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

/// How long the reference to a visitor's last call is kept. It must be longer than any call.
const LAST_CALL_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum number of visitors that one query for a caller's number returns. Each format of the number has its own
/// query.
const MAX_CALLERS: i32 = 50;

pub const CALL_IN_PROGRESS: &str = "the visitor has a call in progress";

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

/// The reference to the visitor's last call, as it was read. A new call replaces the stored reference only if the
/// reference has not changed since, so that only one of two concurrent calls can start.
pub(in crate::store) struct CallSlot {
    key: Key,
    last_call: Option<LastCallItem>,
}

#[derive(Clone, Copy, Deserialize)]
struct LastCallItem {
    chat_id: u64,
    seq: u64,
    /// Unix time in seconds. The table may delete the item some time later.
    expires_at: u64,
}

#[derive(Serialize, Deserialize)]
struct BalanceItem {
    #[serde(default)]
    minutes: i64,
}

/// Returns the key of the item that refers to the visitor's last call. Like the visitor's own key, it contains a hash
/// of the visitor's id.
fn last_call_key(channel_id: &str, external_id: &str) -> Key {
    let visitor = visitor_key(channel_id, external_id);
    Key::new(visitor.pk.replacen("VISITOR#", "VISITOR_CALL#", 1), "CALL")
}

fn balance_key(account_id: &str) -> Key {
    Key::new(format!("CALL_BALANCE#{account_id}"), "BALANCE")
}

fn top_up_key(account_id: &str, reference: &str) -> Key {
    Key::new(format!("CALL_BALANCE#{account_id}"), format!("TOP_UP#{reference}"))
}

impl CallSlot {
    /// Returns the write that makes a new call the visitor's last one.
    pub(in crate::store) fn replace_write(&self, chat_id: u64, seq: u64, now: Timestamp) -> Write {
        let mut values =
            vec![(":chat_id", n(chat_id)), (":seq", n(seq)), (":expires_at", n(now.plus(LAST_CALL_TTL).seconds()))];
        let condition = match self.last_call {
            None => "attribute_not_exists(#pk)",
            Some(LastCallItem { chat_id, seq, .. }) => {
                values.extend([(":last_chat_id", n(chat_id)), (":last_seq", n(seq))]);
                "#chat_id = :last_chat_id AND #seq = :last_seq"
            }
        };
        let update = "SET #chat_id = :chat_id, #seq = :seq, #expires_at = :expires_at";
        Write::Update(ItemUpdate { key: self.key.clone(), update, condition, values })
    }
}

impl NotificationContext<'_> {
    /// Returns a call_event notification of each status in `reached` for each subscribed webhook.
    pub(in crate::store) fn call_notifications<'c>(
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
    /// Returns the slot for a new call of the visitor. Fails with a conflict if a call is in progress. Costs one read,
    /// and a second one if the visitor has had a call in the last day.
    pub(in crate::store) async fn free_call_slot(
        &self,
        account_id: &str,
        channel_id: &str,
        external_id: &str,
        now: Timestamp,
    ) -> Result<CallSlot, Error> {
        let key = last_call_key(channel_id, external_id);
        let last_call: Option<LastCallItem> = self.table.get(key.clone()).await?.map(from_item).transpose()?;
        if let Some(LastCallItem { chat_id, seq, expires_at }) = last_call
            && expires_at > now.seconds()
        {
            let entry = self.entry(account_id, chat_id, seq).await?;
            let call = entry.and_then(|entry| entry.content.call);
            if call.is_some_and(|call| !call.status.is_final()) {
                return Err(Error::Conflict(CALL_IN_PROGRESS));
            }
        }
        Ok(CallSlot { key, last_call })
    }

    /// Whether the visitor has a call in progress. Costs one read, and a second one if the visitor has had a call in
    /// the last day.
    pub async fn has_call_in_progress(&self, visitor: &Visitor, now: Timestamp) -> Result<bool, Error> {
        match self.free_call_slot(&visitor.account_id, &visitor.channel_id, &visitor.external_id, now).await {
            Ok(_) => Ok(false),
            Err(Error::Conflict(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    pub(in crate::store) async fn forget_last_call(&self, channel_id: &str, external_id: &str) -> Result<(), Error> {
        self.table.delete(last_call_key(channel_id, external_id)).await.map(|_| ())
    }

    /// Stores an agent's call to the visitor, with its pending delivery. Costs one or two reads, one write of the chat
    /// and one transaction. An idempotency key adds one read, and one write to the transaction.
    ///
    /// # Errors
    /// Fails with a conflict if the agent does not own the chat, or if the visitor has a call in progress.
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
        let slot = self.free_call_slot(&chat.account_id, &chat.channel_id, &chat.external_id, *now).await?;
        let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now: *now };
        let contents = context.call_notifications(call, [&CallStatus::Start]);
        let message = AgentMessage {
            account_id: &chat.account_id,
            chat_id: chat.chat_id,
            agent,
            content: Content::call(call.clone()),
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
        others.push(slot.replace_write(entry.chat_id, entry.seq, *now));
        self.store_entry_with(&entry, *key, others).await?;
        Ok(StoreMessageResult { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
    }

    /// Applies a report to a call. Returns `None` if the report changes nothing. Costs two reads. A new status also
    /// costs one write of the chat, and one transaction that stores the call, one notification for each subscribed
    /// webhook and new status, and at the end of the call the balance and the report counters. A report without a new
    /// status costs one write of the call. If a concurrent report changes the call first, the call is read again.
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
            let call = entry.content.call.as_deref().ok_or(Error::NotFound)?;
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
        let CallProgress { call, reached, is_finished, charged_minutes } = progress;
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
        let call_before = before.content.call.as_deref();
        let counters = call_before.filter(|_| is_finished).map(|before| count_call_write(chat, before, &call));
        let mut entry = before.clone();
        entry.content.call = Some(Box::new(call));
        if reached.is_empty() {
            self.table.update(call_write).await?;
            return Ok(ChangedCall { entry, notifications: Vec::new() });
        }
        let header = self.reserve_call_events(chat, contents.len(), now).await?;
        let mut header = header.ok_or(Error::NotFound)?;
        let notifications = context.create_entries(&mut header, contents)?;
        let mut writes = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        writes.push(Write::Update(call_write));
        writes.extend(counters);
        if charged_minutes > 0 {
            writes.push(Write::Update(ItemUpdate {
                key: balance_key(&before.account_id),
                update: "ADD #minutes :minutes",
                condition: "",
                values: vec![(":minutes", n(format_args!("-{charged_minutes}")))],
            }));
        }
        self.table.transact(writes).await?;
        Ok(ChangedCall { entry, notifications })
    }

    /// Returns the account's call balance in minutes. A call that takes longer than the balance makes it negative.
    /// Costs one read.
    pub async fn call_balance(&self, account_id: &str) -> Result<i64, Error> {
        let item = self.table.get(balance_key(account_id)).await?.unwrap_or_default();
        Ok(from_item::<BalanceItem>(item)?.minutes)
    }

    /// Adds minutes to the account's balance and returns the new balance. A repeated request with the same reference
    /// adds nothing. Costs one transaction of two writes and one read.
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
        let add = ItemUpdate {
            key: balance_key(account_id),
            update: "ADD #minutes :minutes",
            condition: "",
            values: vec![(":minutes", n(minutes))],
        };
        match self.table.transact(vec![Write::Create(top_up), Write::Update(add)]).await {
            Ok(()) => {}
            Err(WriteError::ConditionFailed { item: Some(item), .. }) => {
                if item.get("minutes") != Some(&n(minutes)) {
                    return Err(Error::IdempotencyMismatch);
                }
            }
            Err(error) => return Err(error.into()),
        }
        self.call_balance(account_id).await
    }

    /// Finds the visitors with this phone number in E.164 format, the most likely caller first: visitors with an open
    /// chat, then those with the most recent chat. A stored number without a country code belongs to the country of
    /// `own_number`, the account's number. Costs one query for each of the two formats in which the number may be
    /// stored, and one read for each visitor with the same digits.
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
