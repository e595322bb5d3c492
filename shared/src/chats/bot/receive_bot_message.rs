//! Receives a bot's message. Each message takes two writes. The first updates the chat's header, which assigns the next
//! entry number and checks that the bot owns the chat and that no message of the visitor was sent to the bot again. The
//! second stores the entry.

use crate::chats::new_entry::new_entry;
use crate::chats::notifications::NotificationContext;
use crate::domain::bots::bot::Bot;
use crate::domain::bots::bot_reaction::was_sent_to_bot_again;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::{Error, ErrorContext};
use crate::store::chats::writes::bot_message_header::BotHeaderUpdate;
use crate::store::chats::{Chats, chat_from_item, entry_write};
use crate::store::table::{WriteError, WriteResult};
use crate::store::write_races::WriteRaces;

/// The maximum number of entries that are read to find an earlier message that equals a bot's message.
const MAX_ENTRIES_COMPARED: i32 = 50;

/// A bot's message that is about to be stored.
pub struct BotMessage<'a> {
    pub bot: &'a Bot,
    pub chat_id: u64,
    pub content: &'a Content,
    /// The number of the visitor's last message that the bot's message takes into account. `None` means that the bot
    /// does not say.
    pub reply_to_seq: Option<u64>,
    /// Whether the channel can show the message or its fallback text. A message that is not shown does not count as the
    /// bot's reaction to an event.
    pub is_displayable: bool,
    /// All of the account's webhooks.
    pub webhooks: &'a [Webhook],
    pub now: Timestamp,
}

pub enum BotMessageResult {
    /// The message with the events that report it, which the caller must queue. They are missing if an earlier request
    /// with the same idempotency key stored the message.
    Stored { receipt: MessageReceipt, notifications: Vec<TimelineEntry> },
    /// The message was not stored, because it repeats the message with this id.
    Duplicate { earlier_id: String },
}

impl BotMessageResult {
    /// The result of a request whose idempotency key an earlier request has used.
    pub(crate) fn repeated(receipt: MessageReceipt) -> Self {
        Self::Stored { receipt, notifications: Vec::new() }
    }
}

#[derive(Debug)]
pub(crate) enum AdvancedHeader {
    /// The header of the chat. Its `seq` is the last number of the message and its events.
    Advanced(Box<Chat>),
    /// The message repeats the message with this id, and nothing was written.
    Duplicate { earlier_id: String },
}

impl BotMessage<'_> {
    fn header_update(&self, compared_from: Option<u64>) -> BotHeaderUpdate<'_> {
        let Self { bot, chat_id, content, reply_to_seq, is_displayable: is_reaction, webhooks: _, now } = *self;
        let entry_count = 1 + self.context().subscriber_count(WebhookEvent::Message);
        BotHeaderUpdate { bot, chat_id, content, is_reaction, reply_to_seq, compared_from, entry_count, now }
    }

    fn context(&self) -> NotificationContext<'_> {
        NotificationContext { webhooks: self.webhooks, agent_id: None, now: self.now }
    }
}

/// Stores a bot's message, unless it repeats an earlier one. Fails with [`Error::NotFound`] if the chat does not
/// exist or belongs to another bot, with [`Error::Forbidden`] if the bot no longer owns the chat, and with
/// [`Error::Superseded`] if the visitor has written after the message that the bot answers.
pub async fn receive_bot_message(
    chats: &Chats,
    message: &BotMessage<'_>,
    key: Option<&IdempotencyKey>,
) -> Result<BotMessageResult, Error> {
    match advance_header(chats, message).await? {
        AdvancedHeader::Advanced(mut header) => store_entry(chats, message, &mut header, key).await,
        AdvancedHeader::Duplicate { earlier_id } => Ok(BotMessageResult::Duplicate { earlier_id }),
    }
}

