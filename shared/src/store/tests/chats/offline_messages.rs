//! Tests of offline messages, which are stored as closed chats.

use crate::domain::webhook_event::WebhookEvent;
use crate::store::tests::*;

#[tokio::test]
async fn offline_message_extends_the_expiry_of_its_visitor() {
    let stores =
        Stores::with_settings(AccountSettings { retention_days: Some(30), ..AccountSettings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    stores.offline_message(seconds_later(29 * DAY)).await;
    let until = Some(seconds_later(59 * DAY).seconds());
    assert_eq!(stores.visitor_expiries().await, [until; 2]);
    stores.visitor_writes("v", "now I am here", seconds_later(30 * DAY)).await.unwrap();
    stores.offline_message(seconds_later(31 * DAY)).await;
    assert_eq!(stores.visitor("v").await.retain_until, None, "while a chat is open");
}

#[tokio::test]
async fn offline_message_is_a_closed_chat_and_notifies_webhooks() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    let (channel, content, profile) = (channel(), Content::text("Call me"), profile_named("Ada"));
    let incoming = incoming_message(&stores, &channel, &content, &profile, NOW);
    for (chat_id, chats) in [(1, 0), (2, 0)] {
        let notifications = stores.chats.store_offline_message(&incoming).await.unwrap();
        assert_eq!(notifications.len(), 1);
        assert_eq!((notifications[0].chat_id, notifications[0].seq), (chat_id, 2));
        assert_eq!(notifications[0].content.kind, ContentKind::Webhook(WebhookEvent::OfflineMessage));
        let chat = stores.chat_header(chat_id).await;
        assert_eq!(chat.state, ChatState::Closed(None));
        let visitor = stores.visitor("v").await;
        assert_eq!((visitor.number, visitor.chats, visitor.open_chat), (1, chats, None));
        assert_eq!(visitor.sources.name, Some(ProfileSource::Visitor));
    }
    assert_eq!(stores.run_idle_checks(seconds_later(DAY)).await, []);
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(true);
    stores.chats.save_visitor(&visitor).await.unwrap();
    assert_eq!(stores.chats.store_offline_message(&incoming).await.unwrap(), []);
}

#[tokio::test]
async fn offline_message_during_an_open_chat_extends_the_expiry() {
    for (retention_days, expires_at) in [
        (Some(90), Some(seconds_later(90 * DAY).seconds())),
        (None, None),
        (Some(1), Some(seconds_later(31 * DAY).seconds())),
    ] {
        let mut stores =
            Stores::with_settings(AccountSettings { retention_days: Some(30), ..AccountSettings::default() }).await;
        stores.visitor_writes("v", "hi", NOW).await.unwrap();
        stores.accept(1, &bob(), &[], NOW).await.unwrap();
        stores.close(1, &bob(), &[], NOW).await.unwrap();
        stores.visitor_writes("v", "hi again", NOW).await.unwrap();
        stores.settings.retention_days = retention_days;
        stores.offline_message(NOW).await;
        stores.accept(2, &bob(), &[], NOW).await.unwrap();
        stores.close(2, &bob(), &[], seconds_later(DAY)).await.unwrap();
        assert_eq!(stores.visitor_expiries().await, [expires_at; 2], "{retention_days:?}");
    }
}
