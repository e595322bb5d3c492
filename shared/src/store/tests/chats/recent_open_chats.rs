//! Tests of messages whose chat the process remembers. `another_process` has no memory of what `stores.chats` has done.

use crate::store::chats::visitor_key;
use crate::store::chats::visitor_updates::visitor_update;
use crate::store::tests::*;

fn another_process(stores: &Stores) -> Chats {
    Chats::new(Table::new(stores.client.clone(), "chats"))
}

/// Deletes the visitor's item, as an erasure does first.
async fn delete_visitor(stores: &Stores) {
    let removed = stores.chats.table.delete(visitor_key("CH", "v")).await.unwrap();
    assert!(removed.is_some());
}

/// Sends a message and returns whether it was dropped.
async fn is_dropped(stores: &Stores) -> bool {
    let (channel, content, profile) = (channel(), Content::text("dropped"), VisitorProfile::default());
    let message = incoming_message(stores, &channel, &content, &profile, NOW);
    stores.chats.store_visitor_message(&message).await.unwrap().is_none()
}

#[tokio::test]
async fn header_is_written_without_waiting_for_the_visitor() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    delete_visitor(&stores).await;
    assert_eq!(stores.visitor_writes("v", "2", NOW).await.unwrap(), (2, 1), "the message is for a new visitor");
    assert_eq!(stores.chat_header(1).await.seq, 2, "the remembered chat was written");
}

#[tokio::test]
async fn header_waits_for_the_reads_if_there_is_a_key_or_new_profile() {
    let key = IdempotencyKey::new("CH".into(), b"k1", "{}");
    for (profile, key) in [(VisitorProfile::default(), Some(&key)), (profile_named("Ann"), None)] {
        let stores = stores().await;
        stores.visitor_writes("v", "1", NOW).await.unwrap();
        delete_visitor(&stores).await;
        stores.visitor_writes_with("v", &profile, "2", key, NOW).await.unwrap();
        assert_eq!(stores.chat_header(1).await.seq, 1);
    }
}

#[tokio::test]
async fn messages_in_a_remembered_chat_leave_no_gap() {
    let stores = stores().await;
    let names = ["Ann", "Ann", "Anna", "Anna", "Ann"];
    for (seq, name) in (1..).zip(names) {
        let stored = stores.visitor_writes_with("v", &profile_named(name), name, None, NOW).await;
        assert_eq!(stored.unwrap(), (1, seq));
        assert_eq!(stores.chat_header(1).await.visitor_name, name);
    }
}

#[tokio::test]
async fn message_is_dropped_once_the_visitor_is_blacklisted() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(true);
    another_process(&stores).save_visitor(&visitor, NOW).await.unwrap();
    assert!(is_dropped(&stores).await);
    let header = stores.chat_header(1).await;
    assert_eq!((header.seq, header.last_message.unwrap().text.as_str()), (1, "1"));
}

#[tokio::test]
async fn only_a_message_during_the_blacklisting_is_still_stored() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(true);
    let only_visitor = visitor_update(&visitor).unwrap().unwrap();
    stores.chats.table.update(only_visitor).await.unwrap();
    assert_eq!(stores.visitor_writes("v", "2", NOW).await.unwrap(), (1, 2));
    assert!(is_dropped(&stores).await);
    assert_eq!(stores.chat_header(1).await.seq, 2);
}

#[tokio::test]
async fn message_opens_a_chat_if_the_remembered_one_is_closed() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    let chat = stores.chat_header(1).await;
    another_process(&stores).close(chat, &bob(), &[], NOW).await.unwrap();
    let closed = stores.chat_header(1).await;
    assert_eq!(stores.visitor_writes("v", "2", NOW).await.unwrap(), (2, 1));
    assert_eq!(stores.chat_header(1).await, closed);
}

#[tokio::test]
async fn message_keeps_a_corrected_name() {
    let stores = stores().await;
    let ann = profile_named("Ann");
    stores.visitor_writes_with("v", &ann, "1", None, NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.merge_profile(&profile_named("Anna"), ProfileSource::Agent);
    another_process(&stores).save_visitor(&visitor, NOW).await.unwrap();
    assert_eq!(stores.visitor_writes_with("v", &ann, "2", None, NOW).await.unwrap(), (1, 2));
    let (header, visitor) = (stores.chat_header(1).await, stores.visitor("v").await);
    assert_eq!((header.visitor_name.as_str(), visitor.profile), ("Anna", profile_named("Anna")));
}

#[tokio::test]
async fn rate_limit_counts_each_message_once() {
    let mut stores = stores().await;
    stores.settings.limits.visitor_messages = 3;
    for text in ["1", "2", "3"] {
        stores.visitor_writes("v", text, NOW).await.unwrap();
    }
    assert!(matches!(stores.visitor_writes("v", "4", NOW).await, Err(Error::RateLimited(_))));
    assert_eq!(stores.visitor_writes("v", "5", seconds_later(10)).await.unwrap(), (1, 4));
}
