//! The rules for changing a message that an agent has sent: its author can edit its text, and its author or an admin
//! can delete it.

use std::time::Duration;

use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::{Chat, DAY, Sender};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// How long after it was sent a message can be changed.
pub const MAX_CHANGE_AGE: Duration = DAY;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentMessageChange {
    /// Replaces the text.
    Edit(String),
    Delete,
}

/// Who changes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangingAgent {
    pub agent_id: u64,
    pub is_admin: bool,
}

impl SentMessageChange {
    /// Returns the message after the change, or `None` if the change has been made already.
    ///
    /// # Errors
    /// Fails with `NotFound` if the entry has expired, with `Forbidden` if the agent may not change the message, and
    /// with `Conflict` if the message cannot be changed: because of its type or its age, because its channel cannot
    /// change what it has delivered, because the chat is closed, or because the message was deleted.
    pub fn applied_to(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        by: ChangingAgent,
        now: Timestamp,
    ) -> Result<Option<TimelineEntry>, Error> {
        if entry.is_expired(now) {
            return Err(Error::NotFound);
        }
        self.require_allowed(entry, by)?;
        if entry.content.is_deleted() {
            return match self {
                Self::Edit(_) => Err(Error::Conflict("the message was deleted")),
                Self::Delete => Ok(None),
            };
        }
        if !entry.is_message_to_visitor() {
            return Err(Error::Conflict("only messages to the visitor can be changed"));
        }
        require_changeable(chat, entry.at, now)?;
        self.changed(entry, now)
    }

    fn require_allowed(&self, entry: &TimelineEntry, by: ChangingAgent) -> Result<(), Error> {
        let Sender::Agent(author) = &entry.from else {
            return Err(Error::Forbidden("only messages of agents can be changed"));
        };
        let is_author = author.agent_id == by.agent_id;
        match self {
            Self::Edit(_) if !is_author => Err(Error::Forbidden("only its author can edit a message")),
            Self::Delete if !is_author && !by.is_admin => {
                Err(Error::Forbidden("only its author or an admin can delete a message"))
            }
            Self::Edit(_) | Self::Delete => Ok(()),
        }
    }

    fn changed(&self, entry: &TimelineEntry, now: Timestamp) -> Result<Option<TimelineEntry>, Error> {
        match (self, &entry.content) {
            (Self::Edit(text), Content::Text { text: before, .. }) if text == before => Ok(None),
            (Self::Edit(text), Content::Text { .. }) => {
                let content = Content::text(text);
                Ok(Some(TimelineEntry { content, edited_at: Some(now), ..entry.clone() }))
            }
            (Self::Edit(_), _) => Err(Error::Conflict("only text messages can be edited")),
            (Self::Delete, content) => {
                let content = Content::Deleted(content.uploaded().cloned());
                Ok(Some(TimelineEntry { content, edited_at: None, deleted_at: Some(now), ..entry.clone() }))
            }
        }
    }
}

