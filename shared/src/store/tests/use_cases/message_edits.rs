use serde_json::json;

use crate::chats::visitor::edit_visitor_text::{VisitorEdit, edit_visitor_text};
use crate::store::chats::writes::edit_write::MessageEdit;
use crate::store::table::WriteError;
use crate::store::tests::*;

const MAX_MESSAGES: u32 = 30;

impl Stores {
    async fn edit(&self, seq: u64, text: &str, now: Timestamp) -> Result<Option<u64>, Error> {
        let id = self.entry(1, seq).await.id;
        self.edit_with(("v", &id), text, None, now).await
    }

    async fn edit_with(
        &self,
        (external_id, message_id): (&str, &str),
        text: &str,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<Option<u64>, Error> {
        let (channel, content) = (channel(), Content::text(text));
        let (channel, content) = (&channel, &content);
        let edit = VisitorEdit { channel, external_id, message_id, content, max_messages: MAX_MESSAGES, key, now };
        Ok(edit_visitor_text(&self.chats, &edit).await?.map(|receipt| receipt.seq))
    }

    async fn text(&self, seq: u64) -> String {
        self.entry(1, seq).await.content.own_text().unwrap().to_owned()
    }

    async fn preview(&self) -> String {
        self.chat_header(1).await.last_message.unwrap().text
    }
}

/// The write of an edit that has already read the message and its chat.
struct ReadEdit {
    entry: TimelineEntry,
    chat: Chat,
    content: Content,
}

impl ReadEdit {
    async fn of(stores: &Stores, seq: u64) -> Self {
        Self { entry: stores.entry(1, seq).await, chat: stores.chat_header(1).await, content: Content::text("new") }
    }

    async fn is_stored(&self, stores: &Stores) -> bool {
        let Self { entry, chat, content } = self;
        let edit = MessageEdit { entry, chat, content, max_messages: MAX_MESSAGES, key: None, now: seconds_later(9) };
        match stores.chats.store_edit(&edit).await {
            Ok(()) => true,
            Err(WriteError::ConditionFailed { .. }) => false,
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn edit_replaces_the_text_and_the_preview() {
    let stores = stores().await;
    stores.visitor_writes("v", "one", NOW).await.unwrap();
    stores.visitor_writes("v", "two", NOW).await.unwrap();
    let (before, header) = (stores.entry(1, 2).await, stores.chat_header(1).await);
    for (second, text) in [(1, "three"), (2, "four")] {
        assert_eq!(stores.edit(2, text, seconds_later(second)).await.unwrap(), Some(2));
        let edited_at = Some(seconds_later(second));
        let expected = TimelineEntry { content: Content::text(text), edited_at, ..before.clone() };
        assert_eq!(stores.entry(1, 2).await, expected);
        assert_eq!(stores.preview().await, text);
    }
    let preview_at = |chat: &Chat| chat.last_message.as_ref().unwrap().at;
    let after = stores.chat_header(1).await;
    assert_eq!((after.seq, preview_at(&after)), (header.seq, preview_at(&header)));
    assert_eq!((after.updated_at, after.other_change_at), (header.updated_at, Some(seconds_later(2))));

    assert_eq!(stores.edit(1, "zero", seconds_later(3)).await.unwrap(), Some(1));
    assert_eq!((stores.text(1).await, stores.preview().await), ("zero".to_owned(), "four".to_owned()));
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.agent_writes(1, "hello", NOW).await.unwrap();
    stores.edit(2, "five", seconds_later(4)).await.unwrap();
    assert_eq!(stores.preview().await, "hello");
}

#[tokio::test]
async fn only_the_visitors_own_texts_can_be_edited() {
    let stores = stores().await;
    let agents_seq = stores.chat_with_pending_message().await;
    stores.visitor_writes("other", "hi", NOW).await.unwrap();
    let own = stores.entry(1, 1).await.id;
    let agents = stores.entry(1, agents_seq).await.id;
    let foreign = stores.entry(2, 1).await.id;
    let unknown = "01a214d2-d7b1-7000-8000-04000000ab59";
    for (visitor, id) in
        [("v", &*agents), ("v", &*foreign), ("v", unknown), ("v", "x"), ("other", &*own), ("nobody", &*own)]
    {
        let edited = stores.edit_with((visitor, id), "new", None, NOW).await;
        assert!(matches!(edited, Err(Error::NotFound)), "{visitor} {id}: {edited:?}");
    }
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert!(matches!(stores.edit(1, "new", NOW).await, Err(Error::Conflict(_))));
    assert_eq!(stores.text(1).await, "hi");
}

#[tokio::test]
async fn edit_fails_after_a_concurrent_close() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    let edit = ReadEdit::of(&stores, 1).await;
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert!(!edit.is_stored(&stores).await);
    assert_eq!(stores.text(1).await, "hi");
}

#[tokio::test]
async fn edit_does_not_restore_an_erased_message() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let edit = ReadEdit::of(&stores, 1).await;
    stores.chats.table.delete(crate::store::chats::entry_key("acc", 1, 1)).await.unwrap();
    assert!(!edit.is_stored(&stores).await, "the header is not erased yet");
    assert_eq!(stores.preview().await, "hi");
    erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    assert!(!edit.is_stored(&stores).await);
    assert_eq!(stores.expiries().await, []);
    let edited = stores.edit_with(("v", &edit.entry.id), "new", None, NOW).await;
    assert!(matches!(edited, Err(Error::NotFound)), "{edited:?}");
}

#[tokio::test]
async fn edit_does_not_replace_the_preview_of_a_new_message() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.visitor_writes("v", "two", seconds_later(1)).await.unwrap();
    let edit = ReadEdit::of(&stores, 3).await;
    stores.agent_writes(1, "answer", seconds_later(2)).await.unwrap();
    assert!(!edit.is_stored(&stores).await);
    assert_eq!(stores.edit(3, "new", seconds_later(3)).await.unwrap(), Some(3));
    assert_eq!((stores.text(3).await, stores.preview().await), ("new".to_owned(), "answer".to_owned()));
}

#[tokio::test]
async fn preview_matches_the_text_after_concurrent_edits() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let texts = ["1", "2", "3", "4", "5"];
    let results = join_all(texts.map(|text| stores.edit(1, text, seconds_later(1)))).await;
    assert!(results.iter().all(|result| matches!(result, Ok(Some(1)))), "{results:?}");
    let text = stores.text(1).await;
    assert!(texts.contains(&&*text));
    assert_eq!(stores.preview().await, text);
}

