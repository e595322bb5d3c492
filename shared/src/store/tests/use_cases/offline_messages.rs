//! Tests of offline messages, which open chats like other messages and notify webhooks.

use crate::chats::visitor::receive_offline_form::{OfflineForm, receive_offline_form};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::tests::*;

#[tokio::test]
async fn offline_message_opens_a_chat_with_the_bot_and_notifies_webhooks() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    let channel = Channel { bot_id: Some("B".into()), ..channel() };
    let profile = profile_named("Ada");
    let from = from_visitor(&stores, &channel, NOW);
    let form = OfflineForm { from, text: "Call me", contacts: &profile, answers: None };
    for (message_seq, notification_seq) in [(1, 2), (3, 4)] {
        let stored = receive_offline_form(&stores.chats, &form).await.unwrap().unwrap();
        assert_eq!((stored.receipt.chat_id, stored.receipt.seq), (1, message_seq));
        let notification = &stored.notifications[0];
        assert_eq!((stored.notifications.len(), notification.seq), (1, notification_seq));
        assert_eq!(notification.content, Content::Webhook(WebhookEvent::OfflineMessage));
        assert_eq!(stores.entry(1, notification_seq).await, *notification);
        let chat = stores.chat_header(1).await;
        assert_eq!((chat.state, chat.bot_id, chat.seq), (ChatState::Bot, Some("B".into()), notification_seq));
        assert_eq!(stores.visitor("v").await.sources.name, Some(ProfileSource::Visitor));
    }
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(true);
    update_visitor(&stores.chats, &visitor, NOW).await.unwrap();
    assert!(receive_offline_form(&stores.chats, &form).await.unwrap().is_none());
}
