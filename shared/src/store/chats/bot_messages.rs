//! What a bot's request writes. A message is two writes: the header, which takes the next number and checks that
//! the bot has the chat, and the entry.

use crate::domain::bot::Bot;
use crate::domain::chat::{Chat, Preview, Sender};
use crate::domain::chat_state::Event;
use crate::domain::content::{Content, Shows};
use crate::domain::delivery::{Delivery, Target};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};
use crate::store::chats::idempotency::{Answered, IdempotencyKey};
use crate::store::chats::items::PreviewItem;
use crate::store::chats::{Chats, chat, head_key};
use crate::store::table::{ItemUpdate, Refused, n, s};
use crate::store::{MAX_RACE_ATTEMPTS, to_attribute};

impl Chats {
    /// Takes the next number of a bot's chat for a message. The refused write brings the header that says why not;
    /// a chat of another bot does not exist for this one. One write.
    pub async fn bot_advance(&self, bot: &Bot, chat_id: u64, content: &Content, now: Timestamp) -> Result<Chat, Error> {
        let preview = Preview::of(content, &Sender::Bot(bot.name.clone()), now);
        for _ in 0..MAX_RACE_ATTEMPTS {
            let change = ItemUpdate {
                key: head_key(&bot.account_id, chat_id),
                update: "SET #seq = #seq + :one, #bot_event_at = :now, #updated_at = :now, #last_message = :preview",
                condition: "#state = :bot AND #bot_id = :me",
                values: vec![
                    (":one", n(1)),
                    (":now", n(now.0)),
                    (":preview", to_attribute(&PreviewItem::from(&preview))?),
                    (":bot", s("bot")),
                    (":me", s(&*bot.bot_id)),
                ],
            };
            match self.table.update(change).await {
                Ok(item) => return chat(item),
                Err(Refused::Condition { item: None, .. }) => return Err(Error::NotFound),
                Err(Refused::Condition { item: Some(item), .. }) => {
                    let found = chat(item)?;
                    if found.bot_id.as_ref() != Some(&bot.bot_id) {
                        return Err(Error::NotFound);
                    }
                    found.state.after(Event::BotWrites)?;
                }
                Err(Refused::Contended) => {}
                Err(Refused::Error(error)) => return Err(error),
            }
        }
        Err(Error::Unavailable(Context::new("bot message lost every race")))
    }

    /// Stores a bot's message under the number that [`bot_advance`](Self::bot_advance) took. A message that the
    /// channel cannot show is kept for the agents and goes nowhere. Of a request that came twice at once the first is
    /// stored, and both are answered alike. One write.
    pub async fn bot_message(
        &self,
        bot: &Bot,
        head: &Chat,
        content: Content,
        shows: Shows,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<Answered, Error> {
        let is_shown = content.shown_on(shows).is_some();
        let entry = Entry {
            account_id: head.account_id.clone(),
            chat_id: head.chat_id,
            seq: head.seq,
            id: crate::runtime::secret::message_id(head.chat_id, head.seq, now)?,
            from: Sender::Bot(bot.name.clone()),
            content: if is_shown { content } else { content.not_shown() },
            at: now,
            occurrence: None,
            keep_until: head.keep_until(now),
            delivery: is_shown.then(|| Delivery::new(Target::Channel, now)),
        };
        match self.store_entry(&entry, key).await {
            Ok(()) => Ok(Answered::of(&entry)),
            Err(Refused::Condition { .. }) => {
                let first = self.answered(key).await?;
                first.ok_or_else(|| Error::Unavailable(Context::new("the number of a bot's message was taken")))
            }
            Err(refused) => Err(refused.into()),
        }
    }
}
