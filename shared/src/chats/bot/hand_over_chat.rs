//! A bot's chat goes to the agents, because the bot invites them or because the bot fails.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{Transition, TransitionEffects, read_and_transition};
use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoverResult {
    HandedOver,
    /// The chat was not handed over, because the bot sent a message or an invitation in time.
    BotResponded,
    /// The chat was not handed over, because the bot no longer owned it or it no longer existed.
    NotWithBot,
}

/// Processes the bot's INVITE_AGENT event: hands the chat over to the agents, or notifies the bot that no agent is
/// online.
pub async fn invite_agent(
    chats: &Chats,
    account_id: &str,
    chat_id: u64,
    is_agent_online: bool,
    now: Timestamp,
) -> Result<Transition, Error> {
    let context = NotificationContext { webhooks: &[], agent_id: None, now };
    let effects_of = |before: &Chat| {
        let state = before.state.after_event(ChatEvent::BotInvites { is_agent_online })?;
        let notice = (!is_agent_online).then_some(BotNotification::AgentUnavailable);
        Ok(TransitionEffects { state, notice, event: None, agent: None, is_bot_event: true })
    };
    read_and_transition(chats, (account_id, chat_id), context, &effects_of).await
}

/// Hands a chat over to the agents because its bot failed. Does nothing if the bot no longer owns the chat, or has
/// sent a message or an invitation after `unanswered_since`. If the bot sends an event concurrently, the write
/// fails, and the chat is read again.
pub async fn hand_over_chat(
    chats: &Chats,
    account_id: &str,
    chat_id: u64,
    unanswered_since: Timestamp,
    now: Timestamp,
) -> Result<HandoverResult, Error> {
    let context = NotificationContext { webhooks: &[], agent_id: None, now };
    let effects_of = |before: &Chat| {
        if before.has_bot_event_after(unanswered_since) {
            return Err(Error::Conflict("the bot has responded"));
        }
        let state = before.state.after_event(ChatEvent::BotFails)?;
        Ok(TransitionEffects::silent(state))
    };
    match read_and_transition(chats, (account_id, chat_id), context, &effects_of).await {
        Ok(_) => Ok(HandoverResult::HandedOver),
        Err(Error::Conflict(_)) => Ok(HandoverResult::BotResponded),
        Err(Error::Forbidden(_) | Error::NotFound) => Ok(HandoverResult::NotWithBot),
        Err(error) => Err(error),
    }
}