#[tokio::test]
async fn edits_count_towards_the_limit_on_messages() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    // The counts of windows that are 320 seconds apart are stored in the same attribute.
    for (start, edits) in [(0, 29), (320, 30)] {
        for n in 0..edits {
            stores.edit(1, &n.to_string(), seconds_later(start)).await.unwrap();
        }
        let refused = stores.edit(1, "more", seconds_later(start)).await;
        assert!(matches!(refused, Err(Error::RateLimited(_))), "{refused:?}");
        let refused = stores.visitor_writes("v", "more", seconds_later(start)).await;
        assert!(matches!(refused, Err(Error::RateLimited(_))), "{refused:?}");
        assert_eq!(stores.text(1).await, (edits - 1).to_string());
    }
}

#[tokio::test]
async fn edit_with_a_repeated_key_changes_nothing() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let id = stores.entry(1, 1).await.id;
    let edit = async |text: &str, second: u64| {
        let key = IdempotencyKey::new("CH".into(), b"k", json!({ "text": text }));
        stores.edit_with(("v", &id), text, Some(&key), seconds_later(second)).await
    };
    assert_eq!(edit("new", 1).await.unwrap(), Some(1));
    stores.edit(1, "newer", seconds_later(2)).await.unwrap();
    assert_eq!(edit("new", 3).await.unwrap(), Some(1));
    assert!(matches!(edit("other", 3).await, Err(Error::IdempotencyMismatch)));
    assert_eq!(stores.text(1).await, "newer");
    let receipt = stores.expiries().await.into_iter().find(|(pk, ..)| pk.starts_with("IDEMPOTENCY#")).unwrap();
    assert_eq!(receipt.2, Some(seconds_later(1 + DAY).seconds()));
}

#[tokio::test]
async fn edit_of_a_blacklisted_visitor_is_dropped() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.set_blacklisted(true);
    stores.chats.store_visitor_changes(&visitor).await.unwrap();
    assert_eq!(stores.edit(1, "new", NOW).await.unwrap(), None);
    assert_eq!(stores.text(1).await, "hi");
}

#[tokio::test]
async fn attempt_and_edit_of_a_message_preserve_each_other() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let entry = stores.entry(1, 1).await;
    let delivery = entry.delivery.clone().unwrap();
    stores.edit(1, "new", seconds_later(1)).await.unwrap();
    assert_eq!(stores.entry(1, 1).await.delivery, entry.delivery);
    let attempt = Attempt { at: NOW, status: Some(200), duration_ms: 5, error: None, answer: None };
    let delivered = (&DeliveryUpdate::Delivered, &[][..]);
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, delivered).await.unwrap());
    let stored = stores.entry(1, 1).await;
    assert_eq!((stored.content.own_text(), stored.edited_at), (Some("new"), Some(seconds_later(1))));
    assert_eq!(stored.delivery.unwrap().state, DeliveryState::Delivered);
}