/// Assigns the next entry number in a bot's chat and updates the header for the message.
pub(crate) async fn advance_header(chats: &Chats, message: &BotMessage<'_>) -> Result<AdvancedHeader, Error> {
    let mut races = WriteRaces::new("bot message");
    let mut compared_from = None;
    loop {
        let written = match chats.advance_header_for_bot(&message.header_update(compared_from)).await {
            Ok(chat) => Ok(AdvancedHeader::Advanced(Box::new(chat))),
            Err(WriteError::ConditionFailed { item: Some(item), index }) => {
                let found = owned_by_bot(chat_from_item(item)?, message.bot)?;
                found.require_answer_to_last(message.reply_to_seq)?;
                if let Some(earlier) = repeated_message(chats, message, &found).await? {
                    return Ok(AdvancedHeader::Duplicate { earlier_id: earlier.id });
                }
                compared_from = found.repeated_to_bot;
                Err(WriteError::ConditionFailed { item: None, index })
            }
            Err(WriteError::ConditionFailed { item: None, .. }) => return Err(Error::NotFound),
            Err(error) => Err(error),
        };
        if let Some(result) = races.final_result(written) {
            return result;
        }
    }
}

/// Returns the bot's earlier message that `message` repeats: an equal one after the visitor's last message, if the
/// bot has got that message more than once. A bot that takes longer than the timeout of an attempt answers each
/// attempt.
async fn repeated_message(
    chats: &Chats,
    message: &BotMessage<'_>,
    chat: &Chat,
) -> Result<Option<TimelineEntry>, Error> {
    let Some(repeated) = chat.repeated_to_bot.filter(|_| message.is_displayable) else { return Ok(None) };
    let before = repeated.saturating_sub(1);
    let entries = chats.timeline(&chat.account_id, chat.chat_id, before, MAX_ENTRIES_COMPARED).await?;
    let last_from_visitor = entries.iter().rposition(|entry| entry.from == Sender::Visitor);
    let Some((asked, later)) = last_from_visitor.and_then(|index| entries.get(index..)?.split_first()) else {
        return Ok(None);
    };
    let is_equal = |entry: &&TimelineEntry| matches!(entry.from, Sender::Bot(_)) && entry.content == *message.content;
    let earlier = later.iter().find(is_equal).filter(|_| was_sent_to_bot_again(asked, message.now));
    Ok(earlier.cloned())
}

/// Stores a bot's message under the entry number that [`advance_header`] assigned. If the channel cannot
/// show the message, the message is stored for the agents but not delivered. If two concurrent requests have the same
/// idempotency key, only one message is stored, and both requests get its receipt (the stored response).
async fn store_entry(
    chats: &Chats,
    message: &BotMessage<'_>,
    header: &mut Chat,
    key: Option<&IdempotencyKey>,
) -> Result<BotMessageResult, Error> {
    let BotMessage { bot, content, is_displayable, now, .. } = *message;
    let context = message.context();
    header.seq = header.seq.saturating_sub(context.subscriber_count(WebhookEvent::Message) as u64);
    let content = content.clone();
    let content = if is_displayable { content } else { content.into_not_displayable() };
    let entry = TimelineEntry {
        delivery: header.delivery_to_visitor(now).filter(|_| is_displayable),
        ..new_entry(header, Sender::Bot(bot.name.clone()), content, now)?
    };
    let events = context.message_notifications(WebhookEvent::Message, entry.seq);
    let notifications = context.create_entries(header, events)?;
    let others = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
    if chats.store_entry_with(&entry, key, others).await.condition()?.is_ok() {
        let receipt = MessageReceipt::of(&entry);
        return Ok(BotMessageResult::Stored { receipt, notifications });
    }
    let earlier = chats.earlier_receipt(key).await?;
    let earlier = earlier.map(BotMessageResult::repeated);
    earlier.ok_or_else(|| Error::Unavailable(ErrorContext::new("entry number of a bot message already used")))
}

/// Returns the chat if the bot has it.
fn owned_by_bot(chat: Chat, bot: &Bot) -> Result<Chat, Error> {
    chat.require_owned_by_bot(&bot.bot_id)?;
    Ok(chat)
}
