//! Transfers: an agent gives a chat to another agent, who has it at once, or to a department, whose members it is
//! offered to until one of them accepts it.

use crate::domain::chat::{Chat, Sender};
use crate::domain::chat_state::{Event, Mover, Recipient};
use crate::domain::content::Content;
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};
use crate::store::MAX_RACE_ATTEMPTS;
use crate::store::chats::Chats;
use crate::store::chats::transitions::{create, head_change};
use crate::store::table::{Refused, Write};

impl Chats {
    /// Transfers a chat that was just read, and notes it in the timeline. A transaction of two; a read more for each
    /// race that is lost. Of two who transfer a chat together one is refused.
    pub async fn transfer(&self, seen: Chat, by: Mover<'_>, to: &Recipient, now: Timestamp) -> Result<Chat, Error> {
        let mut before = seen;
        for _ in 0..MAX_RACE_ATTEMPTS {
            let (after, note) = transferred(&before, by, to, now)?;
            let writes = vec![create(&note)?, Write::ItemUpdate(head_change(&before, &after)?)];
            match self.table.transact(writes).await {
                Ok(()) => return Ok(after),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
            before = self.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
        }
        Err(Error::Unavailable(Context::new("a transfer lost every race")))
    }
}

/// The chat afterwards and the note.
fn transferred(before: &Chat, by: Mover<'_>, to: &Recipient, now: Timestamp) -> Result<(Chat, Entry), Error> {
    let state = before.state.after(Event::Transfer(by, to))?;
    let (name, department) = match to {
        Recipient::Agent(agent) => (&agent.name, before.department.clone()),
        Recipient::Department(department) => (&department.name, Some(department.of_chat())),
    };
    let seq = before.seq + 1;
    let after = Chat { department, seq, ..before.after_transition(state, now) };
    let note = Entry {
        account_id: after.account_id.clone(),
        chat_id: after.chat_id,
        seq,
        id: crate::runtime::secret::message_id(after.chat_id, seq, now)?,
        from: Sender::System,
        content: Content::text(format!("{} transferred the chat to {name}", by.agent.name)),
        at: now,
        occurrence: None,
        keep_until: before.keep_until(now),
        delivery: None,
    };
    Ok((after, note))
}
