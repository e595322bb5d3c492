//! Tests of what an agent changes in a chat without a message: its tags and its snooze.

use std::collections::BTreeMap;

use crate::chats::agent::change_chat::change_chat;
use crate::chats::agent::close_chat::close_chat;
use crate::domain::chats::chat_change::{ChatChange, Snooze, SnoozeChange};
use crate::store::tests::*;

impl Stores {
    /// Makes a change as Bob, an agent, who has read the chat as `chat`.
    async fn change(&self, chat: Chat, change: &ChatChange, now: Timestamp) -> Result<Chat, Error> {
        change_chat(&self.chats, chat, change, &bob(), now).await
    }

    async fn change_tags(&self, added: &[u64], removed: &[u64]) -> Result<Chat, Error> {
        let change = ChatChange { added_tags: added.into(), removed_tags: removed.into(), ..ChatChange::default() };
        self.change(self.chat_header(1).await, &change, seconds_later(5)).await
    }

    /// Bob puts chat 1 aside until this time.
    async fn snooze(&self, until: Timestamp) -> Chat {
        let change = ChatChange { snooze: SnoozeChange::Until(until), ..ChatChange::default() };
        self.change(self.chat_header(1).await, &change, seconds_later(5)).await.unwrap()
    }

    async fn accepted_chat(&self) {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
    }
}

#[tokio::test]
async fn change_of_tags_is_neither_a_message_nor_a_transition() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let before = stores.chat_header(1).await;
    let after = Chat { tag_ids: vec![2, 1], other_change_at: Some(seconds_later(5)), ..before };
    stores.change_tags(&[2, 1], &[]).await.unwrap();
    assert_eq!(stores.chat_header(1).await, after);
    stores.change_tags(&[1], &[3]).await.unwrap();
    assert_eq!(stores.chat_header(1).await, after, "nothing changes");
}

#[tokio::test]
async fn concurrent_changes_of_tags_are_all_stored() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let stale = stores.chat_header(1).await;
    let changes: Vec<_> =
        (1..=4).map(|tag_id| ChatChange { added_tags: vec![tag_id], ..ChatChange::default() }).collect();
    let changed = join_all(changes.iter().map(|change| stores.change(stale.clone(), change, NOW))).await;
    assert!(changed.iter().all(Result::is_ok), "{changed:?}");
    let mut tag_ids = stores.chat_header(1).await.tag_ids;
    tag_ids.sort_unstable();
    assert_eq!(tag_ids, [1, 2, 3, 4]);
}

#[tokio::test]
async fn reports_count_the_tags_of_closed_chats() {
    let stores = stores().await;
    stores.accepted_chat().await;
    stores.change_tags(&[1, 2], &[]).await.unwrap();
    assert_eq!(stores.totals().await.chats_with_tags, BTreeMap::new(), "the chat is open");
    stores.close(1, &bob(), &[], seconds_later(9)).await.unwrap();
    assert_eq!(stores.totals().await.chats_with_tags, BTreeMap::from([(1, 1), (2, 1)]));
    stores.change_tags(&[3], &[1]).await.unwrap();
    assert_eq!(stores.totals().await.chats_with_tags, BTreeMap::from([(1, 0), (2, 1), (3, 1)]));
}

#[tokio::test]
async fn chat_is_counted_with_the_tags_that_it_is_closed_with() {
    let stores = stores().await;
    stores.accepted_chat().await;
    let stale = stores.chat_header(1).await;
    stores.change_tags(&[1], &[]).await.unwrap();
    close_chat(&stores.chats, stale, &bob(), &[], seconds_later(9)).await.unwrap();
    assert_eq!(stores.totals().await.chats_with_tags, BTreeMap::from([(1, 1)]));
}

#[tokio::test]
async fn visitors_message_ends_the_snooze() {
    let stores = stores().await;
    stores.accepted_chat().await;
    let until = seconds_later(60 * MINUTE);
    stores.snooze(until).await;
    let snoozed = stores.chat_header(1).await;
    assert_eq!(snoozed.snooze, Some(Snooze { until, visitor_seq: 1 }));
    stores.agent_writes(1, "I will look into it", seconds_later(6)).await.unwrap();
    assert!(stores.chat_header(1).await.is_snoozed(seconds_later(7)), "the agent's own message does not end it");
    stores.visitor_writes("v", "any news?", seconds_later(8)).await.unwrap();
    assert!(!stores.chat_header(1).await.is_snoozed(seconds_later(9)));
}

#[tokio::test]
async fn message_that_the_agent_has_not_read_ends_the_snooze() {
    let stores = stores().await;
    stores.accepted_chat().await;
    let stale = stores.chat_header(1).await;
    stores.visitor_writes("v", "wait", seconds_later(2)).await.unwrap();
    let change = ChatChange { snooze: SnoozeChange::Until(seconds_later(60 * MINUTE)), ..ChatChange::default() };
    stores.change(stale, &change, seconds_later(3)).await.unwrap();
    assert!(!stores.chat_header(1).await.is_snoozed(seconds_later(4)));
}

#[tokio::test]
async fn close_ends_the_snooze() {
    let stores = stores().await;
    stores.accepted_chat().await;
    stores.snooze(seconds_later(60 * MINUTE)).await;
    stores.close(1, &bob(), &[], seconds_later(9)).await.unwrap();
    assert_eq!(stores.chat_header(1).await.snooze, None);
}

#[tokio::test]
async fn snoozed_chat_is_not_closed_as_idle() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.accepted_chat().await;
    stores.snooze(seconds_later(30 * MINUTE)).await;
    for minute in [11, 29, 39] {
        assert_eq!(stores.run_idle_checks(seconds_later(minute * MINUTE)).await, [], "{minute}");
    }
    assert_eq!(stores.run_idle_checks(seconds_later(40 * MINUTE + 1)).await.len(), 1);
}

#[tokio::test]
async fn chat_that_is_being_erased_is_not_changed() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.chats.close_for_erasure("acc", 1, NOW).await.unwrap();
    let changed = stores.change_tags(&[1], &[]).await;
    assert!(matches!(changed, Err(Error::NotFound)), "{changed:?}");
}
