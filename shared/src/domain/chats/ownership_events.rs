//! The webhook events that report a change of a chat's owner: one for each arrow of the transition table
//! (docs/design.md, Chat ownership). They follow from the chat before and after the change, so no transition can
//! forget them.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::deliveries::webhook_event::WebhookEvent;

/// Returns the events of a transition, in the order in which they are sent. `before` is `None` if the chat is new.
pub fn ownership_events(before: Option<&Chat>, after: &Chat) -> Vec<WebhookEvent> {
    let Some(before) = before else {
        let owner = match after.state {
            ChatState::Waiting | ChatState::Offered(_) => Some(WebhookEvent::ChatWaiting),
            ChatState::Active(_) => Some(WebhookEvent::ChatJoined),
            ChatState::Bot | ChatState::Closed(_) => None,
        };
        return [WebhookEvent::ChatOpened].into_iter().chain(owner).collect();
    };
    let agent_id = |chat: &Chat| match &chat.state {
        ChatState::Active(agent) => Some(agent.agent_id),
        ChatState::Bot | ChatState::Waiting | ChatState::Offered(_) | ChatState::Closed(_) => None,
    };
    let is_new_agent = agent_id(after).is_some() && agent_id(after) != agent_id(before);
    let begins_to_wait = after.state.is_waiting() && after.state != before.state;
    let is_closed = after.state.is_closed() && !before.state.is_closed();
    [
        (is_handed_over(before, after), WebhookEvent::BotHandedOver),
        (is_transferred(before, after), WebhookEvent::ChatTransferred),
        (begins_to_wait, WebhookEvent::ChatWaiting),
        (is_new_agent, WebhookEvent::ChatJoined),
        (is_closed, WebhookEvent::ChatEnded),
    ]
    .into_iter()
    .filter_map(|(happened, event)| happened.then_some(event))
    .collect()
}

/// An agent who takes a bot's chat leaves no handover.
fn is_handed_over(before: &Chat, after: &Chat) -> bool {
    before.state == ChatState::Bot && after.handover.is_some() && before.handover != after.handover
}

/// A deleted agent's chat is not transferred, but waits again.
fn is_transferred(before: &Chat, after: &Chat) -> bool {
    match (&before.state, &after.state) {
        (ChatState::Active(from), ChatState::Active(to)) => from.agent_id != to.agent_id,
        (ChatState::Active(_), ChatState::Offered(_)) => true,
        (ChatState::Bot, ChatState::Bot) => before.bot_id != after.bot_id,
        (_, ChatState::Bot) => true,
        (_, ChatState::Waiting | ChatState::Offered(_) | ChatState::Active(_) | ChatState::Closed(_)) => false,
    }
}
