//! The stored form of a timeline entry: an item in the Chats table.

use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::calls::phone_call::{CallKind, CallStatus, PhoneCall};
use crate::domain::chats::chat::Sender;
use crate::domain::chats::message_receipt::ReceiptTimes;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryState};
use crate::domain::deliveries::webhook::WebhookDispatch;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{Backlog, delivery_due_at};
use crate::store::chats::entry_key;
use crate::store::chats::items::content::ContentItem;
use crate::store::chats::items::delivery::DeliveryItem;
use crate::store::chats::items::header::AgentSnapshotItem;
use crate::store::chats::items::unknown_value;
use crate::store::chats::status_watches::StatusItem;

#[derive(Serialize, Deserialize)]
pub(crate) struct EntryItem {
    pk: String,
    sk: String,
    account_id: String,
    chat_id: u64,
    seq: u64,
    id: String,
    from: String,
    /// The agent who wrote the entry or caused the event that the entry reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentSnapshotItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot: Option<String>,
    content: ContentItem,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    webhook_dispatch: Option<WebhookDispatchItem>,
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delivery: Option<DeliveryItem>,
    /// The entry's partition key in the sparse `due` index. `None` unless the delivery is pending or has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<u64>,
    /// When the message was delivered to the visitor and read, as the integrator reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delivered_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edited_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted_at: Option<u64>,
    /// When the entry expires, as Unix time in seconds. `None` means that it never expires. This is the table's TTL
    /// attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl From<&TimelineEntry> for EntryItem {
    fn from(entry: &TimelineEntry) -> Self {
        let TimelineEntry {
            account_id,
            chat_id,
            seq,
            id,
            from,
            content,
            at,
            caused_by,
            webhook_dispatch,
            receipt,
            edited_at,
            deleted_at,
            retain_until,
            delivery,
        } = entry.clone();
        let key = entry_key(&account_id, chat_id, seq);
        let (agent, bot) = match &from {
            Sender::Agent(author) => (Some(AgentSnapshotItem::from(author)), None),
            Sender::Bot(name) => (None, Some(name.clone())),
            Sender::Visitor | Sender::System => (caused_by.as_ref().map(AgentSnapshotItem::from), None),
        };
        let pending = delivery.as_ref().filter(|delivery| delivery.state == DeliveryState::Pending);
        Self {
            pk: key.pk,
            sk: key.sk,
            due: pending.map(|_| Backlog::Deliveries.partition_of(chat_id)),
            due_at: pending.map(|delivery| delivery_due_at(delivery.round_started_at).0),
            delivered_at: receipt.delivered_at.map(|at| at.0),
            read_at: receipt.read_at.map(|at| at.0),
            edited_at: edited_at.map(|at| at.0),
            deleted_at: deleted_at.map(|at| at.0),
            expires_at: retain_until.map(Timestamp::seconds),
            account_id,
            chat_id,
            seq,
            id,
            from: from.name().to_owned(),
            agent,
            bot,
            content: ContentItem::from(&content),
            webhook_dispatch: webhook_dispatch.map(WebhookDispatchItem::from),
            at: at.0,
            delivery: delivery.as_ref().map(DeliveryItem::from),
        }
    }
}

impl TryFrom<EntryItem> for TimelineEntry {
    type Error = Error;

    fn try_from(item: EntryItem) -> Result<Self, Error> {
        let (from, caused_by) = match (item.from.as_str(), item.agent, item.bot) {
            ("visitor", _, _) => (Sender::Visitor, None),
            ("agent", Some(agent), _) => (Sender::Agent(agent.into()), None),
            ("bot", _, Some(name)) => (Sender::Bot(name), None),
            ("system", agent, _) => (Sender::System, agent.map(AgentSnapshot::from)),
            _ => return Err(unknown_value("from")()),
        };
        Ok(Self {
            account_id: item.account_id,
            chat_id: item.chat_id,
            seq: item.seq,
            id: item.id,
            from,
            content: item.content.try_into()?,
            at: Timestamp(item.at),
            caused_by,
            webhook_dispatch: item.webhook_dispatch.map(WebhookDispatch::try_from).transpose()?,
            receipt: ReceiptTimes {
                delivered_at: item.delivered_at.map(Timestamp),
                read_at: item.read_at.map(Timestamp),
            },
            edited_at: item.edited_at.map(Timestamp),
            deleted_at: item.deleted_at.map(Timestamp),
            retain_until: item.expires_at.map(Timestamp::from_seconds),
            delivery: item.delivery.map(Delivery::try_from).transpose()?,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WebhookDispatchItem {
    event: String,
    webhook_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assign_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<PhoneCallItem>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reports_rating: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<StatusItem>,
}

impl From<WebhookDispatch> for WebhookDispatchItem {
    fn from(webhook_dispatch: WebhookDispatch) -> Self {
        let WebhookDispatch { event, webhook_id, agent_id, assign_to, call, reports_rating, message_seq, status } =
            webhook_dispatch;
        let status = status.map(|change| StatusItem::new(&change.owner, change.status));
        let (event, call) = (event.name().to_owned(), call.map(PhoneCallItem::from));
        Self { event, webhook_id, agent_id, assign_to, call, reports_rating, message_seq, status }
    }
}

impl TryFrom<WebhookDispatchItem> for WebhookDispatch {
    type Error = Error;

    fn try_from(item: WebhookDispatchItem) -> Result<Self, Error> {
        let WebhookDispatchItem { event, webhook_id, agent_id, assign_to, call, reports_rating, message_seq, status } =
            item;
        let event = WebhookEvent::parse(&event).ok_or_else(unknown_value("event"))?;
        let call = call.map(PhoneCall::try_from).transpose()?;
        let status = status.map(StatusItem::into_change).transpose()?;
        Ok(Self { event, webhook_id, agent_id, assign_to, call, reports_rating, message_seq, status })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct PhoneCallItem {
    kind: String,
    phone: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record_url: Option<String>,
}

impl From<PhoneCall> for PhoneCallItem {
    fn from(call: PhoneCall) -> Self {
        let PhoneCall { kind, phone, status } = call;
        Self {
            kind: kind.name().to_owned(),
            phone,
            status: status.name().to_owned(),
            reason: status.reason().map(str::to_owned),
            record_url: status.record_url().map(str::to_owned),
        }
    }
}

impl TryFrom<PhoneCallItem> for PhoneCall {
    type Error = Error;

    fn try_from(item: PhoneCallItem) -> Result<Self, Error> {
        let PhoneCallItem { kind, phone, status, reason, record_url } = item;
        let kind = CallKind::parse(&kind).ok_or_else(unknown_value("call"))?;
        let status = CallStatus::parse(&status, reason, record_url).ok_or_else(unknown_value("call"))?;
        Ok(Self { kind, phone, status })
    }
}
