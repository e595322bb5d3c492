//! An agent closes a chat, or the idle check does.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{BotNotice, Transition, TransitionEffects, transition};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::bots::bot::CloseReason;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// Closes a chat that this agent or no agent owns. Fails if another agent owns the chat, or if the offer to a
/// department has changed since `chat` was read. Does nothing if the chat is already closed, unless another agent had
/// it: then fails.
pub async fn close_chat(
    chats: &Chats,
    chat: Chat,
    agent: &AgentSnapshot,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Transition, Error> {
    let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
    let offer = chat.state.offered_department();
    let effects_of = |before: &Chat| {
        let told = (BotNotice::chat_closed(CloseReason::Agent), WebhookEvent::ChatFinished);
        Ok(TransitionEffects::of_agent(before, ChatEvent::Close(agent, offer), agent, told)?)
    };
    transition(chats, chat, context, &effects_of).await
}

/// Closes an idle chat. Returns `None` if the chat is no longer idle, is already closed or no longer exists.
pub async fn close_idle_chat(
    chats: &Chats,
    chat: &Chat,
    settings: &AccountSettings,
    now: Timestamp,
) -> Result<Option<Transition>, Error> {
    let agent_id = chat.state.agent().map(|agent| agent.agent_id);
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id, now };
    let effects_of = |before: &Chat| {
        if !settings.is_idle(before.idle_since(), now) {
            return Err(Error::Conflict("the chat is not idle"));
        }
        let state = before.state.after_event(ChatEvent::Idle)?;
        let notice = before.bot_id.is_some().then(|| BotNotice::chat_closed(CloseReason::Idle));
        // Do not report the end of a chat that no agent has accepted, because webhooks do not know about such a
        // chat.
        let event = (!before.participants.is_empty()).then_some(WebhookEvent::ChatFinished);
        Ok(TransitionEffects { notice, event, ..TransitionEffects::silent(state) })
    };
    match transition(chats, chat.clone(), context, &effects_of).await {
        Ok(transition) => Ok(Some(transition)),
        Err(Error::Conflict(_) | Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}