fn require_changeable(chat: &Chat, sent_at: Timestamp, now: Timestamp) -> Result<(), Error> {
    if chat.channel_kind == ChannelKind::Api {
        return Err(Error::Conflict("an API channel cannot change a message that it has delivered"));
    }
    if chat.state.is_closed() {
        return Err(Error::Conflict("the chat is closed"));
    }
    if now.since(sent_at) > MAX_CHANGE_AGE {
        return Err(Error::Conflict("the message is older than 24 hours"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::accounts::agent::AgentSnapshot;
    use crate::domain::chats::chat_state::ChatState;
    use crate::domain::chats::media::{Media, MediaMessage, MediaType};
    use crate::domain::files::upload::UploadedFiles;
    use crate::wire::sample_data;

    const SENT: Timestamp = Timestamp(1_000_000);
    const NOW: Timestamp = Timestamp(1_060_000);
    const AUTHOR: ChangingAgent = ChangingAgent { agent_id: 7, is_admin: false };

    fn agent(agent_id: u64) -> Sender {
        Sender::Agent(AgentSnapshot { agent_id, name: "Ann".into(), photo: None })
    }

    fn message(content: Content) -> TimelineEntry {
        TimelineEntry { from: agent(7), content, ..sample_data::agent_message("id", SENT) }
    }

    fn widget_chat() -> Chat {
        Chat { channel_kind: ChannelKind::Widget, state: ChatState::Waiting, ..sample_data::chat(SENT) }
    }

    fn edit(text: &str) -> SentMessageChange {
        SentMessageChange::Edit(text.into())
    }

    fn file() -> Content {
        let uploaded = Some(UploadedFiles { file_id: "f".into(), thumb_id: None });
        let media = Media { file: Some("https://x.example/f".into()), ..Media::default() };
        Content::Media(Box::new(MediaMessage {
            media_type: MediaType::Photo,
            text: Some("secret".into()),
            media,
            uploaded,
        }))
    }

    #[test]
    fn edit_replaces_the_text_and_keeps_the_place() {
        let before = message(Content::text("helo"));
        let after = edit("hello").applied_to(&before, &widget_chat(), AUTHOR, NOW).unwrap();
        let expected = TimelineEntry { content: Content::text("hello"), edited_at: Some(NOW), ..before.clone() };
        assert_eq!(after, Some(expected));
        assert_eq!(edit("helo").applied_to(&before, &widget_chat(), AUTHOR, NOW).unwrap(), None, "the same text");
    }

    #[test]
    fn deleted_message_keeps_only_its_place_and_files() {
        let edited = TimelineEntry { edited_at: Some(SENT), ..message(file()) };
        let after = SentMessageChange::Delete.applied_to(&edited, &widget_chat(), AUTHOR, NOW).unwrap().unwrap();
        assert_eq!((after.seq, after.at, after.edited_at), (edited.seq, SENT, None));
        assert_eq!((after.content.own_text(), after.deleted_at), (None, Some(NOW)));
        assert_eq!(after.content, Content::Deleted(edited.content.uploaded().cloned()));
        assert_eq!(SentMessageChange::Delete.applied_to(&after, &widget_chat(), AUTHOR, NOW).unwrap(), None);
        assert!(matches!(edit("x").applied_to(&after, &widget_chat(), AUTHOR, NOW), Err(Error::Conflict(_))));
    }

    #[test]
    fn only_the_author_edits_and_an_admin_may_delete() {
        let (text, chat) = (message(Content::text("hi")), widget_chat());
        let (other, admin) = (ChangingAgent { agent_id: 8, ..AUTHOR }, ChangingAgent { agent_id: 8, is_admin: true });
        for (by, change, is_allowed) in [
            (other, edit("x"), false),
            (admin, edit("x"), false),
            (other, SentMessageChange::Delete, false),
            (admin, SentMessageChange::Delete, true),
        ] {
            let changed = change.applied_to(&text, &chat, by, NOW);
            assert_eq!(matches!(changed, Err(Error::Forbidden(_))), !is_allowed, "{by:?} {change:?}");
        }
        let visitors = TimelineEntry { from: Sender::Visitor, ..text };
        let changed = SentMessageChange::Delete.applied_to(&visitors, &chat, admin, NOW);
        assert!(matches!(changed, Err(Error::Forbidden(_))));
    }

    #[test]
    fn message_that_cannot_be_changed_is_a_conflict() {
        let (chat, text) = (widget_chat(), message(Content::text("hi")));
        let day_later = SENT.plus(MAX_CHANGE_AGE);
        let closed = Chat { state: ChatState::Closed(None), ..chat.clone() };
        let api = Chat { channel_kind: ChannelKind::Api, ..chat.clone() };
        let too_late = Timestamp(day_later.0 + 1);
        for (entry, chat, now) in [
            (&text, &closed, NOW),
            (&text, &api, NOW),
            (&text, &chat, too_late),
            (&message(Content::note("n")), &chat, NOW),
        ] {
            for change in [edit("x"), SentMessageChange::Delete] {
                assert!(matches!(change.applied_to(entry, chat, AUTHOR, now), Err(Error::Conflict(_))), "{change:?}");
            }
        }
        assert!(edit("x").applied_to(&text, &chat, AUTHOR, day_later).is_ok());
        assert!(matches!(edit("x").applied_to(&message(file()), &chat, AUTHOR, NOW), Err(Error::Conflict(_))));
    }
}
