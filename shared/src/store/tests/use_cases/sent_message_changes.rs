use crate::chats::agent::change_sent_message::change_sent_message;
use crate::chats::visitor::create_widget_visitor::create_widget_visitor;
use crate::domain::chats::sent_message_change::{ChangingAgent, SentMessageChange};
use crate::domain::files::upload::UploadedFiles;
use crate::domain::visitors::widget_visitor::WidgetVisitor;
use crate::store::chats::visitors::widget_visitors::visitor_id_of_token;
use crate::store::table::WriteError;
use crate::store::tests::*;

const BOB: ChangingAgent = ChangingAgent { agent_id: 1, is_admin: false };

impl Stores {
    /// Opens chat 1 in a widget, lets Bob accept it, and stores a message from him. Returns its `seq`.
    async fn widget_chat_with_message(&self, content: Content) -> u64 {
        let widget = Channel { settings: widget_settings(), ..channel() };
        let (data, settings) = (WidgetVisitor::default(), &self.settings);
        create_widget_visitor(&self.chats, &widget, "token", data, None, settings, NOW).await.unwrap();
        let (profile, hi, external_id) = (VisitorProfile::default(), Content::text("hi"), visitor_id_of_token("token"));
        let text = visitor_text(self, &widget, &hi, &profile, NOW);
        let incoming = VisitorText { from: FromVisitor { external_id: &external_id, ..text.from }, ..text };
        receive_visitor_text(&self.chats, &incoming).await.unwrap().unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
        self.agent_sends(content).await
    }

    async fn agent_sends(&self, content: Content) -> u64 {
        let (agent, now) = (bob(), NOW);
        let (account_id, chat_id, draft, webhooks, key) = ("acc", 1, None, &[][..], None);
        let outgoing = AgentMessage { account_id, chat_id, agent: &agent, content, draft, webhooks, key, now };
        send_agent_message(&self.chats, &outgoing).await.unwrap().receipt.seq
    }

    async fn change_sent(&self, seq: u64, change: &SentMessageChange, now: Timestamp) -> Result<TimelineEntry, Error> {
        change_sent_message(&self.chats, ("acc", 1, seq), change, BOB, now).await
    }

    async fn edit_sent(&self, seq: u64, text: &str, now: Timestamp) -> Result<TimelineEntry, Error> {
        self.change_sent(seq, &SentMessageChange::Edit(text.into()), now).await
    }

    async fn delete_sent(&self, seq: u64, now: Timestamp) -> Result<TimelineEntry, Error> {
        self.change_sent(seq, &SentMessageChange::Delete, now).await
    }

    async fn last_message(&self) -> (String, String) {
        let last = self.chat_header(1).await.last_message.unwrap();
        (last.kind, last.text)
    }
}

#[tokio::test]
async fn edit_of_the_last_message_changes_its_preview() {
    let stores = stores().await;
    let seq = stores.widget_chat_with_message(Content::text("helo")).await;
    let (before, header) = (stores.entry(1, seq).await, stores.chat_header(1).await);
    let edited = stores.edit_sent(seq, "hello", seconds_later(5)).await.unwrap();
    let expected = TimelineEntry { content: Content::text("hello"), edited_at: Some(seconds_later(5)), ..before };
    assert_eq!((&edited, &stores.entry(1, seq).await), (&expected, &expected));
    assert_eq!(stores.last_message().await, ("text".into(), "hello".into()));
    let after = stores.chat_header(1).await;
    assert_eq!((after.seq, after.updated_at), (header.seq, header.updated_at));
    assert_eq!((after.messages_changed_at, after.other_change_at), (Some(seconds_later(5)), Some(seconds_later(5))));
    stores.edit_sent(seq, "hello!", seconds_later(6)).await.unwrap();
    assert_eq!(stores.last_message().await.1, "hello!", "a second edit finds the preview too");
}

#[tokio::test]
async fn edit_of_an_earlier_message_keeps_the_preview() {
    let stores = stores().await;
    let seq = stores.widget_chat_with_message(Content::text("one")).await;
    stores.agent_writes(1, "two", seconds_later(1)).await.unwrap();
    stores.edit_sent(seq, "uno", seconds_later(2)).await.unwrap();
    assert_eq!(stores.last_message().await.1, "two");
    assert_eq!(stores.entry(1, seq).await.content, Content::text("uno"));
}

