//! Tests that the event chat_assigned is stored as a notification, and that a closed chat sends no such event.

use crate::chats::notifications::NotificationContext;
use crate::chats::notify_webhooks::notify_webhooks;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::tests::*;

#[tokio::test]
async fn closed_chat_sends_no_events() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    let chat = stores.chat_header(1).await;
    let webhooks = [webhook("w")];
    let context = NotificationContext { webhooks: &webhooks, agent_id: Some(1), now: seconds_later(2) };
    let notify = async || {
        let details = WebhookEventDetails { assign_to: Some("https://crm.example"), ..WebhookEventDetails::default() };
        notify_webhooks(&stores.chats, &chat, WebhookEvent::ChatAssigned, details, &context).await.unwrap()
    };
    let entries = notify().await;
    assert_eq!(stores.entry(1, entries[0].seq).await, entries[0]);
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    assert_eq!(notify().await, []);
}
