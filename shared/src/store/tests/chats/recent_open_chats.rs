//! Tests of messages whose chat the process remembers. Another test (`tests/it/project/costs_page.rs`) checks that the
//! header is written while the visitor is read.

use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::chats::visitors::visitor_updates::visitor_update;
use crate::store::chats::{header_key, visitor_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate};
use crate::store::tests::*;

/// A process that does not remember any chat.
fn another_process(stores: &Stores) -> Stores {
    let chats = Chats::new(Table::new(stores.client.clone(), "chats"));
    let (directory, connections) = (stores.directory.clone(), stores.connections.clone());
    Stores { directory, chats, connections, settings: stores.settings.clone(), client: stores.client.clone() }
}

/// Deletes the visitor's item, as an erasure does first. A header that is then still written was written early.
async fn delete_visitor(stores: &Stores) {
    let removed = stores.chats.table.delete(visitor_key("CH", "v")).await.unwrap();
    assert!(removed.is_some());
}

/// Sends a message and returns whether it was dropped.
async fn is_dropped(stores: &Stores) -> bool {
    let (channel, content, profile) = (channel(), Content::text("dropped"), VisitorProfile::default());
    let message = visitor_text(stores, &channel, &content, &profile, NOW);
    receive_visitor_text(&stores.chats, &message).await.unwrap().is_none()
}

async fn blacklist(stores: &Stores, is_blacklisted: bool) {
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(is_blacklisted);
    update_visitor_and_notify(&stores.chats, &visitor, &notifying(&stores.settings.webhooks, NOW)).await.unwrap();
}

#[tokio::test]
async fn header_is_written_even_if_the_visitor_is_gone() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    delete_visitor(&stores).await;
    assert_eq!(stores.visitor_writes("v", "2", NOW).await.unwrap(), (2, 1), "the message is for a new visitor");
    assert_eq!(stores.chat_header(1).await.seq, 2);
}

#[tokio::test]
async fn header_waits_for_the_reads_if_the_message_needs_them() {
    let key = IdempotencyKey::new("CH".into(), b"k1", "{}");
    let (channel, content) = (channel(), Content::text("2"));
    let (nobody, ann) = (VisitorProfile::default(), profile_named("Ann"));
    for needed in ["key", "profile", "invitation"] {
        let stores = stores().await;
        stores.visitor_writes("v", "1", NOW).await.unwrap();
        delete_visitor(&stores).await;
        let message = visitor_text(&stores, &channel, &content, &nobody, NOW);
        let message = match needed {
            "key" => VisitorText { from: FromVisitor { key: Some(&key), ..message.from }, ..message },
            "profile" => VisitorText { profile: &ann, ..message },
            _ => VisitorText { invite: Some("spring"), ..message },
        };
        receive_visitor_text(&stores.chats, &message).await.unwrap();
        assert_eq!(stores.chat_header(1).await.seq, 1, "{needed}");
    }
}

#[tokio::test]
async fn changed_names_are_stored_without_a_gap() {
    let stores = stores().await;
    let other = another_process(&stores);
    for (process, name, seq) in
        [(&stores, "Ann", 1), (&stores, "Anna", 2), (&stores, "Ann", 3), (&other, "Anna", 4), (&stores, "Ann", 5)]
    {
        let stored = process.visitor_writes_with("v", &profile_named(name), "hi", None, NOW).await;
        assert_eq!(stored.unwrap(), (1, seq));
        assert_eq!(stores.chat_header(1).await.visitor_name, name);
        assert_eq!(stores.visitor("v").await.profile, profile_named(name));
    }
}

#[tokio::test]
async fn message_keeps_a_corrected_name() {
    let stores = stores().await;
    let ann = profile_named("Ann");
    stores.visitor_writes_with("v", &ann, "1", None, NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.merge_profile(&profile_named("Anna"), ProfileSource::Agent);
    update_visitor(&another_process(&stores).chats, &visitor, NOW).await.unwrap();
    assert_eq!(stores.visitor_writes_with("v", &ann, "2", None, NOW).await.unwrap(), (1, 2));
    assert_eq!(stores.chat_header(1).await.visitor_name, "Anna");
}

#[tokio::test]
async fn message_corrects_the_name_that_an_interrupted_change_left() {
    let stores = stores().await;
    let ann = profile_named("Ann");
    stores.visitor_writes_with("v", &ann, "1", None, NOW).await.unwrap();
    let change = ItemUpdate {
        key: header_key("acc", 1),
        update: "SET #visitor_name = :name",
        condition: ITEM_EXISTS,
        values: vec![(":name", s("Anna"))],
    };
    stores.chats.table.update(change).await.unwrap();
    stores.visitor_writes_with("v", &ann, "2", None, NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.visitor_name, "Ann");
}

#[tokio::test]
async fn webhooks_are_notified_of_a_profile_that_changes_back() {
    let mut stores = stores().await;
    stores.settings.webhooks = vec![webhook("W")];
    let other = another_process(&stores);
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    for (process, name) in [(&stores, "Ann"), (&other, "Anna"), (&stores, "Ann")] {
        process.visitor_writes_with("v", &profile_named(name), name, None, NOW).await.unwrap();
    }
    let timeline = stores.chats.timeline("acc", 1, 0, 100).await.unwrap();
    let seqs: Vec<_> = timeline.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 7, 8], "only the early number is unused");
    assert_eq!(timeline[6].content, Content::Webhook(WebhookEvent::ChatUpdated));
}

#[tokio::test]
async fn message_is_dropped_once_the_visitor_is_blacklisted() {
    for webhooks in [vec![], vec![webhook("W")]] {
        let mut stores = stores().await;
        stores.settings.webhooks = webhooks;
        stores.visitor_writes("v", "1", NOW).await.unwrap();
        stores.accept(1, &bob(), &[], NOW).await.unwrap();
        stores.visitor_writes("v", "2", NOW).await.unwrap();
        blacklist(&another_process(&stores), true).await;
        let before = stores.chat_header(1).await;
        assert_eq!(before.last_message.as_ref().unwrap().text, "2");
        assert!(is_dropped(&stores).await);
        assert_eq!(stores.chat_header(1).await, before);
    }
}

#[tokio::test]
async fn message_is_dropped_even_if_its_chat_was_not_marked() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(true);
    // The chat may have been opened after the agent's request had read the visitor.
    stores.chats.table.update(visitor_update(&visitor).unwrap().unwrap()).await.unwrap();
    assert!(is_dropped(&stores).await);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 1);
    assert_eq!(stores.chat_header(1).await.seq, 2, "the number is lost, as after a failed request");
    assert!(is_dropped(&stores).await);
    assert_eq!(stores.chat_header(1).await.seq, 2, "the chat is no longer remembered");
}

#[tokio::test]
async fn header_is_written_early_again_after_the_blacklisting() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    blacklist(&stores, true).await;
    assert!(is_dropped(&stores).await);
    blacklist(&stores, false).await;
    stores.visitor_writes("v", "2", NOW).await.unwrap();
    delete_visitor(&stores).await;
    stores.visitor_writes("v", "3", NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.seq, 3);
}

#[tokio::test]
async fn message_opens_a_chat_if_the_remembered_one_is_closed() {
    let stores = stores().await;
    stores.visitor_writes("v", "1", NOW).await.unwrap();
    another_process(&stores).close(1, &bob(), &[], NOW).await.unwrap();
    let closed = stores.chat_header(1).await;
    assert_eq!(stores.visitor_writes("v", "2", NOW).await.unwrap(), (2, 1));
    assert_eq!(stores.chat_header(1).await, closed);
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
