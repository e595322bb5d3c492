//! Stores messages from bots. Each message takes two writes. The first updates the chat's header, which assigns the
//! next entry number and checks that the bot owns the chat. The second stores the entry.

use crate::domain::bot::Bot;
use crate::domain::chat::{Chat, MessagePreview, Sender};
use crate::domain::chat_state::{ChatEvent, ChatState};
use crate::domain::idempotency_key::IdempotencyKey;
use crate::domain::message_content::{Content, RichSupport};
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::{Error, ErrorContext};
use crate::store::chats::idempotency_receipts::MessageReceipt;
use crate::store::chats::items::MessagePreviewItem;
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;
use crate::store::write_races::WriteRaces;

impl Chats {
    /// Assigns the next entry number in a bot's chat and updates the header for the message. Fails with
    /// [`Error::NotFound`] if the chat does not exist or belongs to another bot, and with [`Error::Forbidden`] if the
    /// bot no longer owns the chat. Costs one write.
    pub async fn advance_header_for_bot(
        &self,
        bot: &Bot,
        chat_id: u64,
        content: &Content,
        now: Timestamp,
    ) -> Result<Chat, Error> {
        let preview = MessagePreview::of(content, &Sender::Bot(bot.name.clone()), now);
        let mut races = WriteRaces::new("bot message");
        loop {
            let written = self.write_bot_header(bot, chat_id, &preview, now).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }

    async fn write_bot_header(
        &self,
        bot: &Bot,
        chat_id: u64,
        preview: &MessagePreview,
        now: Timestamp,
    ) -> Result<Chat, WriteError> {
        let update = ItemUpdate {
            key: header_key(&bot.account_id, chat_id),
            update: "SET #seq = #seq + :one, #bot_event_at = :now, #updated_at = :now, #last_message = :preview",
            condition: "#state = :bot AND #bot_id = :bot_id",
            values: vec![
                (":one", n(1)),
                (":now", n(now.0)),
                (":preview", to_attribute(&MessagePreviewItem::from(preview))?),
                (":bot", s(ChatState::Bot.name())),
                (":bot_id", s(&*bot.bot_id)),
            ],
        };
        match self.table.update(update).await {
            Ok(item) => Ok(chat_from_item(item)?),
            Err(WriteError::ConditionFailed { item: None, .. }) => Err(Error::NotFound.into()),
            Err(WriteError::ConditionFailed { item: Some(item), index }) => {
                let found = chat_from_item(item)?;
                if found.bot_id.as_ref() != Some(&bot.bot_id) {
                    return Err(Error::NotFound.into());
                }
                found.state.after_event(ChatEvent::BotWrites).map_err(Error::from)?;
                Err(WriteError::ConditionFailed { index, item: None })
            }
            Err(error) => Err(error),
        }
    }

    /// Stores a bot's message under the entry number that [`advance_header_for_bot`](Self::advance_header_for_bot)
    /// assigned. If the channel cannot show the message, the message is stored for the agents but not delivered. If two
    /// concurrent requests have the same idempotency key, only one message is stored, and both requests get its receipt
    /// (the stored response). Costs one write or, with an idempotency key, a transaction of two writes.
    pub async fn store_bot_message(
        &self,
        bot: &Bot,
        header: &Chat,
        content: Content,
        rich_support: RichSupport,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<MessageReceipt, Error> {
        let is_displayable = content.converted_for(rich_support).is_some();
        let entry = TimelineEntry {
            account_id: header.account_id.clone(),
            chat_id: header.chat_id,
            seq: header.seq,
            id: crate::runtime::random_ids_and_secrets::new_message_id(header.chat_id, header.seq, now)?,
            from: Sender::Bot(bot.name.clone()),
            content: if is_displayable { content } else { content.into_not_displayable() },
            at: now,
            caused_by: None,
            webhook_dispatch: None,
            retain_until: header.retain_until(now),
            delivery: header.delivery_to_visitor(now).filter(|_| is_displayable),
        };
        match self.store_entry(&entry, key).await {
            Ok(()) => Ok(MessageReceipt::of(&entry)),
            Err(WriteError::ConditionFailed { .. }) => {
                let earlier = self.earlier_receipt(key).await?;
                earlier
                    .ok_or_else(|| Error::Unavailable(ErrorContext::new("entry number of a bot message already used")))
            }
            Err(error) => Err(error.into()),
        }
    }
}
