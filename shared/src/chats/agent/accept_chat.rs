//! An agent accepts a chat.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{Transition, TransitionEffects, transition};
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// Makes the agent the owner of the chat. Fails if another agent has the chat, if it is closed, or if the offer to a
/// department has changed since `chat` was read. Also fails if the chat is offered to another agent at the moment, or
/// if the agent has no free slot; `claim` is `None` in an account without a capacity. Does nothing if the agent already
/// has the chat.
pub async fn accept_chat(
    chats: &Chats,
    chat: Chat,
    (agent, claim): (&AgentSnapshot, Option<SlotClaim>),
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Transition, Error> {
    let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
    let (owner, offer) = (agent.without_photo(), chat.state.offered_department());
    let effects_of = |before: &Chat| {
        let told = (BotNotification::AgentJoined.into(), WebhookEvent::ChatAccepted);
        before.require_not_offered_to_other(agent.agent_id, now)?;
        let effects = TransitionEffects::of_agent(before, ChatEvent::Accept(&owner, offer), agent, told)?;
        Ok(TransitionEffects { claim, ..effects })
    };
    transition(chats, chat, context, &effects_of).await
}
