//! A chat returns from the agents to a bot: an agent gives it to one, or no agent has accepted it in time.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{BotNotice, Transition, TransitionEffects, read_and_transition, transition};
use crate::domain::bots::bot::{Bot, BotNotification};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::{ChatEvent, ChatState, TransferRequester, TransitionError};
use crate::error::Error;
use crate::store::chats::Chats;

/// Gives a chat to a bot, which gets CHAT_RETURNED. Fails if the bot has the chat already, if another agent than the
/// requester has it and the requester is no admin, or if the offer to a department has changed since `chat` was read.
pub async fn give_chat_to_bot(
    chats: &Chats,
    chat: Chat,
    by: TransferRequester<'_>,
    bot: &Bot,
    context: NotificationContext<'_>,
) -> Result<Transition, Error> {
    let offer = chat.state.offered_department();
    let effects_of = |before: &Chat| {
        if before.state == ChatState::Bot && before.require_bot(&bot.bot_id).is_ok() {
            return Err(TransitionError::AlreadyWithBot.into());
        }
        let state = before.state.after_event(ChatEvent::GiveToBot(by, offer))?;
        let returned = BotNotice::from(BotNotification::ChatReturned);
        Ok(TransitionEffects {
            notice: Some(BotNotice { text: Some(bot.name.clone()), ..returned }),
            agent: Some(by.agent.without_photo()),
            new_bot: Some(bot.bot_id.clone()),
            ..TransitionEffects::silent(state)
        })
    };
    transition(chats, chat, context, &effects_of).await
}

/// Returns a chat to its bot, which gets AGENT_UNAVAILABLE, if its time limit for accepting it is over. Does nothing
/// otherwise. It can be called repeatedly and too late: the limit is part of the chat, and ends with any transition.
pub async fn return_unaccepted_chat(
    chats: &Chats,
    account_id: &str,
    chat_id: u64,
    context: NotificationContext<'_>,
) -> Result<Option<Transition>, Error> {
    let effects_of = |before: &Chat| {
        if !before.is_agent_wait_over(context.now) {
            return Err(TransitionError::NotWaiting.into());
        }
        let notice = Some(BotNotice::from(BotNotification::AgentUnavailable));
        let state = before.state.after_event(ChatEvent::AgentWaitEnds)?;
        Ok(TransitionEffects { notice, ..TransitionEffects::silent(state) })
    };
    match read_and_transition(chats, (account_id, chat_id), context, &effects_of).await {
        Ok(transition) => Ok(Some(transition)),
        Err(Error::Conflict(_) | Error::Forbidden(_) | Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}
