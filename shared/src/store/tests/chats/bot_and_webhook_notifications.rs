//! Tests of webhook events that are not part of a chat state transition.

use crate::domain::phone_call::{CallKind, CallStatus, PhoneCall};
use crate::domain::webhook::WebhookEventDetails;
use crate::domain::webhook_event::WebhookEvent;
use crate::store::chats::bot_and_webhook_notifications::NotificationContext;
use crate::store::tests::*;

#[tokio::test]
async fn call_event_is_stored_even_after_the_close() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    let chat = stores.chat_header(1).await;
    let webhooks = [webhook("w")];
    let context = NotificationContext { webhooks: &webhooks, agent_id: Some(1), now: seconds_later(2) };
    let url = Some("https://x.example/1.mp3".to_owned());
    for status in [CallStatus::Start, CallStatus::End(url), CallStatus::Error("busy".into())] {
        let call = PhoneCall { kind: CallKind::Callback, phone: "+31".into(), status };
        let details = WebhookEventDetails { call: Some(&call), ..WebhookEventDetails::default() };
        let entries = stores.chats.notify_webhooks(&chat, WebhookEvent::CallEvent, details, &context).await.unwrap();
        let stored = stores.entry(1, entries[0].seq).await;
        assert_eq!(stored, entries[0]);
        assert_eq!(stored.webhook_dispatch.unwrap().call, Some(call));
    }
    let updated = stores
        .chats
        .notify_webhooks(&chat, WebhookEvent::ChatUpdated, WebhookEventDetails::default(), &context)
        .await
        .unwrap();
    assert_eq!(updated, [], "a closed chat is not updated");
}