#[tokio::test]
async fn deleted_text_is_in_no_stored_item() {
    let stores = stores().await;
    let seq = stores.widget_chat_with_message(Content::text("my-secret-word")).await;
    let contains_text = async || format!("{:?}", stores.chat_items().await).contains("my-secret-word");
    assert!(contains_text().await);
    let deleted = stores.delete_sent(seq, seconds_later(5)).await.unwrap();
    assert!(!contains_text().await);
    assert_eq!((deleted.seq, deleted.deleted_at), (seq, Some(seconds_later(5))));
    assert_eq!(stores.entry(1, seq).await, deleted);
    assert_eq!(stores.last_message().await, ("deleted".into(), String::new()));
    assert_eq!(stores.delete_sent(seq, seconds_later(9)).await.unwrap(), deleted, "a repeated request");
    assert!(matches!(stores.edit_sent(seq, "x", seconds_later(9)).await, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn erasure_finds_the_files_of_a_deleted_message() {
    let stores = stores().await;
    let uploaded = UploadedFiles { file_id: "f".into(), thumb_id: Some("t".into()) };
    let media = Media { file: Some("https://x.example/f".into()), file_name: Some("plan".into()), ..Media::default() };
    let (media_type, text, uploaded) = (MediaType::Photo, None, Some(uploaded));
    let content = Content::Media(Box::new(MediaMessage { media_type, text, media, uploaded: uploaded.clone() }));
    let seq = stores.widget_chat_with_message(content).await;
    let deleted = stores.delete_sent(seq, seconds_later(5)).await.unwrap();
    assert_eq!((&deleted.content, &stores.entry(1, seq).await), (&Content::Deleted(uploaded), &deleted));
    assert!(!format!("{:?}", stores.chat_items().await).contains("plan"), "the name of the file");
    let entries = stores.chats.entries_to_erase("acc", 1).await.unwrap();
    assert_eq!(entries.file_ids(), ["f", "t"]);
}

#[tokio::test]
async fn deletion_wins_over_a_concurrent_edit() {
    let stores = stores().await;
    let seq = stores.widget_chat_with_message(Content::text("hi")).await;
    let (entry, chat) = (stores.entry(1, seq).await, stores.chat_header(1).await);
    stores.delete_sent(seq, seconds_later(1)).await.unwrap();
    let edited = TimelineEntry { content: Content::text("late"), edited_at: Some(seconds_later(2)), ..entry };
    let written = stores.chats.store_changed_message(&edited, &chat, seconds_later(2)).await;
    assert!(matches!(written, Err(WriteError::ConditionFailed { .. })), "{written:?}");
    assert!(stores.entry(1, seq).await.content.is_deleted());
    assert_eq!(stores.last_message().await.0, "deleted");
}

#[tokio::test]
async fn change_fails_after_a_concurrent_close_or_message() {
    let stores = stores().await;
    let seq = stores.widget_chat_with_message(Content::text("hi")).await;
    let (entry, chat) = (stores.entry(1, seq).await, stores.chat_header(1).await);
    let edited = TimelineEntry { content: Content::text("new"), edited_at: Some(seconds_later(2)), ..entry };
    stores.agent_writes(1, "two", seconds_later(1)).await.unwrap();
    let is_stored = async || stores.chats.store_changed_message(&edited, &chat, seconds_later(2)).await.is_ok();
    assert!(!is_stored().await, "the preview is that of another message");
    stores.close(1, &bob(), &[], seconds_later(3)).await.unwrap();
    assert!(!is_stored().await);
    assert!(matches!(stores.edit_sent(seq, "new", seconds_later(4)).await, Err(Error::Conflict("the chat is closed"))));
    assert_eq!(stores.entry(1, seq).await.content, Content::text("hi"));
}

#[tokio::test]
async fn preview_matches_the_text_after_concurrent_changes() {
    let stores = stores().await;
    let seq = stores.widget_chat_with_message(Content::text("hi")).await;
    let texts = ["1", "2", "3", "4"];
    let results = join_all(texts.map(|text| stores.edit_sent(seq, text, seconds_later(1)))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let content = stores.entry(1, seq).await.content;
    assert_eq!(content.own_text().unwrap(), stores.last_message().await.1);
}

#[tokio::test]
async fn message_of_an_api_channel_cannot_be_changed() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    for change in [SentMessageChange::Edit("new".into()), SentMessageChange::Delete] {
        let changed = stores.change_sent(seq, &change, NOW).await;
        assert!(matches!(changed, Err(Error::Conflict(_))), "{changed:?}");
    }
    assert!(matches!(stores.edit_sent(99, "x", NOW).await, Err(Error::NotFound)));
    assert_eq!(stores.entry(1, seq).await.content, Content::text("hello"));
}
