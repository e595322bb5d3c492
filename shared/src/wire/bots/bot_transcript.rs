//! `GET {bot_base_url}/webhooks/{provider_id}/{token}/chats/{chat_id}/messages`: a chat as its bot reads it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::contract::{Failure, Operation};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::wire::channels::message_content::MessageFields;
use crate::wire::fields::values::{NotNull, SequentialNumber, UnixSeconds};

/// The largest and the default value of the parameter `limit`.
const MAX_MESSAGES_PER_PAGE: u32 = 100;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/bot/webhooks/{provider_id}/{token}/chats/{chat_id}/messages",
            "botTranscript",
            "Lists what was written in a chat of the bot",
        )
        .describe(
            "For the bot that has the chat, or is on standby while an agent has it. Oldest first; for the next page, \
             send `next` as `after`. Private notes and events are not listed. Counts as one of the bot's requests.",
        )
        .query::<BotTranscriptQuery>()
        .answers::<BotTranscript>(200, "The messages.")
        .answer_example(
            "page",
            None,
            json!({
                "chat_id": 17,
                "messages": [
                    {"seq": 1, "from": "visitor", "type": "text", "text": "When are you open?", "timestamp": 1_790_331_234},
                    {"seq": 2, "from": "bot", "name": "Shop bot", "type": "text", "text": "From 9 to 5.", "timestamp": 1_790_331_240},
                ],
                "next": null,
            }),
        )
        .fails(&[Failure::NotFound]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct BotTranscriptQuery {
    /// Returns messages with a larger seq.
    #[serde(default)]
    #[schemars(extend("default" = 0))]
    after: NotNull<u64>,
    /// The number of entries that are read, 1 to 100; a number outside this range is replaced by the nearest limit. A
    /// page may have fewer messages, because not every entry is a message.
    #[serde(default)]
    #[schemars(extend("default" = 100))]
    limit: NotNull<u64>,
}

impl BotTranscriptQuery {
    /// Returns the number after which the page begins, and its size.
    pub fn page(&self) -> (u64, i32) {
        let limit = self.limit.0.unwrap_or(MAX_MESSAGES_PER_PAGE.into()).clamp(1, MAX_MESSAGES_PER_PAGE.into());
        (self.after.0.unwrap_or(0), i32::try_from(limit).unwrap_or(i32::MAX))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct BotTranscript {
    chat_id: SequentialNumber,
    #[schemars(length(max = MAX_MESSAGES_PER_PAGE))]
    messages: Vec<TranscriptMessage>,
    /// The `after` of the next page. Null if there are no more messages now.
    next: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub struct TranscriptMessage {
    seq: SequentialNumber,
    from: TranscriptSender,
    /// The name of the agent or the bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    message: MessageFields,
    timestamp: UnixSeconds,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TranscriptSender {
    Visitor,
    Bot,
    Agent,
}

impl BotTranscript {
    /// `entries` are those of one page.
    pub fn new(entries: &[TimelineEntry], chat: &Chat) -> Self {
        let last = entries.last().map(|entry| entry.seq);
        Self {
            chat_id: SequentialNumber(chat.chat_id),
            messages: entries.iter().filter_map(TranscriptMessage::new).collect(),
            next: last.filter(|last| *last < chat.seq),
        }
    }
}

impl TranscriptMessage {
    /// Returns `None` for what is not a message to or from the visitor.
    pub fn new(entry: &TimelineEntry) -> Option<Self> {
        let (from, name) = match &entry.from {
            Sender::Visitor => (TranscriptSender::Visitor, None),
            Sender::Bot(name) => (TranscriptSender::Bot, Some(name.clone())),
            Sender::Agent(agent) => (TranscriptSender::Agent, Some(agent.name.clone())),
            Sender::System => return None,
        };
        let (seq, message) = (SequentialNumber(entry.seq), MessageFields::from(&entry.content));
        let shown = Self { seq, from, name, message, timestamp: entry.at.into() };
        entry.content.is_visible_to_visitor().then_some(shown)
    }
}
