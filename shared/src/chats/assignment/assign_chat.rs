//! A waiting chat is assigned to an agent, who does not have to accept it.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{Transition, TransitionEffects, transition};
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::{ChatEvent, TransitionError};
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// Makes the agent the owner of the chat, and notifies the bot and the webhooks as if the agent had accepted it. Fails
/// with `Conflict` if the chat has had a transition or an offer since it was read, or if the claim of the slot fails.
pub async fn assign_chat(
    chats: &Chats,
    chat: Chat,
    (agent, claim): (&AgentSnapshot, SlotClaim),
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Transition, Error> {
    let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
    let (owner, version) = (agent.without_photo(), chat.version);
    let effects_of = |before: &Chat| {
        if before.version != version {
            return Err(TransitionError::OfferChanged.into());
        }
        let told = (BotNotification::AgentJoined.into(), WebhookEvent::ChatAccepted);
        let effects = TransitionEffects::of_agent(before, ChatEvent::Assign(&owner), agent, told)?;
        Ok(TransitionEffects { claim: Some(claim), ..effects })
    };
    transition(chats, chat, context, &effects_of).await
}
