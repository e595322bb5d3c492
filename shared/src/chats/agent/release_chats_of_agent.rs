//! The chats of a deleted agent wait for another agent.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{TransitionEffects, read_and_transition};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;
use crate::store::chats::{CHAT_ID_UPPER_BOUND, Chats};

/// Moves all of a deleted agent's active chats back to the waiting state. Reads all of the account's active chats.
/// The `listing` index is updated with a delay, so the search is repeated until it finds none of the agent's chats.
/// Returns the notifications, which the caller must queue.
pub async fn release_chats_of_agent(
    chats: &Chats,
    account_id: &str,
    agent_id: u64,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Vec<TimelineEntry>, Error> {
    let context = NotificationContext { webhooks, agent_id: None, now };
    let mut notifications = Vec::new();
    while release_listed_chats(chats, account_id, agent_id, context, &mut notifications).await? {}
    Ok(notifications)
}

/// Returns whether the index listed any of the agent's chats. Adds what the caller must queue to `notifications`.
async fn release_listed_chats(
    chats: &Chats,
    account_id: &str,
    agent_id: u64,
    context: NotificationContext<'_>,
    notifications: &mut Vec<TimelineEntry>,
) -> Result<bool, Error> {
    let effects_of = |before: &Chat| {
        let state = before.state.after_event(ChatEvent::AgentDeleted(agent_id))?;
        Ok(TransitionEffects::silent(state))
    };
    let (mut has_any, mut next) = (false, Some(CHAT_ID_UPPER_BOUND));
    while let Some(before_chat_id) = next {
        let page = chats.listing(account_id, &["active"], Some(before_chat_id)).next(MAX_HEADERS_PER_READ).await?;
        next = page.next;
        let is_owned = |chat: &Chat| chat.state.agent().is_some_and(|agent| agent.agent_id == agent_id);
        for chat in page.chats.into_iter().filter(is_owned) {
            has_any = true;
            match read_and_transition(chats, (account_id, chat.chat_id), context, &effects_of).await {
                // A conflict or a missing chat means that another request has transferred, closed or erased the
                // chat.
                Err(Error::Conflict(_) | Error::NotFound) => {}
                Ok(transition) => notifications.extend(transition.notifications),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(has_any)
}
