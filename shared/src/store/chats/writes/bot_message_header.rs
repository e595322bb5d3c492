//! The header update of a bot's message, which assigns the entry's number and checks that the bot owns the chat.

use crate::domain::bots::bot::Bot;
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::Content;
use crate::domain::timestamp::Timestamp;
use crate::store::chats::items::MessagePreviewItem;
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ItemUpdate, WriteError, n, s};
use crate::store::to_attribute;

pub(crate) struct BotHeaderUpdate<'a> {
    pub bot: &'a Bot,
    pub chat_id: u64,
    pub content: &'a Content,
    /// Whether the message counts as the bot's reaction to an event.
    pub is_reaction: bool,
    /// The write fails if the visitor has written after the message with this number.
    pub reply_to_seq: Option<u64>,
    /// The value of [`Chat::repeated_to_bot`] for which the message has been compared with the earlier ones. The write
    /// fails if the header contains another value.
    pub compared_from: Option<u64>,
    /// How many entry numbers the update assigns.
    pub entry_count: usize,
    pub now: Timestamp,
}

/// The condition of the write, with one about [`Chat::repeated_to_bot`].
macro_rules! condition {
    ($repeated:literal) => {
        concat!(
            "#state = :bot AND #bot_id = :bot_id ",
            "AND (attribute_not_exists(#visitor_seq) OR #visitor_seq <= :answered) AND ",
            $repeated
        )
    };
}

impl Chats {
    /// Assigns the next entry numbers and returns the new header, whose `seq` is the last of them. If the condition fails, the error contains the header.
    pub(crate) async fn advance_header_for_bot(&self, update: &BotHeaderUpdate<'_>) -> Result<Chat, WriteError> {
        let BotHeaderUpdate { bot, chat_id, content, is_reaction, reply_to_seq, compared_from, entry_count, now } =
            *update;
        let preview = MessagePreview::of(content, &Sender::Bot(bot.name.clone()), now);
        let mut values = vec![
            (":count", n(entry_count)),
            (":now", n(now.0)),
            (":preview", to_attribute(&MessagePreviewItem::from(&preview))?),
            (":bot", s(ChatState::Bot.name())),
            (":bot_id", s(&*bot.bot_id)),
        ];
        let update = if is_reaction {
            "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview, #bot_event_at = :now REMOVE #stopped_seq"
        } else {
            "SET #seq = #seq + :count, #updated_at = :now, #last_message = :preview"
        };
        values.push((":answered", n(reply_to_seq.unwrap_or(u64::MAX))));
        let condition = match compared_from {
            None => condition!("attribute_not_exists(#repeated_to_bot)"),
            Some(seq) => {
                values.push((":repeated", n(seq)));
                condition!("(attribute_not_exists(#repeated_to_bot) OR #repeated_to_bot = :repeated)")
            }
        };
        let key = header_key(&bot.account_id, chat_id);
        let header = self.table.update(ItemUpdate { key, update, condition, values }).await?;
        Ok(chat_from_item(header)?)
    }
}
