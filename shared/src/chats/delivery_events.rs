//! The events that report what becomes of a message to the integrator of a visitor: delivery_failed and delivered_late.

use crate::chats::notifications::NotificationContext;
use crate::domain::chats::chat::Sender;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, DeliveryUpdate, Target};
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// Returns the event that reports an update of a delivery, which was in the state of `delivery` before.
pub(crate) fn event_of_update(delivery: &Delivery, update: &DeliveryUpdate) -> Option<WebhookEvent> {
    match update {
        DeliveryUpdate::Failed { .. } if !delivery.is_failed() => Some(WebhookEvent::DeliveryFailed),
        DeliveryUpdate::Delivered if delivery.has_failed_before() => Some(WebhookEvent::DeliveredLate),
        DeliveryUpdate::Failed { .. }
        | DeliveryUpdate::Delivered
        | DeliveryUpdate::RetryAfter(_)
        | DeliveryUpdate::StillFailed => None,
    }
}

/// Assigns the numbers of the events in the chat and returns them. The caller must store them together with the update
/// and then queue them. The list is empty if no webhook gets the event, if the entry is not a message to a visitor, or if
/// the chat no longer exists. A closed chat gets these events too, because a message can be delivered days later. They are
/// sent at `known_at`, when agents see what they report.
pub(crate) async fn delivery_events(
    chats: &Chats,
    webhooks: &[Webhook],
    entry: &TimelineEntry,
    event: WebhookEvent,
    (now, known_at): (Timestamp, Timestamp),
) -> Result<Vec<TimelineEntry>, Error> {
    let is_to_integrator = entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Channel);
    let agent_id = match &entry.from {
        Sender::Agent(agent) => Some(agent.agent_id),
        Sender::Bot(_) | Sender::System | Sender::Visitor => None,
    };
    let context = NotificationContext { webhooks, agent_id, now };
    let contents = context.message_notifications(event, entry.seq);
    if contents.is_empty() || !is_to_integrator {
        return Ok(Vec::new());
    }
    let (account_id, chat_id) = (&*entry.account_id, entry.chat_id);
    let Some(mut header) = chats.reserve_events((account_id, chat_id), contents.len(), now).await? else {
        return Ok(Vec::new());
    };
    let mut events = context.create_entries(&mut header, contents)?;
    for delivery in events.iter_mut().filter_map(|event| event.delivery.as_mut()) {
        delivery.round_started_at = known_at.max(now);
    }
    Ok(events)
}
