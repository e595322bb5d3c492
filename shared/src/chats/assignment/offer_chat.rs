//! A waiting chat is offered to one agent for a while.

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::{AgentOffer, SlotClaim};
use crate::domain::chats::chat_state::TransitionError;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

/// Offers the chat to an agent, who then holds a slot for it. Returns the chat after the offer. Fails with `Conflict`
/// if the chat has changed hands since it was read, or if the claim of the slot fails.
pub async fn offer_chat(
    chats: &Chats,
    chat: &Chat,
    (offer, claim): (AgentOffer, SlotClaim),
    now: Timestamp,
) -> Result<Chat, Error> {
    let after = Chat { assignment: chat.assignment.with_offer(offer), version: chat.version + 1, ..chat.clone() };
    written(chats.write_offer(chat, &after, Some(&claim), now).await)?;
    Ok(after)
}

/// Ends an offer whose time is over. Returns the chat after it. Fails with `Conflict` if the chat has changed hands
/// since it was read.
pub async fn end_offer(chats: &Chats, chat: &Chat, now: Timestamp) -> Result<Chat, Error> {
    let after = Chat { assignment: chat.assignment.without_offer(now), version: chat.version + 1, ..chat.clone() };
    written(chats.write_offer(chat, &after, None, now).await)?;
    Ok(after)
}

/// The agent declines the offer. Fails with `Conflict` if the chat is not offered to the agent at the moment.
pub async fn decline_offer(chats: &Chats, chat: Chat, agent: &AgentSnapshot, now: Timestamp) -> Result<Chat, Error> {
    let mut before = chat;
    let mut races = WriteRaces::new("end of an offer");
    loop {
        let offer = before.assignment.current_offer(now).filter(|offer| offer.agent_id == agent.agent_id);
        if offer.is_none() || !before.state.is_waiting() {
            return Err(Error::Conflict("the chat is not offered to the agent"));
        }
        let after =
            Chat { assignment: before.assignment.without_offer(now), version: before.version + 1, ..before.clone() };
        let written = chats.write_offer(&before, &after, None, now).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| after);
        }
        before = chats.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
    }
}

fn written(result: Result<(), WriteError>) -> Result<(), Error> {
    match result {
        Ok(()) => Ok(()),
        Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Err(TransitionError::OfferChanged.into()),
        Err(WriteError::Error(error)) => Err(error),
    }
}
