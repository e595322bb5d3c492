//! Tests of private notes, which can be added in every state of a chat.

use crate::chats::agent::add_note::{NewNote, add_note};
use crate::chats::upkeep::apply_retention::apply_retention;
use crate::domain::chats::mention::Mention;
use serde_json::json;

use crate::store::tests::*;

#[tokio::test]
async fn note_is_neither_a_message_nor_a_transition() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let before = stores.chat_header(1).await;
    let seq = stores.add_note(1, seconds_later(5)).await.unwrap();
    assert_eq!(stores.chat_header(1).await, Chat { seq, other_change_at: Some(seconds_later(5)), ..before });
    let note = stores.entry(1, seq).await;
    assert_eq!((note.seq, &note.from, &note.content), (2, &Sender::Agent(bob()), &Content::note("for us")));
    assert_eq!((note.at, note.delivery, note.retain_until), (seconds_later(5), None, None));
    assert!(stores.overdue_deliveries(1, seconds_later(DAY)).await.is_empty());
}

#[tokio::test]
async fn mentions_are_kept_in_headers_of_open_and_closed_chats() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let mention = async |mentions: &[u64]| {
        let chat = stores.chat_header(1).await;
        let note = NewNote { agent: &bob(), text: "look", mentions, key: None, now: NOW };
        let seq = add_note(&stores.chats, chat, &note).await.unwrap().seq;
        assert_eq!(stores.entry(1, seq).await.content.mentions(), mentions);
        let mentions = stores.chat_header(1).await.mentions;
        (seq, mentions.into_iter().map(|Mention { agent_id, seq }| (agent_id, seq)).collect::<Vec<_>>())
    };
    let (first, mentions) = mention(&[2, 3]).await;
    assert_eq!(mentions, [(2, first), (3, first)]);
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    let (second, mentions) = mention(&[2]).await;
    assert_eq!(mentions, [(3, first), (2, second)]);
    assert_eq!(mention(&[]).await.1, [(3, first), (2, second)], "a note without mentions");
}

#[tokio::test]
async fn note_does_not_postpone_the_idle_close() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.add_note(1, seconds_later(9 * MINUTE)).await.unwrap();
    assert_eq!(stores.run_idle_checks(seconds_later(11 * MINUTE)).await, [(1, vec![])]);
    assert_eq!(stores.chat_state_name().await, "closed");
}

#[tokio::test]
async fn concurrent_notes_and_messages_are_all_stored() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    let stale = stores.chat_header(1).await;
    let notes = join_all((0..4).map(|_| stores.add_note_to(stale.clone(), None, NOW)));
    let messages = join_all((0..4).map(|_| stores.agent_writes(1, "hello", NOW)));
    let (notes, messages) = futures_util::future::join(notes, messages).await;
    let mut seqs: Vec<u64> = notes.into_iter().chain(messages).map(Result::unwrap).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (3..11).collect::<Vec<_>>());
    assert_eq!(stores.chats.timeline("acc", 1, 2, 10).await.unwrap().len(), 8);
}

#[tokio::test]
async fn repeated_key_stores_one_note() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let chat = stores.chat_header(1).await;
    let key = IdempotencyKey::new("acc#1#1#note".into(), b"k", json!({}));
    let results = join_all((0..4).map(|_| stores.add_note_to(chat.clone(), Some(&key), NOW))).await;
    assert!(results.iter().all(|result| matches!(result, Ok(2))), "{results:?}");
    assert_eq!(stores.chats.timeline("acc", 1, 0, 10).await.unwrap().len(), 2);
    let other_body = IdempotencyKey::new("acc#1#1#note".into(), b"k", json!({ "text": "more" }));
    let refused = stores.add_note_to(chat, Some(&other_body), NOW).await;
    assert!(matches!(refused, Err(Error::IdempotencyMismatch)), "{refused:?}");
}

#[tokio::test]
async fn note_in_a_closed_chat_expires_with_the_chat() {
    let settings = AccountSettings { retention_days: Some(2), ..AccountSettings::default() };
    let stores = Stores::with_settings(settings).await;
    stores.closed_chat("v", 0).await;
    let seq = stores.add_note(1, seconds_later(DAY)).await.unwrap();
    assert_eq!(stores.entry(1, seq).await.retain_until, Some(seconds_later(2 * DAY)));

    stores.chats.plan_retention_pass("acc", NOW).await.unwrap();
    let now = seconds_later(DAY);
    let passes = stores.chats.due_account_work(now, now).await.unwrap().passes;
    apply_retention(&stores.chats, &passes[0], Some(5), &|| true, now).await.unwrap();
    assert_eq!(stores.entry(1, seq).await.retain_until, Some(seconds_later(5 * DAY)));
}

#[tokio::test]
async fn chat_that_is_being_erased_gets_no_note() {
    let stores = stores().await;
    stores.closed_chat("v", 0).await;
    let before = stores.chat_header(1).await;
    // The erasure marks the chat in its first step, and then its time budget is used up.
    let erased = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &budget_of_checks(0)).await.unwrap();
    assert!(!erased.is_complete);
    for chat in [before, stores.chat_header(1).await] {
        let refused = stores.add_note_to(chat, None, NOW).await;
        assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    }
    assert!(erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap().is_complete);
    assert!(stores.chat_items().await.iter().all(|item| !item["pk"].as_s().unwrap().starts_with("CHAT#")));
}
