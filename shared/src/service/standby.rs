//! Copies of messages for bots on standby: bots that read along while an agent has their chat, so that they can suggest
//! answers. A copy is a hint: it is not repeated if it fails, and the bot can read the chat.

use std::time::Duration;

use crate::domain::chats::chat::Chat;
use crate::domain::deliveries::delivery::Target;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::store::directory::Directory;
use crate::store::table_changes::{ChatItemChange, ParsedChanges, TableChange};
use crate::wire::queue_task::Task;

/// A message is stored after the header that announces it.
const STORING_TIME: Duration = Duration::from_secs(1);

pub struct StandbyCopies<'a> {
    pub directory: &'a Directory,
    pub outbox: &'a Outbox,
}

/// A new message in a chat that an agent has, and that had a bot before.
pub struct NewMessage {
    account_id: String,
    chat_id: u64,
    seq: u64,
    bot_id: String,
}

impl NewMessage {
    /// Returns the messages that the changes of headers announce.
    #[must_use]
    pub fn announced_by(ParsedChanges(changes): &ParsedChanges) -> Vec<Self> {
        let of_change = |(_, change): &(String, TableChange)| {
            let TableChange::Chat { change: ChatItemChange::Header { before, after }, .. } = change else {
                return None;
            };
            Self::announced(before.as_deref()?, after.as_deref()?)
        };
        changes.iter().filter_map(of_change).collect()
    }

    fn announced(before: &Chat, after: &Chat) -> Option<Self> {
        let is_message = after.seq > before.seq && after.last_message != before.last_message;
        let bot_id = after.bot_id.clone().filter(|_| is_message && after.state.agent().is_some())?;
        let is_of_visitor = after.visitor_seq > before.visitor_seq;
        // Events that report the message have the numbers after it.
        let seq = if is_of_visitor { after.visitor_seq } else { before.seq + 1 };
        Some(Self { account_id: after.account_id.clone(), chat_id: after.chat_id, seq, bot_id })
    }
}

impl StandbyCopies<'_> {
    /// Queues a copy of each message whose bot is on standby. An error is only logged.
    pub async fn queue(&self, messages: &[NewMessage]) {
        for message in messages {
            if let Err(error) = self.queue_copy(message).await {
                let NewMessage { account_id, chat_id, .. } = message;
                tracing::warn!(context = error.context(), account_id, chat_id, "copy for a bot not queued");
            }
        }
    }

    async fn queue_copy(&self, NewMessage { account_id, chat_id, seq, bot_id }: &NewMessage) -> Result<(), Error> {
        let bot = self.directory.cached_bot(bot_id).await?;
        if bot.is_none_or(|bot| !bot.settings.standby) {
            return Ok(());
        }
        self.outbox.send_delayed(Target::Bot, &Task::standby_copy(account_id, *chat_id, *seq), STORING_TIME).await
    }
}
