//! An agent changes the tags of a chat, or puts it aside.

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_change::ChatChange;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::write_races::WriteRaces;

/// Makes the change and returns the chat after it. Makes no write if nothing changes. Fails with `Conflict` if the
/// state of the chat does not allow the change, and with `NotFound` if the chat is being erased.
pub async fn change_chat(
    chats: &Chats,
    chat: Chat,
    change: &ChatChange,
    agent: &AgentSnapshot,
    now: Timestamp,
) -> Result<Chat, Error> {
    let mut before = chat;
    let mut races = WriteRaces::new("change of a chat");
    loop {
        let after = change.applied_to(&before, agent)?;
        if after == before {
            return Ok(before);
        }
        let written = chats.write_tags_and_snooze(&before, &after, now).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| after);
        }
        before = chats.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
    }
}
