//! Tests of idle checks, which close chats without recent activity.

use crate::domain::bots::bot::{BotNotification, CloseReason};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::tests::*;

#[tokio::test]
async fn chat_is_closed_after_the_idle_limit() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], seconds_later(MINUTE)).await.unwrap();
    stores.visitor_writes("other", "hi", seconds_later(MINUTE)).await.unwrap();
    stores.agent_writes(1, "hello", seconds_later(5 * MINUTE)).await.unwrap();
    assert_eq!(stores.run_idle_checks(seconds_later(9 * MINUTE)).await, []);
    assert_eq!(stores.run_idle_checks(seconds_later(10 * MINUTE + 1)).await, [], "a message has arrived since");
    let finished = vec![Content::Webhook(WebhookEvent::ChatFinished)];
    assert_eq!(stores.run_idle_checks(seconds_later(11 * MINUTE + 1)).await, [(2, vec![])], "no agent had it");
    assert_eq!(stores.run_idle_checks(seconds_later(15 * MINUTE + 1)).await, [(1, finished)]);
    let chat = stores.chat_header(1).await;
    assert_eq!(chat.state, ChatState::Closed(Some(bob())));
    assert_eq!(stores.visitor_writes("v", "again", seconds_later(16 * MINUTE)).await.unwrap(), (3, 1));
    assert_eq!(stores.run_idle_checks(seconds_later(26 * MINUTE - 1)).await, [], "closed chats are not checked");
}

#[tokio::test]
async fn bot_is_notified_of_an_idle_close() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    let channel = Channel { bot_id: Some("B".into()), ..channel() };
    let (content, profile) = (Content::text("hi"), VisitorProfile::default());
    let incoming = visitor_text(&stores, &channel, &content, &profile, NOW);
    receive_visitor_text(&stores.chats, &incoming).await.unwrap();
    let closed_by = Some(CloseReason::Idle);
    let notifications = vec![Content::BotNotification {
        notification: BotNotification::ChatClosed,
        text: None,
        closed_by,
        opens_at: None,
    }];
    assert_eq!(stores.run_idle_checks(seconds_later(10 * MINUTE + 1)).await, [(1, notifications)]);
}

#[tokio::test]
async fn shorter_idle_limit_applies_to_open_chats_within_an_hour() {
    let mut stores = Stores::with_settings(AccountSettings { idle_close: None, ..AccountSettings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert_eq!(stores.run_idle_checks(seconds_later(60 * MINUTE + 1)).await, [], "without a limit");
    stores.settings = settings_with_idle_close(5);
    assert_eq!(stores.run_idle_checks(seconds_later(119 * MINUTE)).await, []);
    assert_eq!(stores.run_idle_checks(seconds_later(121 * MINUTE)).await.len(), 1);
}

#[tokio::test]
async fn message_during_the_idle_check_keeps_the_chat_open() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let chat = stores.chat_header(1).await;
    let now = seconds_later(10 * MINUTE + 1);
    stores.visitor_writes("v", "wait", now).await.unwrap();
    assert!(close_idle_chat(&stores.chats, &chat, &stores.settings, now).await.unwrap().is_none());
    assert_eq!(stores.chat_header(1).await.state, ChatState::Waiting);
}
