//! Copies of messages for bots on standby: bots that read along while an agent has their chat, so that they can suggest
//! answers. A copy is a hint: it is sent once, and the bot can read the chat if one is lost.

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

impl StandbyCopies<'_> {
    /// Queues a copy of each new message in a chat whose bot is on standby. Reads nothing for chats without a bot. An
    /// error is only logged.
    pub async fn queue(&self, ParsedChanges(changes): &ParsedChanges) {
        for (_, change) in changes {
            let TableChange::Chat {
                change: ChatItemChange::Header { before: Some(before), after: Some(chat) }, ..
            } = change
            else {
                continue;
            };
            let Some(seq) = new_message(before, chat) else { continue };
            if let Err(error) = self.queue_copy(chat, seq).await {
                tracing::warn!(context = error.context(), chat.account_id, chat.chat_id, "copy for a bot not queued");
            }
        }
    }

    async fn queue_copy(&self, chat: &Chat, seq: u64) -> Result<(), Error> {
        let Some(bot_id) = &chat.bot_id else { return Ok(()) };
        let bot = self.directory.cached_bot(bot_id).await?;
        if bot.is_none_or(|bot| !bot.settings.standby) {
            return Ok(());
        }
        self.outbox.send_delayed(Target::Bot, &Task::standby_copy(chat, seq), STORING_TIME).await
    }
}

/// Returns the number of the message that a change of a header announces, if an agent has the chat.
fn new_message(before: &Chat, after: &Chat) -> Option<u64> {
    let is_message = after.seq > before.seq && after.last_message != before.last_message;
    let is_of_visitor = after.visitor_seq > before.visitor_seq;
    let seq = if is_of_visitor { after.visitor_seq } else { after.seq };
    (is_message && after.state.agent().is_some()).then_some(seq)
}
